//! Live files that are shown one by one are those of the replay.

use std::{cell::Cell, collections::BTreeMap, convert::Infallible, sync::Arc};

use log_core::{
    action::{Action, AddFile, FileKey},
    commit::Commit,
    live_files::{LiveFile, LiveFileVisitor, ReadLiveFiles, TableDescription},
    path::Version,
    snapshot::Snapshot,
    store::{Response, drive},
};
use proptest::{collection::vec, prelude::*};
use proptests::{actions, check, tables};

#[derive(Default)]
struct Collect {
    table_first: bool,
    files: BTreeMap<FileKey, AddFile>,
}

impl LiveFileVisitor for Collect {
    type Error = Infallible;

    fn wants_table_first(&self) -> bool {
        self.table_first
    }

    fn restart(&mut self) {
        self.files.clear();
    }

    fn table(&mut self, _: &Arc<TableDescription>) -> Result<(), Infallible> {
        Ok(())
    }

    fn file(&mut self, file: &LiveFile<'_>) -> Result<(), Infallible> {
        let add = AddFile {
            path: file.path.to_owned(),
            partition_values: file.partition_values.to_owned(),
            size: file.size,
            modification_time: file.modification_time,
            stats: file.stats.map(str::to_owned),
            deletion_vector: file.deletion_vector.cloned(),
            ..AddFile::default()
        };
        let before = self.files.insert(add.key(), add);
        assert_eq!(before, None, "a file is shown once");
        Ok(())
    }
}

fn shown(snapshot: &Snapshot) -> BTreeMap<FileKey, AddFile> {
    let shown = |add: &AddFile| AddFile {
        path: add.path.clone(),
        partition_values: add.partition_values.clone(),
        size: add.size,
        modification_time: add.modification_time,
        stats: add.stats.clone(),
        deletion_vector: add.deletion_vector.clone(),
        ..AddFile::default()
    };
    snapshot.files.iter().map(|(key, add)| (key.clone(), shown(add))).collect()
}

fn read(log: &[Commit], version: Option<Version>, table_first: bool) -> BTreeMap<FileKey, AddFile> {
    let mut objects = tables::objects(log);
    let mut machine = ReadLiveFiles::new(version, Collect { table_first, ..Collect::default() });
    let found = drive(&mut machine, |request| Response { now_ms: 0, answer: objects.answer(&request, 0) });
    found.expect("the log is whole").expect("there is a table");
    machine.into_visitor().files
}

#[test]
fn live_files_of_a_log_are_those_of_its_replay() {
    check(200, (tables::logs(12), any::<prop::sample::Index>(), any::<bool>()), |(log, at, table_first)| {
        let at = at.index(log.len());
        let snapshot = Snapshot::replay(None, &log[..=at]).expect("a table");
        prop_assert_eq!(read(&log, Some(Version(at as u64)), table_first), shown(&snapshot));
        Ok(())
    });
}

/// Adds and removes of any fields, which need not make sense together: files come twice, go without having come, and are spelled in two ways.
#[test]
fn live_files_are_those_of_the_replay_whatever_a_commit_says() {
    let action =
        prop_oneof![3 => actions::add().prop_map(Action::Add), 1 => actions::remove().prop_map(Action::Remove)];
    let gone = Cell::new(0);
    check(300, vec(vec(action, 0..8), 1..4), |commits| {
        let mut log = vec![tables::create(&[], &[])];
        for (actions, version) in commits.into_iter().zip(1..) {
            log.push(Commit { version: Version(version), actions });
        }
        let snapshot = Snapshot::replay(None, &log).expect("a table");
        let adds = log.iter().flat_map(|commit| &commit.actions).filter(|action| matches!(action, Action::Add(_)));
        gone.set(gone.get() + usize::from(adds.count() > snapshot.files.len()));
        prop_assert_eq!(read(&log, None, false), shown(&snapshot));
        Ok(())
    });
    assert!(gone.get() > 20, "in {} logs only a file went or came twice", gone.get());
}
