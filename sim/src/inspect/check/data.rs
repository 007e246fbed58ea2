//! Data files against what the log says of them.

use std::{collections::BTreeMap, fs, io::ErrorKind};

use arrow::array::RecordBatch;
use log_core::{
    action::{AddFile, PartitionValues},
    batch::value_at,
    check::{Finding, Rule},
    data_file::{self, DataFileError},
    deletion_vector::DeletedRows,
    layout::Layout,
    schema::PrimitiveType,
    snapshot::Snapshot,
    statistics::Statistics,
    value::{Value, parse_partition_value},
};
use serde_json::value::RawValue;

use crate::real::{
    data::{chain, deleted_rows},
    local_directory::{AbsolutePaths, LocalDirectory, data_path_with},
};

/// Checks every live file.
pub(super) fn check(
    directory: &LocalDirectory,
    snapshot: &Snapshot,
    paths: AbsolutePaths,
    findings: &mut Vec<Finding>,
    progress: &mut impl FnMut(usize, usize),
) {
    let layouts = Layout::of(snapshot).and_then(|layout| {
        // The same columns, those of the partition looked for in the files.
        let stored = Layout::new(layout.schema.clone(), &[], layout.mapping)?;
        Ok((layout, stored))
    });
    let readable = snapshot.protocol.check_readable().map_err(|error| error.to_string());
    let layouts = readable.and_then(|()| layouts.map_err(|error| error.to_string()));
    if let Err(cause) = &layouts {
        let message = format!("what is in the data files: {cause}");
        let version = Some(snapshot.version);
        findings.push(Finding { version, file: String::new(), rule: Rule::NotChecked, message });
    }
    let total = snapshot.files.len();
    for (done, add) in snapshot.adds().enumerate() {
        progress(done, total);
        let mut report = |rule: Rule, message: String| {
            findings.push(Finding { version: Some(snapshot.version), file: add.path.clone(), rule, message });
        };
        let Some(bytes) = read(directory, add, paths, &mut report) else { continue };
        let Ok((layout, stored)) = &layouts else { continue };
        let deleted = match &add.deletion_vector {
            None => DeletedRows::default(),
            Some(vector) => match deleted_rows(directory.root(), vector, paths) {
                Ok(rows) => rows,
                Err(error) => {
                    report(Rule::DeletionVector, format!("'{}': {}", vector.unique_id(), chain(&error)));
                    continue;
                }
            },
        };
        let mut found = Vec::new();
        let mut read = |with_partition| {
            found.clear();
            let mut report = |rule, message| found.push((rule, message));
            content(&bytes, add, (layout, stored), with_partition, &deleted, &mut report)
        };
        // What a partition column is in the file, where it is there at all, does not matter to readers.
        match read(true).or_else(|_| read(false)) {
            Ok(()) => {}
            // That is for this build to learn.
            Err(error @ DataFileError::ShreddedVariant { .. }) => found.push((Rule::NotChecked, chain(&error))),
            Err(error) => found.push((Rule::DataUnreadable, chain(&error))),
        }
        found.into_iter().for_each(|(rule, message)| report(rule, message));
    }
}

/// The bytes of a data file, where it is there.
fn read(
    directory: &LocalDirectory,
    add: &AddFile,
    paths: AbsolutePaths,
    report: &mut impl FnMut(Rule, String),
) -> Option<Vec<u8>> {
    let file = match data_path_with(directory.root(), &add.path, paths) {
        Ok(file) => file,
        // A path may be absolute, and then it is the user who does not want it to be read.
        Err(error) => {
            let elsewhere = data_path_with(directory.root(), &add.path, AbsolutePaths::Allow).is_ok();
            report(if elsewhere { Rule::NotChecked } else { Rule::DataPath }, error.to_string());
            return None;
        }
    };
    match fs::metadata(&file) {
        Ok(metadata) if !metadata.is_file() => {
            report(Rule::DataUnreadable, "it is no file".to_owned());
            return None;
        }
        Ok(metadata) if i128::from(metadata.len()) != i128::from(add.size) => {
            report(Rule::DataSize, format!("the log says {} bytes, and it has {}", add.size, metadata.len()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            report(Rule::DataMissing, "it is live, and there is no such file; most likely it was deleted".to_owned());
            return None;
        }
        Err(error) => {
            report(Rule::DataUnreadable, error.to_string());
            return None;
        }
    }
    match fs::read(&file) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            report(Rule::DataUnreadable, error.to_string());
            None
        }
    }
}

/// What was seen of a column.
#[derive(Clone, Default)]
struct Seen {
    nulls: u64,
    min: Option<Value>,
    max: Option<Value>,
}

impl Seen {
    fn see(&mut self, value: Value) {
        match &value {
            Value::Null => self.nulls += 1,
            // Bounds do not speak of these.
            Value::Float(x) if x.is_nan() => {}
            Value::Double(x) if x.is_nan() => {}
            _ => {
                if self.min.as_ref().is_none_or(|min| value < *min) {
                    self.min = Some(value.clone());
                }
                if self.max.as_ref().is_none_or(|max| value > *max) {
                    self.max = Some(value);
                }
            }
        }
    }
}

fn content(
    bytes: &[u8],
    add: &AddFile,
    (layout, stored): (&Layout, &Layout),
    with_partition: bool,
    deleted: &DeletedRows,
    report: &mut impl FnMut(Rule, String),
) -> Result<(), DataFileError> {
    let fields = &layout.physical.fields;
    let columns: Vec<usize> =
        (0..fields.len()).filter(|index| with_partition || !layout.is_partition(*index)).collect();
    let stored = stored.select(&columns);
    // Columns of which statistics or a value of the partition can be checked: place in the batch, place in the schema, type.
    let checked: Vec<(usize, usize, PrimitiveType)> = columns
        .iter()
        .enumerate()
        .filter_map(|(at, index)| Some((at, *index, fields[*index].data_type.primitive()?)))
        .collect();
    let mut seen = vec![Seen::default(); checked.len()];
    let (mut row, mut live) = (0_u64, 0_u64);
    let mut other = vec![None; checked.len()];
    let partition: Vec<Option<Value>> = checked
        .iter()
        .map(|(_, index, data_type)| {
            let text = layout.is_partition(*index).then(|| layout.partition_text(&add.partition_values, *index))??;
            parse_partition_value(text, *data_type).ok()
        })
        .collect();
    for batch in data_file::open(bytes.to_vec().into(), &stored, &PartitionValues::new(), None)? {
        let batch: RecordBatch = batch?;
        for at in 0..batch.num_rows() {
            let is_live = !deleted.contains(row);
            row += 1;
            live += u64::from(is_live);
            if !is_live {
                continue;
            }
            for (place, (column, index, data_type)) in checked.iter().enumerate() {
                let value = value_at(batch.column(*column), *data_type, at);
                if layout.is_partition(*index) {
                    // A column that is not in the file is read as NULL.
                    if other[place].is_none() && value != Value::Null && partition[place].as_ref() != Some(&value) {
                        other[place] = Some(value);
                    }
                } else {
                    seen[place].see(value);
                }
            }
        }
    }
    if live != row.saturating_sub(deleted.len()) {
        let beyond = deleted.len() - (row - live);
        report(Rule::DeletionVector, format!("it deletes {beyond} rows beyond the {row} of the file"));
    }
    for (place, value) in other.into_iter().enumerate().filter_map(|(place, value)| Some((place, value?))) {
        let name = &fields[checked[place].1].name;
        let log = partition[place].clone().unwrap_or(Value::Null);
        report(
            Rule::PartitionColumnStored,
            format!("partition column '{name}' is {value} in the file, and {log} in the log, which counts"),
        );
    }
    let Some(text) = &add.stats else { return Ok(()) };
    let statistics = Statistics::parse(text, &layout.physical);
    if let Some(records) = statistics.num_records
        && records != row
    {
        report(Rule::NumRecords, format!("numRecords is {records}, and it has {row} rows"));
    }
    // A minimum above the maximum makes readers pass over both, or leave out the file. Here each is looked at by itself.
    let statistics = Statistics {
        min: without(text, "maxValues", layout).min,
        max: without(text, "minValues", layout).max,
        ..statistics
    };
    for ((_, index, _), seen) in checked.iter().zip(&seen) {
        if !layout.is_partition(*index) {
            column(&fields[*index].name, seen, (&statistics, live, deleted.is_empty()), report);
        }
    }
    Ok(())
}

/// Statistics without a part of them.
fn without(text: &str, part: &str, layout: &Layout) -> Statistics {
    let document: Result<BTreeMap<String, Box<RawValue>>, _> = serde_json::from_str(text);
    let rest = document.and_then(|mut document| {
        document.remove(part);
        serde_json::to_string(&document)
    });
    Statistics::parse(&rest.unwrap_or_default(), &layout.physical)
}

fn column(
    name: &str,
    seen: &Seen,
    (statistics, live, whole): (&Statistics, u64, bool),
    report: &mut impl FnMut(Rule, String),
) {
    if let (Some(bound), Some(least)) = (statistics.min.get(name), &seen.min)
        && least < bound
    {
        report(Rule::Bounds, format!("the minimum of column '{name}' is {bound}, and there is {least}"));
    }
    if let (Some(bound), Some(greatest)) = (statistics.max.get(name), &seen.max)
        && greatest > bound
        && !within_millisecond(bound, greatest)
    {
        report(Rule::Bounds, format!("the maximum of column '{name}' is {bound}, and there is {greatest}"));
    }
    let Some(nulls) = statistics.null_count.get(name).copied() else { return };
    let wrong = match (whole && statistics.tight_bounds != Some(false), nulls) {
        (true, nulls) => nulls != seen.nulls,
        // With deleted rows only these two say anything of those that are left.
        (false, 0) => seen.nulls > 0,
        (false, nulls) => statistics.num_records == Some(nulls) && seen.nulls < live,
    };
    if wrong {
        report(Rule::NullCount, format!("nullCount of column '{name}' is {nulls}, and it has {} NULLs", seen.nulls));
    }
}

/// Statistics have timestamps in milliseconds, and some writers cut off what is below.
fn within_millisecond(bound: &Value, greatest: &Value) -> bool {
    match (bound, greatest) {
        (Value::Timestamp(bound), Value::Timestamp(greatest))
        | (Value::TimestampNtz(bound), Value::TimestampNtz(greatest)) => greatest.saturating_sub(*bound) < 1000,
        _ => false,
    }
}
