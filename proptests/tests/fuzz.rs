//! The fuzz targets on a fixed seed: random bytes, and mutations of what real tables hold. No panic, and never much memory.
#![cfg(not(loom))]

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Mutex,
};

use log_core::{action::Action, commit::Commit, path::Version};
use peak_alloc::PeakAlloc;
use proptests::fuzz;
use sim::random::Random;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The tests take turns: memory is counted for the whole process.
static TURN: Mutex<()> = Mutex::new(());

/// As much as a call on so few bytes may have at once.
const MEMORY_MAX: usize = 32 << 20;
/// No input is longer.
const INPUT_MAX: usize = 16 << 10;

const SEED: u64 = 0x5eed;

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/tests/tables")
}

/// The contents of files of real tables that are short enough, in order of path.
fn contents(wanted: fn(&str) -> bool) -> Vec<Vec<u8>> {
    let (mut folders, mut paths) = (vec![tables()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => paths.push(entry.path()),
            }
        }
    }
    paths.sort();
    paths.retain(|path| wanted(path.to_str().unwrap()));
    let contents: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    contents.into_iter().filter(|bytes| bytes.len() < INPUT_MAX).collect()
}

fn commits() -> Vec<Vec<u8>> {
    contents(|path| path.contains("_delta_log") && path.ends_with(".json") && !path.contains(".checkpoint."))
}

/// Changes some bytes: others in their place, a part left out or twice, cut off, or numbers at their limits.
fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            bytes.push(random.below(256) as u8);
        }
        let at = random.below(bytes.len() as u64) as usize;
        let length = (random.below(9) as usize + 1).min(bytes.len() - at);
        match random.below(7) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let part = bytes[at..at + length].to_vec();
                bytes.splice(at..at, part);
            }
            4 => bytes.truncate(at),
            5 => bytes[at..at + length].fill([0, 0xff, 0x7f, 0x80][random.below(4) as usize]),
            _ => {
                let words: [&[u8]; 8] =
                    [b"null", b"-1", b"9223372036854775807", b"1e999", b"{}", b"[]", b"\"\"", b"%2e%2e/"];
                bytes.splice(at..at, words[random.below(8) as usize].iter().copied());
            }
        }
    }
    bytes
}

/// Runs a target on the seeds themselves, on mutations of them, and on bytes without any sense.
fn run(name: &str, seeds: &[Vec<u8>], mutations: u32) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let target = fuzz::TARGETS.iter().find(|(other, _)| *other == name).expect("a target of this name").1;
    assert!(!seeds.is_empty(), "there is nothing to mutate");
    let random = &mut Random::new(SEED, 0);
    let call = |what: &dyn Fn() -> String, bytes: &[u8]| {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let result = catch_unwind(AssertUnwindSafe(|| target(bytes)));
        let used = MEMORY.peak_usage().saturating_sub(before);
        let input = || format!("{} of seed {SEED}: {:?}", what(), String::from_utf8_lossy(bytes));
        assert!(result.is_ok(), "{name} panicked on {}", input());
        assert!(used < MEMORY_MAX, "{name} took {used} bytes for {} bytes, {}", bytes.len(), input());
    };
    for (index, seed) in seeds.iter().enumerate() {
        call(&|| format!("seed {index}"), seed);
    }
    for index in 0..mutations {
        let seed = &seeds[random.below(seeds.len() as u64) as usize];
        call(&|| format!("mutation {index}"), &mutate(seed, random));
        let noise: Vec<u8> = (0..random.below(1024)).map(|_| random.below(256) as u8).collect();
        call(&|| format!("noise {index}"), &noise);
    }
}

/// Each seed with each of some first bytes.
fn with_heads(heads: &[&[u8]], seeds: &[Vec<u8>]) -> Vec<Vec<u8>> {
    heads.iter().flat_map(|head| seeds.iter().map(|seed| [head, seed.as_slice()].concat())).collect()
}

#[test]
fn lines_of_commits() {
    run("commit_lines", &commits(), 3_000);
}

#[test]
fn checkpoints() {
    let json = contents(|path| path.contains(".checkpoint.") && path.ends_with(".json"));
    let parquet =
        contents(|path| (path.contains(".checkpoint.") || path.contains("_sidecars")) && path.ends_with(".parquet"));
    assert!(!json.is_empty() && !parquet.is_empty());
    let mut seeds = with_heads(&[&[0]], &json);
    seeds.extend(with_heads(&[&[1], &[2]], &parquet));
    run("checkpoint", &seeds, 1_500);
}

#[test]
fn deletion_vectors() {
    let files = contents(|path| path.contains("deletion_vector") && path.ends_with(".bin"));
    // The descriptor of the first vector of a file, and the bitmap without the file around it.
    let size = |file: &Vec<u8>| file.get(1..5).map_or(0, |bytes| i32::from_be_bytes(bytes.try_into().unwrap()));
    let whole = files.iter().map(|file| [&[1, 1], &size(file).to_le_bytes()[..], file].concat());
    let bitmaps = files.iter().map(|file| {
        let end = (5 + usize::try_from(size(file)).unwrap_or(0)).min(file.len());
        [&[2_u8, 0, 0, 0, 0, 0], &file[5.min(end)..end]].concat()
    });
    let mut seeds: Vec<Vec<u8>> = whole.chain(bitmaps).collect();
    seeds.push([&[0, 1, 40, 0, 0, 0], &b"^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"[..]].concat());
    seeds.push([&[0, 0, 40, 0, 0, 0], &b"ab^-aqEH.-t@S}K{vb[*k^"[..]].concat());
    run("deletion_vector", &seeds, 5_000);
}

#[test]
fn texts_of_statistics() {
    let mut seeds = vec![br#"{"numRecords":3,"minValues":{"long":1,"timestamp":"2024-01-01T00:00:00.000Z"}}"#.to_vec()];
    for bytes in commits() {
        let actions = Commit::parse(Version(0), &bytes).map(|commit| commit.actions).unwrap_or_default();
        let stats = actions.into_iter().filter_map(|action| match action {
            Action::Add(add) => add.stats,
            _ => None,
        });
        seeds.extend(stats.take(1).map(String::into_bytes));
    }
    run("statistics", &seeds, 5_000);
}

#[test]
fn paths_of_a_log() {
    let seeds = [
        "p=New%2520Town/part-00000-1.c000.snappy.parquet",
        "../../etc/passwd",
        "%2e%2e/%2e%2e/f",
        "/etc/passwd",
        "file:///etc/passwd",
        "file://localhost/a",
        "s3://bucket/f",
        "a//b/./c",
        "00000000000000000001.json",
        "00000000000000000001.checkpoint.0000000001.0000000002.parquet",
        "_last_checkpoint",
        "00000000000000000001.00000000000000000009.compacted.json",
    ];
    run("paths", &seeds.map(|path| path.as_bytes().to_vec()), 5_000);
}

#[test]
fn texts_of_times() {
    let seeds = [
        "2025-03-30",
        "2025-03-30 23:00:00",
        "2025-03-30T22:30:00.0004Z",
        "20250330223000000",
        "Europe/Berlin|2025-03-30 02:30:00",
        "+02:00|2025-10-26T02:30:00+05:30",
        "1743373800000",
        "-290000-01-01",
        "America/New_York|9999-12-31 23:59:59.999999",
    ];
    run("time_text", &seeds.map(|text| text.as_bytes().to_vec()), 5_000);
}
