//! The store of a scenario: how slow it is and how it fails.

use std::str::FromStr;

/// The store that the writers share.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct StoreSpec {
    /// How long requests take.
    pub latency: Latency,
    /// When in its latency a put takes effect.
    pub put_effect: PutEffect,
    /// How likely each fault is, per request.
    pub fault_rate: Faults<PartsPerMillion>,
    /// How many faults of each kind a search may inject.
    pub fault_budget: Faults<u32>,
    /// What to do with a real table that is already there.
    pub existing: Existing,
}

/// When in its latency a put takes effect. Published latencies do not say; it matters for who wins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PutEffect {
    /// At the end: the reply takes no time.
    #[default]
    End,
    /// At the middle: the reply takes as long as the request.
    Middle,
}

/// What a run on real storage does with a table that is already there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Existing {
    /// It is an error.
    #[default]
    Refuse,
    /// The run goes on from what is there: the setup's statements on that table are skipped, and `[expect]` counts this run.
    Continue,
}

/// Least and greatest duration of each kind of request, in milliseconds; each is drawn uniformly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Latency {
    /// One put, of a commit or of a data file.
    pub put_ms: [u32; 2],
    /// One get; several at once cost their slowest.
    pub get_ms: [u32; 2],
    /// One listing.
    pub list_ms: [u32; 2],
    /// The work of a statement between its read and its puts.
    pub compute_ms: [u32; 2],
}

/// Time that a statement computes unless a scenario says otherwise.
const COMPUTE_MS: [u32; 2] = [500, 1500];

impl Latency {
    /// The profile of a scenario that names none.
    pub const DEFAULT_PROFILE: &str = "adls";

    /// The named profiles, from published measurements of a conditional put on each store.
    pub const PROFILES: [(&str, Self); 6] = [
        ("adls", Self { put_ms: [100, 600], get_ms: [20, 80], list_ms: [50, 150], compute_ms: COMPUTE_MS }),
        ("azure-premium", Self { put_ms: [60, 350], get_ms: [10, 50], list_ms: [30, 90], compute_ms: COMPUTE_MS }),
        ("s3", Self { put_ms: [58, 68], get_ms: [15, 40], list_ms: [30, 60], compute_ms: COMPUTE_MS }),
        ("s3-express", Self { put_ms: [14, 26], get_ms: [4, 10], list_ms: [8, 15], compute_ms: COMPUTE_MS }),
        ("gcs", Self { put_ms: [500, 700], get_ms: [20, 60], list_ms: [40, 90], compute_ms: COMPUTE_MS }),
        ("local", Self { put_ms: [1, 2], get_ms: [0, 1], list_ms: [0, 1], compute_ms: COMPUTE_MS }),
    ];

    /// The name of the profile with these very figures, if there is one.
    pub fn profile(&self) -> Option<&'static str> {
        Self::PROFILES.iter().find(|(_, latency)| latency == self).map(|&(name, _)| name)
    }

    /// The names of the profiles.
    pub fn profile_names() -> impl Iterator<Item = &'static str> {
        Self::PROFILES.iter().map(|&(name, _)| name)
    }
}

impl Default for Latency {
    /// The profile [`Latency::DEFAULT_PROFILE`].
    fn default() -> Self {
        Self::PROFILES[0].1
    }
}

/// A profile name that is none of [`Latency::PROFILES`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not a latency profile; there are {names}", names = Latency::profile_names().collect::<Vec<_>>().join(", "))]
pub struct UnknownProfile(pub String);

impl FromStr for Latency {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Self::PROFILES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, latency)| latency)
            .ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

/// One value for each kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Faults<T> {
    /// A put that does not happen and is reported as unclear.
    pub put_lost: T,
    /// A put that happens and is reported as unclear.
    pub reply_lost: T,
    /// A put that is reported as unclear and happens later.
    pub put_late: T,
    /// A writer that is killed.
    pub crash: T,
    /// A listing that misses the newest names.
    pub list_lag: T,
}

impl<T> Faults<T> {
    /// The keys of the kinds, in the order of the fields.
    pub const KINDS: [&str; 5] = ["put_lost", "reply_lost", "put_late", "crash", "list_lag"];

    /// The kinds with their values to change, in the order of [`Faults::KINDS`].
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut T)> {
        let values =
            [&mut self.put_lost, &mut self.reply_lost, &mut self.put_late, &mut self.crash, &mut self.list_lag];
        Self::KINDS.into_iter().zip(values)
    }

    /// The kinds with their values, in the order of [`Faults::KINDS`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &T)> {
        Self::KINDS.into_iter().zip([&self.put_lost, &self.reply_lost, &self.put_late, &self.crash, &self.list_lag])
    }
}

/// A probability in millionths, so that it can be compared and hashed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PartsPerMillion(pub u32);

impl PartsPerMillion {
    /// The probability nearest to `rate`; `None` unless it is from 0 to 1, and either 0 or at least one in a million.
    pub fn from_rate(rate: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&rate) {
            return None;
        }
        let parts = (rate * 1e6).round() as u32;
        (parts > 0 || rate == 0.0).then_some(Self(parts))
    }
}
