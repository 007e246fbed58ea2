//! Files of the table's folder that nothing refers to.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use log_core::{
    check::{Finding, Mentioned, Rule},
    deletion_vector::{DeletionVector, Place},
    path::path_key,
    snapshot::Snapshot,
};

use super::relative;
use crate::real::local_directory::is_temporary;

/// For so long files stay that may be of use to somebody, unless the table says otherwise: a week.
const RETENTION_MS: i64 = 7 * 86_400_000;

/// Temporary files of this program in the log, which no listing shows.
pub(super) fn temporary_files(root: &Path, findings: &mut Vec<Finding>) {
    let Ok(entries) = fs::read_dir(root.join("_delta_log")) else { return };
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        if is_temporary(&name) {
            let message = "a temporary file, of a writer that is at work or died";
            findings.push(note(format!("_delta_log/{name}"), Rule::StrayFile, message));
        }
    }
}

fn note(file: String, rule: Rule, message: impl Into<String>) -> Finding {
    Finding { version: None, file, rule, message: message.into() }
}

/// Files that the log never speaks of: left behind, or of a writer that has not committed yet. Names that begin with `_` or `.` are not data, as for
/// VACUUM.
pub(super) fn orphans(
    root: &Path,
    snapshot: &Snapshot,
    mentioned: &Mentioned,
    now_ms: i64,
    findings: &mut Vec<Finding>,
) {
    let known = known(root, mentioned);
    let retention = retention_ms(snapshot.property("delta.deletedFileRetentionDuration"));
    let partitions = snapshot.partition_columns();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                let file = relative(root, &folder).unwrap_or_default();
                findings.push(note(file, Rule::NotChecked, format!("the folder cannot be listed: {error}")));
                continue;
            }
        };
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else { continue };
            // A link is a file of that name here, wherever it leads.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if is_data_folder(&name, partitions, folder == *root) {
                    folders.push(entry.path());
                }
                continue;
            }
            let Some(path) = relative(root, &entry.path()) else { continue };
            if name.starts_with(['_', '.']) || known.contains(&path) {
                continue;
            }
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified_ms = modified.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
            let young = modified_ms > now_ms.saturating_sub(retention);
            findings.push(if young {
                note(path, Rule::YoungFile, "the log does not speak of it; a writer may be about to commit it")
            } else {
                note(path, Rule::OrphanFile, "the log does not speak of it, and it is older than files are kept for")
            });
        }
    }
}

fn is_data_folder(name: &str, partitions: &[String], top: bool) -> bool {
    let of_partition = name.split_once('=').is_some_and(|(column, _)| partitions.iter().any(|name| name == column));
    !name.starts_with(['_', '.']) || of_partition || (top && name == "_change_data")
}

/// Paths relative to the table of files that the log speaks of.
fn known(root: &Path, mentioned: &Mentioned) -> BTreeSet<String> {
    let roots: Vec<PathBuf> = [std::path::absolute(root), root.canonicalize()].into_iter().flatten().collect();
    let inside = |path: &str| {
        if !path.starts_with('/') {
            return Some(path.to_owned());
        }
        roots.iter().find_map(|root| relative(root, Path::new(path)))
    };
    let mut known: BTreeSet<String> = mentioned.files.iter().filter_map(|path| inside(path)).collect();
    for (storage_type, path) in &mentioned.vectors {
        let descriptor = DeletionVector {
            storage_type: storage_type.clone(),
            path_or_inline_dv: path.clone(),
            ..DeletionVector::default()
        };
        match descriptor.place() {
            Ok(Place::InTable(path)) => known.extend(Some(path)),
            Ok(Place::Absolute(path)) => known.extend(inside(&path_key(&path))),
            Ok(Place::Inline(_)) | Err(_) => {}
        }
    }
    known
}

/// The time of an interval such as `interval 7 days`, in milliseconds; that of the protocol's default where there is none that makes sense.
fn retention_ms(property: Option<&str>) -> i64 {
    let parse = |text: &str| {
        let lower = text.trim().to_lowercase();
        let mut words = lower.strip_prefix("interval").unwrap_or(&lower).split_whitespace();
        let (number, unit) = (words.next()?.parse::<i64>().ok()?, words.next()?);
        let unit_ms = match unit.trim_end_matches('s') {
            "millisecond" => 1,
            "second" => 1000,
            "minute" => 60_000,
            "hour" => 3_600_000,
            "day" => 86_400_000,
            "week" => 7 * 86_400_000,
            _ => return None,
        };
        words.next().is_none().then_some(number.checked_mul(unit_ms)?)
    };
    property.and_then(parse).unwrap_or(RETENTION_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_is_an_interval_of_one_unit() {
        assert_eq!(retention_ms(Some("interval 2 days")), 2 * 86_400_000);
        assert_eq!(retention_ms(Some("INTERVAL 1 HOUR")), 3_600_000);
        for text in [None, Some("soon"), Some("interval 1 day 2 hours"), Some("interval 9223372036854775807 weeks")] {
            assert_eq!(retention_ms(text), RETENTION_MS, "{text:?}");
        }
    }

    #[test]
    fn folders_of_partitions_hold_data_whatever_their_names() {
        let partitions = ["_p".to_owned()];
        for (name, top, expected) in [
            ("p=1", true, true),
            ("_p=1", true, true),
            ("_q=1", true, false),
            ("_delta_log", true, false),
            ("_change_data", true, true),
            ("_change_data", false, false),
            (".hidden", true, false),
        ] {
            assert_eq!(is_data_folder(name, &partitions, top), expected, "{name}");
        }
    }
}
