//! `run --watch`: how far a run is, which links are hot, which queues are stopped, what protocols did: drawn
//! on the terminal while it goes on.
//!
//! Numbers are taken between two slices, of totals that the fabric keeps anyway, so the run does not notice.
//! It draws on standard error, like the progress bar; what a run prints at its end goes to standard output.

mod screen;
mod sight;

use crate::simulate::{Follow, Onlooker, Running};
use crate::status::Failure;
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use scenarios::{RunPlan, Variant};
use sight::{Sight, State};
use std::cell::Cell;
use std::io::{IsTerminal, Stderr, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Wall-clock time between two pictures.
const PERIOD: Duration = Duration::from_millis(250);
/// A look takes at most one of so many parts of the time.
const PART: u32 = 20;

/// The screen is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Held by who draws on it.
static PEN: Mutex<()> = Mutex::new(());

/// Somebody else has drawn on it since.
static FOREIGN: AtomicBool = AtomicBool::new(false);

/// The right to draw, for whoever has something to do to the screen.
fn pen() -> Option<MutexGuard<'static, ()>> {
    // A picture that is being drawn takes less than this, unless it is drawing that has panicked.
    (0..100).find_map(|_| match PEN.try_lock() {
        Ok(pen) => Some(pen),
        Err(_) => {
            std::thread::sleep(Duration::from_millis(1));
            None
        }
    })
}

/// Gives the screen back as it was, if it was taken: at the end, at a panic, at a second Ctrl-C. Nothing is
/// drawn any more afterwards.
pub(crate) fn restore() {
    let pen = pen();
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
    }
    drop(pen);
}

/// Gives the screen back while the run is suspended (Ctrl-Z), and takes it again when it goes on.
///
/// # Errors
/// If signals cannot be watched.
#[cfg(unix)]
fn share_with_the_shell() -> std::io::Result<()> {
    use ratatui::crossterm::terminal::{Clear, ClearType};
    use signal_hook::consts::SIGTSTP;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let mut signals = Signals::new([SIGTSTP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let pen = pen();
            let taken = TAKEN.load(Ordering::SeqCst);
            if taken {
                let _ = execute!(stderr(), LeaveAlternateScreen, Show);
            }
            let _ = emulate_default_handler(signal);
            if taken {
                let _ = execute!(stderr(), EnterAlternateScreen, Clear(ClearType::All), Hide);
                FOREIGN.store(true, Ordering::SeqCst);
            }
            drop(pen);
        }
    });
    Ok(())
}

/// All variants of a run on a terminal.
pub(crate) struct Watch<B: Backend> {
    board: Mutex<Board<B>>,
    period: Duration,
}

struct Board<B: Backend> {
    title: String,
    terminal: Terminal<B>,
    sights: Vec<Sight>,
    /// Whether the terminal may be drawn on.
    open: fn() -> bool,
}

impl Watch<CrosstermBackend<Stderr>> {
    /// Takes the screen.
    ///
    /// # Errors
    /// [`Failure`] if standard error is no terminal, or does not let itself be drawn on.
    pub fn new(plan: &RunPlan) -> Result<Self, Failure> {
        if !stderr().is_terminal() {
            let why = "standard error is no terminal, so there is nothing to draw on; leave it out";
            return Err(Failure::bad_input(format_args!("--watch: {why}")));
        }
        let cannot =
            |error| Failure::bad_input(format_args!("--watch: cannot draw on this terminal: {error}"));
        let watch = Self::on(CrosstermBackend::new(stderr()), plan, PERIOD, || TAKEN.load(Ordering::SeqCst));
        let watch = watch.map_err(cannot)?;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        #[cfg(unix)]
        share_with_the_shell().map_err(cannot)?;
        TAKEN.store(true, Ordering::SeqCst);
        execute!(stderr(), EnterAlternateScreen, Hide).map_err(cannot)?;
        Ok(watch)
    }
}

impl<B: Backend> Watch<B> {
    fn on(backend: B, plan: &RunPlan, period: Duration, open: fn() -> bool) -> Result<Self, B::Error> {
        let sights = plan.variants.iter().map(|variant| Sight::new(&variant.name)).collect();
        let (title, terminal) = (plan.title.clone(), Terminal::new(backend)?);
        Ok(Self { board: Board { title, terminal, sights, open }.into(), period })
    }

    fn board(&self) -> MutexGuard<'_, Board<B>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Backend> Drop for Watch<B> {
    fn drop(&mut self) {
        restore();
    }
}

impl<B: Backend> Board<B> {
    fn draw(&mut self) {
        let _pen = PEN.lock().unwrap_or_else(PoisonError::into_inner);
        if !(self.open)() {
            return;
        }
        if FOREIGN.swap(false, Ordering::SeqCst) {
            // Nothing of the picture before is there. (To clear the terminal asks it where its cursor is.)
            self.terminal.swap_buffers();
        }
        // Who cannot be drawn on any more does not end the run.
        let _ = self.terminal.draw(|frame| screen::draw(frame, &self.title, &self.sights));
    }
}

impl<B: Backend + Send> Onlooker for Watch<B> {
    fn follow<'a>(&'a self, number: usize, variant: &'a Variant) -> Box<dyn Follow + 'a> {
        self.board().sights[number].state = State::Running;
        let now = Instant::now();
        Box::new(Seat { watch: self, number, variant, started: now, due: now.into() })
    }
}

/// From where one variant is watched.
struct Seat<'a, B: Backend + Send> {
    watch: &'a Watch<B>,
    number: usize,
    variant: &'a Variant,
    started: Instant,
    /// When it is looked at again.
    due: Cell<Instant>,
}

impl<B: Backend + Send> Follow for Seat<'_, B> {
    fn show(&self, run: &Running) {
        let begun = Instant::now();
        if begun < self.due.get() {
            return;
        }
        let outcome = run.look();
        let mut board = self.watch.board();
        let until = self.variant.until;
        board.sights[self.number].update(&self.variant.config, &outcome, until, self.started.elapsed());
        board.draw();
        let done = Instant::now();
        self.due.set(done + self.watch.period.max((done - begun) * PART));
    }
}

impl<B: Backend + Send> Drop for Seat<'_, B> {
    fn drop(&mut self) {
        self.watch.board().sights[self.number].state = State::Over;
    }
}

#[cfg(test)]
mod tests;
