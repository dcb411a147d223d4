//! `riosim explore transfer`: two Scheduled Transfer endpoints.

use super::{cells, draw_path, endings, graph, legend, orders, select, shortest};
use crate::cli::ExploreArgs;
use analysis::explore::Order;
use analysis::explore::transfer::{Ending, Event, FAULTS, Fault, Subject, Transfer, transfer_row};
use std::fmt::Write;
use std::path::Path;

/// States beyond which an exploration is given up: each holds two endpoints and their memories.
const MAX_STATES: usize = 300_000;

/// Everything that the flags select.
fn models(args: &ExploreArgs) -> Result<Vec<Transfer>, String> {
    if !args.algorithm.is_empty() {
        return Err("--algorithm: only with conduit; there is one for transfer".into());
    }
    if args.limit.is_some() {
        return Err("--limit: only with conduit and linx; what transfer repeats ends by itself".into());
    }
    let faults = if args.fault.is_empty() {
        vec![FAULTS[0]]
    } else {
        select("fault", &args.fault, &FAULTS, |fault: &Fault| fault.name)?
    };
    let subjects = select("configuration", &args.configuration, &Subject::ALL, |known| known.name())?;
    let orders = select("order", &args.order, &Order::ALL, |known| known.name())?;
    let mut models = Vec::new();
    for &subject in &subjects {
        for &fault in &faults {
            for &order in &orders {
                models.push(Transfer { subject, fault, order, max_retry: 2 });
            }
        }
    }
    Ok(models)
}

pub(super) fn table(args: &ExploreArgs) -> Result<String, String> {
    let mut text = format!(
        "{:<13} {:<14} {:<5} {:>8} {:>11}",
        "configuration", "fault", "order", "states", "transitions"
    );
    for ending in Ending::ALL {
        let _ = write!(text, " {:>9}", ending.name());
    }
    let _ = writeln!(text, "  always ends well");
    let models = models(args)?;
    for model in &models {
        let (subject, fault, order) = (model.subject.name(), model.fault.name, model.order.name());
        let _ = write!(text, "{subject:<13} {fault:<14} {order:<5}");
        let row = graph(model, MAX_STATES).map(|graph| transfer_row(&graph));
        text += &cells(row, Ending::ALL, (8, 9), |_| true);
        text.push('\n');
    }
    text.push_str(
        "\nAn operation is repeated at most twice (Max_Retry is 2).\n\
         states: different situations of both ends and of the operations between them\n\
         transitions: events that lead from one to another\n\
         always ends well: whether done or given up can be reached from every state\n\
         In the cells between: in how many different states runs end so; - is none.\n",
    );
    let about = endings(Ending::ALL, Ending::name, Ending::about);
    let subjects = models.iter().map(|model| (model.subject.name(), model.subject.about().to_owned()));
    text += &legend("\nconfiguration: what end A does", subjects);
    text +=
        &legend("fault: what goes wrong", models.iter().map(|model| (model.fault.name, model.fault.about())));
    text += &legend("order: how messages arrive", orders(models.iter().map(|model| model.order)));
    Ok(text + &legend("the columns between: what there is in the end", about))
}

pub(super) fn path(args: &ExploreArgs, ending: &str) -> Result<String, String> {
    let ending = select("path", &[ending.to_owned()], &Ending::ALL, |known| known.name())?[0];
    let models = models(args)?;
    let [model] = &models[..] else {
        let problem = "--path: takes one configuration, fault and order";
        return Err(format!("{problem}; {} are selected", models.len()));
    };
    let title =
        format!("{}, {}, {}: {}", model.subject.name(), model.fault.name, model.order.name(), ending.name());
    let draw = |folder: &Path, path: &[Event]| draw_path(folder, model, path, &title);
    let wanted = (ending.name(), ending.about());
    shortest(args, model, MAX_STATES, wanted, |known| *known == ending, draw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn args(configuration: &str, fault: &str, order: &str) -> ExploreArgs {
        ExploreArgs {
            subject: cli::Subject::Transfer,
            algorithm: vec![],
            fault: vec![fault.into()],
            configuration: vec![configuration.into()],
            order: vec![order.into()],
            variant: Vec::new(),
            limit: None,
            path: None,
            out: None,
        }
    }

    #[test]
    fn a_row() {
        let text = table(&args("write", "none", "fifo")).unwrap();
        let row: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row[..6], ["write", "none", "fifo", "17", "18", "1"]);
        assert_eq!(row.last(), Some(&"yes"));
    }

    #[test]
    fn a_path() {
        let text = path(&args("connection", "LOSS1+TIMEOUT1", "any"), "stuck").unwrap();
        assert!(text.contains("\nA -> B: Request_Connection") && text.contains("is lost\n"), "{text}");
        let none = path(&args("write", "none", "any"), "twice").unwrap();
        assert!(none.starts_with("no run ends in twice: the word was changed twice"), "{none}");
    }

    #[test]
    fn flags_of_another_subject() {
        let wrong = ExploreArgs { algorithm: vec!["literal".into()], ..args("write", "none", "fifo") };
        assert_eq!(table(&wrong).unwrap_err(), "--algorithm: only with conduit; there is one for transfer");
        let wrong = ExploreArgs { limit: Some(3), ..args("write", "none", "fifo") };
        let error = "--limit: only with conduit and linx; what transfer repeats ends by itself";
        assert_eq!(table(&wrong).unwrap_err(), error);
    }
}
