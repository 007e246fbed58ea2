//! Names of log files, and how a data file's path is written in the log.

use std::{fmt, num::ParseIntError};

/// A version of a table: the number of its commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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

/// What a file of the log folder is, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFile {
    /// A commit: exactly twenty digits and `.json`.
    Commit(Version),
    /// A checkpoint, or a part of one: twenty digits, `.checkpoint.` and at last `.parquet` or `.json`.
    Checkpoint(Version),
    /// Anything else. Such files are ignored.
    Other,
}

impl LogFile {
    /// Classifies a path relative to the table. Folders below the log are `Other`.
    pub fn of(path: &str) -> Self {
        let Some(name) = path.strip_prefix(LOG_FOLDER) else {
            return Self::Other;
        };
        let Some((digits, rest)) = name.split_at_checked(20) else {
            return Self::Other;
        };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Other;
        }
        let Ok(version) = digits.parse() else {
            return Self::Other;
        };
        match rest {
            ".json" => Self::Commit(version),
            _ if is_checkpoint(rest) => Self::Checkpoint(version),
            _ => Self::Other,
        }
    }
}

/// Is this what follows the digits in a checkpoint's name?
fn is_checkpoint(rest: &str) -> bool {
    rest.starts_with(".checkpoint.") && !rest.contains('/') && (rest.ends_with(".parquet") || rest.ends_with(".json"))
}

/// Turns every `%XX` of a path in the log into its byte. A plus stays a plus: paths are no forms. A percent sign without two hexadecimal digits
/// stays as it is; bytes that are no UTF-8 become replacement characters.
pub fn decode_data_path(path: &str) -> String {
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
    String::from_utf8_lossy(&out).into_owned()
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
