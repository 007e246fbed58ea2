use std::cell::Cell;

use expect_test::{Expect, expect};

use super::*;
use crate::{
    path::{Version, commit_path},
    store::{ObjectMap, Request, Response, drive},
};

fn parse(text: &str, zone: &str) -> String {
    match Instant::parse(text, zone.parse().unwrap()) {
        Ok(instant) => instant.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_form_of_an_instant_is_read() {
    for (text, expected) in [
        ("2019-01-01", "2019-01-01T00:00:00.000Z"),
        (" 2019-1-1 ", "2019-01-01T00:00:00.000Z"),
        ("2024-06-26T12:34:45.000Z", "2024-06-26T12:34:45.000Z"),
        ("2024-06-26T12:34:45.5Z", "2024-06-26T12:34:45.500Z"),
        ("2022-09-01 12:00:00", "2022-09-01T12:00:00.000Z"),
        ("2022-09-01 12:00", "2022-09-01T12:00:00.000Z"),
        ("2022-09-01 12:00:00.999999UTC+10:00", "2022-09-01T02:00:00.999999Z"),
        ("2022-09-01 12:00:00 GMT-1", "2022-09-01T13:00:00.000Z"),
        ("2022-09-01 12:00:00+02:00", "2022-09-01T10:00:00.000Z"),
        ("2022-09-01T12:00:00-0500", "2022-09-01T17:00:00.000Z"),
        ("2022-09-01T12:00:00 Europe/Berlin", "2022-09-01T10:00:00.000Z"),
        ("2022-09-01 12:00:00.123456789Z", "2022-09-01T12:00:00.123456Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
    ] {
        assert_eq!(parse(text, "UTC"), expected, "{text}");
        let at: Instant = Instant::parse(text, Zone::UTC).unwrap();
        for zone in ["UTC", "+05:45", "Europe/Berlin", "America/New_York"] {
            let shown = at.text(zone.parse().unwrap());
            assert_eq!(Instant::parse(&shown, Zone::UTC), Ok(at), "{shown} reads back");
        }
    }
}

#[test]
fn the_first_and_the_last_instant_are_read() {
    assert_eq!(parse("9999-12-31 23:59:59.999999", "UTC"), "9999-12-31T23:59:59.999999Z");
    assert_eq!(parse("0001-01-01", "UTC"), "0001-01-01T00:00:00.000Z");
    assert_eq!(parse("9999-12-31 23:59:59.999999", "-18"), "+10000-01-01T17:59:59.999999Z");
}

#[test]
fn what_is_not_exactly_one_instant_is_an_error_that_says_what_to_write() {
    let check = |text: &str, expected: Expect| expected.assert_eq(&parse(text, "Europe/Berlin"));
    check(
        "2022-09-01 12:00:00.999999UTC 10:00",
        expect![
            "'2022-09-01 12:00:00.999999UTC 10:00' has lost the sign of its offset: write '2022-09-01 12:00:00.999999UTC+10:00', or '2022-09-01 12:00:00.999999UTC-10:00' where it is west of UTC"
        ],
    );
    check(
        "2024-06-26T12:34:45 02:00",
        expect![
            "'2024-06-26T12:34:45 02:00' has lost the sign of its offset: write '2024-06-26T12:34:45+02:00', or '2024-06-26T12:34:45-02:00' where it is west of UTC"
        ],
    );
    check("2025-13-01", expect!["'2025-13-01' is no instant: there is no month 13"]);
    check("2025-02-29", expect!["'2025-02-29' is no instant: there is no day 29 in 2025-02"]);
    check("2025-01-01 24:00:00", expect!["'2025-01-01 24:00:00' is no instant: there is no hour 24"]);
    check(
        "2025-03-30 02:30:00",
        expect![
            "'2025-03-30 02:30:00' does not exist in the time zone Europe/Berlin, whose clocks are put forward over it; write the offset that is meant, such as +02:00"
        ],
    );
    check(
        "1743373800000",
        expect![
            "'1743373800000' is a bare number, which could be a version, a year, seconds or milliseconds; write a date and time, such as 2024-06-26T12:34:45.000Z; as milliseconds since 1970 it is 2025-03-30T22:30:00.000Z"
        ],
    );
    check(
        "2019",
        expect![
            "'2019' is a bare number, which could be a version, a year, seconds or milliseconds; write a date and time, such as 2024-06-26T12:34:45.000Z"
        ],
    );
    check(
        "2025-01-01 12:00:00 Mars/Base",
        expect![
            "'2025-01-01 12:00:00 Mars/Base' is no instant: 'Mars/Base' is no time zone; write UTC, an offset such as +02:00, or a region such as Europe/Berlin"
        ],
    );
    for text in [
        "",
        "T",
        "yesterday",
        "2025-01",
        "12025-01-01",
        "2025-01-01T",
        "2025-01-01 12",
        "2025-01-01 12:00.5",
        "2025-01-01 1:2:3:4",
        "2025-01-01 12:00:00.",
        "2025-01-01 12:00:00.1234567890",
        "2025-01-01 120:00:00",
        "-2025-01-01",
        "2025-0١-01",
    ] {
        let error = Instant::parse(text, Zone::UTC).unwrap_err();
        assert!(matches!(error, InstantError::Malformed { .. }), "{text}: {error}");
    }
    for text in [
        "2025-01-01 12:00:00+19:00",
        "2025-01-01 12:00:00+1:60",
        "2025-01-01 12:00:00Z+1",
        "2025-01-01 12:00:00+1:2:3:4",
    ] {
        let error = Instant::parse(text, Zone::UTC).unwrap_err();
        assert!(matches!(error, InstantError::Zone { .. }), "{text}: {error}");
    }
}

/// Report 19.
#[test]
fn a_zone_in_the_text_wins_and_the_session_zone_holds_without_one() {
    for (text, zone, expected) in [
        ("2025-03-30", "UTC", "2025-03-30T00:00:00.000Z"),
        ("2025-03-30", "Europe/Berlin", "2025-03-29T23:00:00.000Z"),
        ("2025-03-30 23:00:00", "Europe/Berlin", "2025-03-30T21:00:00.000Z"),
        ("2025-03-30T23:00:00Z", "Europe/Berlin", "2025-03-30T23:00:00.000Z"),
        ("2025-03-30T23:00:00+02:00", "America/New_York", "2025-03-30T21:00:00.000Z"),
        // Shown twice: the earlier one, which is that of summer time, also where summer time is the one with a name of its own.
        ("2025-10-26 02:30:00", "Europe/Berlin", "2025-10-26T00:30:00.000Z"),
        ("2025-10-26 01:30:00", "Europe/Dublin", "2025-10-26T00:30:00.000Z"),
        ("2025-11-02 01:30:00", "america/new_york", "2025-11-02T05:30:00.000Z"),
        // Midnight was skipped, and the day began at one.
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00.000Z"),
        ("2025-03-30", "-0500", "2025-03-30T05:00:00.000Z"),
    ] {
        assert_eq!(parse(text, zone), expected, "{text} in {zone}");
    }
    assert!(parse("2011-12-30", "Pacific/Apia").contains("does not exist in the time zone Pacific/Apia"));
}

#[test]
fn the_compact_form_is_seventeen_digits() {
    let berlin: Zone = "Europe/Berlin".parse().unwrap();
    let parse = |text: &str| Instant::parse_compact(text, berlin);
    assert_eq!(parse("20240626123445678").unwrap().to_string(), "2024-06-26T10:34:45.678Z");
    assert!(matches!(parse("2024062612344567"), Err(InstantError::NotCompact { .. })));
    assert!(matches!(parse("2024062612344567x"), Err(InstantError::NotCompact { .. })));
    assert!(matches!(parse("20241326123445678"), Err(InstantError::NotInCalendar { .. })));
    assert!(matches!(parse("20250330023000000"), Err(InstantError::Skipped { .. })));
}

#[test]
fn a_zone_is_shown_as_it_is_read() {
    for (text, shown) in [
        ("UTC", "UTC"),
        ("Z", "UTC"),
        ("+00:00", "UTC"),
        ("UTC+2", "+02:00"),
        ("-0530", "-05:30"),
        ("europe/BERLIN", "Europe/Berlin"),
    ] {
        let zone: Zone = text.parse().unwrap();
        assert_eq!(zone.to_string(), shown);
        assert_eq!(shown.parse::<Zone>().unwrap(), zone);
    }
    assert!("".parse::<Zone>().is_err());
    assert!("2".parse::<Zone>().is_err());
}

/// What is less than a millisecond is cut off: 0.4 ms after a commit and 0.4 ms before 1970 alike.
#[test]
fn milliseconds_are_cut_off_downwards() {
    assert_eq!(Instant { micros: 1_400 }.millis(), 1);
    assert_eq!(Instant { micros: 1_999 }.millis(), 1);
    assert_eq!(Instant { micros: -400 }.millis(), -1);
}

/// A log: commits by version, time of the file and text; and checkpoints by version.
struct Log {
    store: ObjectMap,
    reads: Cell<usize>,
}

impl Log {
    fn new(commits: &[(u64, i64, String)], checkpoints: &[u64]) -> Self {
        let mut store = ObjectMap::default();
        for (version, ms, text) in commits {
            let path = commit_path(Version(*version));
            store.answer(&Request::Put { path, bytes: text.as_bytes().into() }, *ms);
        }
        for version in checkpoints {
            let path = format!("_delta_log/{version:020}.checkpoint.parquet");
            store.answer(&Request::Put { path, bytes: b"PAR1".as_slice().into() }, 0);
        }
        Self { store, reads: Cell::new(0) }
    }

    /// Commits without times of their own.
    fn plain(times: &[(u64, i64)], checkpoints: &[u64]) -> Self {
        let info = r#"{"commitInfo":{"timestamp":1}}"#;
        let commits: Vec<_> = times.iter().map(|(version, ms)| (*version, *ms, info.to_owned())).collect();
        Self::new(&commits, checkpoints)
    }

    fn at(&self, instant: Instant) -> String {
        let mut store = self.store.clone();
        self.reads.set(0);
        let answer = |request| {
            if let Request::Get { .. } | Request::GetMany { .. } = request {
                self.reads.set(self.reads.get() + 1);
            }
            Response { now_ms: 0, answer: store.answer(&request, 0) }
        };
        match drive(ResolveTime::new(instant), answer) {
            Ok(Some(version)) => format!("v{version}"),
            Ok(None) => "no table".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    fn at_ms(&self, ms: i64) -> String {
        self.at(Instant::of_millis(ms))
    }
}

/// Report 12.
#[test]
fn copied_files_get_strictly_increasing_times_and_the_writers_clock_is_not_used() {
    let log = Log::plain(&[(0, 9_000_000), (1, 9_000_000), (2, 9_000_000)], &[]);
    let earliest = "1970-01-01T00:41:40.000Z is before the earliest version that can be read, which is version 0, committed at \
                    1970-01-01T02:30:00.000Z; ask for that instant or a later one";
    assert_eq!(log.at_ms(2_500_000), earliest);
    for (ms, expected) in [(9_000_000, "v0"), (9_000_001, "v1"), (9_000_002, "v2")] {
        assert_eq!(log.at_ms(ms), expected, "{ms}");
    }
    assert!(log.at_ms(9_000_003).contains("is after the latest commit"));
}

/// Report 14.
#[test]
fn the_newest_commit_that_is_not_younger_is_chosen() {
    let log = Log::plain(&[(0, 1000), (1, 2000), (2, 3000)], &[]);
    for (ms, expected) in [(1000, "v0"), (1999, "v0"), (2000, "v1"), (2999, "v1"), (3000, "v2")] {
        assert_eq!(log.at_ms(ms), expected, "{ms}");
    }
    let earliest = log.at_ms(999);
    assert!(
        earliest.contains("00:00:00.999Z is before")
            && earliest.contains("version 0, committed at 1970-01-01T00:00:01.000Z")
    );
    for (ms, asked) in [(3001, "03.001Z"), (10_000, "10.000Z"), (10_001, "10.001Z")] {
        let latest = log.at_ms(ms);
        assert!(latest.starts_with(&format!("1970-01-01T00:00:{asked} is after")), "{latest}");
        assert!(latest.ends_with("ask for version 2, or for exactly 1970-01-01T00:00:03.000Z"), "{latest}");
    }
    assert_eq!(log.at(Instant::parse("1970-01-01T00:00:03.000Z", Zone::UTC).unwrap()), "v2");
    assert_eq!(Log::plain(&[], &[]).at_ms(0), "no table");
}

/// Report 19.
#[test]
fn a_part_of_a_millisecond_does_not_pass_a_commit() {
    let log = Log::plain(&[(0, 1000), (1, 2000)], &[]);
    assert_eq!(log.at(Instant { micros: 1_999_600 }), "v0");
    assert_eq!(log.at(Instant { micros: 2_000_400 }), "v1");
    assert!(log.at(Instant { micros: 999_999 }).contains("is before the earliest"));
}

/// Report 16.
#[test]
fn an_instant_of_a_version_that_cannot_be_rebuilt_is_an_error() {
    let times: Vec<(u64, i64)> = (3..=12).map(|version| (version, version as i64 * 1000)).collect();
    let log = Log::plain(&times, &[10]);
    assert_eq!(
        log.at_ms(5_500),
        "1970-01-01T00:00:05.500Z falls into version 5, which cannot be rebuilt, as older commits or checkpoints are gone; versions 10 to 12 can; \
         the next of them is version 10, committed at 1970-01-01T00:00:10.000Z"
    );
    assert!(log.at_ms(9_999).contains("falls into version 9"));
    assert_eq!(log.at_ms(10_000), "v10");
    assert_eq!(log.at_ms(12_000), "v12");
    assert!(log.at_ms(2_000).contains("version 10, committed at 1970-01-01T00:00:10.000Z"));
    assert!(Log::plain(&times, &[]).at_ms(5_000).ends_with("nor can any other version"));
    assert!(Log::plain(&[], &[7]).at_ms(5_000).ends_with("ask for version 7"));
}

/// Report 18.
#[test]
fn an_instant_in_a_hole_of_the_log_is_an_error() {
    let log = Log::plain(&[(0, 1000), (4, 5000)], &[4]);
    assert!(log.at_ms(1000).contains("between the commits of versions 0 and 4"));
    assert_eq!(log.at_ms(5000), "v4");
}

#[test]
fn a_checkpoint_of_no_bytes_does_not_count() {
    let mut log = Log::plain(&[(3, 1000)], &[]);
    let path = format!("_delta_log/{:020}.checkpoint.parquet", 3);
    log.store.answer(&Request::Put { path, bytes: b"".as_slice().into() }, 0);
    assert!(log.at_ms(1000).contains("cannot be rebuilt"));
}

const BASE: &str = concat!(
    r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}}"#,
    "\n",
    r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"partitionColumns":[],"schemaString":"{\"type\":\"struct\",\"fields\":[]}","configuration":{PROPERTIES}}}"#,
    "\n",
);
const ON: &str = r#""delta.enableInCommitTimestamps":"true""#;

fn with_properties(properties: &str) -> String {
    BASE.replace("PROPERTIES", properties)
}

fn own(ms: i64) -> String {
    format!("{{\"commitInfo\":{{\"inCommitTimestamp\":{ms}}}}}\n")
}

#[test]
fn in_commit_timestamps_are_searched_and_files_have_no_say() {
    let commits: Vec<_> = (0..100u64)
        .map(|version| {
            let base = if version == 0 { with_properties(ON) } else { String::new() };
            (version, 7, own(1000 + 10 * version as i64) + &base)
        })
        .collect();
    let log = Log::new(&commits, &[]);
    for (ms, expected) in [(1000, "v0"), (1009, "v0"), (1010, "v1"), (1555, "v55"), (1990, "v99")] {
        assert_eq!(log.at_ms(ms), expected, "{ms}");
        // The newest, the snapshot, and a binary search.
        assert!(log.reads.get() <= 2 + 8, "{} reads", log.reads.get());
    }
    assert!(log.at_ms(999).contains("version 0, committed at 1970-01-01T00:00:01.000Z"));
    assert!(log.at_ms(1991).contains("version 99, committed at 1970-01-01T00:00:01.990Z"));
}

/// Files 0 to 2 were copied long after the feature was enabled in version 3.
#[test]
fn enabled_in_between_the_enablement_decides_which_times_count() {
    let since =
        r#","delta.inCommitTimestampEnablementVersion":"3","delta.inCommitTimestampEnablementTimestamp":"3000""#;
    let enabling = with_properties(&format!("{ON}{since}"));
    let log = |files: [i64; 3]| {
        let commits = [
            // A writer that keeps the field without the feature: it does not count.
            (0, files[0], own(77) + &with_properties("")),
            (1, files[1], String::new()),
            (2, files[2], String::new()),
            (3, 50_000, own(3000) + &enabling),
            (4, 50_000, own(4000)),
        ];
        Log::new(&commits, &[])
    };
    let before = log([1000, 2000, 2000]);
    for (ms, expected) in
        [(1000, "v0"), (2000, "v1"), (2001, "v2"), (2999, "v2"), (3000, "v3"), (3999, "v3"), (4000, "v4")]
    {
        assert_eq!(before.at_ms(ms), expected, "{ms}");
    }
    assert!(before.at_ms(999).contains("version 0, committed at 1970-01-01T00:00:01.000Z"));
    let copied = log([9000, 9000, 9000]);
    assert!(copied.at_ms(2500).contains("version 3, committed at 1970-01-01T00:00:03.000Z"), "{}", copied.at_ms(2500));
    assert_eq!(copied.at_ms(3500), "v3");
    assert!(copied.at_ms(9000).contains("is after the latest"));
}

#[test]
fn properties_and_commits_that_contradict_each_other_are_errors() {
    let half = with_properties(&format!(r#"{ON},"delta.inCommitTimestampEnablementVersion":"3""#));
    let log = Log::new(&[(0, 1, own(5) + &half)], &[]);
    assert_eq!(
        log.at_ms(5),
        "the table property delta.inCommitTimestampEnablementTimestamp is missing, and must be a whole number where delta.enableInCommitTimestamps is true"
    );
    let log = Log::new(&[(0, 1, with_properties(ON)), (1, 1, own(5)), (2, 1, own(6))], &[]);
    assert!(log.at_ms(1).starts_with("commit 0 has no inCommitTimestamp"), "{}", log.at_ms(1));
    // Switched off again, whatever a commit carries.
    let log = Log::new(&[(0, 1, own(5) + &with_properties(ON)), (1, 2, own(6) + &with_properties(""))], &[]);
    assert_eq!(log.at_ms(1), "v0");
}
