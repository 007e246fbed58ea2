//! What becomes of a part of a state when writers take each other's places.
//!
//! Nothing is renamed for it. Every part but the first ones was made by a step of a writer, and a step follows from the writer's part and the tables' part before. So
//! what becomes of a part is what the same step makes where the other writer takes it, from what becomes of the parts before. A part may be made by
//! several steps. Each of them is taken in every way and must come to what the first one came to: that is checked, and it makes what becomes of a
//! state a state that can be reached, with the same future, whatever the names in its log.

use std::{
    collections::hash_map::Entry,
    hash::{BuildHasher, Hash},
    sync::Arc,
};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{
    Parted, WRITERS,
    shared::{Parts, Shared, Step, StepKey},
    symmetry::Symmetry,
};
use crate::{
    judge::ViolationKind,
    world::{Finished, LatePut, LogDigest, Network, Tables, WorldError, Writer},
};

/// What becomes of the parts of one kind: for each part as many numbers as there are ways.
#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    numbers: Vec<u32>,
}

/// What becomes of the parts of all kinds, on whatever thread they were made.
#[derive(Debug)]
pub(super) struct Orbits {
    pub(super) symmetry: Arc<Symmetry>,
    pub(super) tables: Images,
    /// Of each tables' part the ways that bring it to the least of what becomes of it.
    pub(super) least: Vec<Arc<[u16]>>,
    pub(super) networks: Images,
    /// A writer's part becomes one of the writer whose place it takes.
    pub(super) writers: Vec<Images>,
    pub(super) late: Parts<LatePut>,
    pub(super) late_images: Images,
    /// The tables' part after a late put has landed, by its number and the tables' part before.
    pub(super) landed: FxHashMap<(u32, u32), u32>,
}

/// One part became two, or two became one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unequal;

/// No part has this number.
const UNKNOWN: u32 = u32::MAX;

impl Images {
    /// What becomes of a part in each way, if that is known.
    pub(super) fn of(&self, part: u32, ways: usize) -> Option<&[u32]> {
        let images = self.numbers.get(part as usize * ways..(part as usize + 1) * ways)?;
        (images[0] != UNKNOWN).then_some(images)
    }

    /// What becomes of a part that a state was seen with.
    pub(super) fn image(&self, part: u32, way: usize, ways: usize) -> u32 {
        self.numbers[part as usize * ways + way]
    }

    /// Is everything known of a part?
    pub(super) fn has(&self, part: u32, ways: usize) -> bool {
        self.of(part, ways).is_some()
    }

    /// Learns of what others have found out.
    pub(super) fn catch_up(&mut self, other: &Self) {
        self.numbers.extend_from_slice(&other.numbers[self.numbers.len()..]);
    }

    fn set(&mut self, part: u32, way: usize, ways: usize, image: u32) -> Result<(), Unequal> {
        let end = (part as usize + 1) * ways;
        if self.numbers.len() < end {
            self.numbers.resize(end, UNKNOWN);
        }
        let known = &mut self.numbers[part as usize * ways + way];
        if *known != UNKNOWN && *known != image {
            return Err(Unequal);
        }
        *known = image;
        Ok(())
    }
}

impl Orbits {
    /// Of the first state, whose parts are the first of their kinds.
    pub(super) fn new(symmetry: Arc<Symmetry>, shared: &mut Shared) -> Result<Self, WorldError> {
        let writers = shared.writers.len();
        let first = vec![0; symmetry.len()];
        let mut orbits = Self {
            symmetry: symmetry.clone(),
            tables: Images::default(),
            least: Vec::new(),
            networks: Images::default(),
            writers: vec![Images::default(); writers],
            late: Parts::new(),
            late_images: Images::default(),
            landed: FxHashMap::default(),
        };
        orbits.settle_tables(shared, &first)?;
        for writer in 0..writers {
            orbits.settle_writers(shared, writer, &first)?;
        }
        settle(&symmetry, std::slice::from_mut(&mut orbits.networks), |_| 0, &first)
            .map_err(|Unequal| orbits.not_alike(shared, NAMES))?;
        Ok(orbits)
    }

    /// A step, made in every way; all that come of it are kept.
    pub(super) fn step(&mut self, shared: &mut Shared, writer: usize, key: StepKey) -> Result<Step, WorldError> {
        let symmetry = self.symmetry.clone();
        let ways = symmetry.len();
        let (part, tables, fault) = key;
        let keys: Vec<(usize, StepKey)> = (0..ways)
            .map(|way| {
                let part = self.writers[writer].image(part, way, ways);
                (symmetry.place(way, writer), (part, self.tables.image(tables, way, ways), fault))
            })
            .collect();
        let mut made: FxHashMap<(usize, StepKey), Step> = FxHashMap::default();
        for (writer, key) in &keys {
            if let Entry::Vacant(step) = made.entry((*writer, *key)) {
                step.insert(shared.make_step(*writer, *key)?);
            }
        }
        let steps: Vec<&Step> = keys.iter().map(|key| &made[key]).collect();
        let parts = |part: fn(&Step) -> u32| steps.iter().map(|step| part(step)).collect::<Vec<u32>>();
        self.settle_writers(shared, writer, &parts(|step| step.writer))?;
        self.settle_tables(shared, &parts(|step| step.tables))?;
        let late: Vec<u32> =
            steps.iter().filter_map(|step| step.late.clone()).map(|put| self.late.number(put)).collect();
        if !late.is_empty() {
            let settled = late.len() == ways
                && settle(&symmetry, std::slice::from_mut(&mut self.late_images), |_| 0, &late).is_ok();
            settled.then_some(()).ok_or_else(|| self.not_alike(shared, NAMES))?;
        }
        let kind = |step: &Step| step.violation.as_ref().map(|violation| violation.kind);
        if steps.iter().any(|step| kind(step) != kind(steps[0])) {
            return Err(self.not_alike(shared, JUDGED));
        }
        let step = steps[0].clone();
        // Not before all is settled: whoever finds a step there may ask what becomes of it.
        for ((writer, key), step) in made {
            shared.memo.steps[writer].insert(key, step);
        }
        Ok(step)
    }

    /// The tables after a late put has landed, in every way.
    pub(super) fn land(&mut self, shared: &mut Shared, put: &LatePut, tables: u32) -> Result<u32, WorldError> {
        let ways = self.symmetry.len();
        let put = self.late.number(put.clone());
        if let Some(known) = self.landed.get(&(put, tables)) {
            return Ok(*known);
        }
        let keys: Vec<(u32, u32)> = (0..ways)
            .map(|way| (self.late_images.image(put, way, ways), self.tables.image(tables, way, ways)))
            .collect();
        let made: Vec<u32> =
            keys.iter().map(|(put, tables)| shared.make_landing(&self.late.values[*put as usize], *tables)).collect();
        self.settle_tables(shared, &made)?;
        self.landed.extend(keys.into_iter().zip(made.iter().copied()));
        Ok(made[0])
    }

    /// The number of a network whose late puts were sent in steps.
    pub(super) fn network(&mut self, shared: &mut Shared, network: Network) -> Result<u32, WorldError> {
        let ways = self.symmetry.len();
        let late: Vec<u32> = network.late.iter().map(|put| self.late.number(put.clone())).collect();
        let made: Vec<u32> = (0..ways)
            .map(|way| {
                let mut image = Network { late: Vec::new(), ..network.clone() };
                for put in &late {
                    let put = self.late_images.image(*put, way, ways);
                    image.delay(LatePut::clone(&self.late.values[put as usize]));
                }
                shared.networks.number(image)
            })
            .collect();
        settle(&self.symmetry, std::slice::from_mut(&mut self.networks), |_| 0, &made)
            .map_err(|Unequal| self.not_alike(shared, NAMES))?;
        Ok(made[0])
    }

    fn settle_writers(&mut self, shared: &Shared, writer: usize, made: &[u32]) -> Result<(), WorldError> {
        let symmetry = &self.symmetry;
        match settle(symmetry, &mut self.writers, |way| symmetry.place(way, writer), made) {
            Err(Unequal) => return Err(self.not_alike(shared, NAMES)),
            Ok(false) => return Ok(()),
            Ok(true) => {}
        }
        let stands = |way: usize| stands(&shared.writers[self.symmetry.place(way, writer)].values[made[way] as usize]);
        if (1..made.len()).any(|way| stands(way) != stands(0)) {
            return Err(self.not_alike(shared, ENDS));
        }
        Ok(())
    }

    fn settle_tables(&mut self, shared: &mut Shared, made: &[u32]) -> Result<(), WorldError> {
        match settle(&self.symmetry, std::slice::from_mut(&mut self.tables), |_| 0, made) {
            Err(Unequal) => return Err(self.not_alike(shared, NAMES)),
            Ok(false) => return Ok(()),
            Ok(true) => {}
        }
        let commits = |part: u32| -> Vec<u64> {
            shared.tables.values[part as usize].iter().map(|table| table.commits()).collect()
        };
        if made.iter().any(|part| commits(*part) != commits(made[0])) {
            return Err(self.not_alike(shared, ENDS));
        }
        let kinds: Vec<Vec<ViolationKind>> = made
            .iter()
            .map(|part| {
                let mut kinds: Vec<_> = shared.judge_tables(*part).iter().map(|violation| violation.kind).collect();
                kinds.sort_unstable();
                kinds.dedup();
                kinds
            })
            .collect();
        if kinds.iter().any(|other| *other != kinds[0]) {
            return Err(self.not_alike(shared, JUDGED));
        }
        let digests = |part: u32| digests(&shared.tables.values[part as usize]);
        let ways = made.len();
        for part in made {
            let keys: Vec<_> = (0..ways).map(|way| digests(self.tables.image(*part, way, ways))).collect();
            let least = (0..ways).filter(|way| keys.iter().all(|key| keys[*way] <= *key));
            let known = *part as usize + 1;
            if self.least.len() < known {
                self.least.resize(known, Arc::default());
            }
            self.least[*part as usize] = least.map(|way| way as u16).collect();
        }
        Ok(())
    }

    fn not_alike(&self, shared: &Shared, difference: &'static str) -> WorldError {
        let name = |writer: &usize| shared.setting.scenario.writers[*writer].name.as_str();
        let class = |class: &Vec<usize>| class.iter().map(name).collect::<Vec<_>>().join(", ");
        let classes: Vec<String> = self.symmetry.classes().iter().map(class).collect();
        WorldError::NotAlike { writers: classes.join("; "), difference }
    }

    /// Bytes that it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let writers: usize = self.writers.iter().map(|images| images.numbers.len()).sum();
        (self.tables.numbers.len() + self.networks.numbers.len() + writers) * size_of::<u32>() + self.least.len() * 40
    }
}

const NAMES: &str = "what a step leads to depends on their names";
const ENDS: &str = "a step of one ends otherwise than the same step of another";
const JUDGED: &str = "what one does is judged otherwise than what another does";

/// Where a writer stands, whatever its name.
fn stands(writer: &Writer) -> (&[Finished], &'static str, Option<(usize, u32)>) {
    let call = writer.call().map(|call| (call.context.id.statement, call.context.id.execution));
    (writer.finished(), writer.step_name(), call)
}

fn digests(tables: &Tables) -> Vec<LogDigest> {
    tables.iter().map(|table| table.digest()).collect()
}

/// As much of it as one thread has asked for.
#[derive(Debug)]
pub(super) struct KnownOrbits {
    symmetry: Arc<Symmetry>,
    tables: Images,
    least: Vec<Arc<[u16]>>,
    networks: Images,
    network_keys: Vec<u64>,
    writers: Vec<Images>,
    writer_keys: Vec<Vec<u64>>,
}

impl KnownOrbits {
    pub(super) fn new(symmetry: Arc<Symmetry>, writers: usize) -> Self {
        Self {
            symmetry,
            tables: Images::default(),
            least: Vec::new(),
            networks: Images::default(),
            network_keys: Vec::new(),
            writers: vec![Images::default(); writers],
            writer_keys: vec![Vec::new(); writers],
        }
    }

    /// Learns of what others have found out.
    pub(super) fn catch_up(&mut self, shared: &Shared, orbits: &Orbits) {
        self.tables.catch_up(&orbits.tables);
        self.least.extend_from_slice(&orbits.least[self.least.len()..]);
        self.networks.catch_up(&orbits.networks);
        learn_keys(&mut self.network_keys, &shared.networks);
        for (writer, parts) in shared.writers.iter().enumerate() {
            self.writers[writer].catch_up(&orbits.writers[writer]);
            learn_keys(&mut self.writer_keys[writer], parts);
        }
    }

    pub(super) fn symmetry(&self) -> &Arc<Symmetry> {
        &self.symmetry
    }

    /// What becomes of a state in a way.
    pub(super) fn image(&self, state: &Parted, way: usize) -> Parted {
        let ways = self.symmetry.len();
        let mut image = state.0.clone();
        image[0] = self.tables.image(state.0[0], way, ways);
        image[1] = self.networks.image(state.0[1], way, ways);
        for (writer, part) in state.0[WRITERS..].iter().enumerate() {
            image[WRITERS + self.symmetry.place(way, writer)] = self.writers[writer].image(*part, way, ways);
        }
        Parted(image)
    }

    /// The least of what becomes of a state, by the content of its parts: numbers depend on who met a part first.
    pub(super) fn least(&self, state: Parted) -> Parted {
        let ways = &*self.least[state.0[0] as usize];
        let mut images = ways.iter().map(|way| self.image(&state, usize::from(*way)));
        let mut least = images.next().expect("one of several is the least");
        for image in images {
            // Numbers decide only between contents of one hash.
            if self.keys(&image).cmp(self.keys(&least)).then_with(|| image.0.cmp(&least.0)).is_lt() {
                least = image;
            }
        }
        least
    }

    fn keys(&self, state: &Parted) -> impl Iterator<Item = u64> {
        let writers = self.writer_keys.iter().zip(&state.0[WRITERS..]).map(|(keys, part)| keys[*part as usize]);
        std::iter::once(self.network_keys[state.0[1] as usize]).chain(writers)
    }
}

fn learn_keys<T: Hash>(keys: &mut Vec<u64>, parts: &Parts<T>) {
    let new = &parts.values[keys.len()..];
    keys.extend(new.iter().map(|value| FxBuildHasher.hash_one(value)));
}

/// Takes what was made in each way, which `of[kind(way)]` is about; says whether it was not known before.
///
/// # Errors
/// When it was known, and is something else.
pub(super) fn settle(
    symmetry: &Symmetry,
    of: &mut [Images],
    kind: impl Fn(usize) -> usize,
    made: &[u32],
) -> Result<bool, Unequal> {
    let ways = symmetry.len();
    if let Some(known) = of[kind(0)].of(made[0], ways) {
        return if known == made { Ok(false) } else { Err(Unequal) };
    }
    if (0..ways).any(|way| of[kind(way)].has(made[way], ways)) {
        return Err(Unequal);
    }
    for first in 0..ways {
        for second in 0..ways {
            let image = made[symmetry.product(second, first)];
            of[kind(first)].set(made[first], second, ways, image)?;
        }
    }
    Ok(true)
}
