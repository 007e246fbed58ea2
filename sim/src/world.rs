//! The simulated world: tables in memory, and writers that are stopped at what they need next.
//!
//! A world is data. What may happen next is a list of [`Event`]s, and [`World::apply`] makes one of them happen; nothing happens by itself, and
//! nothing in here draws a random number or reads a clock. A schedule is a list of events, and the same schedule always leads to the same
//! world.

mod environment;
mod network;
mod setting;
mod table;
mod writer;

use std::sync::Arc;

pub use environment::Environment;
pub use network::{Fault, FaultBudget, FaultKind, LatePut, Network};
pub use setting::{Clock, Granularity, Setting, SettingError};
pub use table::{LogDigest, Table, TableError, Tables};
pub use writer::{Finished, Scene, Writer};

use log_core::path::LogFile;

use crate::{
    call::CallError,
    history::{Entry, History},
};

/// Something that may happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// A writer gets what it needs.
    Step {
        /// The writer's position.
        writer: usize,
    },
    /// A fault happens to what a writer needs, or to the writer.
    Fault {
        /// The writer's position.
        writer: usize,
        /// The fault.
        fault: Fault,
    },
    /// A late put lands.
    Land {
        /// Its position among the late puts.
        position: usize,
    },
}

/// Tables, writers, and what happened so far.
#[derive(Clone, Debug)]
pub struct World {
    setting: Arc<Setting>,
    /// The tables.
    pub tables: Tables,
    /// The writers.
    pub writers: Vec<Writer>,
    /// What lies between.
    pub network: Network,
    /// What happened since the writers started.
    pub history: History,
    /// The labels of the events so far, where they are kept: see [`keep_schedule`](World::keep_schedule).
    schedule: Option<Vec<String>>,
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
    /// Writers that a search took to be alike are not.
    #[error("writers {writers} have the same statements and settings, but {difference}; search without symmetry")]
    NotAlike {
        /// Their names.
        writers: String,
        /// What makes them differ.
        difference: &'static str,
    },
}

impl World {
    /// The world in which the setup has run and every writer is about to start.
    ///
    /// # Errors
    /// When a statement of the setup does not succeed.
    pub fn new(setting: Arc<Setting>, environment: &mut Environment) -> Result<Self, WorldError> {
        let mut tables = Tables::empty(setting.tables.len());
        writer::run_setup(&setting, environment, &mut tables)?;
        let network = Network::new(setting.faults, &tables);
        let writers = Vec::with_capacity(setting.scenario.writers.len());
        let history = History::default();
        let mut world = Self { tables, writers, network, history, schedule: None, now_ms: 0, setting };
        for index in 0..world.setting.scenario.writers.len() {
            let writer = world.play(environment, |_, scene| Writer::start(index, scene))?;
            world.writers.push(writer);
        }
        Ok(world)
    }

    /// What the world runs.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// From now on the label of every event is kept.
    pub fn keep_schedule(&mut self) {
        self.schedule.get_or_insert_default();
    }

    /// The labels of the events that were kept.
    pub fn schedule(&self) -> &[String] {
        self.schedule.as_deref().unwrap_or_default()
    }

    /// What may happen next, in a fixed order.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        list_events(&self.setting, &self.tables, &self.network, self.writers.iter(), &mut events);
        events
    }

    /// How an event is called in a schedule: who, and what.
    pub fn label(&self, event: Event) -> String {
        let name = |writer: usize| &self.setting.scenario.writers[writer].name;
        match event {
            Event::Step { writer } => format!("{}.{}", name(writer), self.writers[writer].step_name()),
            Event::Fault { writer, fault } => {
                format!("{}.{}/{}", name(writer), self.writers[writer].step_name(), fault.name())
            }
            Event::Land { position } => {
                let put = &self.network.late[position];
                let version = match LogFile::of(&put.path) {
                    LogFile::Commit(version) => version.to_string(),
                    _ => put.path.clone(),
                };
                format!("{}.lands/{version}", name(put.call.writer))
            }
        }
    }

    /// The event of a label, if it may happen now.
    pub fn event(&self, label: &str) -> Option<Event> {
        self.events().into_iter().find(|event| self.label(*event) == label)
    }

    /// Makes an event happen.
    ///
    /// # Errors
    /// When a table is damaged.
    ///
    /// # Panics
    /// When the event is not one of [`events`](Self::events).
    pub fn apply(&mut self, environment: &mut Environment, event: Event) -> Result<(), CallError> {
        if self.schedule.is_some() {
            let label = self.label(event);
            self.schedule.get_or_insert_default().push(label);
        }
        match event {
            Event::Step { writer } => self.play(environment, |writers, scene| writers[writer].step(None, scene)),
            Event::Fault { writer, fault } => {
                self.play(environment, |writers, scene| writers[writer].step(Some(fault), scene))
            }
            Event::Land { position } => {
                let now_ms = self.setting.clock_at(self.now_ms).of(self.network.late[position].call);
                self.network.land(position, &mut self.tables, now_ms);
                self.network.drop_hopeless(&self.tables);
                Ok(())
            }
        }
    }

    /// Lets a writer do something, and notes what happened.
    fn play<T>(
        &mut self,
        environment: &mut Environment,
        act: impl FnOnce(&mut [Writer], &mut Scene<'_>) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let (entries, at_ms) = (&mut self.history.entries, self.now_ms);
        let mut scene = Scene {
            setting: &self.setting,
            environment,
            tables: &mut self.tables,
            network: &mut self.network,
            clock: self.setting.clock_at(self.now_ms),
            observe: &mut |call, what| entries.push(Entry { at_ms, call, what }),
        };
        act(&mut self.writers, &mut scene)
    }

    /// How many commits a listing by a writer could fail to show: those that were made since the setup.
    pub fn hidden_commits(&self, writer: usize) -> u64 {
        let call = self.writers[writer].call();
        call.map_or(0, |call| writer::hidden_commits(call, &self.setting, &self.tables, &self.network))
    }

    /// Calls of writers that made a commit.
    pub fn committed(&self) -> usize {
        self.writers.iter().map(Writer::committed).sum()
    }
}

/// Appends what may happen in a state: for each writer its step and the faults of it, then the late puts.
pub(crate) fn list_events<'a>(
    setting: &Setting,
    tables: &Tables,
    network: &Network,
    writers: impl Iterator<Item = &'a Writer>,
    events: &mut Vec<Event>,
) {
    for (writer, state) in writers.enumerate() {
        if state.need().is_none() {
            continue;
        }
        events.push(Event::Step { writer });
        if network.budget.total > 0 {
            let faults = state.faults(setting, tables, network);
            events.extend(faults.into_iter().map(|fault| Event::Fault { writer, fault }));
        }
    }
    events.extend((0..network.late.len()).map(|position| Event::Land { position }));
}
