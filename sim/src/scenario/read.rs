//! A document to a [`Scenario`]: every key is read here, and no other is let through.

use std::collections::BTreeSet;

use super::{
    DEFAULT_COMMIT_RETRIES, Existing, Expect, Faults, Latency, MAX_COUNT, OnConflict, PartsPerMillion, Pinned,
    PinnedStep, PutEffect, Range, Scenario, SqlText, StoreSpec, UnknownProfile, WriterSpec,
    document::{Node, Value},
    error::{Place, Problem},
    fields::{Fields, Read, integer, texts, unknown_word, wrong},
};

/// Reads a whole scenario; `origin` is its name if it gives none.
pub(super) fn scenario(document: &Node, origin: &str) -> Read<Scenario> {
    let known = ["name", "isolation", "setup", "writer", "schedule", "store", "expect"];
    let fields = Fields::open(document, String::new(), &known)?;
    let name = fields.text("name", "a string")?.map_or(origin, |(name, _)| name).to_owned();
    let isolation = match fields.text("isolation", "the name of an isolation level")? {
        None => None,
        Some((text, node)) => Some(text.parse().map_err(|error| Problem::Level(error).at(&node.place))?),
    };
    let setup = match fields.get("setup").map(setup).transpose()? {
        None => Vec::new(),
        Some((_, Setup::Statements(statements))) => statements,
        Some((place, Setup::Table { table, version })) => {
            let version = version.map_or("latest".to_owned(), |version| version.to_string());
            let what =
                format!("starting from a real table ('{table}', version {version}) is not supported by this version");
            return Err(Problem::NotYet(what).at(place));
        }
    };
    let writers = writers(&fields)?;
    let schedule = fields.get("schedule").map(|node| schedule(node, &writers)).transpose()?;
    let store = fields.get("store").map(store).transpose()?.unwrap_or_default();
    let expect = fields.get("expect").map(expect).transpose()?.unwrap_or_default();
    Ok(Scenario { name, isolation, setup, writers, schedule, store, expect })
}

/// What the table is before the writers start.
enum Setup {
    /// Statements make it.
    Statements(Vec<SqlText>),
    /// A version of a real table, the latest if none is named.
    Table { table: String, version: Option<u32> },
}

fn setup(node: &Node) -> Read<(&Place, Setup)> {
    let setup = match &node.value {
        Value::Table(_) => {
            let fields = Fields::open(node, "setup".to_owned(), &["table", "version"])?;
            let table = fields.required("table", "a string", "the path of a table")?.0.to_owned();
            Setup::Table { table, version: fields.integer("version", 0..=u32::MAX)? }
        }
        Value::List(_) => Setup::Statements(statements(node, "setup", "setup")?),
        _ => return Err(wrong("setup", "a list of SQL strings", node)),
    };
    Ok((&node.place, setup))
}

/// A list of statements; `whose` says whose they are in an error.
fn statements(node: &Node, key: &str, whose: &str) -> Read<Vec<SqlText>> {
    let mut statements = Vec::new();
    for (item, text) in texts(node, key, "a list of SQL strings")? {
        let statement = SqlText::parse(text).map_err(|source| {
            let statement = format!("{whose}, statement {}", statements.len() + 1);
            Problem::Sql { statement, source }.at(&item.place)
        })?;
        statements.push(statement);
    }
    Ok(statements)
}

fn writers(fields: &Fields<'_>) -> Read<Vec<WriterSpec>> {
    let expected = "a list of tables, each under [[writer]]";
    let nodes = match fields.get("writer") {
        None => {
            return Err(Problem::Missing { key: "writer".into(), expected: "at least one [[writer]]" }.at(fields.place));
        }
        Some(Node { value: Value::List(nodes), .. }) if !nodes.is_empty() => nodes,
        Some(node) => return Err(wrong("writer", expected, node)),
    };
    let mut names = BTreeSet::new();
    let mut writers = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        for writer in writer(node, index)? {
            if !names.insert(writer.name.clone()) {
                return Err(Problem::DuplicateWriter(writer.name).at(&node.place));
            }
            writers.push(writer);
        }
    }
    Ok(writers)
}

/// The name under which the setup writes; a writer of that name would share its transaction ids.
const RESERVED: &str = "setup";

/// The writers that one `[[writer]]` makes.
fn writer(node: &Node, index: usize) -> Read<Vec<WriterSpec>> {
    let prefix = format!("writer.{}", node.name().map_or_else(|| (index + 1).to_string(), str::to_owned));
    let known = ["name", "count", "statements", "on_conflict", "commit_retries"];
    let fields = Fields::open(node, prefix, &known)?;
    let expected = "a name of ASCII letters, digits, '_' and '-'";
    let (name, name_node) = fields.required("name", expected, expected)?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
        return Err(wrong(&fields.path("name"), expected, name_node));
    }
    if name == RESERVED {
        return Err(wrong(&fields.path("name"), "a name of its own: 'setup' is what the setup goes by", name_node));
    }
    let count = fields.integer("count", 1..=MAX_COUNT)?;
    let key = fields.path("statements");
    let statements = match fields.get("statements") {
        Some(node) => statements(node, &key, &format!("writer '{name}'"))?,
        None => return Err(Problem::Missing { key, expected: "a list of SQL strings" }.at(fields.place)),
    };
    if statements.is_empty() {
        return Err(wrong(&key, "a list of at least one SQL string", fields.get("statements").unwrap_or(node)));
    }
    let on_conflict = fields.get("on_conflict").map(|node| on_conflict(node, &fields)).transpose()?.unwrap_or_default();
    let commit_retries = fields.integer("commit_retries", 1..=u32::MAX)?.unwrap_or(DEFAULT_COMMIT_RETRIES);
    let spec = |name: String| WriterSpec { name, statements: statements.clone(), on_conflict, commit_retries };
    Ok(match count {
        None => vec![spec(name.to_owned())],
        Some(count) => (1..=count).map(|number| spec(format!("{name}{number}"))).collect(),
    })
}

fn on_conflict(node: &Node, writer: &Fields<'_>) -> Read<OnConflict> {
    let key = writer.path("on_conflict");
    match &node.value {
        Value::Text(word) => match word.as_str() {
            "continue" => Ok(OnConflict::Continue),
            "stop" => Ok(OnConflict::Stop),
            other => {
                let known = ["continue", "stop", "{ retry = N }"];
                Err(unknown_word(&key, "answer to a conflict", other, known).at(&node.place))
            }
        },
        Value::Table(_) => {
            let fields = Fields::open(node, key, &["retry"])?;
            match fields.integer("retry", 0..=u32::MAX)? {
                Some(times) => Ok(OnConflict::Retry(times)),
                None => {
                    let key = fields.path("retry");
                    Err(Problem::Missing { key, expected: "how often a statement runs again" }.at(fields.place))
                }
            }
        }
        _ => Err(wrong(&key, "\"continue\", \"stop\" or { retry = N }", node)),
    }
}

fn schedule(node: &Node, writers: &[WriterSpec]) -> Read<Vec<Pinned>> {
    let mut schedule = Vec::new();
    for (item, text) in texts(node, "schedule", "a list of strings such as \"a.read\"")? {
        let Some((writer, step)) = text.split_once('.') else {
            return Err(wrong("schedule", "a list of strings such as \"a.read\"", item));
        };
        let names = || writers.iter().map(|writer| writer.name.as_str());
        if !names().any(|name| name == writer) {
            return Err(unknown_word("schedule", "writer", writer, names()).at(&item.place));
        }
        let Some(step) = PinnedStep::ALL.into_iter().find(|known| known.name() == step) else {
            return Err(unknown_word("schedule", "step", step, PinnedStep::ALL.map(PinnedStep::name)).at(&item.place));
        };
        schedule.push(Pinned { writer: writer.to_owned(), step });
    }
    Ok(schedule)
}

/// The most faults of one kind that a search may inject.
const MAX_FAULTS: u32 = 1000;

fn store(node: &Node) -> Read<StoreSpec> {
    let fields =
        Fields::open(node, "store".to_owned(), &["latency", "put_effect", "fault_rate", "fault_budget", "existing"])?;
    let latency = fields.get("latency").map(latency).transpose()?.unwrap_or_default();
    let fault_rate = faults(&fields, "fault_rate", |fields, kind| {
        let Some(node) = fields.get(kind) else { return Ok(None) };
        let rate = match &node.value {
            Value::Integer(_, Some(number)) => PartsPerMillion::from_rate(*number as f64),
            Value::Float(_, number) => PartsPerMillion::from_rate(*number),
            _ => None,
        };
        let expected = "a probability: 0, or from 0.000001 to 1";
        rate.map(Some).ok_or_else(|| wrong(&fields.path(kind), expected, node))
    })?;
    let fault_budget = faults(&fields, "fault_budget", |fields, kind| fields.integer(kind, 0..=MAX_FAULTS))?;
    let existing = match fields.text("existing", "\"refuse\" or \"continue\"")? {
        None | Some(("refuse", _)) => Existing::Refuse,
        Some(("continue", _)) => Existing::Continue,
        Some((word, node)) => {
            let known = ["refuse", "continue"];
            return Err(unknown_word(&fields.path("existing"), "answer to a table", word, known).at(&node.place));
        }
    };
    let put_effect = match fields.text("put_effect", "\"end\" or \"middle\"")? {
        None | Some(("end", _)) => PutEffect::End,
        Some(("middle", _)) => PutEffect::Middle,
        Some((word, node)) => {
            return Err(unknown_word(&fields.path("put_effect"), "moment", word, ["end", "middle"]).at(&node.place));
        }
    };
    Ok(StoreSpec { latency, put_effect, fault_rate, fault_budget, existing })
}

/// A profile, or a table of ranges; a range that the table leaves out is the default profile's.
fn latency(node: &Node) -> Read<Latency> {
    match &node.value {
        Value::Text(name) => name.parse().map_err(|UnknownProfile(name)| {
            unknown_word("store.latency", "profile", &name, Latency::profile_names()).at(&node.place)
        }),
        Value::Table(_) => {
            let known = ["put_ms", "get_ms", "list_ms", "compute_ms"];
            let fields = Fields::open(node, "store.latency".to_owned(), &known)?;
            let default = Latency::default();
            let range = |key, default| Ok(milliseconds(&fields, key)?.unwrap_or(default));
            Ok(Latency {
                put_ms: range("put_ms", default.put_ms)?,
                get_ms: range("get_ms", default.get_ms)?,
                list_ms: range("list_ms", default.list_ms)?,
                compute_ms: range("compute_ms", default.compute_ms)?,
            })
        }
        _ => Err(wrong("store.latency", "the name of a profile or a table of ranges", node)),
    }
}

fn milliseconds(fields: &Fields<'_>, key: &str) -> Read<Option<[u32; 2]>> {
    let Some(node) = fields.get(key) else { return Ok(None) };
    let key = fields.path(key);
    let Value::List(ends) = &node.value else {
        return Err(wrong(&key, "[least, greatest] in milliseconds", node));
    };
    let [min, max] = ends.as_slice() else {
        return Err(wrong(&key, "[least, greatest] in milliseconds", node));
    };
    let end = |node| integer(node, &key, 0..=u32::MAX);
    let (min, max) = (end(min)?, end(max)?);
    if min > max {
        return Err(Problem::Inverted { key, min, max }.at(&node.place));
    }
    Ok(Some([min, max]))
}

/// A value for each kind of fault, zero where none is given.
fn faults<T: Default>(
    store: &Fields<'_>,
    key: &str,
    read: impl Fn(&Fields<'_>, &str) -> Read<Option<T>>,
) -> Read<Faults<T>> {
    let mut faults = Faults::default();
    let Some(node) = store.get(key) else { return Ok(faults) };
    let fields = Fields::open(node, store.path(key), &Faults::<T>::KINDS)?;
    for (kind, value) in faults.iter_mut() {
        *value = read(&fields, kind)?.unwrap_or_default();
    }
    Ok(faults)
}

fn expect(node: &Node) -> Read<Expect> {
    let fields = Fields::open(node, "expect".to_owned(), &["committed"])?;
    let Some(node) = fields.get("committed") else { return Ok(Expect::default()) };
    let key = fields.path("committed");
    let fields = Fields::open(node, key.clone(), &["min", "max"])?;
    let range = Range { min: fields.integer("min", 0..=u32::MAX)?, max: fields.integer("max", 0..=u32::MAX)? };
    match range {
        Range { min: Some(min), max: Some(max) } if min > max => {
            Err(Problem::Inverted { key, min, max }.at(&node.place))
        }
        range => Ok(Expect { committed: Some(range) }),
    }
}
