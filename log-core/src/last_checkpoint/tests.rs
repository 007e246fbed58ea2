use super::*;

#[test]
fn a_hint_is_an_object_with_a_version_and_anything_beside() {
    for text in [
        r#"{"version":10,"size":3}"#,
        r#"{"version":10,"size":3,"parts":2,"checksum":"x","v2Checkpoint":{"path":"y","sidecarFiles":[]}}"#,
        " {\n\"size\": \"many\", \"version\": 10}\n",
    ] {
        assert_eq!(LastCheckpoint::parse(text.as_bytes()).unwrap(), LastCheckpoint { version: Version(10) }, "{text}");
    }
}

/// Report 37.
#[test]
fn what_is_garbled_is_an_error() {
    for text in [
        "",
        "[]",
        "[10]",
        "{}",
        "null",
        "\0\0",
        r#"{"version":20,"size":3}{"ver"#,
        r#"{"version":-1}"#,
        r#"{"version":"20"}"#,
        r#"{"version":2.5}"#,
        r#"{"version":99999999999999999999}"#,
    ] {
        assert!(LastCheckpoint::parse(text.as_bytes()).is_err(), "{text}");
    }
}
