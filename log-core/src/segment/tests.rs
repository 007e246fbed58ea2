use super::*;

const UUID: &str = "80a083e8-7026-4e79-81be-64bd76c43a11";

/// A listing of commits `3`, classic checkpoints `c3`, parts of checkpoints `c3:1/2`, v2 checkpoints `u3`, compactions `k3-5` and checksums `s3`. `e` before a
/// name gives it no bytes, `d` damages it.
fn listing(names: &str) -> (Vec<ObjectMeta>, BTreeSet<String>) {
    let mut damaged = BTreeSet::new();
    let mut listing: Vec<ObjectMeta> = names
        .split_whitespace()
        .map(|name| {
            let (kind, plain) = (name.as_bytes()[0], name.trim_start_matches(['e', 'd']));
            let numbers: Vec<u64> = plain
                .split(|c: char| !c.is_ascii_digit())
                .filter(|text| !text.is_empty())
                .map(|text| text.parse().unwrap())
                .collect();
            let rest = match (plain.as_bytes()[0], numbers.as_slice()) {
                (b'c', [_]) => ".checkpoint.parquet".to_owned(),
                (b'c', [_, part, of]) => format!(".checkpoint.{part:010}.{of:010}.parquet"),
                (b'u', _) => format!(".checkpoint.{UUID}.json"),
                (b'k', [_, last]) => format!(".{last:020}.compacted.json"),
                (b's', _) => ".crc".to_owned(),
                _ => ".json".to_owned(),
            };
            let path = format!("_delta_log/{:020}{rest}", numbers[0]);
            assert_ne!(LogFile::of(&path), LogFile::Other, "{path}");
            if kind == b'd' {
                damaged.insert(path.clone());
            }
            ObjectMeta { path, size: if kind == b'e' { 0 } else { 9 }, modified_ms: 0 }
        })
        .collect();
    listing.sort_by(|a, b| a.path.cmp(&b.path));
    (listing, damaged)
}

/// The file in the notation of a listing.
fn short(path: &str) -> String {
    match LogFile::of(path) {
        LogFile::Commit(version) => version.to_string(),
        LogFile::Compaction { first, last } => format!("k{first}-{last}"),
        LogFile::Checkpoint(CheckpointFile { version, naming }) => match naming {
            CheckpointNaming::Part { part, of } => format!("c{version}:{part}/{of}"),
            CheckpointNaming::Classic => format!("c{version}"),
            CheckpointNaming::UuidJson | CheckpointNaming::UuidParquet => format!("u{version}"),
        },
        other => panic!("{other:?}"),
    }
}

/// `base` and `wanted` are `-` for none; what is found is the files, or the error.
#[track_caller]
fn check(names: &str, base: &str, wanted: &str, expected: &str) {
    let version = |text: &str| text.parse().ok();
    let (listing, damaged) = listing(names);
    let found = match Segment::select(&listing, version(base), version(wanted), &damaged) {
        Ok(None) => "nothing".to_owned(),
        Ok(Some(segment)) => {
            let checkpoint = segment.checkpoint.iter().flat_map(|checkpoint| &checkpoint.paths);
            let files: Vec<String> = checkpoint.chain(&segment.commits).map(|path| short(path)).collect();
            let start = segment.checkpoint.as_ref().map(|checkpoint| checkpoint.version).or(version(base));
            let mut next = Version::after(start);
            for path in &segment.commits {
                let (first, last) = match LogFile::of(path) {
                    LogFile::Commit(version) => (version, version),
                    LogFile::Compaction { first, last } => (first, last),
                    other => panic!("{other:?}"),
                };
                assert_eq!(first, next, "{names}");
                next = last.next();
            }
            assert_eq!(next, segment.version.next(), "{names}");
            files.join(" ")
        }
        Err(SegmentError::Gap { first, last, wanted, readable }) => {
            let readable = readable.to_string();
            let readable = readable.strip_prefix("what can be rebuilt is ").unwrap_or(&readable);
            format!("{first} to {last} missing for {wanted}; {readable}")
        }
        Err(SegmentError::TooNew { wanted, newest }) => format!("{wanted} is newer than {newest}"),
    };
    assert_eq!(found, expected, "{names}; base {base}, wanted {wanted}");
}

#[test]
fn a_contiguous_log_is_taken_up_to_the_wanted_version() {
    check("", "-", "-", "nothing");
    check("", "-", "3", "nothing");
    check("0", "-", "-", "0");
    check("0 1 2 3", "-", "-", "0 1 2 3");
    check("0 1 2 3 c2", "-", "1", "0 1");
}

#[test]
fn a_listing_after_a_base_continues_it() {
    check("", "4", "-", "nothing");
    check("", "4", "4", "nothing");
    check("5 6", "4", "4", "nothing");
    check("5 6 7", "4", "-", "5 6 7");
    check("5 6 7", "4", "6", "5 6");
    check("5 6 7 c6", "4", "-", "5 6 7");
    check("6 7", "4", "-", "5 to 5 missing for 7; version 4");
    check("6 7", "4", "5", "5 to 5 missing for 5; version 4");
    check("6 7 c6", "4", "-", "c6 7");
}

#[test]
fn a_version_that_was_never_made_is_too_new() {
    check("0 1", "-", "2", "2 is newer than 1");
    check("", "4", "5", "5 is newer than 4");
    check("5", "4", "7", "7 is newer than 5");
    check("c10", "-", "11", "11 is newer than 10");
}

/// Report 18.
#[test]
fn a_hole_is_an_error_for_every_version_above_it() {
    check("0 4", "-", "-", "1 to 3 missing for 4; version 0");
    check("0 4", "-", "2", "1 to 2 missing for 2; version 0");
    check("0 4", "-", "0", "0");
    check("0 4 c4", "-", "-", "c4");
    check("0 4 c4", "-", "0", "0");
    check("0 4 c4", "-", "1", "1 to 1 missing for 1; version 0, version 4");
    check("0 4 c4", "-", "3", "1 to 3 missing for 3; version 0, version 4");
    check("0 1 2 3 4 6 c3", "-", "-", "5 to 5 missing for 6; versions 0 to 4");
    check("0 1 2 3 4 6 c3", "-", "4", "c3 4");
    check("0 1 2 3 4 5 6 9", "-", "-", "7 to 8 missing for 9; versions 0 to 6");
    check("0 1 2 3 4 5 6 9", "6", "-", "7 to 8 missing for 9; version 6");
    check("0 1 2 3 4 5 6 9", "-", "6", "0 1 2 3 4 5 6");
    check("1 2", "-", "-", "0 to 0 missing for 2; no version can be rebuilt");
    check("0 2 4", "-", "-", "1 to 1 missing for 4; version 0");
    check("0 9000000000000000000", "-", "-", "1 to 8999999999999999999 missing for 9000000000000000000; version 0");
}

/// Report 16.
#[test]
fn what_can_be_rebuilt_is_named() {
    let log = "3 4 5 6 7 8 9 10 11 12 c10";
    check(log, "-", "-", "c10 11 12");
    check(log, "-", "10", "c10");
    check(log, "-", "5", "0 to 2 missing for 5; versions 10 to 12");
    check(log, "-", "2", "0 to 2 missing for 2; versions 10 to 12");
    check("0 1 4 c4 c8 8 9", "-", "7", "5 to 7 missing for 7; versions 0 to 1, version 4, versions 8 to 9");
    // A compaction leads to its last version only.
    check("0 1 4 6 k2-3", "-", "-", "5 to 5 missing for 6; versions 0 to 1, versions 3 to 4");
    check("0 1 4 6 dk2-3", "-", "-", "2 to 3 missing for 6; versions 0 to 1");
    check("3 5 k0-2 k0-1", "-", "-", "4 to 4 missing for 5; versions 1 to 3");
    check("6 8 k5-5 k7-7", "4", "-", "5 to 5 missing for 8; version 4");
    check("0 2 k1-9", "-", "-", "1 to 1 missing for 2; version 0");
}

#[test]
fn the_newest_whole_checkpoint_is_the_start() {
    check("10 11 12 c10", "-", "-", "c10 11 12");
    check("11 12 c10", "-", "-", "c10 11 12");
    check("0 1 2 3 c1 c2", "-", "-", "c2 3");
    check("10 11 12 13 14 15 16 c10 c14", "-", "-", "c14 15 16");
    check("10 11 12 13 14 15 16 c10 c14", "-", "12", "c10 11 12");
    check("10 11 12 c10", "-", "9", "0 to 9 missing for 9; versions 10 to 12");
    check("10 11 13 c10", "-", "-", "12 to 12 missing for 13; versions 10 to 11");
    check("c3 c10", "-", "3", "c3");
    check("c10", "4", "-", "c10");
    check("u10 c10 c10:1/1", "-", "-", "u10");
    check("c10 c10:1/1", "-", "-", "c10");
}

#[test]
fn a_checkpoint_in_parts_needs_them_all() {
    check("0 1 c1:1/2 c1:2/2", "-", "-", "c1:1/2 c1:2/2");
    check("0 1 c1:1/2", "-", "-", "0 1");
    check("0 1 c1:1/2 ec1:2/2", "-", "-", "0 1");
    check("0 1 c1:1/2 c1:2/3", "-", "-", "0 1");
    check("0 1 c1:1/2 c1:2/2 c1:1/3", "-", "-", "c1:1/2 c1:2/2");
    check("1 2 c1:1/9999999999", "-", "-", "0 to 0 missing for 2; no version can be rebuilt");
    // Nobody knows how far the log had come.
    check("c5:1/2", "-", "-", "nothing");
}

/// Report 37.
#[test]
fn instead_of_a_damaged_checkpoint_an_older_one_or_the_commits_serve() {
    check("0 1 2 3 c1 dc3", "-", "-", "c1 2 3");
    check("0 1 2 3 dc1 dc3", "-", "-", "0 1 2 3");
    check("0 1 2 3 c3 du3", "-", "-", "c3");
    check("0 1 2 3 c3:1/2 dc3:2/2", "-", "-", "0 1 2 3");
    check("2 3 4 dc3", "-", "-", "0 to 1 missing for 4; no version can be rebuilt");
    check("2 3 4 c2 dc3", "-", "-", "c2 3 4");
    // The version was made, though nothing rebuilds it any more.
    check("0 1 2 dc4", "-", "-", "3 to 4 missing for 4; versions 0 to 2");
}

/// Report 34.
#[test]
fn files_of_no_bytes_are_ignored_and_noted() {
    check("0 1 2 3 4 5 ec4", "-", "-", "0 1 2 3 4 5");
    check("0 1 2 3 4 5 es4 ek2-4", "-", "-", "0 1 2 3 4 5");
    check("0 1 e2 3", "-", "-", "0 1 2 3");
    check("ec10", "-", "-", "nothing");
    check("10 11 12 ec10", "-", "-", "0 to 9 missing for 12; no version can be rebuilt");
    let (listing, _) = listing("0 1 2 3 ec1 es1 ek1-2 c3:1/2");
    let notes: Vec<String> = Segment::notes(&listing).iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "'_delta_log/00000000000000000001.00000000000000000002.compacted.json' is empty and was ignored; it may be deleted",
            "'_delta_log/00000000000000000001.checkpoint.parquet' is empty and was ignored; it may be deleted",
            "'_delta_log/00000000000000000001.crc' is empty and was ignored; it may be deleted",
            "the checkpoint of version 3 in 2 parts was ignored: it has only 1 of them",
        ]
    );
}

#[test]
fn compactions_serve_when_they_lie_in_the_range() {
    check("0 1 2 3 4 5 k1-3", "-", "-", "0 k1-3 4 5");
    check("0 1 2 3 4 5 k1-3 k1-4", "-", "-", "0 k1-4 5");
    check("0 1 2 3 4 5 k1-3 k4-5", "-", "-", "0 k1-3 k4-5");
    check("0 1 2 3 4 5 k1-3 k1-4", "-", "3", "0 k1-3");
    check("0 1 2 3 4 5 k1-3", "-", "2", "0 1 2");
    check("0 1 2 3 4 5 k0-3 c2", "-", "-", "c2 3 4 5");
    check("0 1 2 3 4 5 k3-4 c2", "-", "-", "c2 k3-4 5");
    check("3 4 5 k3-4", "2", "-", "k3-4 5");
    check("0 1 2 3 dk1-3", "-", "-", "0 1 2 3");
    check("0 1 2 3 dk1-3 k1-2", "-", "-", "0 k1-2 3");
    check("0 1 2 k2-2", "-", "-", "0 1 2");
    // It says what the commits said that are gone.
    check("0 4 k1-3", "-", "-", "0 k1-3 4");
    // It does not make a version.
    check("0 1 k1-3", "-", "-", "0 1");
}

#[test]
fn a_compaction_that_leads_nowhere_is_not_taken() {
    check("0 1 2 6 k2-3 k3-5", "-", "-", "0 1 2 k3-5 6");
    check("0 1 2 6 k2-3 k3-5", "-", "3", "0 1 k2-3");
    check("2 6 k2-3 k3-5", "1", "-", "2 k3-5 6");
    check("0 2 6 k1-3 k2-5 k1-2", "-", "-", "4 to 5 missing for 6; version 0, versions 2 to 3");
    check("c2 c4 7 k3-6", "-", "-", "c2 k3-6 7");
    check("c2 c4 7 k3-6", "2", "-", "k3-6 7");
    check("0 1 2 c4 7 k3-6", "-", "-", "0 1 2 k3-6 7");
    check("c2 c4 7 dk3-6", "-", "-", "5 to 6 missing for 7; version 2, version 4");
}

/// What can be rebuilt by the error is what is rebuilt when it is asked for.
#[test]
fn what_is_said_to_be_rebuildable_is_rebuilt() {
    let mut state = 7_u64;
    let mut chance = |percent: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 100 < percent
    };
    for _ in 0..3000 {
        let mut names: Vec<String> = (0..9).filter(|_| chance(60)).map(|version| version.to_string()).collect();
        names.extend((0..9).filter(|_| chance(15)).map(|version| format!("c{version}")));
        for first in 0..8 {
            names.extend((first + 1..9).filter(|_| chance(8)).map(|last| format!("k{first}-{last}")));
        }
        let (listing, damaged) = listing(&names.join(" "));
        let listed = Listed::of(&listing);
        let VersionRanges(ranges) = listed.rebuildable(None, &damaged);
        for version in (0..9).map(Version).filter(|version| Some(*version) <= listed.newest()) {
            let said = ranges.iter().any(|(first, last)| (*first..=*last).contains(&version));
            let rebuilt = Segment::select(&listing, None, Some(version), &damaged);
            assert_eq!(matches!(rebuilt, Ok(Some(_))), said, "{names:?}, {version}: {rebuilt:?}, {ranges:?}");
        }
    }
}

#[test]
fn names_that_are_no_commits_are_ignored() {
    let (mut listing, damaged) = listing("0 1");
    for name in ["00000000000000000003.json.tmp", "00000000000000000004.uuid.json", "_staged_commits/x", "zzz"] {
        listing.push(ObjectMeta { path: format!("_delta_log/{name}"), size: 1, modified_ms: 0 });
    }
    assert_eq!(Segment::select(&listing, None, None, &damaged).unwrap().unwrap().version, Version(1));
}
