//! Which table a command is about, and at what time.

use std::path::{Path, PathBuf};

use clap::Args;
use log_core::{
    path::Version,
    time_travel::{Instant, Zone},
};
use sim::{
    inspect::{TableFolder, instant},
    real::local_directory::now_ms,
};

use super::error::{CliError, about};

/// Digits of `yyyyMMddHHmmssSSS`.
const COMPACT_DIGITS: usize = 17;

/// A table, and a version of it.
#[derive(Args, Debug)]
pub struct TableArgument {
    /// The table's folder: after `run --store DIR` it is DIR/NAME. With @vN or @yyyyMMddHHmmssSSS behind it, at that version or time.
    #[arg(value_name = "TABLE")]
    table: PathBuf,
    /// Its version; the newest unless given.
    #[arg(long, value_name = "N", value_parser = version, conflicts_with = "timestamp_as_of")]
    version_as_of: Option<Version>,
    /// The version at a time: 2024-06-26, '2024-06-26 12:34:45', 2024-06-26T12:34:45.000Z, or an expression such as
    /// 'current_timestamp() - INTERVAL 24 HOURS'.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    timestamp_as_of: Option<String>,
    /// The zone of times that name none, and of those that are shown: UTC, an offset such as +02:00, or a region such as Europe/Berlin.
    #[arg(long, value_name = "ZONE", default_value_t = Zone::UTC, allow_hyphen_values = true)]
    time_zone: Zone,
}

/// What stands behind the `@` of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Suffix<'a> {
    Version(&'a str),
    Time(&'a str),
}

/// Says on stderr what is odd about a log that was read all the same.
pub fn warn(folder: &TableFolder) {
    for note in folder.notes() {
        eprintln!("warning: {note}");
    }
}

impl TableArgument {
    /// The folder, and the version that is asked for; `None` is the newest.
    pub fn open(&self) -> Result<(TableFolder, Option<Version>), CliError> {
        // A folder that is really called so wins.
        let suffix = if self.table.exists() { None } else { split(&self.table) };
        let Some((folder, suffix)) = suffix else {
            let folder = TableFolder::open(&self.table)?;
            let version = match &self.timestamp_as_of {
                Some(text) => {
                    let asked = instant(text, self.time_zone, now_ms());
                    let asked = asked.map_err(|error| about("--timestamp-as-of")(error.into()))?;
                    Some(folder.version_at(asked)?)
                }
                None => self.version_as_of,
            };
            return Ok((folder, version));
        };
        let name = self.table.display();
        for (flag, given) in
            [("--version-as-of", self.version_as_of.is_some()), ("--timestamp-as-of", self.timestamp_as_of.is_some())]
        {
            if given {
                return Err(format!(
                    "{name}: the table's name says what version is meant, and {flag} says it again; leave one out"
                )
                .into());
            }
        }
        let folder = TableFolder::open(folder)?;
        let version = match suffix {
            Suffix::Version(digits) => version(digits).map_err(|error| about(name.to_string())(error.into()))?,
            Suffix::Time(digits) => {
                let asked = Instant::parse_compact(digits, self.time_zone);
                folder.version_at(asked.map_err(|error| about(name.to_string())(error.into()))?)?
            }
        };
        Ok((folder, Some(version)))
    }

    /// The zone in which times are shown.
    pub fn zone(&self) -> Zone {
        self.time_zone
    }
}

/// A number from 0, as a number or as the text of one.
fn version(text: &str) -> Result<Version, String> {
    text.trim().parse().map_err(|_| {
        format!("'{text}' is no version, which is a whole number from 0; for a time there is --timestamp-as-of")
    })
}

/// The folder before an `@`, and what stands behind it; `None` when it is no version and no time.
fn split(path: &Path) -> Option<(&Path, Suffix<'_>)> {
    let (folder, suffix) = path.to_str()?.rsplit_once('@')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let suffix = match suffix.strip_prefix('v') {
        Some(version) if digits(version) => Suffix::Version(version),
        // Digits of another number are a time that was written wrong, which is said when it is read.
        _ if digits(suffix) && (suffix.len() == COMPACT_DIGITS || Path::new(folder).exists()) => Suffix::Time(suffix),
        _ => return None,
    };
    (!folder.is_empty()).then_some((Path::new(folder), suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_or_a_time_stands_behind_the_last_at() {
        let check = |path: &str, expected| assert_eq!(split(Path::new(path)), expected, "{path}");
        check("t@v1", Some((Path::new("t"), Suffix::Version("1"))));
        check("a@b/t@v007", Some((Path::new("a@b/t"), Suffix::Version("007"))));
        check("t@20240626123445000", Some((Path::new("t"), Suffix::Time("20240626123445000"))));
        for path in ["t", "t@", "t@v", "t@v1x", "t@vx", "t@V1", "@v1", "nosuch-folder@2024", "t@v1/u"] {
            check(path, None);
        }
    }
}
