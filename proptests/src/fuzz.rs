//! What is fuzzed: each function takes any bytes and must come back, whatever they are, without a panic and without much memory.
//!
//! The targets in `proptests/fuzz` call these, and so does a test with a fixed seed (`proptests/tests/fuzz.rs`), so that both run the same code. Where bytes are
//! understood, laws are held as well: what is read and written back says the same.

use std::path::Path;

use log_core::{
    checkpoint::Checkpoint,
    commit::Commit,
    deletion_vector::{DeletedRows, DeletionVector, Place},
    path::{CheckpointFile, CheckpointNaming, LogFile, Version, decode_data_path, encode_data_path, path_key},
    schema::{DataType, Field, PrimitiveType, Schema},
    snapshot::Snapshot,
    statistics::Statistics,
    time_travel::{Instant, Zone},
};
use sim::real::local_directory::{data_path, log_path};

/// Takes a part of some bytes.
pub type Target = fn(&[u8]);

/// Every target by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("commit_lines", commit_lines),
    ("checkpoint", checkpoint),
    ("deletion_vector", deletion_vector),
    ("statistics", statistics),
    ("paths", paths),
    ("time_text", time_text),
];

/// The lines of a commit. Written back they are the same actions.
pub fn commit_lines(bytes: &[u8]) {
    let Ok(commit) = Commit::parse(Version(0), bytes) else { return };
    let written = Commit::serialise(&commit.actions);
    let again = Commit::parse(Version(0), &written).expect("what was written can be read");
    assert_eq!(again, commit);
    // That it is no table is an answer.
    let _ = Snapshot::replay(None, &[commit]);
}

/// A checkpoint: by the first byte as JSON, as Parquet, or as a sidecar.
pub fn checkpoint(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let file = |naming| CheckpointFile { version: Version(1), naming };
    let _ = match kind % 3 {
        0 => Checkpoint::parse(file(CheckpointNaming::UuidJson), rest).map(|checkpoint| checkpoint.actions),
        1 => Checkpoint::parse(file(CheckpointNaming::Classic), rest).map(|checkpoint| checkpoint.actions),
        _ => Checkpoint::sidecar(rest),
    };
}

/// A deletion vector: the first bytes are offset and size of the descriptor, the rest is the file, the inline text or the bitmap.
pub fn deletion_vector(bytes: &[u8]) {
    let Some((head, rest)) = bytes.split_first_chunk::<6>() else { return };
    let [kind, offset, size @ ..] = *head;
    let mut vector = DeletionVector {
        storage_type: "u".to_owned(),
        path_or_inline_dv: String::from_utf8_lossy(rest).into_owned(),
        offset: Some(i32::from(offset)),
        size_in_bytes: i32::from_le_bytes(size),
        cardinality: 1,
        ..DeletionVector::default()
    };
    match kind % 3 {
        0 => {
            vector.storage_type = ["u", "i", "p"][usize::from(offset % 3)].to_owned();
            match vector.place() {
                Ok(Place::Inline(bytes)) => drop(vector.read_inline(&bytes)),
                Ok(Place::InTable(path)) => assert!(log_path(Path::new("/t"), &path).is_ok(), "{path}"),
                Ok(Place::Absolute(_)) | Err(_) => {}
            }
        }
        1 => drop(vector.read_file(rest)),
        _ => {
            let Ok(rows) = DeletedRows::parse(rest) else { return };
            let again = DeletedRows::parse(&rows.to_bytes()).expect("what was written can be read");
            assert_eq!(again, rows);
            let first = rows.iter().next();
            assert!(first.is_none_or(|row| rows.contains(row)));
            assert_eq!(rows.is_empty(), first.is_none());
        }
    }
}

/// A column of each type, named by its type.
fn schema() -> Schema {
    use PrimitiveType as T;
    let decimal = T::Decimal { precision: 10, scale: 2 };
    let types = [
        T::Boolean,
        T::Byte,
        T::Short,
        T::Integer,
        T::Long,
        T::Float,
        T::Double,
        decimal,
        T::String,
        T::Binary,
        T::Date,
        T::Timestamp,
        T::TimestampNtz,
    ];
    let field = |data_type: PrimitiveType| Field {
        name: data_type.to_string(),
        data_type: DataType::Primitive(data_type),
        nullable: true,
        metadata: Default::default(),
    };
    Schema { fields: types.into_iter().map(field).collect() }
}

/// The text of statistics. Written back they say the same.
pub fn statistics(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let schema = schema();
    let statistics = Statistics::parse(text, &schema);
    for (name, min) in &statistics.min {
        assert!(statistics.max.get(name).is_none_or(|max| min <= max), "{name}");
    }
    let again = Statistics::parse(&statistics.to_json(), &schema);
    assert_eq!(again.num_records, statistics.num_records);
    assert_eq!(again.null_count, statistics.null_count);
}

/// Paths as the log spells them. None leads out of the table.
pub fn paths(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(decode_data_path(&encode_data_path(&text)), text);
    let _ = path_key(&text);
    let _ = LogFile::of(&text);
    let _ = LogFile::of(&format!("_delta_log/{text}"));
    let root = Path::new("/nosuch/table");
    for file in [data_path(root, &text), log_path(root, &text)].into_iter().flatten() {
        assert!(file.starts_with(root), "{file:?}");
        assert!(!file.components().any(|step| step == std::path::Component::ParentDir), "{file:?}");
    }
}

/// Texts of instants and of zones. What is shown leads back to where it came from.
pub fn time_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (first, rest) = text.split_once('|').unwrap_or(("", &text));
    let zone: Zone = first.parse().unwrap_or(Zone::UTC);
    for instant in [Instant::parse(rest, zone).ok(), Instant::parse_compact(rest, zone).ok()].into_iter().flatten() {
        let shown = instant.text(zone);
        let again = Instant::parse(&shown, Zone::UTC);
        // What is shown has milliseconds.
        assert_eq!(again.map(Instant::millis).ok(), Some(instant.millis()), "{text:?} is shown as {shown:?}");
    }
}
