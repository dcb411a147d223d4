//! The progress bar: wall-clock time, events per second, simulated time, time left.
//!
//! It is silent with `--quiet` and where standard error is not a terminal.

use crate::simulate::{Follow, Onlooker, Running};
use analysis::num::{three_digits, time_text};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use scenarios::Variant;
use std::time::Instant;

/// Steps of a bar.
const STEPS: u64 = 1_000;

/// The bars of all variants.
pub(crate) struct Bars {
    all: MultiProgress,
    width: usize,
}

impl Bars {
    /// Bars for variants with these names.
    pub fn new<'a>(quiet: bool, names: impl Iterator<Item = &'a str>) -> Self {
        // indicatif draws nothing where standard error is no terminal
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
        Self { all: MultiProgress::with_draw_target(target), width }
    }

    fn bar(&self, name: &str, until_ps: u64) -> Bar {
        let style = ProgressStyle::with_template("{prefix} {bar:24} {percent:>3} %  {msg}");
        let style = style.expect("the template is a constant").progress_chars("=> ");
        let bar = self.all.add(ProgressBar::new(STEPS).with_style(style));
        bar.set_prefix(format!("{name:<width$}", width = self.width));
        Bar { bar, until_ps: until_ps.max(1), started: Instant::now() }
    }
}

impl Onlooker for Bars {
    fn follow<'a>(&'a self, _: usize, variant: &'a Variant) -> Box<dyn Follow + 'a> {
        Box::new(self.bar(&variant.name, variant.until.0))
    }
}

/// The bar of one variant.
struct Bar {
    bar: ProgressBar,
    until_ps: u64,
    started: Instant,
}

impl Follow for Bar {
    fn show(&self, run: &Running) {
        if self.bar.is_hidden() {
            return;
        }
        let (now_ps, events) = run.reached();
        let elapsed = self.started.elapsed().as_secs_f64();
        let share = now_ps as f64 / self.until_ps as f64;
        self.bar.set_position((share * STEPS as f64) as u64);
        let mut text = format!(
            "{}, {} M events/s",
            time_text(now_ps as f64),
            three_digits(events as f64 / elapsed / 1e6)
        );
        if share > 0.0 {
            text += &format!(", {} left", seconds_text(elapsed / share * (1.0 - share)));
        }
        self.bar.set_message(text);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The bar over all runs of a sweep.
pub(crate) struct Total {
    bar: ProgressBar,
    kept: std::sync::atomic::AtomicU64,
    started: Instant,
}

impl Total {
    /// A bar for so many runs.
    pub fn new(quiet: bool, runs: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {pos} of {len} runs{msg}");
        let style = style.expect("the template is a constant").progress_chars("=> ");
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(runs), target).with_style(style);
        Self { bar, kept: 0.into(), started: Instant::now() }
    }

    /// So many runs were there before.
    pub fn begin(&self, kept: u64, runs: u64) {
        self.kept.store(kept, std::sync::atomic::Ordering::Relaxed);
        self.bar.set_length(runs);
        self.bar.set_position(kept);
    }

    /// The stop rule wants more.
    pub fn more(&self, runs: u64) {
        self.bar.set_length(runs);
    }

    /// So many more runs are durable.
    pub fn add(&self, runs: u64) {
        self.bar.inc(runs);
        if self.bar.is_hidden() {
            return;
        }
        let new = self.bar.position() - self.kept.load(std::sync::atomic::Ordering::Relaxed);
        let left = self.bar.length().unwrap_or(0).saturating_sub(self.bar.position());
        let rate = new as f64 / self.started.elapsed().as_secs_f64();
        self.bar.set_message(format!(
            ", {} a second, {} left",
            three_digits(rate),
            seconds_text(left as f64 / rate)
        ));
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// A span of wall-clock time in words.
pub(crate) fn seconds_text(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3_600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3_600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_reads_well() {
        assert_eq!(seconds_text(-1.0), "0 s");
        assert_eq!(seconds_text(59.9), "59 s");
        assert_eq!(seconds_text(61.0), "1 min 1 s");
        assert_eq!(seconds_text(7_260.0), "2 h 1 min");
    }
}
