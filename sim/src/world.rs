//! The simulated world: tables in memory, and writers that are stopped at what they need next.
//!
//! A world is data. What may happen next is a list of [`Event`]s, and [`World::apply`] makes one of them happen; nothing happens by itself, and
//! nothing in here draws a random number or reads a clock. A schedule is a list of events, and the same schedule always leads to the same
//! world.

mod environment;
mod setting;
mod table;
mod writer;

use std::sync::Arc;

pub use environment::Environment;
pub use setting::{Clock, Granularity, Setting, SettingError};
pub use table::{LogDigest, Table, TableError, Tables};
pub use writer::{Finished, Writer};

use crate::{
    call::CallError,
    history::{Entry, History, What},
    naming::CallId,
};

/// Something that may happen: a writer gets what it needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event {
    /// The writer's position.
    pub writer: usize,
}

/// Tables, writers, and what happened so far.
#[derive(Clone, Debug)]
pub struct World {
    setting: Arc<Setting>,
    /// The tables.
    pub tables: Tables,
    /// The writers.
    pub writers: Vec<Writer>,
    /// What happened since the writers started.
    pub history: History,
    /// Virtual time, in milliseconds since the writers started.
    pub now_ms: i64,
}

/// A world that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// A statement of the setup did not succeed.
    #[error("setup, statement {number} (`{sql}`): {message}")]
    Setup {
        /// Its position, from 1.
        number: usize,
        /// Its text.
        sql: String,
        /// What happened.
        message: String,
    },
    /// A table is damaged.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl World {
    /// The world in which the setup has run and every writer is about to start.
    ///
    /// # Errors
    /// When a statement of the setup does not succeed.
    pub fn new(setting: Arc<Setting>, environment: &mut Environment) -> Result<Self, WorldError> {
        let mut tables = Tables::empty(setting.tables.len());
        writer::run_setup(&setting, environment, &mut tables)?;
        let mut world =
            Self { tables, writers: Vec::new(), history: History::default(), now_ms: 0, setting: setting.clone() };
        for index in 0..setting.scenario.writers.len() {
            let mut seen = Vec::new();
            let clock = setting.clock_at(0);
            let writer = Writer::start(&setting, index, environment, &mut world.tables, clock, &mut |call, what| {
                seen.push((call, what));
            })?;
            world.writers.push(writer);
            world.record(seen);
        }
        Ok(world)
    }

    /// What the world runs.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// What may happen next, in order of the writers.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        self.writers
            .iter()
            .enumerate()
            .filter(|(_, writer)| writer.need().is_some())
            .map(|(writer, _)| Event { writer })
    }

    /// How an event is called in a schedule: the writer, and what it does.
    pub fn label(&self, event: Event) -> String {
        let name = &self.setting.scenario.writers[event.writer].name;
        format!("{name}.{}", self.writers[event.writer].step_name())
    }

    /// Makes an event happen.
    ///
    /// # Errors
    /// When a table is damaged.
    ///
    /// # Panics
    /// When the event is not one of [`events`](Self::events).
    pub fn apply(&mut self, environment: &mut Environment, event: Event) -> Result<(), CallError> {
        let mut seen = Vec::new();
        let clock = self.setting.clock_at(self.now_ms);
        self.writers[event.writer].step(
            &self.setting,
            event.writer,
            environment,
            &mut self.tables,
            clock,
            &mut |call, what| seen.push((call, what)),
        )?;
        self.record(seen);
        Ok(())
    }

    fn record(&mut self, seen: Vec<(CallId, What)>) {
        let at_ms = self.now_ms;
        self.history.entries.extend(seen.into_iter().map(|(call, what)| Entry { at_ms, call, what }));
    }

    /// Calls of writers that made a commit.
    pub fn committed(&self) -> usize {
        self.writers.iter().map(Writer::committed).sum()
    }
}
