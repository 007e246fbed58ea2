//! What stays the same while a world runs.

use std::{collections::BTreeMap, sync::Arc};

use conflict::{
    isolation::{IsolationLevel, LEVEL_PROPERTY},
    rules::RuleSet,
};
use log_core::{
    expression::{EvaluateError, Expression},
    schema::Schema,
    store::Request,
};

use super::network::FaultBudget;
use crate::{
    call::{Call, CallContext, CallEnd, Need},
    execute::prepare::{properties, schema_of},
    history::Kind,
    judge::{Violation, ViolationKind},
    naming::{CallId, Naming, SETUP},
    scenario::{OnConflict, Scenario, SqlText},
    sql::{
        Bound, SqlError, Statement,
        bind::{Constants, bind},
        bound::BoundInsert,
    },
};

/// A scenario with all that its runs have in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Setting {
    /// The scenario.
    pub scenario: Scenario,
    /// The rules.
    pub rules: Arc<RuleSet>,
    /// Part of every name, where a table sees several runs; else empty.
    pub run: String,
    /// Where the time comes from.
    pub clock: Clock,
    /// How much happens in one event.
    pub granularity: Granularity,
    /// Names of the tables, in lower case and in order.
    pub tables: Vec<String>,
    /// Faults that a search may inject.
    pub faults: FaultBudget,
    /// No execution can use up its puts, so counting them would only tell states apart for no reason.
    pub uncounted: bool,
}

/// Where the time comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Clock {
    /// From who makes the call: two orders of the same calls see the same times. For a search.
    PerCall,
    /// From the virtual time of the run.
    Virtual,
}

/// How much happens in one event, from most to least. See the documentation's page on states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Granularity {
    /// From one load or put to the next: a put that is lost sees the log of that instant. For comparing numbers of states only.
    Puts,
    /// From one scheduling point to the next; what commutes with the others runs with the step before.
    Points,
    /// From one request to the store to the next.
    Requests,
    /// One request, one execution, one data file, one pause: what takes time of its own.
    Needs,
}

impl Granularity {
    /// Does a call stop before what it needs?
    pub(super) fn stops_before(self, call: &Call, need: &Need) -> bool {
        match self {
            Self::Puts => match need {
                Need::Store(Request::PutIfAbsent { .. }) => true,
                Need::Store(Request::List { .. }) => call.is_loading(),
                _ => false,
            },
            Self::Points => call.is_scheduling_point(need),
            Self::Requests => matches!(need, Need::Store(request) if !matches!(request, Request::Backoff { .. })),
            Self::Needs => true,
        }
    }
}

/// A scenario that cannot run.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// A table that nobody creates.
    #[error("{place}: table '{table}' does not exist; the scenario creates {known}")]
    NoTable {
        /// The statement.
        place: String,
        /// The table.
        table: String,
        /// The tables that there are.
        known: String,
    },
    /// A query that reads another table than its statement writes.
    #[error(
        "{place}: it reads table '{other}' besides '{table}', and this build of contend runs statements on one table only"
    )]
    SeveralTables {
        /// The statement.
        place: String,
        /// The table that is written, or read first.
        table: String,
        /// Another table.
        other: String,
    },
    /// A table that is created in two ways.
    #[error("{place}: table '{table}' is created with other columns elsewhere in the scenario")]
    Columns {
        /// The statement.
        place: String,
        /// The table.
        table: String,
    },
    /// A table that is created with partition columns here and others there.
    #[error("{place}: table '{table}' is created with other partition columns elsewhere in the scenario")]
    Partitions {
        /// The statement.
        place: String,
        /// The table.
        table: String,
    },
    /// A table property that cannot be honoured.
    #[error("{place}: {message}")]
    Property {
        /// The statement.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// A constant that its column cannot hold.
    #[error("{place} (`{sql}`): row {row}, column '{column}': {source}")]
    Constant {
        /// The statement.
        place: String,
        /// Its text.
        sql: String,
        /// The row, from 1.
        row: usize,
        /// The column.
        column: String,
        /// Why not.
        source: EvaluateError,
    },
    /// A statement that does not fit its table.
    #[error("{place} (`{sql}`)")]
    Sql {
        /// The statement.
        place: String,
        /// Its text.
        sql: String,
        /// What is wrong.
        source: SqlError,
    },
}

/// The clock of a search and of every run starts here: 2024-01-01T00:00:00Z, in milliseconds since the epoch.
const START_MS: i64 = 1_704_067_200_000;
/// Between the setup and the writers lies an hour.
const WRITERS_MS: i64 = START_MS + 3_600_000;

impl Setting {
    /// Takes a scenario and checks every statement against the tables that it creates.
    ///
    /// # Errors
    /// When a statement names a table or a column that is not there, or does not fit its types.
    pub fn new(
        scenario: Scenario,
        rules: RuleSet,
        run: String,
        clock: Clock,
        granularity: Granularity,
    ) -> Result<Self, SettingError> {
        let schemas = created_tables(&scenario)?;
        for (place, sql) in statements(&scenario) {
            check(&place, sql, &schemas)?;
        }
        let tables = schemas.into_keys().collect();
        let faults = FaultBudget::of_kinds(scenario.store.fault_budget);
        let setting =
            Self { scenario, rules: Arc::new(rules), run, clock, granularity, tables, faults, uncounted: false };
        Ok(setting.with_faults(faults))
    }

    /// The same with other faults for a search to inject.
    pub fn with_faults(mut self, faults: FaultBudget) -> Self {
        // A put is lost to a commit or to a fault, so no execution needs more than there are of both.
        let calls = self.scenario.writers.iter().map(|writer| writer.statements.len() as u64).sum::<u64>();
        let puts = calls + self.scenario.setup.len() as u64 + u64::from(faults.total) + 1;
        self.uncounted = self.scenario.writers.iter().all(|writer| u64::from(writer.commit_retries) >= puts);
        self.faults = faults;
        self
    }

    /// The position of a table.
    pub fn table_index(&self, name: &str) -> usize {
        let name = name.to_lowercase();
        self.tables.iter().position(|table| *table == name).expect("every table was checked")
    }

    /// The position of the table of a call, if it has one.
    pub fn table_of(&self, call: CallId) -> Option<usize> {
        self.sql(call).statement.table().map(|table| self.table_index(table))
    }

    /// The level that the scenario gives its tables: its own, or that of a `CREATE TABLE`; `None` leaves it to the rule set.
    pub fn level(&self) -> Option<IsolationLevel> {
        let created = || {
            statements(&self.scenario).find_map(|(_, sql)| match &*sql.statement {
                Statement::CreateTable(create) => properties(create).ok()?.get(LEVEL_PROPERTY)?.parse().ok(),
                _ => None,
            })
        };
        self.scenario.isolation.or_else(created)
    }

    /// The name of a writer, or of the setup.
    pub fn writer_name(&self, writer: usize) -> &str {
        if writer == SETUP { "setup" } else { &self.scenario.writers[writer].name }
    }

    /// The statement of a call.
    pub fn sql(&self, call: CallId) -> &SqlText {
        match call.writer {
            SETUP => &self.scenario.setup[call.statement],
            writer => &self.scenario.writers[writer].statements[call.statement],
        }
    }

    /// What stays the same during a call.
    pub fn context(&self, id: CallId) -> CallContext {
        let retries = match id.writer {
            SETUP => conflict::commit_loop::DEFAULT_COMMIT_RETRIES,
            writer => self.scenario.writers[writer].commit_retries,
        };
        CallContext {
            id,
            naming: Naming::new(&self.run, self.writer_name(id.writer), id),
            sql: self.sql(id).clone(),
            rules: self.rules.clone(),
            // A scenario counts puts, the loop counts what follows the first.
            commit_retries: retries.saturating_sub(1),
            create_level: self.scenario.isolation,
        }
    }

    /// The call that a transaction id belongs to, when it is one of this run.
    pub fn call_of(&self, txn_id: &str) -> Option<CallId> {
        let (writer, statement, execution) = Naming::parse_txn_id(&self.run, txn_id)?;
        let writer = match self.scenario.writers.iter().position(|spec| spec.name == writer) {
            Some(writer) => writer,
            None if writer == "setup" => SETUP,
            None => return None,
        };
        Some(CallId { writer, statement, execution })
    }

    /// The call that its writer makes after a call ended so: the statement again, the next one, or none. The setup makes one call at a time.
    pub fn next_call(&self, id: CallId, end: &CallEnd) -> Option<CallId> {
        if id.writer == SETUP {
            return None;
        }
        let spec = &self.scenario.writers[id.writer];
        let lost = matches!(end, CallEnd::Conflict(_) | CallEnd::Exhausted { .. });
        if lost && id.execution < spec.on_conflict.retries() {
            return Some(CallId { execution: id.execution + 1, ..id });
        }
        // A writer that was killed starts again behind the call that it was in.
        let failed = end.kind() != Kind::Ok && *end != CallEnd::Crashed;
        let stops = failed && spec.on_conflict == OnConflict::Stop;
        let next = CallId { statement: id.statement + 1, execution: 0, ..id };
        (!stops && next.statement < spec.statements.len()).then_some(next)
    }

    /// The clock of a call in a search.
    pub fn call_clock_ms(&self, call: CallId) -> i64 {
        ClockAt(None).of(call)
    }

    /// What is wrong with a number of committed calls, at the end of a run.
    pub fn unexpected(&self, committed: usize) -> Option<Violation> {
        let range = self.scenario.expect.committed?;
        if range.contains(committed as u64) {
            return None;
        }
        let expected = match (range.min, range.max) {
            (Some(min), Some(max)) if min == max => min.to_string(),
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("{min} or more"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => "any number".to_owned(),
        };
        let calls = if committed == 1 { "1 call".to_owned() } else { format!("{committed} calls") };
        let message = format!("{calls} committed, and the scenario expects {expected}");
        Some(Violation { kind: ViolationKind::Expectation, message })
    }

    /// The clock of a search.
    pub(crate) fn clock_of_calls(&self) -> ClockAt {
        ClockAt(None)
    }

    /// The clock for an event at a virtual time, in milliseconds since the writers started.
    pub(super) fn clock_at(&self, now_ms: i64) -> ClockAt {
        match self.clock {
            Clock::PerCall => ClockAt(None),
            Clock::Virtual => ClockAt(Some(WRITERS_MS + now_ms)),
        }
    }
}

/// The time of one event, if the clock is not that of the call.
#[derive(Clone, Copy, Debug)]
pub struct ClockAt(Option<i64>);

impl ClockAt {
    /// The time of a call in this event, in milliseconds since the epoch.
    pub fn of(self, call: CallId) -> i64 {
        if call.writer == SETUP {
            return START_MS + 1000 * call.statement as i64;
        }
        self.0.unwrap_or_else(|| {
            let order = (call.writer as i64 * 1000 + call.statement as i64) * 100 + i64::from(call.execution.min(99));
            WRITERS_MS + 1000 * order
        })
    }
}

fn statements(scenario: &Scenario) -> impl Iterator<Item = (String, &SqlText)> {
    let setup = scenario.setup.iter().enumerate().map(|(i, sql)| (format!("setup, statement {}", i + 1), sql));
    let writers = scenario.writers.iter().flat_map(|writer| {
        writer
            .statements
            .iter()
            .enumerate()
            .map(|(i, sql)| (format!("writer '{}', statement {}", writer.name, i + 1), sql))
    });
    setup.chain(writers)
}

fn created_tables(scenario: &Scenario) -> Result<BTreeMap<String, Schema>, SettingError> {
    let mut schemas = BTreeMap::new();
    let mut partitions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (place, sql) in statements(scenario) {
        let Statement::CreateTable(create) = &*sql.statement else { continue };
        let (table, schema) = (create.table.to_lowercase(), schema_of(create));
        properties(create)
            .map_err(|error| SettingError::Property { place: place.clone(), message: error.to_string() })?;
        let columns: Vec<String> = create.partitioned_by.iter().map(|column| column.to_lowercase()).collect();
        if partitions.get(&table).is_some_and(|known| *known != columns) {
            return Err(SettingError::Partitions { place, table });
        }
        partitions.insert(table.clone(), columns);
        if schemas.get(&table).is_some_and(|known| *known != schema) {
            return Err(SettingError::Columns { place, table });
        }
        schemas.insert(table, schema);
    }
    Ok(schemas)
}

fn check(place: &str, sql: &SqlText, schemas: &BTreeMap<String, Schema>) -> Result<(), SettingError> {
    let statement = &*sql.statement;
    if matches!(statement, Statement::CreateTable(_)) {
        return Ok(());
    }
    let place = place.to_owned();
    let nothing = Schema::default();
    let schema = match statement.table() {
        None => &nothing,
        Some(table) => {
            if let Some(other) = statement.tables_read().into_iter().find(|other| !other.eq_ignore_ascii_case(table)) {
                return Err(SettingError::SeveralTables { place, table: table.to_owned(), other: other.to_owned() });
            }
            let known = || match schemas.is_empty() {
                true => "none".to_owned(),
                false => schemas.keys().cloned().collect::<Vec<_>>().join(", "),
            };
            match schemas.get(&table.to_lowercase()) {
                Some(schema) => schema,
                None => return Err(SettingError::NoTable { place, table: table.to_owned(), known: known() }),
            }
        }
    };
    let bound = bind(statement, schema, &Constants { now_us: 0 }).map_err(|source| SettingError::Sql {
        place: place.clone(),
        sql: sql.text.clone(),
        source: source.with_text(&sql.text),
    })?;
    check_constants(&place, sql, &bound, schema)
}

/// Rows that are spelled out must fit their columns: a number that is too big is known before anything runs.
fn check_constants(place: &str, sql: &SqlText, bound: &Bound, schema: &Schema) -> Result<(), SettingError> {
    let Bound::Insert(BoundInsert::Values(rows)) = bound else { return Ok(()) };
    for (number, row) in rows.iter().enumerate() {
        for (value, field) in row.iter().zip(&schema.fields) {
            // Only what has no choice: a cast of a constant. Anything else may depend on the clock.
            let Expression::Cast { value: operand, lenient: false, .. } = value else { continue };
            if let (Expression::Literal { .. }, Err(source)) = (&**operand, value.evaluate(&[])) {
                return Err(SettingError::Constant {
                    place: place.to_owned(),
                    sql: sql.text.clone(),
                    row: number + 1,
                    column: field.name.clone(),
                    source,
                });
            }
        }
    }
    Ok(())
}

impl OnConflict {
    /// How often a statement is executed again after it lost.
    pub fn retries(self) -> u32 {
        match self {
            Self::Continue | Self::Stop => 0,
            Self::Retry(times) => times,
        }
    }
}
