//! Calls of the program.

use std::{fs, path::Path, process::Output};

use assert_cmd::Command;
use expect_test::Expect;
use serde_json::Value;
use tempfile::TempDir;

/// What a call of the program came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Ran {
    /// Stdout as a JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Calls the program in a directory.
pub fn contend_in(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::cargo_bin("contend").unwrap();
    command.current_dir(directory).env("TMPDIR", directory).args(arguments);
    ran(command.output().unwrap())
}

/// Calls the program in a directory of its own.
pub fn contend(arguments: &[&str]) -> Ran {
    contend_in(TempDir::new().unwrap().path(), arguments)
}

pub fn ran(output: Output) -> Ran {
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// The paths below a directory.
pub fn files(directory: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(self::files(&entry.path()).into_iter().map(|file| format!("{name}/{file}")));
        }
        files.push(name);
    }
    files.sort();
    files
}

/// The program refuses: exit 2, nothing on stdout, this on stderr, nothing written.
pub fn refuses(given: &[(&str, &str)], arguments: &[&str], expected: Expect) {
    let directory = TempDir::new().unwrap();
    for (name, text) in given {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let before = files(directory.path());
    let ran = contend_in(directory.path(), arguments);
    expected.assert_eq(&ran.stderr);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(files(directory.path()), before, "nothing is written");
}
