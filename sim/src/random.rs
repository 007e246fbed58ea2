//! Random numbers that are the same on every machine and with every version of every library.

/// SplitMix64 (Steele, Lea, Flood 2014): a stream of 64-bit numbers from a seed. It is written out here because a seed that is in somebody's failure
/// file must mean the same run for ever, which no library of random numbers promises across its versions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed and of somebody who draws from it.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed);
        let start = random.next() ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, every one as likely as the others up to one in 2^64 / `bound`.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, [low, high]: [u32; 2]) -> u32 {
        low + self.below(u64::from(high - low) + 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_numbers_for_ever() {
        let mut random = Random::new(7, 1);
        let drawn: Vec<u32> = (0..5).map(|_| random.between([100, 600])).collect();
        expect_test::expect!["[316, 228, 159, 395, 572]"].assert_eq(&format!("{drawn:?}"));
    }

    #[test]
    fn every_number_of_a_range_comes_up() {
        let mut random = Random::new(0, 0);
        let mut counts = [0; 3];
        for _ in 0..3000 {
            counts[random.between([5, 7]) as usize - 5] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }
}
