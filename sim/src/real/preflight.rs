//! What is looked at before the first byte is written.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use conflict::isolation::IsolationLevel;
use log_core::{
    action::Action,
    load::LoadSnapshot,
    path::{LOG_FOLDER, Version, commit_path},
    schema::Schema,
    snapshot::Snapshot,
    store::drive,
};

use super::{
    data::chain,
    directories::{Directories, read_log},
    error::RealError,
    local_directory::{LocalDirectory, create_temporary, data_path},
};
use crate::{
    execute::prepare::schema_of,
    scenario::{Existing, Faults},
    sql::{Statement, statement::CreateTable},
    world::{Setting, Table},
};

/// Looks at the root and at what is in it: which of the setting's tables are there, if the run may go on from them.
///
/// # Errors
/// When the run cannot be made there. Nothing was written then.
pub(super) fn look(setting: &Setting, root: &Path, tables: &Directories) -> Result<Vec<bool>, RealError> {
    let refuse = |reason: String| RealError::Root { path: root.to_owned(), reason };
    if setting.scenario.store.fault_rate != Faults::default() {
        return Err(RealError::Faults);
    }
    for name in &setting.tables {
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
            return Err(RealError::TableName { name: name.clone() });
        }
    }
    let root_is_there = match fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => true,
        Ok(_) => return Err(refuse("it is a file, and the tables need a folder".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(root) => false,
        Err(_) if is_link(root) => return Err(refuse("it is a link to something that is not there".to_owned())),
        Err(error) => return Err(refuse(error.to_string())),
    };
    let mut there = vec![false; setting.tables.len()];
    if root_is_there {
        for (index, name) in setting.tables.iter().enumerate() {
            there[index] = look_at_table(setting, name, tables.table(index))?;
        }
    }
    // Can something be written? A file that is gone again leaves no trace.
    let parent = match root_is_there {
        true => root.to_owned(),
        false => match root.parent() {
            Some(parent) if parent.is_dir() => parent.to_owned(),
            Some(parent) if parent == Path::new("") => PathBuf::from("."),
            _ => return Err(refuse("the folder that it shall be made in is not there".to_owned())),
        },
    };
    let existing = there.iter().enumerate().filter(|(_, there)| **there).map(|(index, _)| tables.table(index).root());
    let folders = existing.flat_map(|table| [table.to_owned(), table.join(LOG_FOLDER)]);
    for folder in std::iter::once(parent).chain(folders) {
        let (temporary, _) = create_temporary(&folder)
            .map_err(|error| refuse(format!("cannot write in '{}': {error}", folder.display())))?;
        fs::remove_file(&temporary).map_err(|error| refuse(error.to_string()))?;
    }
    Ok(there)
}

/// Is it a link, wherever that leads?
fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Is the table there?
fn look_at_table(setting: &Setting, name: &str, table: &LocalDirectory) -> Result<bool, RealError> {
    let path = table.root().to_owned();
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(RealError::NotATable { path, found: "it is a file".to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(&path) => return Ok(false),
        Err(error) => return Err(RealError::Unfit { path, reason: error.to_string() }),
    }
    let unfit = |reason: String| RealError::Unfit { path: path.clone(), reason };
    let snapshot = drive(LoadSnapshot::latest(), |request| table.answer(&request));
    if setting.scenario.store.existing == Existing::Refuse {
        // Even a table that cannot be read is there.
        match snapshot {
            Ok(None) => {}
            Ok(Some(snapshot)) => {
                return Err(RealError::Exists { name: name.to_owned(), path, version: snapshot.version });
            }
            Err(error) => return Err(unfit(chain(&error))),
        }
    } else if let Some(snapshot) = snapshot.map_err(|error| unfit(chain(&error)))? {
        check_fit(setting, name, table, &snapshot).map_err(unfit)?;
        return Ok(true);
    }
    // An empty folder, or one in which a run did not get to its first commit, is as good as none.
    let entries = fs::read_dir(&path).map_err(|error| unfit(error.to_string()))?;
    for entry in entries {
        let entry = entry.map_err(|error| unfit(error.to_string()))?.file_name();
        if entry != LOG_FOLDER.trim_end_matches('/') {
            let found = format!("it has no commits, but there is '{}'", entry.to_string_lossy());
            return Err(RealError::NotATable { path, found });
        }
    }
    Ok(false)
}

/// Can the run go on from the table, and be judged at the end?
fn check_fit(setting: &Setting, name: &str, table: &LocalDirectory, snapshot: &Arc<Snapshot>) -> Result<(), String> {
    snapshot.protocol.check_writable().map_err(|error| error.to_string())?;
    let wanted = created(setting, name).map(schema_of);
    if wanted.as_ref().is_some_and(|wanted| !same_columns(wanted, &snapshot.schema)) {
        let (found, wanted) = (columns(&snapshot.schema), columns(&wanted.unwrap_or_default()));
        return Err(format!("its columns are ({found}), and the scenario's are ({wanted})"));
    }
    let default = setting.rules.default_level;
    let level =
        IsolationLevel::of_table(&snapshot.metadata.configuration, default).map_err(|error| error.to_string())?;
    if let Some(wanted) = setting.scenario.isolation.filter(|wanted| *wanted != level) {
        return Err(format!("its level is {level}, and the scenario's is {wanted}; a table keeps its level"));
    }
    let partitions = created(setting, name).map(|create| create.partitioned_by.clone());
    if let Some(wanted) = partitions.filter(|wanted| !same_names(wanted, snapshot.partition_columns())) {
        let found = snapshot.partition_columns().join(", ");
        return Err(format!("its partition columns are ({found}), and the scenario's are ({})", wanted.join(", ")));
    }
    let objects = read_log(table)?;
    let newest = objects.get(&commit_path(snapshot.version));
    if newest.is_some_and(|bytes| bytes.is_empty()) {
        return Err(format!(
            "its newest commit, version {}, is an empty file: a writer may have died there",
            snapshot.version
        ));
    }
    let log = Table::from_objects(objects).map_err(|error| chain(&error))?;
    let mut live = BTreeSet::new();
    for version in (0..log.commits()).map(Version) {
        let whole = "contend judges a run from the table's whole history";
        let commit = log.commit(version);
        for action in &commit.actions {
            match action {
                Action::Remove(remove) if !live.remove(&remove.path) => {
                    return Err(format!("version {version} removes '{}', which was not in it; {whole}", remove.path));
                }
                Action::Metadata(metadata) if metadata.schema_string != snapshot.metadata.schema_string => {
                    return Err(format!("its schema was changed after version {version}; {whole}"));
                }
                _ => {}
            }
        }
        for action in commit.actions {
            let Action::Add(add) = action else { continue };
            if !live.insert(add.path.clone()) {
                return Err(format!("version {version} adds '{}' a second time; {whole}", add.path));
            }
            let file = data_path(table.root(), &add.path).map_err(|error| format!("version {version}: {error}"))?;
            if !file.is_file() {
                return Err(format!(
                    "data file '{}' of version {version} is not there; a VACUUM may have removed it, and {whole}",
                    add.path
                ));
            }
        }
    }
    Ok(())
}

fn same_names(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn created<'a>(setting: &'a Setting, name: &str) -> Option<&'a CreateTable> {
    let scenario = &setting.scenario;
    let statements = scenario.setup.iter().chain(scenario.writers.iter().flat_map(|writer| &writer.statements));
    statements.into_iter().find_map(|sql| match &*sql.statement {
        Statement::CreateTable(create) if create.table.eq_ignore_ascii_case(name) => Some(create),
        _ => None,
    })
}

fn same_columns(a: &Schema, b: &Schema) -> bool {
    let of = |schema: &Schema| -> Vec<_> {
        schema.fields.iter().map(|field| (field.name.to_lowercase(), field.data_type.clone(), field.nullable)).collect()
    };
    of(a) == of(b)
}

fn columns(schema: &Schema) -> String {
    let column = |field: &log_core::schema::Field| {
        format!("{} {}{}", field.name, field.data_type, if field.nullable { "" } else { " NOT NULL" })
    };
    schema.fields.iter().map(column).collect::<Vec<_>>().join(", ")
}
