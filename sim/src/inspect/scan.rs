//! The rows of a table, a batch at a time: some columns, the rows that a predicate is true for, up to a number.

use std::collections::BTreeSet;

use arrow::{array::RecordBatch, compute::filter_record_batch};
use log_core::{
    action::AddFile, data_file::DataFileError, expression::Expression, layout::Layout, schema::Schema,
    statistics::Statistics, value::parse_partition_value,
};

use super::{InspectError, TableAt};
use crate::{
    execute::{ExecuteError, evaluate::matching},
    real::{
        data::{self, ReadDataError},
        local_directory::{AbsolutePaths, now_ms},
    },
    sql::{Constants, SqlError, bind_predicate},
};

/// What is asked of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// Columns by name, letter case not counting, in this order; all unless given.
    pub columns: Option<Vec<String>>,
    /// A predicate in SQL; every row unless given.
    pub predicate: Option<String>,
    /// So many rows at most.
    pub limit: Option<usize>,
    /// May the log name files outside of the table's folder?
    pub absolute_paths: AbsolutePaths,
}

/// A query that cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// There is no such column.
    #[error("the table has no column '{column}'; it has {}", names(.has))]
    UnknownColumn {
        /// The name.
        column: String,
        /// The columns of the table.
        has: Vec<String>,
    },
    /// A column is asked for more than once.
    #[error("column '{0}' is asked for twice")]
    ColumnTwice(String),
    /// The predicate is none on this table.
    #[error("the predicate")]
    Predicate(#[from] SqlError),
    /// The predicate fails on a row.
    #[error("the predicate fails on a row of '{file}'")]
    Evaluate {
        /// The data file.
        file: String,
        /// How.
        source: ExecuteError,
    },
}

fn names(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// A query on a table, its names resolved.
#[derive(Debug)]
pub struct Scan<'a> {
    pub(super) table: &'a TableAt<'a>,
    /// The columns that are read: those of the answer and those of the predicate, in the table's order.
    layout: Layout,
    predicate: Option<Expression>,
    /// Positions of the answer's columns among those that are read.
    output: Vec<usize>,
    /// The columns of the answer.
    pub schema: Schema,
    limit: usize,
    paths: AbsolutePaths,
}

impl TableAt<'_> {
    /// Resolves the names of a query.
    ///
    /// # Errors
    /// When a column is not there, or the predicate is none.
    pub fn query(&self, query: &Query) -> Result<Scan<'_>, InspectError> {
        let about = |source| InspectError::Query { path: self.directory.root().to_owned(), source: Box::new(source) };
        let layout = Layout::of(&self.snapshot)
            .map_err(|source| InspectError::Layout { path: self.directory.root().to_owned(), source })?;
        let constants = Constants { now_us: now_ms().saturating_mul(1000) };
        let bind = |schema: &Schema| {
            let predicate = query.predicate.as_deref().map(|text| bind_predicate(text, schema, &constants));
            predicate.transpose().map_err(|error| about(error.into()))
        };
        let wanted = columns(&layout.schema, query.columns.as_deref()).map_err(about)?;
        let mut needed: BTreeSet<usize> = wanted.iter().copied().collect();
        if let Some(predicate) = bind(&layout.schema)? {
            predicate.visit(&mut |node| {
                if let Expression::Column { index, .. } = node {
                    needed.insert(*index);
                }
            });
        }
        let read: Vec<usize> = needed.into_iter().collect();
        let place = |column: &usize| read.binary_search(column).expect("every column of the answer is read");
        let output = wanted.iter().map(place).collect();
        let schema = Schema { fields: wanted.iter().map(|index| layout.schema.fields[*index].clone()).collect() };
        let layout = layout.select(&read);
        // Once more, so that its columns are positions among those that are read.
        let predicate = bind(&layout.schema)?;
        let (limit, paths) = (query.limit.unwrap_or(usize::MAX), query.absolute_paths);
        Ok(Scan { table: self, layout, predicate, output, schema, limit, paths })
    }
}

/// Positions of columns by name.
fn columns(schema: &Schema, names: Option<&[String]>) -> Result<Vec<usize>, QueryError> {
    let Some(names) = names else { return Ok((0..schema.fields.len()).collect()) };
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        // As people write lists; a name that really begins with a blank is found first.
        let Some(index) = schema.index_of(name).or_else(|| schema.index_of(name.trim())) else {
            let has = schema.fields.iter().map(|field| field.name.clone()).collect();
            return Err(QueryError::UnknownColumn { column: name.clone(), has });
        };
        if columns.contains(&index) {
            return Err(QueryError::ColumnTwice(name.clone()));
        }
        columns.push(index);
    }
    Ok(columns)
}

impl Scan<'_> {
    /// Gives the answer to `each`, a batch at a time: files in order of path, rows in the order of their file. `progress` hears before every file how
    /// many were done and how many there are. One batch is in memory at a time, and one file's bytes.
    ///
    /// # Errors
    /// When a data file cannot be read, when the predicate fails on a row, and what `each` says.
    pub fn run<E: From<InspectError>>(
        &self,
        mut progress: impl FnMut(usize, usize),
        mut each: impl FnMut(RecordBatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let total = self.table.snapshot.files.len();
        let mut left = self.limit;
        for (done, add) in self.table.snapshot.adds().enumerate() {
            if left == 0 {
                break;
            }
            progress(done, total);
            if !self.may_match(add) {
                continue;
            }
            let unreadable = |source| self.table.unreadable(add, source);
            let batches = data::open(self.table.directory, add, &self.layout, self.table.version(), self.paths);
            for batch in batches.map_err(unreadable)? {
                let batch = batch.map_err(|error| unreadable(ReadDataError::Content(error)))?;
                let batch = self.answer(add, &batch)?;
                let batch = batch.slice(0, batch.num_rows().min(left));
                left -= batch.num_rows();
                if batch.num_rows() > 0 {
                    each(batch)?;
                }
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// May the file hold a row of the answer? Partition values and statistics tell.
    fn may_match(&self, add: &AddFile) -> bool {
        let Some(predicate) = &self.predicate else { return true };
        let physical = &self.layout.physical;
        let statistics = add.stats.as_deref().map(|text| Statistics::parse(text, physical)).unwrap_or_default();
        statistics.may_match(predicate, physical, &|index| {
            let text = self.layout.partition_text(&add.partition_values, index)?;
            // What is no value of its type is an error when the file is read.
            parse_partition_value(text, physical.fields[index].data_type.primitive()?).ok()
        })
    }

    /// Rows and columns of the answer.
    fn answer(&self, add: &AddFile, batch: &RecordBatch) -> Result<RecordBatch, InspectError> {
        let plumbing = |error| self.table.unreadable(add, ReadDataError::Content(DataFileError::Arrow(error)));
        let filtered = match &self.predicate {
            None => batch.clone(),
            Some(predicate) => {
                let mask = matching(predicate, batch).map_err(|source| InspectError::Query {
                    path: self.table.directory.root().to_owned(),
                    source: Box::new(QueryError::Evaluate { file: add.path.clone(), source }),
                })?;
                filter_record_batch(batch, &mask).map_err(plumbing)?
            }
        };
        filtered.project(&self.output).map_err(plumbing)
    }
}
