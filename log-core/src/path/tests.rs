use super::*;

#[track_caller]
fn check_name(name: &str, expected: LogFile) {
    assert_eq!(LogFile::of(&format!("_delta_log/{name}")), expected, "{name}");
}

/// Report 35.
#[test]
fn only_twenty_digits_and_json_name_a_commit() {
    check_name("00000000000000000000.json", LogFile::Commit(Version(0)));
    check_name("09223372036854775807.json", LogFile::Commit(Version(i64::MAX as u64)));
    for name in [
        "00000000000000000002.json.tmp",
        "2.json",
        "0000000000000000000a.json",
        "+0000000000000000002.json",
        "00000000000000000003.uuid.json",
        "00000000000000000001.JSON",
        "00000000000000000001json",
        "000000000000000000001.json",
        "09223372036854775808.json",
        "18446744073709551616.json",
        ".00000000000000000001.json.crc",
        "_staged_commits/00000000000000000001.json",
        "_staged_commits/",
        "00000000000000000009.json/",
        "00000000000000000009.json/00000000000000000009.json",
        "0000000000000000000ü.json",
        "",
    ] {
        check_name(name, LogFile::Other);
    }
    assert_eq!(LogFile::of("00000000000000000000.json"), LogFile::Other);
    assert_eq!(LogFile::of("x/_delta_log/00000000000000000000.json"), LogFile::Other);
}

#[test]
fn checkpoints_have_one_part_or_many_or_an_id() {
    for (name, naming) in [
        ("00000000000000000010.checkpoint.parquet", CheckpointNaming::Classic),
        ("00000000000000000010.checkpoint.0000000001.0000000003.parquet", CheckpointNaming::Part { part: 1, of: 3 }),
        ("00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json", CheckpointNaming::UuidJson),
        ("00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet", CheckpointNaming::UuidParquet),
    ] {
        check_name(name, LogFile::Checkpoint(CheckpointFile { version: Version(10), naming }));
    }
    for name in [
        "00000000000000000010.checkpoint",
        "00000000000000000010.checkpoint.json",
        "00000000000000000010.checkpoints.parquet",
        "00000000000000000010.checkpoint.parquet.tmp",
        "00000000000000000010.checkpoint.x/part.parquet",
        "00000000000000000010.checkpoint.0000000000.0000000003.parquet",
        "00000000000000000010.checkpoint.0000000004.0000000003.parquet",
        "00000000000000000010.checkpoint.0000000001.0000000003.json",
        "00000000000000000010.checkpoint.1.3.parquet",
        "00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a1.json",
        "00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.tmp",
        "00000000000000000010.checkpoint.x0a083e8-7026-4e79-81be-64bd76c43a11.json",
        "10.checkpoint.parquet",
    ] {
        check_name(name, LogFile::Other);
    }
}

#[test]
fn compactions_checksums_and_the_hint_have_names_of_their_own() {
    let compaction = |first, last| LogFile::Compaction { first: Version(first), last: Version(last) };
    check_name("00000000000000000001.00000000000000000002.compacted.json", compaction(1, 2));
    check_name("00000000000000000002.00000000000000000002.compacted.json", compaction(2, 2));
    check_name("00000000000000000001.crc", LogFile::Checksum(Version(1)));
    check_name("_last_checkpoint", LogFile::LastCheckpoint);
    for name in [
        "00000000000000000002.00000000000000000001.compacted.json",
        "00000000000000000001.2.compacted.json",
        "00000000000000000001.00000000000000000002.compacted.json.tmp",
        "00000000000000000001.00000000000000000002.json",
        "00000000000000000001.crc.crc",
        "_last_checkpoint.tmp",
        "x/_last_checkpoint",
    ] {
        check_name(name, LogFile::Other);
    }
}

#[test]
fn two_spellings_of_one_path_have_one_key() {
    let check = |path: &str, key: &str| assert_eq!(path_key(path), key, "{path}");
    check("p=1/f.parquet", "p=1/f.parquet");
    check("a%20b", "a b");
    check("a b", "a b");
    check("a+b", "a+b");
    check("p=New%2520Town/f", "p=New%20Town/f");
    check("/a%23", "/a#");
    check("file:/a%23", "/a#");
    check("file:///a%23", "/a#");
    check("FILE://localhost/a%23", "/a#");
    check("file://host/a", "file://host/a");
    check("file:a", "file:a");
    check("file:", "file:");
    check("s3://bucket/a%20b", "s3://bucket/a b");
    check("100%", "100%");
    // Both would decode to the same replacement character.
    check("a%FF", "a%FF");
    check("a%FE", "a%FE");
    check("%ü", "%ü");
}

#[test]
fn a_commit_path_is_classified_as_its_version() {
    for version in [0, 1, 10_000_000_000, i64::MAX as u64] {
        assert_eq!(LogFile::of(&commit_path(Version(version))), LogFile::Commit(Version(version)));
    }
    assert_eq!(commit_path(Version(7)), "_delta_log/00000000000000000007.json");
}

/// Report 29.
#[test]
fn decoding_turns_percent_signs_with_two_digits_and_nothing_else() {
    let check = |path: &str, expected: &str| assert_eq!(decode_data_path(path), expected, "{path}");
    check("p=AB1+2/f.parquet", "p=AB1+2/f.parquet");
    check("a%20b", "a b");
    check("%2F%2f", "//");
    check("a%252Fb", "a%2Fb");
    check("%C3%BC%F0%9F%98%80", "ü😀");
    check("100%", "100%");
    check("%4", "%4");
    check("%zz%4g", "%zz%4g");
    check("%+5%-5%ü", "%+5%-5%ü");
    check("%%41", "%A");
    check("%FF", "\u{fffd}");
}

#[test]
fn a_path_comes_back_as_it_was_encoded() {
    let check = |path: &str, encoded: &str| {
        assert_eq!(encode_data_path(path), encoded);
        assert_eq!(decode_data_path(encoded), path);
    };
    check("p=AB1+2/f.parquet", "p=AB1+2/f.parquet");
    check("a b?c#d%e:f", "a%20b%3Fc%23d%25e%3Af");
    check("%2F", "%252F");
    check("ü😀\0\n", "%C3%BC%F0%9F%98%80%00%0A");
    check("", "");
    for character in ('\0'..='\u{17f}').chain(['\u{2028}', '\u{ffff}', '\u{10ffff}']) {
        let path = format!("a{character}4{character}");
        let encoded = encode_data_path(&path);
        assert!(encoded.is_ascii(), "{encoded}");
        assert_eq!(decode_data_path(&encoded), path);
    }
}

#[test]
fn a_transaction_first_tries_the_version_after_the_one_it_read() {
    assert_eq!(Version::after(None), Version(0));
    assert_eq!(Version::after(Some(Version(4))), Version(5));
}
