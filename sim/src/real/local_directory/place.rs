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
    let file = below(root, path, path)?;
    let reason =
        "it is, or passes through, a symbolic link that leads out of the table's folder; put the file itself there";
    if leads_out(root, &file) { Err(PathError { path: path.to_owned(), reason }) } else { Ok(file) }
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
        let file = below(root, path, &decoded)?;
        return if absolute == AbsolutePaths::Refuse && leads_out(root, &file) { refuse(LINK) } else { Ok(file) };
    }
    let file = below(Path::new("/"), path, decoded.trim_start_matches('/'))?;
    let inside =
        [std::path::absolute(root), root.canonicalize()].into_iter().flatten().any(|root| file.starts_with(root));
    if absolute == AbsolutePaths::Allow {
        return Ok(file);
    }
    if inside {
        return if leads_out(root, &file) { refuse(LINK) } else { Ok(file) };
    }
    refuse("it lies outside of the table's folder; to read it all the same, give --allow-absolute-paths")
}

const LINK: &str = "it is, or passes through, a symbolic link that leads out of the table's folder; to read it all the same, give \
                    --allow-absolute-paths";

/// Does a symbolic link below the table's folder take the file out of it? The folder itself may be one. A link inside of the table that leads to
/// another place of it does no harm, and what is not there leads nowhere.
fn leads_out(root: &Path, file: &Path) -> bool {
    let is_link = |step: &Path| step.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    // A file whose path has another name of the folder in it is looked at below.
    if file.starts_with(root) && !file.ancestors().take_while(|step| *step != root).any(is_link) {
        return false;
    }
    let Ok(root) = root.canonicalize() else { return false };
    // Of a file that is not there its folder counts. A link to nothing leads who knows where.
    match file.ancestors().find(|step| step.symlink_metadata().is_ok()) {
        Some(step) => step.canonicalize().map_or(true, |real| !real.starts_with(&root)),
        None => false,
    }
}

/// Does it begin like `s3://bucket/file` or `file:/file`? A colon that belongs to a name is percent-encoded in the log.
fn has_scheme(path: &str) -> bool {
    let Some((scheme, _)) = path.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Every step must be a plain name. What is left can only go down, unless a symbolic link is there.
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

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_does_not_lead_out_of_the_table() {
        use std::{fs, os::unix::fs::symlink};
        let home = tempfile::TempDir::new().unwrap();
        let (root, outside) = (home.path().join("t"), home.path().join("outside"));
        for folder in [root.join("_delta_log"), root.join("in"), outside.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(outside.join("f"), "x").unwrap();
        fs::write(root.join("in/f"), "x").unwrap();
        symlink(outside.join("f"), root.join("link")).unwrap();
        symlink(&outside, root.join("folder")).unwrap();
        symlink(outside.join("nothing"), root.join("nowhere")).unwrap();
        symlink(root.join("in"), root.join("within")).unwrap();
        let absolute = |name: &str| format!("{}/{name}", root.display());
        for path in ["link", "folder/f", "folder/new", "nowhere"] {
            assert!(data_path(&root, path).is_err(), "{path}");
            assert!(data_path(&root, &absolute(path)).is_err(), "{path}");
            assert!(log_path(&root, path).is_err(), "{path}");
            assert!(data_path_with(&root, path, AbsolutePaths::Allow).is_ok(), "{path}");
        }
        for path in ["in/f", "within/f", "within/new", "in/new"] {
            assert!(data_path(&root, path).is_ok(), "{path}");
            assert!(log_path(&root, path).is_ok(), "{path}");
        }
        // The folder of the table may be reached by a link.
        symlink(&root, home.path().join("name")).unwrap();
        assert!(data_path(&home.path().join("name"), "in/f").is_ok());
        assert!(data_path(&home.path().join("name"), "link").is_err());
    }
}
