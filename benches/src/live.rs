//! Our own way to look at every live file of a table in a folder.

use std::{path::Path, sync::Arc};

use log_core::{
    live_files::{LiveFile, LiveFileVisitor, PartitionTexts, ReadLiveFiles, TableDescription},
    store::drive,
};
use sim::{
    inspect::{PartitionFilter, PartitionFilterError, RememberingFilter},
    real::local_directory::LocalDirectory,
};

use crate::logs::Looked;

struct Look<'a> {
    predicate: Option<&'a str>,
    filter: Option<RememberingFilter>,
    looked: Looked,
}

impl LiveFileVisitor for Look<'_> {
    type Error = PartitionFilterError;

    fn wants_table_first(&self) -> bool {
        self.predicate.is_some()
    }

    fn filters_partitions(&self) -> bool {
        self.predicate.is_some()
    }

    fn restart(&mut self) {
        panic!("the log is whole");
    }

    fn table(&mut self, table: &Arc<TableDescription>) -> Result<(), PartitionFilterError> {
        let filter = |text: &str| PartitionFilter::new(text, &table.schema, &table.metadata, 0);
        self.filter = self.predicate.map(filter).transpose()?.map(RememberingFilter::new);
        Ok(())
    }

    fn may_want(&mut self, texts: &PartitionTexts<'_>) -> bool {
        self.filter.as_mut().is_none_or(|filter| filter.keeps("", texts).unwrap_or(true))
    }

    fn file(&mut self, file: &LiveFile<'_>) -> Result<(), PartitionFilterError> {
        if let Some(filter) = &mut self.filter
            && !filter.keeps(file.path, &file.partition_values)?
        {
            return Ok(());
        }
        self.looked.at(file.path, file.size, file.partition_values.iter(), file.stats);
        Ok(())
    }
}

/// Looks at every live file, or at those of the partitions for which a predicate in SQL is true.
///
/// # Panics
/// When the log cannot be read.
pub fn look(table: &Path, predicate: Option<&str>) -> Looked {
    let directory = LocalDirectory::new(table, 0);
    let look = Look { predicate, filter: None, looked: Looked::default() };
    let mut machine = ReadLiveFiles::new(None, look).hinted();
    let found = drive(&mut machine, |request| directory.answer(&request));
    found.expect("a log that we wrote").expect("a table");
    machine.into_visitor().looked
}
