//! Names of log files, and how a data file's path is written in the log.

use std::{borrow::Cow, fmt, num::ParseIntError};

/// A version of a table: the number of its commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Version(pub u64);

impl Version {
    /// The version after this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The version that a transaction tries first, having read `read` (`None` = no table yet).
    pub fn after(read: Option<Self>) -> Self {
        read.map_or(Self(0), Self::next)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Version {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// The folder of the log, relative to the table.
pub const LOG_FOLDER: &str = "_delta_log/";

/// The path of a commit, relative to the table.
pub fn commit_path(version: Version) -> String {
    format!("{LOG_FOLDER}{:020}.json", version.0)
}

/// The path of a checkpoint, or of a part of one, relative to the table. `id` is the UUID of a name that has one.
pub fn checkpoint_path(version: Version, naming: CheckpointNaming, id: &str) -> String {
    let start = format!("{LOG_FOLDER}{:020}.checkpoint", version.0);
    match naming {
        CheckpointNaming::Part { part, of } => format!("{start}.{part:010}.{of:010}.parquet"),
        CheckpointNaming::Classic => format!("{start}.parquet"),
        CheckpointNaming::UuidJson => format!("{start}.{id}.json"),
        CheckpointNaming::UuidParquet => format!("{start}.{id}.parquet"),
    }
}

/// The path of a version checksum, relative to the table.
pub fn checksum_path(version: Version) -> String {
    format!("{LOG_FOLDER}{:020}.crc", version.0)
}

/// The hint at the newest checkpoint, which writers replace.
pub const LAST_CHECKPOINT: &str = "_delta_log/_last_checkpoint";

/// The folder of the files that hold the file actions of v2 checkpoints.
pub const SIDECAR_FOLDER: &str = "_delta_log/_sidecars/";

/// The path after which the files of a version, and of all that came later, are listed.
pub fn before_version(version: Version) -> String {
    format!("{LOG_FOLDER}{:020}", version.0)
}

/// What a file of the log folder is, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFile {
    /// A commit: exactly twenty digits and `.json`.
    Commit(Version),
    /// A checkpoint, or a part of one.
    Checkpoint(CheckpointFile),
    /// The actions of several commits, reconciled: `FIRST.LAST.compacted.json`.
    Compaction {
        /// The first commit that is in it.
        first: Version,
        /// The last one.
        last: Version,
    },
    /// A version checksum: twenty digits and `.crc`.
    Checksum(Version),
    /// `_last_checkpoint`.
    LastCheckpoint,
    /// Anything else. Such files are ignored.
    Other,
}

/// A checkpoint, or a part of one, by the name of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointFile {
    /// The version whose state it holds.
    pub version: Version,
    /// How it is named.
    pub naming: CheckpointNaming,
}

/// The names that checkpoints have ("Checkpoints" of the protocol). Every Parquet file may be a v2 checkpoint, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CheckpointNaming {
    /// `N.checkpoint.PART.OF.parquet`, with ten digits each.
    Part {
        /// This part, from 1.
        part: u64,
        /// How many there are.
        of: u64,
    },
    /// `N.checkpoint.parquet`.
    Classic,
    /// `N.checkpoint.UUID.json`.
    UuidJson,
    /// `N.checkpoint.UUID.parquet`.
    UuidParquet,
}

impl LogFile {
    /// Classifies a path relative to the table. Folders below the log are `Other`, and so are versions that no 64-bit signed integer holds, as the
    /// protocol counts in those.
    pub fn of(path: &str) -> Self {
        let Some(name) = path.strip_prefix(LOG_FOLDER) else {
            return Self::Other;
        };
        if path == LAST_CHECKPOINT {
            return Self::LastCheckpoint;
        }
        let Some((version, rest)) = split_version(name) else {
            return Self::Other;
        };
        match rest {
            ".json" => return Self::Commit(version),
            ".crc" => return Self::Checksum(version),
            _ => {}
        }
        if let Some(naming) = rest.strip_prefix(".checkpoint.").and_then(checkpoint_naming) {
            return Self::Checkpoint(CheckpointFile { version, naming });
        }
        match rest.strip_prefix('.').and_then(split_version) {
            Some((last, ".compacted.json")) if version <= last => Self::Compaction { first: version, last },
            _ => Self::Other,
        }
    }
}

/// Twenty digits, and what follows them.
fn split_version(name: &str) -> Option<(Version, &str)> {
    let (digits, rest) = name.split_at_checked(20)?;
    let version = number(digits, 20)?;
    (i64::try_from(version).is_ok()).then_some((Version(version), rest))
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<u64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// What follows `.checkpoint.` in the name of a checkpoint.
fn checkpoint_naming(rest: &str) -> Option<CheckpointNaming> {
    if rest == "parquet" {
        return Some(CheckpointNaming::Classic);
    }
    let (middle, extension) = rest.rsplit_once('.')?;
    if let Some((part, of)) = middle.split_once('.') {
        let (part, of) = (number(part, 10)?, number(of, 10)?);
        let naming = CheckpointNaming::Part { part, of };
        return (extension == "parquet" && (1..=of).contains(&part)).then_some(naming);
    }
    match extension {
        _ if !is_uuid(middle) => None,
        "json" => Some(CheckpointNaming::UuidJson),
        "parquet" => Some(CheckpointNaming::UuidParquet),
        _ => None,
    }
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(group.len()));
    groups.eq([8, 4, 4, 4, 12].map(Some))
}

/// The file that a path in the log names, as a key: two spellings of one path have the same key.
///
/// Paths are URIs that are to be decoded (RFC 2396, see "Add File and Remove File" of the protocol), so `a%20b` and `a b` are one file, and so
/// are `/a`, `file:/a`, `file:///a` and `file://localhost/a`. What decodes to bytes that are not UTF-8 keeps its own spelling: it must not fall together with others.
pub fn path_key(path: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'%', b':', path.as_bytes()).is_none() {
        return Cow::Borrowed(path);
    }
    let local = match path.split_at_checked(5) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file:") && rest.starts_with('/') => {
            let rest = rest.strip_prefix("//localhost/").or_else(|| rest.strip_prefix("///")).unwrap_or(&rest[1..]);
            // Another host's file stays what it is.
            if rest.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(format!("/{rest}")) }
        }
        _ => Cow::Borrowed(path),
    };
    match String::from_utf8(decoded(&local)) {
        Ok(decoded) => Cow::Owned(decoded),
        Err(_) => local,
    }
}

/// Turns every `%XX` of a path in the log into its byte. A plus stays a plus: paths are no forms. A percent sign without two hexadecimal digits
/// stays as it is; bytes that are no UTF-8 become replacement characters.
pub fn decode_data_path(path: &str) -> String {
    String::from_utf8_lossy(&decoded(path)).into_owned()
}

fn decoded(path: &str) -> Vec<u8> {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[i], digit(i + 1), digit(i + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                i += 3;
            }
            (byte, ..) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    out
}

/// Writes a path relative to the table for the log: every byte but unreserved characters of RFC 3986, `/`, `=` and `+` becomes `%XX`.
pub fn encode_data_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'=' | b'+' => {
                out.push(byte as char);
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests;
