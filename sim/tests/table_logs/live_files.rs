//! Live files that are shown one by one are those of the snapshot, in every table at every version.

use std::{convert::Infallible, sync::Arc};

use log_core::{
    action::{AddFile, FileKey, PartitionValues},
    live_files::{LiveFile, LiveFileVisitor, LiveFilesError, PartitionTexts, ReadLiveFiles, TableDescription},
    load::{LoadError, LoadSnapshot},
    path::{LogFile, Version},
    store::{ObjectMap, Response, drive},
};

use super::{folder, load, log, put, tables};

/// Keeps all that is shown.
#[derive(Debug, Default)]
struct Collect {
    table_first: bool,
    /// Only files of this partition.
    partition: Option<PartitionValues>,
    table: Option<Arc<TableDescription>>,
    files: Vec<(FileKey, AddFile)>,
    restarts: usize,
}

impl LiveFileVisitor for Collect {
    type Error = Infallible;

    fn wants_table_first(&self) -> bool {
        self.table_first
    }

    fn filters_partitions(&self) -> bool {
        self.partition.is_some()
    }

    fn restart(&mut self) {
        self.restarts += 1;
        self.table = None;
        self.files.clear();
    }

    fn table(&mut self, table: &Arc<TableDescription>) -> Result<(), Infallible> {
        assert!(self.table.replace(table.clone()).is_none(), "the table is described once");
        assert!(!self.table_first || self.files.is_empty(), "the table comes first");
        Ok(())
    }

    fn may_want(&mut self, values: &PartitionTexts<'_>) -> bool {
        assert!(!self.table_first || self.table.is_some(), "the table comes first");
        self.partition.as_ref().is_none_or(|wanted| *wanted == values.to_owned())
    }

    fn file(&mut self, file: &LiveFile<'_>) -> Result<(), Infallible> {
        assert!(!self.table_first || self.table.is_some(), "the table comes first");
        let add = AddFile {
            path: file.path.to_owned(),
            partition_values: file.partition_values.to_owned(),
            size: file.size,
            modification_time: file.modification_time,
            stats: file.stats.map(str::to_owned),
            deletion_vector: file.deletion_vector.cloned(),
            ..AddFile::default()
        };
        self.files.push((add.key(), add));
        Ok(())
    }
}

/// What of an add is shown.
fn shown(add: &AddFile) -> AddFile {
    AddFile {
        path: add.path.clone(),
        partition_values: add.partition_values.clone(),
        size: add.size,
        modification_time: add.modification_time,
        stats: add.stats.clone(),
        deletion_vector: add.deletion_vector.clone(),
        ..AddFile::default()
    }
}

fn read(store: &ObjectMap, version: Version, visitor: Collect) -> Result<Collect, LiveFilesError<Infallible>> {
    let hinted = visitor.table_first;
    let mut store = store.clone();
    let machine = ReadLiveFiles::new(Some(version), visitor);
    let mut machine = if hinted { machine.hinted() } else { machine };
    let table = drive(&mut machine, |request| Response { now_ms: 0, answer: store.answer(&request, 0) })?;
    let mut found = machine.into_visitor();
    assert_eq!(table, found.table);
    found.files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

#[test]
fn live_files_are_those_of_the_snapshot_at_every_version() {
    let (mut versions, mut filtered) = (0, 0);
    for table in tables() {
        let newest = load(LoadSnapshot::latest(), &table.log).unwrap();
        for version in (0..=newest.version.0).map(Version) {
            let snapshot = match load(LoadSnapshot::at(version), &table.log) {
                Ok(snapshot) => snapshot,
                Err(LoadError::Segment(_)) => continue,
                Err(error) => panic!("{} at {version}: {error}", table.name),
            };
            let wanted: Vec<(FileKey, AddFile)> =
                snapshot.files.iter().map(|(key, add)| (key.clone(), shown(add))).collect();
            for table_first in [false, true] {
                let what = format!("{} at {version}, table first: {table_first}", table.name);
                let found = read(&table.log, version, Collect { table_first, ..Collect::default() }).unwrap();
                assert_eq!(found.files, wanted, "{what}");
                let described = found.table.unwrap();
                assert_eq!((described.version, &described.protocol), (version, &*snapshot.protocol), "{what}");
                assert_eq!(
                    (&described.metadata, &described.schema),
                    (&*snapshot.metadata, &*snapshot.schema),
                    "{what}"
                );
                versions += 1;
            }
            // Report 39: a filter finds the files that it finds in all of them, also once there is a checkpoint.
            let mut partitions: Vec<&PartitionValues> = snapshot.adds().map(|add| &add.partition_values).collect();
            partitions.sort();
            partitions.dedup();
            for partition in partitions.into_iter().take(5) {
                let wanted = wanted.iter().filter(|(_, add)| add.partition_values == *partition).cloned();
                let visitor = Collect { partition: Some(partition.clone()), ..Collect::default() };
                let found = read(&table.log, version, visitor).unwrap();
                assert_eq!(found.files, wanted.collect::<Vec<_>>(), "{} at {version}, {partition:?}", table.name);
                filtered += usize::from(found.files.len() < snapshot.files.len());
            }
        }
    }
    assert!(versions > 500, "{versions} versions only");
    assert!(filtered > 50, "{filtered} filters only that left out something");
}

/// Whatever is wrong with a log, it is said in the same words.
#[test]
fn a_log_that_cannot_be_loaded_has_no_live_files() {
    let mut refused = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let mut store = log(&path);
        let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
        let Err(expected) = drive(LoadSnapshot::latest(), answer) else { continue };
        let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
        let found = drive(&mut ReadLiveFiles::new(None, Collect::default()), answer);
        assert_eq!(found.unwrap_err().to_string(), expected.to_string(), "{}", path.display());
        refused += 1;
    }
    assert!(refused > 5, "{refused} logs only");
}

/// Checkpoints that are cut, or whose bytes are others, are not used, or they say the same; nothing panics.
#[test]
fn damaged_checkpoints_never_change_the_live_files() {
    let (mut restarted, mut unharmed) = (0, 0);
    for table in tables() {
        let bare = super::without(&table.log, |file| !matches!(file, LogFile::Commit(_) | LogFile::Other));
        let Ok(wanted) = load(LoadSnapshot::latest(), &bare) else { continue };
        let wanted: Vec<FileKey> = wanted.files.keys().cloned().collect();
        for path in table.log.paths().filter(|path| matches!(LogFile::of(path), LogFile::Checkpoint(_))) {
            let bytes = table.log.get(path).unwrap();
            for cut in [0, 1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
                let mut damaged = table.log.clone();
                put(&mut damaged, path.to_owned(), &bytes[..cut]);
                let version = Version(table.expected["latest_version"].as_u64().unwrap());
                let found = read(&damaged, version, Collect::default());
                let found = found.unwrap_or_else(|error| panic!("{}, {path} cut at {cut}: {error}", table.name));
                let keys: Vec<FileKey> = found.files.into_iter().map(|(key, _)| key).collect();
                assert_eq!(keys, wanted, "{}, {path} cut at {cut}", table.name);
                if found.restarts > 0 { restarted += 1 } else { unharmed += 1 }
            }
        }
    }
    assert!(restarted > 50, "{restarted} restarted, {unharmed} unharmed");
}
