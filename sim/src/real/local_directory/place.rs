//! Where a path of a log lies on the disk. Paths are data that somebody else wrote: none may lead out of the table.

use std::path::{Path, PathBuf};

use log_core::path::decode_data_path;

/// A path that is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("path '{path}' is refused: {reason}")]
pub struct PathError {
    /// The path, as it was given.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// The file of an object whose path is written as it is: those of the log folder.
///
/// # Errors
/// When the path is not one below the table.
pub fn log_path(root: &Path, path: &str) -> Result<PathBuf, PathError> {
    below(root, path, path)
}

/// The file of a data file whose path is spelled as in the log, percent-encoded.
///
/// # Errors
/// When the path is not one below the table.
pub fn data_path(root: &Path, path: &str) -> Result<PathBuf, PathError> {
    data_path_with(root, path, AbsolutePaths::Refuse)
}

/// May a log name files anywhere on this machine?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AbsolutePaths {
    /// Only inside of the table's folder.
    #[default]
    Refuse,
    /// Wherever they are: whoever wrote the log can have any file read.
    Allow,
}

/// The file of a data file or a deletion vector whose path is spelled as in the log, percent-encoded: relative to the table, absolute, or a `file:`
/// URI.
///
/// # Errors
/// When the path is neither, when a step of it is `.` or `..`, and when it is absolute, lies outside of the table and that is not allowed.
pub fn data_path_with(root: &Path, path: &str, absolute: AbsolutePaths) -> Result<PathBuf, PathError> {
    let refuse = |reason| Err(PathError { path: path.to_owned(), reason });
    let local = match path.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            let rest = rest
                .strip_prefix("//localhost/")
                .or_else(|| rest.strip_prefix("///"))
                .or_else(|| rest.strip_prefix('/').filter(|rest| !rest.starts_with('/')));
            let Some(rest) = rest else { return refuse("it is a file: URI of another machine, or of no file") };
            format!("/{rest}")
        }
        _ if has_scheme(path) => {
            return refuse("it is a URI of another store, and this build of contend reads files on this machine only");
        }
        _ => path.to_owned(),
    };
    let decoded = decode_data_path(&local);
    if !decoded.starts_with('/') || !local.starts_with('/') {
        return below(root, path, &decoded);
    }
    let file = below(Path::new("/"), path, decoded.trim_start_matches('/'))?;
    let inside =
        [std::path::absolute(root), root.canonicalize()].into_iter().flatten().any(|root| file.starts_with(root));
    if inside || absolute == AbsolutePaths::Allow {
        return Ok(file);
    }
    refuse("it lies outside of the table's folder; to read it all the same, give --allow-absolute-paths")
}

/// Does it begin like `s3://bucket/file` or `file:/file`? A colon that belongs to a name is percent-encoded in the log.
fn has_scheme(path: &str) -> bool {
    let Some((scheme, _)) = path.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Every step must be a plain name. What is left can only go down, unless somebody who may write to the folder put a symbolic link there.
fn below(root: &Path, given: &str, path: &str) -> Result<PathBuf, PathError> {
    let refuse = |reason| Err(PathError { path: given.to_owned(), reason });
    if path.is_empty() {
        return refuse("it is empty");
    }
    if path.contains('\0') {
        return refuse("it has a NUL character");
    }
    if path.starts_with('/') {
        return refuse("it is absolute, and this build of contend reads files inside the table's folder only");
    }
    let mut file = root.to_owned();
    for step in path.split('/') {
        match step {
            "" => return refuse("it has an empty step"),
            "." | ".." => return refuse("it has a step '.' or '..'"),
            // Elsewhere than on Unix a name can be more than one step.
            _ if cfg!(not(unix)) && step.contains(['\\', ':']) => {
                return refuse("it has a character that is no name's");
            }
            _ => file.push(step),
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_table() {
        let root = Path::new("/tables/t");
        for path in [
            "",
            "/etc/passwd",
            "..",
            "../u/f",
            "a/../../f",
            "a/./f",
            "a//f",
            "a/",
            "f\0",
            "%2e%2e/f",
            "a/%2E%2E/%2e%2e/f",
            "%2Fetc",
            "f%00",
            "file:///etc/passwd",
            "file:/etc/passwd",
            "s3://bucket/f",
            "hdfs:f",
        ] {
            assert!(data_path(root, path).is_err(), "{path}");
        }
        for path in ["/a/../b", "file:///a/..", "file://server/a", "file:a", "..", "%2Fetc", "s3://bucket/f"] {
            assert!(data_path_with(root, path, AbsolutePaths::Allow).is_err(), "{path}");
        }
        assert!(log_path(root, "_delta_log/../../f").is_err());
    }

    #[test]
    fn absolute_paths_are_followed_inside_of_the_table_or_when_that_is_allowed() {
        let root = Path::new("/tables/t");
        for path in
            ["/tables/t/a%20b", "file:/tables/t/a%20b", "file:///tables/t/a%20b", "file://localhost/tables/t/a%20b"]
        {
            assert_eq!(data_path(root, path).unwrap(), Path::new("/tables/t/a b"), "{path}");
        }
        for path in ["/tables/tt/f", "/tables/t/../f", "file:///etc/passwd"] {
            assert!(data_path(root, path).is_err(), "{path}");
        }
        let allowed = data_path_with(root, "file:///tables/u/f", AbsolutePaths::Allow).unwrap();
        assert_eq!(allowed, Path::new("/tables/u/f"));
    }

    #[test]
    fn a_data_path_is_decoded_once() {
        let root = Path::new("/t");
        for (path, file) in [
            ("part-0.parquet", "/t/part-0.parquet"),
            ("a=1%202/f", "/t/a=1 2/f"),
            ("a=x%253Ay/f", "/t/a=x%3Ay/f"),
            ("a=12%3A00/f", "/t/a=12:00/f"),
            ("a=x:y/f", "/t/a=x:y/f"),
            ("..f/...", "/t/..f/..."),
        ] {
            assert_eq!(data_path(root, path).unwrap(), Path::new(file), "{path}");
        }
    }
}
