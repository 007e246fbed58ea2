//! What is looked at before the first byte is written.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use log_core::{
    action::Action,
    load::LoadSnapshot,
    path::{LOG_FOLDER, Version},
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
    sql::Statement,
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
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
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

/// Is the table there?
fn look_at_table(setting: &Setting, name: &str, table: &LocalDirectory) -> Result<bool, RealError> {
    let path = table.root().to_owned();
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(RealError::NotATable { path, found: "it is a file".to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
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
    let wanted = created_schema(setting, name);
    if wanted.as_ref().is_some_and(|wanted| !same_columns(wanted, &snapshot.schema)) {
        let (found, wanted) = (columns(&snapshot.schema), columns(&wanted.unwrap_or_default()));
        return Err(format!("its columns are ({found}), and the scenario's are ({wanted})"));
    }
    let log = Table::from_objects(read_log(table)?).map_err(|error| chain(&error))?;
    for version in (0..log.commits()).map(Version) {
        for action in log.commit(version).actions {
            let Action::Add(add) = action else { continue };
            let file = data_path(table.root(), &add.path).map_err(|error| format!("version {version}: {error}"))?;
            if !file.is_file() {
                return Err(format!(
                    "data file '{}' of version {version} is not there; a VACUUM may have removed it, and contend judges a run from the \
                     table's whole history",
                    add.path
                ));
            }
        }
    }
    Ok(())
}

fn created_schema(setting: &Setting, name: &str) -> Option<Schema> {
    let scenario = &setting.scenario;
    let statements = scenario.setup.iter().chain(scenario.writers.iter().flat_map(|writer| &writer.statements));
    statements.into_iter().find_map(|sql| match &*sql.statement {
        Statement::CreateTable(create) if create.table.eq_ignore_ascii_case(name) => Some(schema_of(create)),
        _ => None,
    })
}

fn same_columns(a: &Schema, b: &Schema) -> bool {
    let of = |schema: &Schema| -> Vec<_> {
        schema.fields.iter().map(|field| (field.name.clone(), field.data_type.clone(), field.nullable)).collect()
    };
    of(a) == of(b)
}

fn columns(schema: &Schema) -> String {
    let column = |field: &log_core::schema::Field| {
        format!("{} {}{}", field.name, field.data_type, if field.nullable { "" } else { " NOT NULL" })
    };
    schema.fields.iter().map(column).collect::<Vec<_>>().join(", ")
}
