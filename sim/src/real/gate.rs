//! Holds threads to a pinned schedule.
//!
//! Every writer stops at whatever it needs next and says where it stands. Who follows the schedule waits until all of them have stopped, lets one make
//! its step, and waits again; after the last step the gate stays open.

use super::sync::{Condvar, Mutex, MutexGuard};
use crate::{
    naming::CallId,
    run::{NotEnabled, Stand, refuse},
    scenario::PinnedStep,
    world::Setting,
};

/// A gate for the writers of one run.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Where each writer has stopped; `None` while it runs.
    stands: Vec<Option<Stand>>,
    /// Who may make which step, and the call that it was in when it stopped.
    granted: Option<(usize, PinnedStep)>,
    /// The call that made the step that is under way.
    stepping: Option<CallId>,
    open: bool,
    halted: bool,
}

/// What a writer shall do that has stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pass {
    /// Go on.
    On,
    /// Give up its call as if it was killed.
    Crash,
    /// Make no more calls: the run is over.
    End,
}

impl Gate {
    /// A gate that is shut for so many writers.
    pub fn shut(writers: usize) -> Self {
        let stands = vec![None; writers];
        let state = State { stands, granted: None, stepping: None, open: false, halted: false };
        Self { state: Mutex::new(state), changed: Condvar::default() }
    }

    /// Stops a writer whose call stands so until it is told what to do.
    pub(super) fn pass(&self, call: CallId, stand: Stand) -> Pass {
        let mut state = self.state.lock();
        let writer = call.writer;
        if let (Some((granted, step)), Some(stepping)) = (state.granted, state.stepping)
            && granted == writer
        {
            if stepping == call && !stand.ends(step) {
                return Pass::On;
            }
            (state.granted, state.stepping) = (None, None);
        }
        state.stands[writer] = Some(stand);
        self.changed.notify_all();
        loop {
            if state.halted {
                return Pass::End;
            }
            let granted = state.granted.filter(|(granted, _)| *granted == writer).map(|(_, step)| step);
            if state.open || granted.is_some() {
                state.stands[writer] = None;
                state.stepping = granted.map(|_| call);
                return if granted == Some(PinnedStep::Crash) { Pass::Crash } else { Pass::On };
            }
            state = self.changed.wait(state);
        }
    }

    /// A writer makes no more calls.
    pub(super) fn leave(&self, writer: usize) {
        let mut state = self.state.lock();
        if matches!(state.granted, Some((granted, _)) if granted == writer) {
            (state.granted, state.stepping) = (None, None);
        }
        state.stands[writer] = Some(Stand::Finished);
        self.changed.notify_all();
    }

    /// Lets the writers make the steps of the setting's schedule, one after the other, and then lets them all go.
    ///
    /// # Errors
    /// When a step is not possible; the writers are told to end then.
    pub fn follow(&self, setting: &Setting) -> Result<(), NotEnabled> {
        for (position, pinned) in setting.scenario.schedule.iter().flatten().enumerate() {
            let mut state = self.all_stopped();
            let stands: Vec<Stand> = state.stands.iter().map(|stand| stand.expect("all have stopped")).collect();
            if let Some(error) = refuse(setting, position, pinned, &stands) {
                state.halted = true;
                self.changed.notify_all();
                return Err(error);
            }
            let writer = setting.scenario.writers.iter().position(|spec| spec.name == pinned.writer);
            state.granted = writer.map(|writer| (writer, pinned.step));
            self.changed.notify_all();
        }
        let mut state = self.all_stopped();
        state.open = true;
        self.changed.notify_all();
        Ok(())
    }

    /// Tells the writers to end.
    pub fn halt(&self) {
        self.state.lock().halted = true;
        self.changed.notify_all();
    }

    fn all_stopped(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        while state.granted.is_some() || state.stands.iter().any(Option::is_none) {
            state = self.changed.wait(state);
        }
        state
    }
}
