//! The live files of a table, looked at one by one, so that nothing is kept but what is shown.

use std::sync::Arc;

use log_core::{
    live_files::{LiveFile, LiveFileVisitor, LiveFilesError, PartitionTexts, ReadLiveFiles, TableDescription},
    path::Version,
    schema::Schema,
    statistics::Statistics,
    store::drive,
};

use super::{FileRow, InspectError, PartitionFilter, PartitionFilterError, RememberingFilter, TableFolder};

/// Keeps the rows that are wanted.
struct Collect<'a> {
    predicate: Option<&'a str>,
    now_ms: i64,
    filter: Option<RememberingFilter>,
    rows: Vec<FileRow>,
}

impl LiveFileVisitor for Collect<'_> {
    type Error = PartitionFilterError;

    fn wants_table_first(&self) -> bool {
        self.predicate.is_some()
    }

    fn filters_partitions(&self) -> bool {
        self.predicate.is_some()
    }

    fn restart(&mut self) {
        self.filter = None;
        self.rows.clear();
    }

    fn table(&mut self, table: &Arc<TableDescription>) -> Result<(), PartitionFilterError> {
        let filter = |text: &str| PartitionFilter::new(text, &table.schema, &table.metadata, self.now_ms);
        self.filter = self.predicate.map(filter).transpose()?.map(RememberingFilter::new);
        Ok(())
    }

    fn may_want(&mut self, texts: &PartitionTexts<'_>) -> bool {
        // What is wrong with a value is said of its file.
        self.filter.as_mut().is_none_or(|filter| filter.keeps("", texts).unwrap_or(true))
    }

    fn file(&mut self, file: &LiveFile<'_>) -> Result<(), PartitionFilterError> {
        if let Some(filter) = &mut self.filter
            && !filter.keeps(file.path, &file.partition_values)?
        {
            return Ok(());
        }
        self.rows.push(FileRow::of(file));
        Ok(())
    }
}

impl FileRow {
    /// What is shown of a file.
    pub(super) fn of(file: &LiveFile<'_>) -> Self {
        let deleted = file.deletion_vector.map_or(0, |vector| u64::try_from(vector.cardinality).unwrap_or(0));
        // The number of rows needs no schema.
        let statistics = file.stats.map(|stats| Statistics::parse(stats, &Schema::default()));
        Self {
            path: file.path.to_owned(),
            partition_values: file.partition_values.to_owned(),
            size: file.size,
            rows: statistics.and_then(|statistics| statistics.num_records?.checked_sub(deleted)),
            modified_ms: file.modification_time,
        }
    }
}

impl TableFolder {
    /// The live files of a version, or of the newest one, in order of path: all, or those for whose partition a predicate in SQL is true. `now_ms` is the
    /// clock, in milliseconds since the epoch.
    ///
    /// # Errors
    /// As for [`at`](Self::at), and when the predicate is none, or speaks of other columns than those of the partition.
    pub fn files(
        &self,
        version: Option<Version>,
        predicate: Option<&str>,
        now_ms: i64,
    ) -> Result<(Version, Vec<FileRow>), InspectError> {
        let path = || self.directory.root().to_owned();
        let collect = Collect { predicate, now_ms, filter: None, rows: Vec::new() };
        let mut machine = ReadLiveFiles::new(version, collect).hinted();
        let table = drive(&mut machine, |request| self.directory.answer(&request)).map_err(|error| match error {
            LiveFilesError::Load(source) => InspectError::Load { path: path(), source },
            LiveFilesError::Visitor(source) => InspectError::Partitions { path: path(), source },
        })?;
        let table = table.ok_or_else(|| InspectError::NotATable { path: path() })?;
        self.notes.borrow_mut().extend(machine.notes().iter().cloned());
        let mut rows = machine.into_visitor().rows;
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((table.version, rows))
    }
}
