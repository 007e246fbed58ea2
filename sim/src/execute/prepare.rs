//! A statement on a snapshot: what it reads, which files it takes out, which rows it puts in.
//!
//! What is registered as read follows Delta Spark, operation by operation (`conflict-semantics` 4.13): the predicate of a scan, and every file that
//! the scan had to open, which is a superset of the files that it rewrites.

use std::{collections::BTreeMap, sync::Arc};

use arrow::array::RecordBatch;
use conflict::{
    isolation::{IsolationLevel, LEVEL_PROPERTY, UnknownLevel},
    predicate::{is_partition_predicate, may_match},
    transaction::{Operation, ReadSet, Transaction},
};
use log_core::{
    action::{Action, AddFile, Metadata, PartitionValues, Protocol},
    batch::BatchError,
    expression::Expression,
    path::encode_data_path,
    protocol::Unsupported,
    schema::{DataType, Field, PrimitiveType, Schema},
    snapshot::Snapshot,
    statistics::Statistics,
    value::{Value, parse_partition_value},
};
use serde_json::{Map, Value as Json, json};

use super::{
    ExecuteError,
    file::{self, Rewritten},
    insert, partition, query,
};
use crate::{
    digest,
    naming::Naming,
    sql::{
        Bound, SqlError, Statement,
        bind::{Constants, bind},
        bound::{BoundBody, BoundFrom, BoundInsert, BoundOrderBy, BoundQuery},
        statement::{CreateTable, InsertSource, Query},
    },
};

/// The snapshots that a statement needs: the newest of its table, and those it names by `VERSION AS OF`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Snapshots {
    /// The newest one; `None` when there is no table, or when the statement does not need it.
    pub newest: Option<Arc<Snapshot>>,
    /// The others, by version.
    pub versions: BTreeMap<u64, Arc<Snapshot>>,
}

/// What a statement comes to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Executed {
    /// Something to commit.
    Change(Change),
    /// The rows of a query.
    Answer(Answer),
    /// Nothing to commit: the table that was to be created is there, or no row was meant and the level lets that go unrecorded.
    Nothing,
}

/// The answer of a query.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Answer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, in the order of the query.
    pub rows: Vec<Vec<Value>>,
}

/// A change to be committed: all of it is known but the sizes of the new files.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Change {
    /// What was read.
    pub reads: ReadSet,
    /// Files that leave the table.
    pub removes: Vec<Arc<AddFile>>,
    /// Files that join it.
    pub files: Vec<NewFile>,
    /// Further actions.
    pub actions: Vec<Action>,
    /// What the log calls it.
    pub operation: Operation,
    /// The level of the table.
    pub table_level: IsolationLevel,
    /// Rows inserted, updated or deleted.
    pub rows: u64,
}

/// A data file that is to be written.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// Its path relative to the table, as the log spells it. It holds a digest of the rows, so it stands for the whole file: two new files are
    /// equal when their paths are.
    pub path: String,
    /// Its partition.
    pub partition_values: PartitionValues,
    /// Its rows, with all columns of the table.
    pub batch: RecordBatch,
    /// Its statistics, as JSON.
    pub stats: String,
}

impl PartialEq for NewFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for NewFile {}

impl std::hash::Hash for NewFile {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.path.hash(state);
    }
}

/// Why a statement cannot be executed.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// A name or a type does not fit the table.
    #[error(transparent)]
    Bind(#[from] SqlError),
    /// A value does not come out.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The table does not exist.
    #[error("table '{0}' does not exist")]
    NoTable(String),
    /// The table exists.
    #[error("table '{0}' already exists")]
    TableExists(String),
    /// The table needs more than this build implements.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The table takes appends only.
    #[error("the table takes appends only (property delta.appendOnly), so {0} is refused")]
    AppendOnly(&'static str),
    /// The property `delta.isolationLevel` has an odd text.
    #[error("property delta.isolationLevel: {0}")]
    Level(#[from] UnknownLevel),
    /// A column has a condition that this build cannot check.
    #[error("column '{0}' has an invariant, which this build of contend cannot check, so it does not write the table")]
    Invariant(String),
    /// A property of the table that this build does not honour.
    #[error("table property '{property}' is not supported by this build of contend; it knows {known}")]
    Property {
        /// The property.
        property: String,
        /// Those that it knows.
        known: String,
    },
    /// An empty text in a partition column: the log can only say NULL for it, so the row would come back changed.
    #[error(
        "column '{0}' is a partition column, and the log cannot tell an empty text from NULL there; write NULL instead, for example nullif({0}, '')"
    )]
    EmptyPartitionValue(String),
    /// Rows cannot be turned into values.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A data file cannot be read.
    #[error("data file '{path}' cannot be read: {cause}")]
    DataFile {
        /// The file, as the log spells it.
        path: String,
        /// Why.
        cause: String,
    },
}

/// Reads the rows of a data file, all columns of the table's schema in order.
pub type ReadFile<'a> = dyn Fn(&AddFile, &Snapshot) -> Result<RecordBatch, StatementError> + 'a;

/// What surrounds the execution of a statement.
pub struct Execution<'a> {
    /// Names for what is made.
    pub naming: &'a Naming,
    /// The time of the statement, in milliseconds since the epoch.
    pub now_ms: i64,
    /// The level of a table that does not say.
    pub default_level: IsolationLevel,
    /// The level that `CREATE TABLE` writes, if one is given.
    pub create_level: Option<IsolationLevel>,
    /// Where data files are read.
    pub read: &'a ReadFile<'a>,
}

/// The versions that a statement names by `VERSION AS OF`, and whether it needs the newest one too.
pub fn versions_needed(statement: &Statement) -> (bool, Vec<u64>) {
    let query = match statement {
        Statement::Select(query) => query,
        Statement::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => query,
            InsertSource::Values(_) => return (true, Vec::new()),
        },
        _ => return (true, Vec::new()),
    };
    let tables = Query::tables(query);
    let mut versions: Vec<u64> = tables.iter().filter_map(|table| table.version).collect();
    versions.sort_unstable();
    versions.dedup();
    (statement.writes() || tables.iter().any(|table| table.version.is_none()), versions)
}

impl Execution<'_> {
    /// Executes a statement.
    ///
    /// # Errors
    /// When it does not fit the table, when a value overflows, or when a data file cannot be read. Nothing was written then.
    pub fn execute(&self, statement: &Statement, snapshots: &Snapshots) -> Result<Executed, StatementError> {
        if let Statement::CreateTable(create) = statement {
            return self.create_table(create, snapshots);
        }
        let constants = Constants { now_us: self.now_ms * 1000 };
        let any = snapshots.newest.as_ref().or_else(|| snapshots.versions.values().next());
        let Some(snapshot) = any else {
            return match statement.table() {
                Some(table) => Err(StatementError::NoTable(table.to_owned())),
                None => self.select_without_table(statement, &constants),
            };
        };
        let bound = bind(statement, &snapshot.schema, &constants)?;
        if statement.writes() {
            check_writable(snapshot, statement)?;
        }
        let table_level = IsolationLevel::of_table(&snapshot.metadata.configuration, self.default_level)?;
        let mut change = match &bound {
            Bound::Select(bound) => {
                let batch = self.run_query(bound, snapshots)?;
                return Ok(Executed::Answer(answer(bound, &batch)?));
            }
            Bound::Insert(bound) => self.insert(bound, snapshots, snapshot)?,
            Bound::Update(bound) => {
                self.rewrite(snapshot, bound.predicate.as_ref(), |batch| file::update(bound, &snapshot.schema, batch))?
            }
            Bound::Delete(bound) => {
                self.rewrite(snapshot, bound.predicate.as_ref(), |batch| file::delete(bound, batch))?
            }
        };
        change.table_level = table_level;
        change.operation.name = statement.operation().to_owned();
        // An empty commit may go unrecorded only where the order of the log need not show it.
        let empty = change.removes.is_empty() && change.files.is_empty();
        if empty && table_level != IsolationLevel::WriteSerializable {
            return Ok(Executed::Nothing);
        }
        Ok(Executed::Change(change))
    }

    fn create_table(&self, create: &CreateTable, snapshots: &Snapshots) -> Result<Executed, StatementError> {
        if snapshots.newest.is_some() {
            return match create.if_not_exists {
                true => Ok(Executed::Nothing),
                false => Err(StatementError::TableExists(create.table.clone())),
            };
        }
        let mut configuration = properties(create)?;
        if let Some(level) = self.create_level {
            configuration.insert(LEVEL_PROPERTY.to_owned(), level.to_string());
        }
        let table_level = IsolationLevel::of_table(&configuration, self.default_level)?;
        let metadata = Metadata {
            id: self.naming.table_id(&create.table),
            name: Some(create.table.clone()),
            description: create.comment.clone(),
            schema_string: schema_of(create).to_json(),
            partition_columns: create.partitioned_by.clone(),
            configuration,
            created_time: Some(self.now_ms),
            ..Metadata::default()
        };
        let parameters = parameters([
            ("isManaged", "true".to_owned()),
            ("description", create.comment.clone().unwrap_or_default()),
            ("partitionBy", json!(create.partitioned_by).to_string()),
            ("properties", json!(metadata.configuration).to_string()),
        ]);
        let operation = Operation { name: "CREATE TABLE".to_owned(), parameters, ..Operation::default() };
        Ok(Executed::Change(Change {
            reads: ReadSet::default(),
            removes: Vec::new(),
            files: Vec::new(),
            actions: vec![Action::Protocol(Protocol::of_new_table()), Action::Metadata(metadata)],
            operation,
            table_level,
            rows: 0,
        }))
    }

    fn select_without_table(&self, statement: &Statement, constants: &Constants) -> Result<Executed, StatementError> {
        match bind(statement, &Schema::default(), constants)? {
            Bound::Select(bound) => {
                let batch = self.run_query(&bound, &Snapshots::default())?;
                Ok(Executed::Answer(answer(&bound, &batch)?))
            }
            other => unreachable!("only a query goes without a table, this is {other:?}"),
        }
    }

    fn run_query(&self, bound: &BoundQuery, snapshots: &Snapshots) -> Result<RecordBatch, StatementError> {
        query::run(bound, &mut |from| self.scan(from, snapshots))
    }

    /// The rows of a snapshot, a batch per file.
    fn scan(&self, from: BoundFrom, snapshots: &Snapshots) -> Result<Vec<RecordBatch>, StatementError> {
        let snapshot = match from {
            BoundFrom::Nothing => return Ok(Vec::new()),
            BoundFrom::Snapshot => snapshots.newest.as_ref().expect("the newest snapshot was loaded"),
            BoundFrom::Version(version) => &snapshots.versions[&version],
        };
        snapshot.adds().map(|add| (self.read)(add, snapshot)).collect()
    }

    fn insert(
        &self,
        bound: &BoundInsert,
        snapshots: &Snapshots,
        snapshot: &Snapshot,
    ) -> Result<Change, StatementError> {
        let mut reads = ReadSet::default();
        let mut bound = bound.clone();
        if let BoundInsert::Query { query, .. } = &mut bound {
            register_query(&query.body, snapshot, &mut reads);
            settle_limit(query);
        }
        let batch = insert::rows(&bound, &snapshot.schema, &mut |from| self.scan(from, snapshots))?;
        let rows = batch.num_rows() as u64;
        let files = self.new_files(snapshot, &[batch])?;
        let operation = Operation {
            parameters: parameters([
                ("mode", "Append".to_owned()),
                ("partitionBy", json!(snapshot.partition_columns()).to_string()),
            ]),
            metrics: parameters([("numFiles", files.len().to_string()), ("numOutputRows", rows.to_string())]),
            ..Operation::default()
        };
        Ok(change(reads, Vec::new(), files, operation, rows))
    }

    /// UPDATE and DELETE: every file that may hold a row that is meant is read; those that do are replaced, one new file per partition.
    fn rewrite(
        &self,
        snapshot: &Snapshot,
        predicate: Option<&Expression>,
        rewrite: impl Fn(&RecordBatch) -> Result<Option<Rewritten>, ExecuteError>,
    ) -> Result<Change, StatementError> {
        let mut reads = ReadSet::default();
        let candidates = register(snapshot, predicate, &mut reads);
        let (mut removes, mut rewritten, mut matched) = (Vec::new(), Vec::new(), 0);
        for add in candidates {
            let batch = (self.read)(&add, snapshot)?;
            if let Some(result) = rewrite(&batch)? {
                matched += result.matched as u64;
                removes.push(add);
                rewritten.push(result.batch);
            }
        }
        let files = self.new_files(snapshot, &rewritten)?;
        let predicate = predicate.map_or_else(Vec::new, |predicate| vec![predicate.to_string()]);
        let operation = Operation {
            parameters: parameters([("predicate", json!(predicate).to_string())]),
            metrics: parameters([
                ("numAddedFiles", files.len().to_string()),
                ("numRemovedFiles", removes.len().to_string()),
                ("numAffectedRows", matched.to_string()),
            ]),
            ..Operation::default()
        };
        Ok(change(reads, removes, files, operation, matched))
    }

    /// One new file per partition that has rows.
    fn new_files(&self, snapshot: &Snapshot, batches: &[RecordBatch]) -> Result<Vec<NewFile>, StatementError> {
        let Some(first) = batches.first() else { return Ok(Vec::new()) };
        let whole = arrow::compute::concat_batches(&first.schema(), batches)
            .map_err(ExecuteError::plumbing("putting rows together"))?;
        let columns = snapshot.partition_columns();
        check_partition_texts(&snapshot.schema, columns, &whole)?;
        let mut files = Vec::new();
        for (ordinal, (partition_values, batch)) in
            partition::split(&snapshot.schema, columns, &whole)?.into_iter().enumerate()
        {
            if batch.num_rows() == 0 {
                continue;
            }
            let rows = log_core::batch::rows(&batch, &snapshot.schema)?;
            let content = digest::rows_sha256(rows.iter().map(Vec::as_slice));
            let folder = partition::directory(&partition_values, columns);
            let path = encode_data_path(&format!("{folder}{}", self.naming.data_file(ordinal, &content)));
            let stats = Statistics::collect(&snapshot.schema, columns, &batch)?.to_json();
            files.push(NewFile { path, partition_values, batch, stats });
        }
        Ok(files)
    }
}

/// No text or binary value of a partition column is empty.
fn check_partition_texts(schema: &Schema, columns: &[String], batch: &RecordBatch) -> Result<(), StatementError> {
    for column in columns {
        let Some(index) = schema.index_of(column) else { continue };
        let Some(data_type @ (PrimitiveType::String | PrimitiveType::Binary)) =
            schema.fields[index].data_type.primitive()
        else {
            continue;
        };
        let empty = |value: Value| match value {
            Value::String(text) => text.is_empty(),
            Value::Binary(bytes) => bytes.is_empty(),
            _ => false,
        };
        let column = batch.column(index);
        if (0..batch.num_rows()).any(|row| empty(log_core::batch::value_at(column, data_type, row))) {
            return Err(StatementError::EmptyPartitionValue(schema.fields[index].name.clone()));
        }
    }
    Ok(())
}

fn change(reads: ReadSet, removes: Vec<Arc<AddFile>>, files: Vec<NewFile>, operation: Operation, rows: u64) -> Change {
    let table_level = IsolationLevel::Serializable;
    Change { reads, removes, files, actions: Vec::new(), operation, table_level, rows }
}

fn parameters<const N: usize>(pairs: [(&str, String); N]) -> Map<String, Json> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), Json::String(value))).collect()
}

fn answer(bound: &BoundQuery, batch: &RecordBatch) -> Result<Answer, StatementError> {
    let fields = bound.output.iter().map(|(name, data_type)| Field {
        name: name.clone(),
        data_type: DataType::Primitive(*data_type),
        nullable: true,
        metadata: BTreeMap::new(),
    });
    let schema = Schema { fields: fields.collect() };
    let columns = bound.output.iter().map(|(name, _)| name.clone()).collect();
    Ok(Answer { columns, rows: log_core::batch::rows(batch, &schema)? })
}

/// Properties that this build honours, or that concern nothing that it does.
const PROPERTIES: [&str; 9] = [
    LEVEL_PROPERTY,
    "delta.appendOnly",
    "delta.checkpointInterval",
    "delta.dataSkippingNumIndexedCols",
    "delta.deletedFileRetentionDuration",
    "delta.logRetentionDuration",
    "delta.randomizeFilePrefixes",
    "delta.targetFileSize",
    "delta.tuneFileSizesForRewrites",
];

/// The properties of a `CREATE TABLE`. Those that begin with `delta.` mean something to every client, so one that this build does not honour is
/// refused; letter case does not matter in their names.
///
/// # Errors
/// When a property is not honoured, or when the isolation level is none.
pub fn properties(create: &CreateTable) -> Result<BTreeMap<String, String>, StatementError> {
    let mut configuration = BTreeMap::new();
    for (key, value) in &create.properties {
        let mut key = key.clone();
        if key.to_lowercase().starts_with("delta.") {
            let Some(known) = PROPERTIES.into_iter().find(|known| known.eq_ignore_ascii_case(&key)) else {
                return Err(StatementError::Property { known: PROPERTIES.join(", "), property: key });
            };
            key = known.to_owned();
        }
        configuration.insert(key, value.clone());
    }
    IsolationLevel::of_table(&configuration, IsolationLevel::Serializable)?;
    Ok(configuration)
}

/// The schema that a `CREATE TABLE` describes.
pub fn schema_of(create: &CreateTable) -> Schema {
    let field = |column: &crate::sql::statement::ColumnDefinition| Field {
        name: column.name.clone(),
        data_type: DataType::Primitive(column.data_type),
        nullable: column.nullable,
        metadata: column.comment.iter().map(|comment| ("comment".to_owned(), json!(comment))).collect(),
    };
    Schema { fields: create.columns.iter().map(field).collect() }
}

fn check_writable(snapshot: &Snapshot, statement: &Statement) -> Result<(), StatementError> {
    snapshot.protocol.check_writable()?;
    let append_only = snapshot.property("delta.appendOnly").is_some_and(|text| text.eq_ignore_ascii_case("true"));
    if append_only && matches!(statement, Statement::Update(_) | Statement::Delete(_)) {
        return Err(StatementError::AppendOnly(statement.operation()));
    }
    match snapshot.schema.fields.iter().find(|field| field.metadata.contains_key("delta.invariants")) {
        Some(field) => Err(StatementError::Invariant(field.name.clone())),
        None => Ok(()),
    }
}

/// Registers a scan of the snapshot and gives the files that it has to open: those whose partition and statistics leave room for a row that is meant.
fn register(snapshot: &Snapshot, predicate: Option<&Expression>, reads: &mut ReadSet) -> Vec<Arc<AddFile>> {
    let truth = Expression::truth();
    let predicate = predicate.unwrap_or(&truth);
    let candidates: Vec<Arc<AddFile>> =
        snapshot.adds().filter(|add| may_hold(predicate, snapshot, add)).cloned().collect();
    reads.files.extend(candidates.iter().map(|add| add.path.clone()));
    reads.predicates.push(predicate.clone());
    candidates
}

fn may_hold(predicate: &Expression, snapshot: &Snapshot, add: &AddFile) -> bool {
    if !may_match(predicate, snapshot, add) {
        return false;
    }
    if is_partition_predicate(predicate, snapshot.partition_columns()) {
        return true;
    }
    let Some(stats) = &add.stats else { return true };
    let statistics = Statistics::parse(stats, &snapshot.schema);
    statistics.may_match(predicate, &snapshot.schema, &|index| {
        let field = &snapshot.schema.fields[index];
        let text = add.partition_values.get(&field.name)?;
        parse_partition_value(text.as_deref(), field.data_type.primitive()?).ok()
    })
}

/// A LIMIT takes some of the rows that its ORDER BY leaves equal. Which ones must not depend on the order of files, or the statement would do one thing
/// now and another when it is run again: the least in order of their values are taken.
fn settle_limit(query: &mut BoundQuery) {
    if query.limit.is_none() {
        return;
    }
    query.order_by.extend(query.output.iter().enumerate().map(|(index, (name, data_type))| BoundOrderBy {
        expression: Expression::Column { index, name: name.clone(), data_type: *data_type },
        descending: false,
        nulls_first: true,
    }));
}

fn register_query(body: &BoundBody, snapshot: &Snapshot, reads: &mut ReadSet) {
    match body {
        BoundBody::Select(select) if select.from == BoundFrom::Snapshot => {
            register(snapshot, select.predicate.as_ref(), reads);
        }
        BoundBody::Select(_) => {}
        BoundBody::SetOperation { left, right, .. } => {
            register_query(left, snapshot, reads);
            register_query(right, snapshot, reads);
        }
    }
}

impl Change {
    /// The transaction, once every new file is written. `sizes` has the bytes of each.
    pub fn into_transaction(
        self,
        read: Option<Arc<Snapshot>>,
        sizes: &[u64],
        naming: &Naming,
        now_ms: i64,
    ) -> Transaction {
        assert_eq!(sizes.len(), self.files.len(), "every new file was written");
        let Self { reads, removes, files, mut actions, mut operation, table_level, .. } = self;
        actions.extend(removes.iter().map(|add| Action::Remove(add.to_remove(now_ms, true))));
        actions.extend(files.into_iter().zip(sizes).map(|(file, size)| {
            Action::Add(AddFile {
                path: file.path,
                partition_values: file.partition_values,
                size: *size as i64,
                modification_time: now_ms,
                data_change: true,
                stats: Some(file.stats),
                ..AddFile::default()
            })
        }));
        if !sizes.is_empty() {
            operation.metrics.insert("numOutputBytes".to_owned(), json!(sizes.iter().sum::<u64>().to_string()));
        }
        Transaction::new(read, reads, operation, actions, table_level, naming.txn_id())
    }
}
