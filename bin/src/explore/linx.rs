//! `riosim explore linx`: two nodes of the LINX RapidIO connection manager.

use super::{MAX_STATES, cells, draw_path, endings, graph, legend, orders, select, shortest};
use crate::cli::ExploreArgs;
use analysis::explore::linx::{Ending, Event, FAULTS, Fault, Linx, linx_row};
use analysis::explore::{Endings, Order};
use linx_riocm::Options;
use std::fmt::Write;
use std::path::Path;

/// Everything that the flags select.
fn models(args: &ExploreArgs) -> Result<Vec<Linx>, String> {
    for (flag, given) in [("algorithm", &args.algorithm), ("configuration", &args.configuration)] {
        if !given.is_empty() {
            return Err(format!("--{flag}: not with linx, of which there is one"));
        }
    }
    let faults = if args.fault.is_empty() {
        vec![FAULTS[0]]
    } else {
        select("fault", &args.fault, &FAULTS, |fault: &Fault| fault.name)?
    };
    let orders = select("order", &args.order, &Order::ALL, |known| known.name())?;
    let limit = args.limit.map(|n| u8::try_from(n).map_err(|_| format!("--limit: at most 255, {n} found")));
    let limit = limit.transpose()?;
    let mut models = Vec::new();
    for &fault in &faults {
        for &order in &orders {
            // In any order a late request ends a connection again and again; each further connect costs
            // some twenty times the states.
            let limit = limit.unwrap_or(match order {
                Order::Fifo => 9,
                Order::Any => 3,
            });
            models.push(Linx { options: Options::default(), fault, order, messages: 1, limit });
        }
    }
    Ok(models)
}

pub(super) fn table(args: &ExploreArgs) -> Result<String, String> {
    let mut text = format!("{:<14} {:<5} {:>10} {:>11}", "fault", "order", "states", "transitions");
    for ending in Ending::ALL {
        let _ = write!(text, " {:>12}", ending.name());
    }
    let _ = writeln!(text, "  always up again");
    let models = models(args)?;
    for model in &models {
        let _ = write!(text, "{:<14} {:<5}", model.fault.name, model.order.name());
        let row = graph(model, MAX_STATES / 4).map(|graph| linx_row(&graph));
        // Of runs that are all cut nobody knows whether they would have come up.
        let known = |row: &Endings<Ending>| {
            row.endings.contains_key(&Ending::Up) || !row.endings.contains_key(&Ending::Cut)
        };
        text += &cells(row, Ending::ALL, (10, 12), known);
        text.push('\n');
    }
    text.push_str(
        "\nEach node sends one message and connects at any time.\n\
         states: different situations of both nodes and of the frames between them\n\
         transitions: events that lead from one to another\n\
         always up again: whether both ends can come up from every state; not known where every run that \
         could is cut\n\
         In the cells between: in how many different states runs end so; - is none.\n",
    );
    let about = endings(Ending::ALL, Ending::name, Ending::about);
    text += &legend(
        "\nfault: what goes wrong",
        models.iter().map(|model| (model.fault.name, model.fault.about())),
    );
    text += &legend("order: how messages arrive", orders(models.iter().map(|model| model.order)));
    Ok(text + &legend("the columns between: what there is in the end", about))
}

pub(super) fn path(args: &ExploreArgs, ending: &str) -> Result<String, String> {
    let ending = select("path", &[ending.to_owned()], &Ending::ALL, |known| known.name())?[0];
    let models = models(args)?;
    let [model] = &models[..] else {
        return Err(format!("--path: takes one fault and order; {} are selected", models.len()));
    };
    let title = format!("LINX, {}, {}: {}", model.fault.name, model.order.name(), ending.name());
    let draw = |folder: &Path, path: &[Event]| draw_path(folder, model, path, &title);
    let wanted = (ending.name(), ending.about());
    shortest(args, model, MAX_STATES / 4, wanted, |known| *known == ending, draw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Subject;

    fn args(fault: &str, order: &str) -> ExploreArgs {
        ExploreArgs {
            subject: Subject::Linx,
            algorithm: vec![],
            fault: vec![fault.into()],
            configuration: vec![],
            order: vec![order.into()],
            variant: Vec::new(),
            limit: None,
            path: None,
            out: None,
        }
    }

    #[test]
    fn a_row() {
        let text = table(&args("none", "fifo")).unwrap();
        let row: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["none", "fifo", "64", "126", "1", "-", "-", "-", "-", "-", "-", "yes"]);
    }

    /// Without any connect beyond the first nobody comes up, so nobody knows.
    #[test]
    fn what_is_cut_is_not_known() {
        let text = table(&ExploreArgs { limit: Some(0), ..args("none", "fifo") }).unwrap();
        assert!(text.lines().nth(1).unwrap().ends_with("  not known"), "{text}");
    }

    #[test]
    fn a_path() {
        let text = path(&args("DATALOSS1", "fifo"), "missing").unwrap();
        assert!(text.contains("\nX: connects\n") && text.contains("is lost\n"), "{text}");
        let none = path(&args("DUP1", "fifo"), "stuck").unwrap();
        assert!(none.starts_with("no run ends in stuck: nothing more happens"), "{none}");
    }

    #[test]
    fn flags_of_the_other_subject() {
        let wrong = ExploreArgs { algorithm: vec!["literal".into()], ..args("none", "fifo") };
        assert_eq!(table(&wrong).unwrap_err(), "--algorithm: not with linx, of which there is one");
    }
}
