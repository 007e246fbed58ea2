//! What the benchmarks compare with: the same work, written by hand for one case and for nothing else; and logs to be read.

pub mod live;
pub mod logs;
pub mod winners;

use rustc_hash::FxHashSet;

/// The middle one of some figures.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// M(W, C) searched by a program that can do nothing else: a set of states and a stack, no events, no ways, no violations.
///
/// Gives the number of states.
pub fn states_by_hand(writers: usize, commits: u8) -> usize {
    let first = ByHand::new(writers, commits);
    let mut seen = FxHashSet::from_iter([first]);
    let mut stack = vec![first];
    while let Some(state) = stack.pop() {
        for writer in 0..writers {
            if state.left[writer] > 0 {
                let mut after = state;
                after.step(writer);
                if seen.insert(after) {
                    stack.push(after);
                }
            }
        }
    }
    seen.len()
}

/// One random schedule of M(W, C) into `schedule`, in a loop that can do nothing else. Gives the log, two bits for each entry.
pub fn walk_by_hand(writers: usize, commits: u8, seed: u64, schedule: &mut Vec<u8>) -> u64 {
    let mut state = ByHand::new(writers, commits);
    let mut random = seed;
    schedule.clear();
    loop {
        let mut enabled = [0; 4];
        let mut count = 0;
        for writer in 0..writers {
            if state.left[writer] > 0 {
                enabled[count] = writer as u8;
                count += 1;
            }
        }
        if count == 0 {
            return state.log;
        }
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let chosen = enabled[((u128::from(z) * count as u128) >> 64) as usize];
        state.step(chosen.into());
        schedule.push(chosen);
    }
}

/// A state: up to 32 entries of the log, and up to four writers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ByHand {
    log: u64,
    length: u8,
    /// One more than the length that a writer knows; 0 at its list.
    knows: [u8; 4],
    /// Commits still to make.
    left: [u8; 4],
}

impl ByHand {
    fn new(writers: usize, commits: u8) -> Self {
        let mut left = [0; 4];
        left[..writers].fill(commits);
        Self { log: 0, length: 0, knows: [0; 4], left }
    }

    fn step(&mut self, writer: usize) {
        let knows = std::mem::take(&mut self.knows[writer]);
        if knows == 0 {
            self.knows[writer] = self.length + 1;
        } else if knows == self.length + 1 {
            self.log |= (writer as u64) << (2 * self.length);
            self.length += 1;
            self.left[writer] -= 1;
        }
    }
}
