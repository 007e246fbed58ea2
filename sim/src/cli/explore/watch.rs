//! Progress of a search on stderr, and the end of it by Ctrl-C.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use sim::search::Progress;

use crate::cli::{interrupt::interrupted, output::note};

/// A search under way.
pub struct Watch {
    bar: ProgressBar,
    begun: Instant,
    interrupted: Arc<AtomicBool>,
}

impl Watch {
    /// Starts the clock. From now on Ctrl-C asks the search to stop; a second one ends the program.
    pub fn start() -> Self {
        let interrupted = interrupted();
        // Drawn on a terminal only.
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { bar, begun: Instant::now(), interrupted }
    }

    /// Shows how far the search has come; says whether it should go on.
    pub fn look(&mut self, progress: Progress) -> ControlFlow<()> {
        let Progress { states, done, depth } = progress;
        let rate = per_second(states, self.begun.elapsed());
        self.bar.set_message(format!("{states} states, {} to look at, step {depth}, {rate} states/s", states - done));
        self.bar.tick();
        if self.interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Says how long it took; gives whether it was interrupted.
    pub fn finish(self, states: usize) -> bool {
        self.bar.finish_and_clear();
        let elapsed = self.begun.elapsed();
        let rate = per_second(states, elapsed);
        note(&format!("{states} states in {:.1} s, {rate} states/s\n", elapsed.as_secs_f64()));
        self.interrupted.load(Ordering::Relaxed)
    }
}

fn per_second(states: usize, elapsed: Duration) -> u64 {
    (states as f64 / elapsed.as_secs_f64().max(1e-6)) as u64
}
