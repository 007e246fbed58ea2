use super::*;

/// A listing of commits `3`, checkpoints `c3`, and checkpoints of no bytes `e3`.
fn listing(names: &str) -> Vec<ObjectMeta> {
    let mut listing: Vec<ObjectMeta> = names
        .split_whitespace()
        .map(|name| {
            let number: u64 = name.trim_start_matches(['c', 'e']).parse().unwrap();
            let path = match name.as_bytes()[0] {
                b'c' | b'e' => format!("_delta_log/{number:020}.checkpoint.parquet"),
                _ => commit_path(Version(number)),
            };
            ObjectMeta { path, size: if name.starts_with('e') { 0 } else { 9 }, modified_ms: 0 }
        })
        .collect();
    listing.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

/// `base` and `wanted` are `-` for none; what is found is the versions, or the error.
#[track_caller]
fn check(names: &str, base: &str, wanted: &str, expected: &str) {
    let version = |text: &str| text.parse().ok();
    let found = match Segment::select(&listing(names), version(base), version(wanted)) {
        Ok(None) => "nothing".to_owned(),
        Ok(Some(segment)) => {
            let versions: Vec<u64> = segment.commits.iter().map(|path| path[11..31].parse().unwrap()).collect();
            assert_eq!(segment.commits.last(), Some(&commit_path(segment.version)));
            assert!(versions.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{versions:?}");
            format!("{}..={}", versions[0], segment.version)
        }
        Err(SegmentError::Gap { first, last, wanted }) => format!("{first} to {last} missing for {wanted}"),
        Err(SegmentError::NeedsCheckpoint { checkpoint }) => format!("needs checkpoint {checkpoint}"),
        Err(SegmentError::TooNew { wanted, newest }) => format!("{wanted} is newer than {newest}"),
    };
    assert_eq!(found, expected, "{names}; base {base}, wanted {wanted}");
}

#[test]
fn a_contiguous_log_is_taken_up_to_the_wanted_version() {
    check("", "-", "-", "nothing");
    check("", "-", "3", "nothing");
    check("0", "-", "-", "0..=0");
    check("0 1 2 3 c2", "-", "-", "0..=3");
    check("0 1 2 3 c2", "-", "1", "0..=1");
}

#[test]
fn a_listing_after_a_base_continues_it() {
    check("", "4", "-", "nothing");
    check("", "4", "4", "nothing");
    check("5 6 7", "4", "-", "5..=7");
    check("5 6 7", "4", "6", "5..=6");
    check("6 7", "4", "-", "5 to 5 missing for 7");
    check("6 7", "4", "5", "5 to 5 missing for 5");
}

#[test]
fn a_version_that_was_never_made_is_too_new() {
    check("0 1", "-", "2", "2 is newer than 1");
    check("", "4", "5", "5 is newer than 4");
    check("5", "4", "7", "7 is newer than 5");
}

/// Report 18.
#[test]
fn a_hole_is_an_error_for_every_version_above_it() {
    check("0 4", "-", "-", "1 to 3 missing for 4");
    check("0 4", "-", "2", "1 to 2 missing for 2");
    check("0 4", "-", "0", "0..=0");
    check("0 4 c4", "-", "-", "needs checkpoint 4");
    check("0 4 c4", "-", "3", "1 to 3 missing for 3");
    check("0 1 2 3 4 6 c3", "-", "-", "5 to 5 missing for 6");
    check("0 1 2 3 4 6 c3", "-", "4", "0..=4");
    check("0 1 2 3 4 5 6 9", "-", "-", "7 to 8 missing for 9");
    check("0 1 2 3 4 5 6 9", "-", "6", "0..=6");
    check("1 2", "-", "-", "0 to 0 missing for 2");
    check("0 2 4", "-", "-", "1 to 1 missing for 4");
}

#[test]
fn a_checkpoint_is_named_only_when_it_would_serve() {
    check("10 11 12 c10", "-", "-", "needs checkpoint 10");
    check("11 12 c10", "-", "-", "needs checkpoint 10");
    check("10 11 12 13 14 15 16 c10 c14", "-", "-", "needs checkpoint 14");
    check("10 11 12 13 14 15 16 c10 c14", "-", "12", "needs checkpoint 10");
    check("10 11 12 c10", "-", "9", "0 to 9 missing for 9");
    check("10 11 13 c10", "-", "-", "0 to 9 missing for 13");
    check("10 11 12 e10", "-", "-", "0 to 9 missing for 12");
}

#[test]
fn a_log_of_checkpoints_only_is_no_empty_log() {
    check("c10", "-", "-", "needs checkpoint 10");
    check("c10", "4", "-", "needs checkpoint 10");
    check("c3 c10", "-", "3", "needs checkpoint 3");
    check("c10", "-", "11", "11 is newer than 10");
    check("e10", "-", "-", "nothing");
}

#[test]
fn names_that_are_no_commits_are_ignored() {
    let mut listing = listing("0 1");
    for name in ["00000000000000000003.json.tmp", "00000000000000000004.uuid.json", "_staged_commits/x", "zzz"] {
        listing.push(ObjectMeta { path: format!("_delta_log/{name}"), size: 1, modified_ms: 0 });
    }
    assert_eq!(Segment::select(&listing, None, None).unwrap().unwrap().version, Version(1));
}
