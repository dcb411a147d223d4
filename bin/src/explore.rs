//! `riosim explore`: every interleaving of a small system, and what each ends in.

mod linx;
mod scenario;
mod transfer;

use crate::cli::{ExploreArgs, Subject};
use crate::console::print;
use crate::status::Failure;
use crate::whole::replace;
use crate::{inspect, memory};
use analysis::chart::Chart;
use analysis::explore::conduit::{Class, Conduit, Configuration, Event, FAULTS, Fault};
use analysis::explore::packing;
use analysis::explore::script::Walk;
use analysis::explore::sequence::{Conversation, chart, sentence};
use analysis::explore::{Endings, Graph, Model, Order, conduit_row};
use session_management::conduit::Algorithm;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// States beyond which an exploration is given up: a few GiB.
const MAX_STATES: usize = 20_000_000;

/// A part of the memory that there was at first, one of so many, is left to others.
const RESERVE: u64 = 8;

/// States after which memory is looked at again.
const EVERY: usize = 1_000;

/// OPENs of a conduit beyond which a run is a storm, unless `--limit` says another count.
const OPENS: u32 = 6;

/// Prints a table, or a path.
pub(crate) fn explore(args: &ExploreArgs) -> Result<(), Failure> {
    let text = match (&args.subject, &args.path) {
        (subject, _) if !args.variant.is_empty() && !matches!(subject, Subject::Scenario(_)) => {
            Err("--variant: only with a scenario".into())
        }
        (Subject::Linx | Subject::Transfer, None) if args.out.is_some() => {
            Err("--out: takes --path, but for conduits".into())
        }
        (Subject::Packing, _) => packing(args),
        (Subject::Linx, None) => linx::table(args),
        (Subject::Linx, Some(ending)) => linx::path(args, ending),
        (Subject::Transfer, None) => transfer::table(args),
        (Subject::Transfer, Some(ending)) => transfer::path(args, ending),
        (Subject::Conduit | Subject::Scenario(_), path) => {
            let models = match &args.subject {
                Subject::Scenario(file) => scenario::models(args, &inspect::load_file(file)?)
                    .map_err(|problem| format!("{}: {problem}", file.display())),
                _ => models(args).map(|models| (models, Vec::new())),
            };
            models.and_then(|(models, left_out)| {
                let mut text = match path {
                    None => table(args, &models)?,
                    Some(class) => self::path(args, &models, class)?,
                };
                left_out.iter().for_each(|variant| text += &format!("not explored: {variant}\n"));
                Ok(text)
            })
        }
    };
    print(&text.map_err(Failure::bad_input)?)
}

/// The packing examples of Scheduled Transfer.
fn packing(args: &ExploreArgs) -> Result<String, String> {
    let none = args.algorithm.is_empty() && args.fault.is_empty() && args.configuration.is_empty();
    if !none || args.limit.is_some() || !args.order.is_empty() || args.path.is_some() {
        return Err("packing: takes --out and nothing else".into());
    }
    let text = packing::table(&packing::EXAMPLES);
    if let Some(folder) = &args.out {
        let write = || -> io::Result<()> {
            fs::create_dir_all(folder)?;
            replace(&folder.join("packing.svg"), packing::svg(&packing::EXAMPLES).as_bytes())?;
            replace(&folder.join("packing.png"), &packing::png(&packing::EXAMPLES))?;
            replace(&folder.join("packing.txt"), text.as_bytes())
        };
        write().map_err(|problem| format!("--out: {}: {problem}", folder.display()))?;
    }
    Ok(text)
}

/// What is explored, and the variants of a scenario that mean it.
type Selected = (Conduit, Vec<String>);

/// The entries with one of the names, or all without names.
fn select<T: Copy>(what: &str, names: &[String], all: &[T], name: fn(&T) -> &str) -> Result<Vec<T>, String> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let find = |wanted: &String| {
        let found = all.iter().find(|known| name(known).eq_ignore_ascii_case(wanted));
        found.copied().ok_or_else(|| {
            let allowed: Vec<&str> = all.iter().map(name).collect();
            format!("--{what}: {wanted:?} found; allowed: {}", allowed.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// Everything that the flags select.
fn models(args: &ExploreArgs) -> Result<Vec<Selected>, String> {
    let algorithms = select("algorithm", &args.algorithm, &Algorithm::ALL, |known| known.name())?;
    let faults = if args.fault.is_empty() {
        vec![FAULTS[0]]
    } else {
        select("fault", &args.fault, &FAULTS, |fault: &Fault| fault.name)?
    };
    let configurations =
        select("configuration", &args.configuration, &Configuration::ALL, |known| known.name())?;
    let orders = select("order", &args.order, &Order::ALL, |known| known.name())?;
    let mut models = Vec::new();
    for &algorithm in &algorithms {
        for &fault in &faults {
            for &configuration in &configurations {
                for &order in &orders {
                    let model = Conduit::new(algorithm, fault, configuration, order);
                    models.push((Conduit { limit: args.limit.unwrap_or(OPENS), ..model }, Vec::new()));
                }
            }
        }
    }
    Ok(models)
}

/// The algorithm at both ends, or that of each.
fn algorithms(model: &Conduit) -> String {
    match model.algorithms.map(Algorithm::name) {
        [one, other] if one == other => one.to_owned(),
        [one, other] => format!("{one}/{other}"),
    }
}

/// What the words of a column mean, each once: a line for the column, and one for each word.
fn legend(column: &str, words: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let mut told: Vec<(&str, String)> = Vec::new();
    for (word, about) in words {
        if told.iter().all(|(known, _)| *known != word) {
            told.push((word, about));
        }
    }
    let width = told.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
    let lines: String = told.iter().map(|(word, about)| format!("  {word:<width$}  {about}\n")).collect();
    format!("{column}\n{lines}")
}

/// What the words of the table of conduits mean.
fn meanings(models: &[Selected]) -> String {
    let of = || models.iter().map(|(model, _)| model);
    legend(
        "\nconfiguration: who wants the conduit, M or P",
        of().map(|model| (model.configuration.name(), model.configuration.about().to_owned())),
    ) + &legend("fault: what goes wrong", of().map(|model| (model.fault.name, model.fault.about())))
        + &legend("order: how messages arrive", orders(of().map(|model| model.order)))
        + &legend(
            "the other columns: what there is in the end",
            endings(Class::ALL, Class::name, Class::about),
        )
}

/// Words of [`legend`] for orders of delivery.
fn orders(orders: impl Iterator<Item = Order>) -> impl Iterator<Item = (&'static str, String)> {
    orders.map(|order| (order.name(), order.about().to_owned()))
}

/// Words of [`legend`] for what runs end in.
fn endings<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    about: fn(T) -> &'static str,
) -> [(&'static str, String); N] {
    all.map(|ending| (name(ending), about(ending).to_owned()))
}

/// What follows the name of a model in a row: states and transitions, the first in so many columns, then
/// endings in so many each, or why there are none. `known`: whether its runs show what the last column says.
fn cells<O: Copy + Ord, const N: usize>(
    row: Result<Endings<O>, String>,
    all: [O; N],
    (states, each): (usize, usize),
    known: fn(&Endings<O>) -> bool,
) -> String {
    let row = match row {
        Ok(row) => row,
        Err(problem) => return format!(" {problem}"),
    };
    let mut text = format!(" {:>states$} {:>11}", row.states, row.transitions);
    for ending in all {
        let cell = row.endings.get(&ending).map_or("-".into(), usize::to_string);
        let _ = write!(text, " {cell:>each$}");
    }
    text + match row.live {
        true if known(&row) => "  yes",
        true => "  not known",
        false => "  no",
    }
}

fn table(args: &ExploreArgs, models: &[Selected]) -> Result<String, String> {
    let mut text = format!(
        "{:<10} {:<12} {:<13} {:<5} {:>10} {:>16}",
        "algorithm", "fault", "configuration", "order", "states", "interleavings"
    );
    for class in Class::ALL {
        let _ = write!(text, " {:>20}", class.name());
    }
    text.push('\n');
    let mut written = String::new();
    for (model, variants) in models {
        let label = format!(
            "{:<10} {:<12} {:<13} {:<5}",
            algorithms(model),
            model.fault.name,
            model.configuration.name(),
            model.order.name()
        );
        text.push_str(&label);
        let graph = graph(model, MAX_STATES);
        match graph.as_ref().map(conduit_row) {
            Ok(Ok(row)) => {
                let _ = write!(text, " {:>10} {:>16}", row.states, row.interleavings());
                for class in Class::ALL {
                    let cell = row.classes.get(&class);
                    let cell = cell.map_or("-".into(), |(paths, finals, _)| format!("{paths}/{finals}"));
                    let _ = write!(text, " {cell:>20}");
                }
            }
            Ok(Err(cyclic)) => {
                let _ = write!(text, " {cyclic}");
            }
            Err(problem) => {
                let _ = write!(text, " {problem}");
            }
        }
        text.push('\n');
        if !variants.is_empty() {
            let _ = writeln!(text, "  as in: {}", variants.join(", "));
        }
        if let (Some(folder), Ok(graph)) = (&args.out, &graph) {
            written += &bad_endings(folder, model, graph)?;
        }
    }
    text.push_str(
        "\nstates: different situations of both nodes and of the messages between them\n\
         interleavings: orders in which the events can happen, each of which is one run\n\
         In the cells behind: how many interleavings end so / in how many different states they end; - is \
         none. Only runs count in which the whole fault happened.\n",
    );
    Ok(text + &meanings(models) + &written)
}

/// Explores a model, as far as there is memory.
///
/// # Errors
/// How many states were found when it was given up, and why.
fn graph<M: Model>(model: &M, max_states: usize) -> Result<Graph<'_, M>, String> {
    let left = || memory::ask().map(|memory| memory.available());
    let least = left().map(|octets| octets / RESERVE);
    let (mut full, mut next) = (None, EVERY);
    let graph = Graph::explore_while(model, |states| {
        // Each state may find several others, or none.
        if states >= next {
            next = states + EVERY;
            let fits = least.zip(left()).is_none_or(|(least, left)| left >= least);
            full = (!fits).then_some(states);
        }
        full.is_none() && states <= max_states
    });
    graph.ok_or_else(|| match full {
        Some(states) => format!("more states than fit into memory: {states} so far"),
        None => format!("more than {max_states} states"),
    })
}

/// Writes a shortest path to each bad ending of a model; says which.
fn bad_endings(folder: &Path, model: &Conduit, graph: &Graph<'_, Conduit>) -> Result<String, String> {
    let mut text = String::new();
    for class in Class::ALL.into_iter().filter(|class| !matches!(class, Class::One | Class::None)) {
        let Some(path) = graph.shortest(|end| end.spent && end.class() == class) else { continue };
        let (fault, configuration, order) =
            (model.fault.name, model.configuration.name(), model.order.name());
        let algorithm = algorithms(model).replace('/', "-");
        let folder = folder
            .join(format!("{algorithm}-{fault}-{configuration}-{order}-{}", class.name()).to_lowercase());
        let realisable = write(&folder, model, &path, class)
            .map_err(|error| format!("--out: {}: {error}", folder.display()))?;
        let told = match realisable {
            true => "delays of messages can bring this about",
            false => "no delays of messages bring this about while timers keep their periods",
        };
        let _ = writeln!(text, "{}: {told}", folder.display());
    }
    Ok(text)
}

/// A shortest path that ends in what is wanted (name and meaning), in sentences; with `--out` also in files,
/// by `write`.
fn shortest<M: Conversation>(
    args: &ExploreArgs,
    model: &M,
    max_states: usize,
    (ending, about): (&str, &str),
    wanted: impl Fn(&M::Outcome) -> bool,
    write: impl Fn(&Path, &[M::Event]) -> io::Result<()>,
) -> Result<String, String> {
    let graph = graph(model, max_states)?;
    let Some(path) = graph.shortest(wanted) else { return Ok(format!("no run ends in {ending}: {about}\n")) };
    if let Some(folder) = &args.out {
        write(folder, &path).map_err(|error| format!("--out: {}: {error}", folder.display()))?;
    }
    let [one, other] = M::NODES;
    let lines: String = path.iter().map(|event| sentence::<M>(event) + "\n").collect();
    Ok(format!(
        "A shortest run that ends in {ending}: {about}. {one} and {other} are the nodes; each line is an \
         event, in the order of time ({one} -> {other}: {other} takes what {one} sent).\n{lines}"
    ))
}

/// The path as a chart.
fn draw_path<M: Conversation>(folder: &Path, model: &M, path: &[M::Event], title: &str) -> io::Result<()> {
    draw(folder, &chart(model, path, title, "").expect("it is a path of this model"))
}

fn draw(folder: &Path, chart: &Chart) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    replace(&folder.join("path.svg"), chart.to_svg().as_bytes())?;
    replace(&folder.join("path.png"), &chart.to_png())?;
    replace(&folder.join("path.txt"), chart.to_text().as_bytes())
}

/// The path as a chart, and as a scenario that replays it. Says whether some delays give this order.
fn write(folder: &Path, model: &Conduit, path: &[Event], class: Class) -> io::Result<bool> {
    let walk = Walk::new(model, path).expect("it is a path of this model");
    let scenario = walk.scenario(class);
    let title = scenario["title"].as_str().unwrap_or_default();
    let realisable = walk.instants().is_some();
    draw(folder, &walk.chart(title, if realisable { "realisable" } else { "not realisable" }))?;
    let mut replay = serde_json::to_string_pretty(&scenario).expect("a scenario has only string keys");
    replay.push('\n');
    replace(&folder.join("path.json"), replay.as_bytes())?;
    Ok(realisable)
}

fn path(args: &ExploreArgs, models: &[Selected], class: &str) -> Result<String, String> {
    let class = select("path", &[class.to_owned()], &Class::ALL, |class| class.name())?[0];
    let [(model, _)] = models else {
        let problem = match args.subject {
            Subject::Scenario(_) => "--path: takes one variant, fault and order",
            _ => "--path: takes one algorithm, fault, configuration and order",
        };
        return Err(format!("{problem}; {} are selected", models.len()));
    };
    shortest(
        args,
        model,
        MAX_STATES,
        (class.name(), class.about()),
        |end| end.spent && end.class() == class,
        |folder, path| write(folder, model, path, class).map(|_| ()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(algorithm: &str, fault: &str, configuration: &str, order: &str) -> ExploreArgs {
        let one = |name: &str| vec![name.to_owned()];
        ExploreArgs {
            subject: Subject::Conduit,
            algorithm: one(algorithm),
            fault: one(fault),
            configuration: one(configuration),
            order: one(order),
            variant: Vec::new(),
            limit: None,
            path: None,
            out: None,
        }
    }

    fn shown(args: &ExploreArgs) -> Result<String, String> {
        models(args).and_then(|models| match &args.path {
            None => table(args, &models),
            Some(class) => path(args, &models, class),
        })
    }

    fn shortest(args: ExploreArgs, class: &str) -> Result<String, String> {
        shown(&ExploreArgs { path: Some(class.to_owned()), ..args })
    }

    #[test]
    fn a_row() {
        let text = shown(&args("literal", "none", "PEERS", "fifo")).unwrap();
        let row: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row[..4], ["literal", "none", "PEERS", "fifo"]);
        assert_eq!(row[5..], ["200", "8/1", "-", "-", "-", "-", "-", "192/2"]);
        // Every head but the first, and every word of the row, is explained below, each where it stands.
        let (_, below) = text.split_once("\n\n").unwrap();
        let heads = text.lines().next().unwrap().split_whitespace().skip(1);
        let words: Vec<&str> = heads.chain(row[1..4].iter().copied()).collect();
        for word in &words {
            let told = |line: &&str| line.trim_start().split([' ', ':']).next() == Some(word);
            let stands = words.iter().filter(|other| *other == word).count();
            assert_eq!(below.lines().filter(told).count(), stands, "{word}: {below}");
        }
    }

    #[test]
    fn a_path() {
        let text = shortest(args("minimal", "none", "MS", "fifo"), "one").unwrap();
        assert_eq!(
            text,
            "A shortest run that ends in one: one conduit, of which both nodes have the same record. M and P \
             are the nodes; each line is an event, in the order of time (M -> P: P takes what M sent).\n\
             M: create_conduit\nM -> P: OPEN 0 (F,F)\nP -> M: ACCEPT 0 (F,0x2000)\n\
             P -> M: OPEN 0 (F,0x2000)\nM -> P: ACCEPT 0 (0x2000,0x1000)\n"
        );
        assert_eq!(
            shortest(args("corrected", "LOSS1", "MS", "any"), "storm").unwrap(),
            "no run ends in storm: OPENs beyond --limit, where the run was cut: it goes on for ever\n"
        );
    }

    #[test]
    fn names_that_do_not_exist() {
        let error = shown(&args("litteral", "none", "MS", "fifo")).unwrap_err();
        assert_eq!(error, "--algorithm: \"litteral\" found; allowed: literal, minimal, corrected");
        assert!(shortest(args("literal", "none", "MS", "fifo"), "good").is_err());
    }
}
