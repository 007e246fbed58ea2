//! Paths in a log are data that somebody else wrote: none makes a command touch what lies outside of the table, unless the user lets it.
//!
//! What lies outside is a file that could be read very well, so that a path that is followed shows in the output.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::support::{Ran, contend_in};

/// The commands on a table.
const COMMANDS: [&[&str]; 8] = [
    &["read", "t"],
    &["digest", "t"],
    &["files", "t"],
    &["show", "t"],
    &["history", "t"],
    &["check", "t"],
    &["check", "t", "--data"],
    // Last, as it writes.
    &["checkpoint", "t"],
];

/// A table `t` with one row in one file; the same file lies outside as `outside/secret.parquet`.
struct Hostile {
    root: TempDir,
    file: String,
}

impl Hostile {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        let scenario = r#"
            name = "s"
            setup = ["CREATE TABLE t (x STRING)", "INSERT INTO t VALUES ('the secret')"]
            [[writer]]
            name = "a"
            statements = ["SELECT * FROM t"]
        "#;
        fs::write(root.path().join("s.toml"), scenario).unwrap();
        let ran = contend_in(root.path(), &["run", "s.toml", "--store", "store"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        fs::rename(root.path().join("store/t"), root.path().join("t")).unwrap();
        let listed = contend_in(root.path(), &["files", "t", "--json"]).json();
        let file = listed["files"][0]["path"].as_str().unwrap().to_owned();
        let hostile = Self { root, file };
        assert!(hostile.run(&["read", "t"]).stdout.contains("the secret"), "the file can be read where it belongs");
        fs::create_dir(hostile.path("outside")).unwrap();
        fs::rename(hostile.path("t").join(&hostile.file), hostile.path("outside/secret.parquet")).unwrap();
        hostile
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        contend_in(self.root.path(), arguments)
    }

    fn newest(&self) -> PathBuf {
        self.path("t/_delta_log/00000000000000000001.json")
    }

    /// Puts another path in the place of the file's.
    fn spell(&self, path: &str) -> &Self {
        let text = fs::read_to_string(self.newest()).unwrap();
        let text = text.replace(&format!(r#""path":"{}""#, self.file), &format!(r#""path":"{path}""#));
        assert!(text.contains(path));
        fs::write(self.newest(), text).unwrap();
        self
    }

    /// No command shows what lies outside; `read` refuses with these words.
    #[track_caller]
    fn check(&self, words: &[&str]) {
        for command in COMMANDS {
            let ran = self.run(command);
            assert!(!ran.stdout.contains("the secret"), "{command:?}: {}", ran.stdout);
            assert!(ran.code <= 2 && !ran.stderr.contains("panicked"), "{command:?}: {}", ran.stderr);
        }
        for command in [&["read", "t"], &["digest", "t"]] {
            let ran = self.run(command);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command:?}");
            for word in words {
                assert!(ran.stderr.contains(word), "{command:?} does not say '{word}': {}", ran.stderr);
            }
        }
    }
}

#[test]
fn steps_upwards_are_refused() {
    for path in
        ["../outside/secret.parquet", "%2e%2e/outside/secret.parquet", "a/../../outside/secret.parquet", "./../t"]
    {
        Hostile::new().spell(path).check(&["is refused", "a step '.' or '..'", path]);
    }
}

#[test]
fn a_step_upwards_is_refused_even_where_absolute_paths_are_allowed() {
    let hostile = Hostile::new();
    hostile.spell("../outside/secret.parquet");
    let ran = hostile.run(&["read", "t", "--allow-absolute-paths"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    let ran = hostile.run(&["check", "t", "--data", "--allow-absolute-paths", "--json"]);
    assert_eq!(ran.json()["findings"][0]["rule"], "data-path");
}

#[test]
fn absolute_paths_are_refused_unless_they_are_allowed() {
    let spellings: [fn(&str) -> String; 5] = [
        |path| path.to_owned(),
        |path| format!("file:{path}"),
        |path| format!("file://{path}"),
        |path| format!("FILE://localhost{path}"),
        |path| path.replace("secret", "%73ecret"),
    ];
    for spelling in spellings {
        let hostile = Hostile::new();
        let outside = hostile.path("outside/secret.parquet").canonicalize().unwrap();
        hostile.spell(&spelling(outside.to_str().unwrap()));
        hostile.check(&["is refused", "outside of the table's folder", "--allow-absolute-paths"]);
        let checked = hostile.run(&["check", "t", "--data", "--json"]).json();
        assert_eq!(checked["findings"], serde_json::json!([]), "an absolute path is legal");
        assert_eq!(checked["notes"][0]["rule"], "not-checked");
        let ran = hostile.run(&["read", "t", "--allow-absolute-paths"]);
        assert!(ran.stdout.contains("the secret"), "{}", ran.stderr);
        let ran = hostile.run(&["check", "t", "--data", "--allow-absolute-paths"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "0 findings, 0 notes\n"));
    }
}

#[test]
fn other_schemes_and_odd_symbols_are_refused() {
    for (path, words) in [
        ("s3://bucket/secret.parquet", "another store"),
        ("abfss://a@b/secret.parquet", "another store"),
        ("http://localhost/secret.parquet", "another store"),
        ("file://server/share/secret.parquet", "another machine"),
        ("", "it is empty"),
        ("a//secret.parquet", "an empty step"),
        ("secret%00.parquet", "NUL"),
        ("%2Fetc/passwd", "it is absolute"),
        ("//etc/passwd", "is refused"),
    ] {
        Hostile::new().spell(path).check(&["is refused", words]);
    }
    // Symbols that are a name's, here.
    for path in ["~/secret.parquet", "$HOME/secret.parquet", "`id`", "a|b", "*"] {
        Hostile::new().spell(path).check(&["there is no such file"]);
    }
}

#[test]
fn deletion_vectors_are_read_inside_of_the_table_only() {
    for (storage, path, words) in [
        ("p", "/etc/passwd", "outside of the table's folder"),
        ("p", "file:///etc/passwd", "outside of the table's folder"),
        ("p", "s3://bucket/v.bin", "another store"),
        ("u", "../../etc/ab^-aqEH.-t@S}K{vb[*k^", "does not name a file"),
        ("u", "..^-aqEH.-t@S}K{vb[*k^", "does not name a file"),
        ("u", "short", "does not name a file"),
        ("x", "a", "storage type"),
    ] {
        let hostile = Hostile::new();
        fs::copy(hostile.path("outside/secret.parquet"), hostile.path("t").join(&hostile.file)).unwrap();
        let text = fs::read_to_string(hostile.newest()).unwrap();
        let vector = format!(
            r#""deletionVector":{{"storageType":"{storage}","pathOrInlineDv":"{path}","offset":1,"sizeInBytes":4,"cardinality":1}},"dataChange""#
        );
        fs::write(hostile.newest(), text.replace(r#""dataChange""#, &vector)).unwrap();
        hostile.check(&[words]);
        let ran = hostile.run(&["check", "t", "--data", "--json"]);
        let findings = ran.json()["findings"].as_array().unwrap().clone();
        assert!(findings.iter().any(|finding| finding["rule"] == "deletion-vector"), "{findings:?}");
    }
}

/// A checkpoint is all that is left of the log, so nothing can stand in for it.
#[test]
fn sidecars_are_read_inside_of_the_table_only() {
    for path in ["../../../outside/secret.parquet", "/etc/passwd", "s3://bucket/x/_sidecars/..", "..", ".hidden"] {
        let hostile = Hostile::new();
        let log = hostile.path("t/_delta_log");
        let mut checkpoint = fs::read_to_string(log.join("00000000000000000000.json")).unwrap();
        checkpoint.push_str(&format!(
            "{{\"sidecar\":{{\"path\":\"{path}\",\"sizeInBytes\":1,\"modificationTime\":1}}}}\n{{\"checkpointMetadata\":{{\"version\":1}}}}\n"
        ));
        fs::remove_file(log.join("00000000000000000000.json")).unwrap();
        let name = "00000000000000000001.checkpoint.01234567-0123-0123-0123-0123456789ab.json";
        fs::write(log.join(name), checkpoint).unwrap();
        hostile.check(&["nothing outside of the table is read", path]);
        let ran = hostile.run(&["check", "t", "--json"]);
        assert_eq!(ran.json()["findings"][0]["rule"], "checkpoint-unreadable");
    }
}

#[cfg(unix)]
fn link(to: &Path, from: &Path) {
    let _ = fs::remove_file(from);
    std::os::unix::fs::symlink(to, from).unwrap();
}

#[cfg(unix)]
#[test]
fn symbolic_links_do_not_lead_out() {
    let words = ["is refused", "symbolic link that leads out"];
    // A data file.
    let hostile = Hostile::new();
    link(&hostile.path("outside/secret.parquet"), &hostile.path("t").join(&hostile.file));
    hostile.check(&words);
    let ran = hostile.run(&["read", "t", "--allow-absolute-paths"]);
    assert!(ran.stdout.contains("the secret"), "{}", ran.stderr);
    // A folder of data files.
    let hostile = Hostile::new();
    link(&hostile.path("outside"), &hostile.path("t/folder"));
    hostile.spell("folder/secret.parquet").check(&words);
    // A commit.
    let hostile = Hostile::new();
    fs::copy(hostile.path("outside/secret.parquet"), hostile.path("t").join(&hostile.file)).unwrap();
    fs::rename(hostile.newest(), hostile.path("outside/1.json")).unwrap();
    link(&hostile.path("outside/1.json"), &hostile.newest());
    hostile.check(&words);
    let ran = hostile.run(&["check", "t", "--json"]);
    assert_eq!(ran.json()["findings"][0]["rule"], "unreadable-file");
    // A checkpoint, by the name of one.
    let hostile = Hostile::new();
    fs::copy(hostile.path("outside/secret.parquet"), hostile.path("t").join(&hostile.file)).unwrap();
    link(
        &hostile.path("outside/secret.parquet"),
        &hostile.path("t/_delta_log/00000000000000000001.checkpoint.parquet"),
    );
    hostile.check(&words);
    // The whole log.
    let hostile = Hostile::new();
    fs::copy(hostile.path("outside/secret.parquet"), hostile.path("t").join(&hostile.file)).unwrap();
    fs::rename(hostile.path("t/_delta_log"), hostile.path("outside/log")).unwrap();
    link(&hostile.path("outside/log"), &hostile.path("t/_delta_log"));
    hostile.check(&words);
}

/// Neither hangs on what has no end, nor speaks of a panic that was caught.
#[cfg(unix)]
#[test]
fn pipes_devices_and_damaged_files_are_errors() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("t/_delta_log");
    std::fs::create_dir_all(&log).unwrap();
    let commit = concat!(
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#,
        "\n",
        r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"partitionColumns":[],"configuration":{},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"}}"#,
        "\n",
        r#"{"add":{"path":"f","partitionValues":{},"size":16,"modificationTime":1,"dataChange":true}}"#,
    );
    std::fs::write(log.join("00000000000000000000.json"), commit).unwrap();
    let file = folder.path().join("t/f");
    let read = || {
        let ran = contend_in(folder.path(), &["read", "t"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    std::fs::write(&file, b"PAR1xxxx\xff\xff\xff\x7fPAR1").unwrap();
    let said = read();
    assert!(!said.contains("panicked") && said.contains("'f'"), "{said}");
    std::fs::remove_file(&file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    let said = read();
    assert!(said.contains("not a regular file"), "{said}");
    assert!(std::process::Command::new("mkfifo").arg(log.join("_last_checkpoint")).status().unwrap().success());
    let ran = contend_in(folder.path(), &["files", "t"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}
