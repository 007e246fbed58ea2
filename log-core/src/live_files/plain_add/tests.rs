use super::*;
use crate::live_files::line::{Line, text};

const USUAL: &str = r#"{"add":{"path":"day=2024-01-01/part-0.parquet","partitionValues":{"day":"2024-01-01","é":null},"size":-12,"modificationTime":1700000000000,"dataChange":true,"stats":"{\"numRecords\":1,\"minValues\":{\"a\":\"x\\\\y\"},\"é\":\"\t\"}","tags":{"a":"b","c":null},"baseRowId":0,"defaultRowCommitVersion":7,"clusteringProvider":"liquid"}}"#;

type Add = (String, Vec<(String, Option<String>)>, i64, i64, Option<String>);

fn pairs(pairs: &Pairs<'_>) -> Vec<(String, Option<String>)> {
    pairs.0.iter().map(|(name, value)| (name.to_string(), value.as_deref().map(str::to_owned))).collect()
}

fn plain(line: &str) -> Option<Add> {
    let mut buffer = Vec::new();
    let add = parse(line, &mut buffer)?;
    let stats = add.stats.map(str::to_owned);
    Some((add.path.to_owned(), pairs(&add.partition_values), add.size, add.modification_time, stats))
}

/// What the reader of every line makes of it.
fn general(line: &str) -> Option<Add> {
    let Line::Add(add) = Line::parse(line, true).ok()? else { return None };
    let mut buffer = String::new();
    let stats = add.stats.map(|json| text(json, &mut buffer).unwrap().map(str::to_owned));
    Some((add.path.to_string(), pairs(&add.partition_values), add.size, add.modification_time, stats.flatten()))
}

#[test]
fn the_usual_add_is_read() {
    assert!(plain(USUAL).is_some());
    assert_eq!(plain(USUAL), general(USUAL));
    let empty = r#"{"add":{"path":"","partitionValues":{},"size":0,"modificationTime":0,"dataChange":false}}"#;
    assert!(plain(empty).is_some());
    assert_eq!(plain(empty), general(empty));
}

/// Nothing is accepted here that is refused there, or that means something else there.
#[test]
fn what_is_accepted_means_the_same_to_the_reader_of_every_line() {
    let check = |line: &str, counts: &mut [usize; 2]| {
        let plain = plain(line);
        counts[usize::from(plain.is_some())] += 1;
        if plain.is_some() {
            assert_eq!(plain, general(line), "{line}");
        }
    };
    let mut counts = [0, 0];
    let bytes: Vec<char> = USUAL.chars().collect();
    // Cut anywhere, and at every place without a character, with one that says something in JSON put there, or in its stead.
    for at in 0..=bytes.len() {
        let (before, after): (String, String) = (bytes[..at].iter().collect(), bytes[at..].iter().collect());
        check(&before, &mut counts);
        let rest: String = after.chars().skip(1).collect();
        check(&format!("{before}{rest}"), &mut counts);
        for with in "\"\\{}[]:,0129-+.eEtn \t\u{1}\u{7f}/ué\u{2028}".chars() {
            check(&format!("{before}{with}{after}"), &mut counts);
            check(&format!("{before}{with}{rest}"), &mut counts);
        }
        for with in [r"\u00e9", r"\ud834", r"\n", r#"","path":""#, r#""stats":null,"#, r#""size":1,"#] {
            check(&format!("{before}{with}{after}"), &mut counts);
        }
    }
    assert!(counts.iter().all(|count| *count > 1000), "refused and accepted: {counts:?}");
}

#[test]
fn a_field_that_is_needed_is_needed() {
    for field in ["path", "partitionValues", "size", "modificationTime", "dataChange"] {
        let line = USUAL.replace(&format!("\"{field}\""), "\"tags\"").replace("\"tags\":true", "\"tags\":{}");
        assert!(plain(&line).is_none(), "{line}");
    }
}

#[test]
fn bytes_before_a_special_one_are_counted() {
    let check = |text: &[u8; 8], expected| assert_eq!(plain_bytes(u64::from_le_bytes(*text)), expected, "{text:?}");
    check(b"abcdefgh", 8);
    check(b"abcdefg\"", 7);
    check(b"\"bcdefgh", 0);
    check(b"ab\\d\"fgh", 2);
    check(b"abc\x1fefgh", 3);
    check(b"abc\x20\x21\x23\x5b\x5d", 8);
    check(b"\x7f\x80\xff\x9f\xa2\xdc\x00a", 6);
    check(&[0xff; 8], 8);
}
