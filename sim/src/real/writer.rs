//! A writer that runs on a thread of its own: the same [`Call`]s as in the simulator, driven until they end.

use std::sync::Arc;

use arrow::array::RecordBatch;
use log_core::{
    action::AddFile,
    load::LoadSnapshot,
    path::{LogFile, Version},
    snapshot::Snapshot,
    store::{Answer, Bytes, Request, Response, WriteAnswer, drive},
};

use super::{
    gate::{Gate, Pass},
    newest::NewestSnapshot,
};
use crate::{
    call::{Call, CallEnd, CallError, Given, Need, Next},
    execute::prepare::{Executed, Execution, NewFile, Snapshots, StatementError},
    history::{PutResult, What},
    naming::CallId,
    run::Stand,
    world::Setting,
};

/// Where tables lie that several threads work on. Tables are named by their position in the setting.
pub trait Place {
    /// Does what a request says.
    fn answer(&self, table: usize, request: &Request) -> Response;

    /// The time, in milliseconds since the epoch.
    fn now_ms(&self) -> i64;

    /// The rows of a data file, all columns of the snapshot's schema in order.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, table: usize, add: &AddFile, snapshot: &Snapshot) -> Result<RecordBatch, StatementError>;

    /// Writes a data file for a table of this schema and with these partition columns; gives its size.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, table: usize, file: &NewFile, snapshot: &Snapshot) -> Result<u64, std::io::Error>;

    /// The cell in which the writers of a table keep its newest snapshot, if they do.
    fn newest(&self, _table: usize) -> Option<&NewestSnapshot> {
        None
    }
}

/// Told about everything that happens to a call.
pub type Observe<'a> = dyn FnMut(CallId, What) + 'a;

/// Makes every call of a writer, one after the other. With a gate it stops there before everything that it needs.
///
/// # Errors
/// When a table is damaged.
pub fn run_writer(
    setting: &Setting,
    writer: usize,
    place: &dyn Place,
    gate: Option<&Gate>,
    observe: &mut Observe<'_>,
) -> Result<(), CallError> {
    let _leaving = gate.map(|gate| Leaving { gate, writer });
    let mut id = CallId { writer, statement: 0, execution: 0 };
    loop {
        let Some(end) = run_call(setting, id, place, gate, observe)? else { return Ok(()) };
        let next = setting.next_call(id, &end);
        observe(id, What::Ended(end));
        match next {
            Some(next) => id = next,
            None => return Ok(()),
        }
    }
}

/// Tells the gate when the writer is gone, whatever the reason.
struct Leaving<'a> {
    gate: &'a Gate,
    writer: usize,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.gate.leave(self.writer);
    }
}

/// Makes one call. All but its end is observed. `None` when the gate says that the run is over.
///
/// # Errors
/// When the table is damaged.
pub fn run_call(
    setting: &Setting,
    id: CallId,
    place: &dyn Place,
    gate: Option<&Gate>,
    observe: &mut Observe<'_>,
) -> Result<Option<CallEnd>, CallError> {
    let clock_ms = place.now_ms();
    observe(id, What::Invoked { clock_ms });
    let (mut call, mut need) = Call::start(Arc::new(setting.context(id)), clock_ms);
    let table = setting.table_of(id);
    let newest = table.and_then(|table| place.newest(table));
    let mut snapshot = None;
    loop {
        match gate.map_or(Pass::On, |gate| gate.pass(id, Stand::of_call(&call, &need))) {
            Pass::On => {}
            Pass::Crash => return Ok(Some(CallEnd::Crashed)),
            Pass::End => return Ok(None),
        }
        let given = match need {
            Need::Store(_) if call.loads_newest() && newest.is_some() => {
                let table = table.expect("a call that loads a snapshot has a table");
                need = call.take_snapshot(load(place, table)?);
                continue;
            }
            Need::Store(request) => {
                let response = place.answer(table.expect("a call that asks the store has a table"), &request);
                observe_put(id, &request, &response.answer, observe);
                if let (Some(newest), Some((version, bytes))) = (newest, committed(&request, &response.answer)) {
                    newest.offer_commit(snapshot.as_deref(), version, bytes);
                }
                Given::Response(response)
            }
            Need::Execute(snapshots) => {
                if table.is_some() {
                    let read = snapshots.newest.as_ref().or_else(|| snapshots.versions.values().next());
                    observe(id, What::Loaded(read.map(|snapshot| snapshot.version)));
                }
                snapshot.clone_from(&snapshots.newest);
                Given::Executed(execute(setting, &call, table, &snapshots, place).map_err(Arc::new))
            }
            Need::Write(file) => {
                let table = table.expect("a call that writes has a table");
                let snapshot = snapshot.as_ref().expect("rows are written to a table that is there");
                let bytes = place
                    .write(table, &file, snapshot)
                    .map_err(|source| CallError::Write { path: file.path.clone(), source })?;
                observe(id, What::Wrote { path: file.path, bytes });
                Given::Written { bytes, now_ms: place.now_ms() }
            }
        };
        match call.advance(given)? {
            Next::Need(next) => need = next,
            Next::Ended(end) => return Ok(Some(end)),
        }
    }
}

/// Loads the newest snapshot of a table, beginning with the one in the table's cell.
fn load(place: &dyn Place, table: usize) -> Result<Option<Arc<Snapshot>>, CallError> {
    let newest = place.newest(table).expect("the table has a cell");
    let base = newest.get();
    let known = base.as_ref().map(|base| base.version);
    let loader = base.map_or_else(LoadSnapshot::latest, LoadSnapshot::newer_than);
    let snapshot = drive(loader, |request| place.answer(table, &request))?;
    if let Some(snapshot) = snapshot.as_ref().filter(|snapshot| Some(snapshot.version) != known) {
        newest.offer(snapshot.clone());
    }
    Ok(snapshot)
}

/// The commit that a put made, if it made one for certain.
fn committed<'a>(request: &'a Request, answer: &Answer) -> Option<(Version, &'a Bytes)> {
    let (Request::PutIfAbsent { path, bytes }, Answer::Write(WriteAnswer::Happened)) = (request, answer) else {
        return None;
    };
    match LogFile::of(path) {
        LogFile::Commit(version) => Some((version, bytes)),
        _ => None,
    }
}

fn execute(
    setting: &Setting,
    call: &Call,
    table: Option<usize>,
    snapshots: &Snapshots,
    place: &dyn Place,
) -> Result<Executed, StatementError> {
    Execution {
        naming: &call.context.naming,
        now_ms: call.started_ms,
        default_level: setting.rules.default_level,
        create_level: call.context.create_level,
        read: &|add, snapshot| place.read(table.expect("a file is one of a table"), add, snapshot),
    }
    .execute(&call.context.sql.statement, snapshots)
}

fn observe_put(id: CallId, request: &Request, answer: &Answer, observe: &mut Observe<'_>) {
    if let (Request::PutIfAbsent { path, .. }, Answer::Write(answer)) = (request, answer)
        && let LogFile::Commit(version) = LogFile::of(path)
    {
        observe(id, What::Put { version, result: PutResult::of(answer) });
    }
}
