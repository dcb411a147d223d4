//! What is wrong with a scenario, where, and what would be right.

use crate::excerpt::Excerpt;
use crate::source;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceSpan};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Whether a finding stops the scenario.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// The scenario runs, but look at this before trusting its results.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, for example `SC012`; see [`CODES`].
    pub code: &'static str,
    /// Whether it stops the scenario.
    pub severity: Severity,
    /// JSON pointer of the place.
    pub pointer: String,
    /// What was found.
    pub message: String,
    /// What is allowed, and a guess of what was meant.
    pub help: Option<String>,
    /// Variant in which it was found, if the file alone is fine.
    pub variant: Option<String>,
    /// Second place that matters, with its role.
    pub also: Option<(String, String)>,
    /// Whether the finding is about the key rather than the value.
    pub(crate) at_key: bool,
    /// Exact place in the text, if the pointer does not say it.
    pub(crate) span: Option<Range<usize>>,
    /// What it is about comes when the run is over.
    pub(crate) beyond_run: bool,
    /// What it is about is not in the text: another value was given in its place.
    pub(crate) replaced: bool,
}

/// Not the file says when the run is over, but who runs it for a shorter time, and wants no more of it: what
/// comes later is told, and is no mistake. Whether there is such.
pub(crate) fn cut_short(found: &mut [Diagnostic]) -> bool {
    let mut any = false;
    for item in found.iter_mut().filter(|item| item.beyond_run) {
        item.severity = Severity::Warning;
        any = true;
    }
    any
}

impl Diagnostic {
    /// An error at `pointer`.
    pub fn error(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        debug_assert!(CODES.iter().any(|c| c.0 == code), "{code} is not in the table of codes");
        Self {
            code,
            severity: Severity::Error,
            pointer: pointer.into(),
            message: message.into(),
            help: None,
            variant: None,
            also: None,
            at_key: false,
            span: None,
            beyond_run: false,
            replaced: false,
        }
    }

    /// What it is about comes when the run is over: no mistake where somebody cuts a run short.
    #[must_use]
    pub(crate) fn beyond_run(mut self) -> Self {
        self.beyond_run = true;
        self
    }

    pub(crate) fn is_beyond_run(&self) -> bool {
        self.beyond_run
    }

    /// Whether it is about the value at this pointer, or about something in it.
    pub(crate) fn is_in(&self, pointer: &str) -> bool {
        self.pointer.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// It is about what was given in place of what the text has, so no part of the text shows it.
    #[must_use]
    pub(crate) fn replaced(self) -> Self {
        Self { replaced: true, ..self.help("this was given in place of what the file says") }
    }

    /// A warning at `pointer`.
    pub fn warning(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, pointer, message) }
    }

    /// Adds what is allowed.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(match self.help {
            Some(before) => format!("{before}; {}", help.into()),
            None => help.into(),
        });
        self
    }

    /// Adds "did you mean" if one of `names` is close to `found`.
    #[must_use]
    pub fn did_you_mean<'a>(self, found: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match closest(found, names) {
            Some(name) => self.help(format!("did you mean \"{name}\"?")),
            None => self,
        }
    }

    /// As [`Diagnostic::did_you_mean`], but a name that differs in its number alone is no likely slip.
    #[must_use]
    pub fn did_you_mean_name<'a>(self, found: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let letters = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let own = letters(found);
        self.did_you_mean(found, names.into_iter().filter(|name| letters(name) != own))
    }

    /// Adds a second place.
    #[must_use]
    pub fn also(mut self, pointer: impl Into<String>, role: impl Into<String>) -> Self {
        self.also = Some((pointer.into(), role.into()));
        self
    }

    pub(crate) fn at_key(mut self) -> Self {
        self.at_key = true;
        self
    }
}

/// The name closest to `found`, if it is close enough to be a slip.
pub fn closest<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = found.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance * 3 <= name.chars().count().max(found.chars().count()))
        .min()
        .map(|(_, name)| name)
}

/// Most findings that are printed; the rest is counted.
const SHOWN_MAX: usize = 25;

/// All findings about one file, errors first, each in the order of the file.
#[derive(Clone)]
pub struct Diagnostics {
    /// The findings.
    pub items: Vec<Diagnostic>,
    file: String,
    text: Arc<str>,
}

impl Diagnostics {
    pub(crate) fn new(file: &str, text: &str, items: Vec<Diagnostic>) -> Self {
        let mut all = Self { items, file: file.to_owned(), text: text.into() };
        let clean = source::blank_comments(text);
        let valid = serde_json::from_str::<serde::de::IgnoredAny>(&clean).is_ok();
        for item in &mut all.items {
            if item.span.is_none() && valid && !item.replaced {
                let place = source::locate(&clean, &item.pointer);
                item.span = Some(match place.key {
                    Some(key) if item.at_key => key,
                    _ => place.value,
                });
            }
        }
        all.items.sort_by_key(|item| (item.severity, item.span.as_ref().map_or(0, |s| s.start)));
        all
    }

    /// Other findings about the same file, if there are any.
    pub(crate) fn instead(&self, items: Vec<Diagnostic>) -> Result<(), Self> {
        if items.is_empty() { Ok(()) } else { Err(Self::new(&self.file, &self.text, items)) }
    }

    /// Whether any finding stops the scenario.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|item| item.severity == Severity::Error)
    }

    /// Number of errors and of warnings.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.items.iter().filter(|item| item.severity == Severity::Error).count();
        (errors, self.items.len() - errors)
    }

    /// All findings with snippets of the file, without colour.
    pub fn render(&self) -> String {
        self.render_with(GraphicalTheme::unicode_nocolor())
    }

    /// All findings with snippets of the file, in colour.
    pub fn render_coloured(&self) -> String {
        self.render_with(GraphicalTheme::unicode())
    }

    fn render_with(&self, theme: GraphicalTheme) -> String {
        let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_context_lines(1);
        let mut out = String::new();
        for item in self.items.iter().take(SHOWN_MAX) {
            let shown = Shown::new(item, self);
            let mut one = String::new();
            if handler.render_report(&mut one, &shown).is_err() {
                one = format!("{} {shown}\n", item.code);
            }
            for line in one.lines() {
                out.push_str(line.trim_end());
                out.push('\n');
            }
            out.push('\n');
        }
        if self.items.len() > SHOWN_MAX {
            out.push_str(&format!("... and {} more\n", self.items.len() - SHOWN_MAX));
        }
        let (errors, warnings) = self.counts();
        out.push_str(&format!("{}: {}, {}\n", self.file, count(errors, "error"), count(warnings, "warning")));
        out
    }
}

/// `1 error`, `2 errors`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

impl std::error::Error for Diagnostics {}

/// One finding as miette wants it.
struct Shown<'a> {
    item: &'a Diagnostic,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    source: Excerpt<'a>,
}

impl<'a> Shown<'a> {
    fn new(item: &'a Diagnostic, all: &'a Diagnostics) -> Self {
        let text = &*all.text;
        let mut places = Vec::new();
        if let Some(span) = &item.span {
            places.push((None, first_line(text, span)));
            if let Some((pointer, role)) = &item.also {
                let place = source::locate(&source::blank_comments(text), pointer);
                places.push((Some(role.clone()), first_line(text, &place.value)));
            }
        }
        let source = Excerpt::new(&all.file, text, places.iter().map(|(_, span)| span.start));
        let labels = places
            .into_iter()
            .map(|(role, span)| {
                let (start, end) = (source.offset(span.start), source.offset(span.end));
                LabeledSpan::new_with_span(role, SourceSpan::from((start, end - start)))
            })
            .collect();
        Shown { item, help: item.help.as_deref().map(printable), labels, source }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variant) = &self.item.variant {
            write!(f, "variant \"{}\": ", printable(variant))?;
        }
        let pointer = &self.item.pointer;
        match pointer.split_once("/set/~1") {
            // The key of a variant's setting is a pointer itself: unescaped it can be read.
            Some((variant, key)) => {
                write!(f, "{}/set \"/{}\": ", printable(variant), printable(&source::unescape(key)))?;
            }
            None if pointer.is_empty() => {}
            None => write!(f, "{}: ", printable(pointer))?,
        }
        f.write_str(&printable(&self.item.message))
    }
}

/// Longest part of a message; a name in it can be as long as the file.
const PART_MAX: usize = 2_000;

/// Text from the file as a terminal may see it: no control characters, and an end.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(PART_MAX));
    for (at, c) in text.char_indices() {
        if at > PART_MAX {
            out.push('…');
            break;
        }
        if c.is_control() && c != '\n' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Shown<'_> {}

impl miette::Diagnostic for Shown<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(self.item.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.item.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display + 'b>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.item.span.as_ref().map(|_| &self.source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() { None } else { Some(Box::new(self.labels.iter().cloned())) }
    }
}

/// A snippet of a long value would fill the screen: its first line says enough.
fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = span.start.min(text.len());
    let end = span.end.clamp(start, text.len());
    start..text.get(start..end).and_then(|value| value.find('\n')).map_or(end, |length| start + length)
}

/// Every code with what it stands for. Codes are never reused.
pub const CODES: &[(&str, &str)] = &[
    ("SC001", "the text is not JSON"),
    ("SC002", "an object has a key twice"),
    ("SC003", "wrong type of value"),
    ("SC004", "unknown field"),
    ("SC005", "missing field"),
    ("SC006", "unknown choice"),
    ("SC007", "quantity that cannot be read"),
    ("SC008", "value out of range"),
    ("SC009", "bad name"),
    ("SC010", "unknown device preset"),
    ("SC011", "no such device or endpoint"),
    ("SC012", "no such port"),
    ("SC013", "port used twice"),
    ("SC014", "end of a link that leads nowhere"),
    ("SC015", "two devices of one name"),
    ("SC016", "two owners of one destination id"),
    ("SC017", "destination id out of range"),
    ("SC018", "too many ports"),
    ("SC019", "topology that cannot be built"),
    ("SC020", "destination that cannot be reached"),
    ("SC021", "packets that go round for ever"),
    ("SC022", "routing that can deadlock"),
    ("SC023", "bad multicast group"),
    ("SC024", "bad routing entry"),
    ("SC025", "endpoint without a link"),
    ("SC026", "routing method that does not fit the topology"),
    ("SC030", "too few receive buffers"),
    ("SC031", "watermarks that do not descend"),
    ("SC032", "thresholds that do not descend"),
    ("SC033", "staging that cannot work"),
    ("SC034", "VoQ backpressure on short control symbols"),
    ("SC035", "VoQ backpressure on a 64b/67b link"),
    ("SC036", "messages to a neighbour that cannot receive them"),
    ("SC037", "VoQ backpressure that nobody can use"),
    ("SC038", "lane rate that the link cannot have"),
    ("SC039", "control symbol that the link cannot have"),
    ("SC040", "load that cannot be offered"),
    ("SC041", "payload that cannot be sent"),
    ("SC043", "no traffic"),
    ("SC044", "bad trace"),
    ("SC045", "permutation of a number of endpoints that it does not fit"),
    ("SC046", "two flows of one name"),
    ("SC047", "flow that sends nothing"),
    ("SC048", "flow of two kinds"),
    ("SC049", "flows that disagree about the MTU"),
    ("SC050", "times in the wrong order"),
    ("SC051", "setting without effect"),
    ("SC052", "more lanes than a device has"),
    ("SC053", "no such variant to compare with"),
    ("SC060", "pointer that leads nowhere"),
    ("SC061", "two variants of one name"),
    ("SC062", "no such flow"),
    ("SC063", "loss of symbols that are never sent"),
    ("SC064", "override that changes nothing"),
    ("SC065", "setting that a host of its own makes"),
    ("SC066", "endpoint that the host cannot set up"),
    ("SC067", "fault that the link cannot have"),
    ("SC068", "damaged packets and cut-through"),
    ("SC069", "virtual channels and what does not go with them"),
    ("SC070", "endpoint offered more than its link carries"),
    ("SC071", "fewer buffers than the round trip wants"),
    ("SC072", "threshold that is never reached"),
    ("SC073", "destination without a route"),
    ("SC074", "links of different speed"),
    ("SC075", "routing that can deadlock, accepted by the file"),
    ("SC076", "staging queues that can stop each other"),
    ("SC077", "script of which no delays give the order"),
    ("SC080", "something that a medium does not have"),
    ("SC081", "too few places above a threshold"),
    ("SC082", "write to a register that cannot be"),
    ("SC083", "messages that cannot be linked with virtual channels"),
    ("SC084", "port that cannot link messages with virtual channels"),
    ("SC085", "LINX ports that do not tell nodes apart"),
    ("SC086", "frame of LINX that cannot be injected"),
    ("SC087", "setting of LINX that makes no sense"),
    ("SC090", "census with no instants or too many"),
    ("SC091", "session that does not go with its protocol"),
    ("SC092", "broadcast by a group that cannot take part"),
    ("SC093", "node that cannot be found in this way"),
    ("SC094", "flows of sessions that a node cannot tell apart"),
    ("SC095", "bridge or server of broadcasts that cannot do its work"),
    ("SC096", "registers of sessions that nobody initialises, or two do"),
    ("SC097", "more multicast groups than a port can stage"),
    ("SC098", "scenario that does not fit the memory of the machine"),
    ("SC099", "processors that lock with one value"),
    ("SC100", "requirement of neither flows nor links, or of both"),
    ("SC101", "requirement that asks for nothing"),
    ("SC102", "no such link"),
    ("SC103", "no such metric"),
    ("SC104", "unit that a metric does not have"),
    ("SC105", "flow that is hot and a victim"),
    ("SC106", "settings of one variant that overwrite each other"),
    ("SC107", "translator that cannot do its work"),
    ("SC110", "few Slots of Scheduled Transfer"),
    ("SC111", "more FetchOps at a time than the owner of a word keeps"),
    ("SC112", "fault that is there already"),
    ("SC113", "flow that is switched off"),
    ("SC114", "fault while others last"),
    ("SC115", "message or frame longer than its nodes take"),
    ("SC116", "fewer places than others send messages to"),
    ("SC117", "frames of LINX that others pass"),
    ("SC118", "times that are over before an answer can be there"),
    ("SC119", "operations that hardly ever come whole"),
    ("SC120", "time that the run does not reach"),
    ("SC121", "more frames at a time than a host has places for"),
    ("SC122", "pools that can fill with packets for each other"),
    ("SC123", "write to a register that no route of the host leads to"),
    ("SC124", "program whose ranks wait for each other"),
    ("SC125", "flow that gets nowhere behind a higher priority"),
    ("SW001", "axis that names no value or too many"),
    ("SW002", "axis with bad values"),
    ("SW003", "no such parameter"),
    ("SW004", "two axes of one name"),
    ("SW005", "zipped axes of different length"),
    ("SW006", "too many points"),
    ("SW007", "replications that cannot be"),
    ("SW008", "no such metric, flow or axis"),
    ("SW009", "sweep of a scenario that cannot be read"),
    ("SW010", "axis whose value is not simulated"),
    ("SW011", "points of a sample that are others again"),
];
