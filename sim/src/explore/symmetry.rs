//! Writers that are alike, and the ways to let them take each other's places.

use std::collections::BTreeMap;

use crate::scenario::Scenario;

/// At most so many ways are used. Six writers that are alike have as many; of more, some keep their places.
const WAYS_MAX: usize = 720;

/// No two writers are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "no two writers have the same statements, on_conflict and commit_retries, so none can take the place of another; search without symmetry"
)]
pub struct NoneAlike;

/// All ways to let writers of a class take each other's places, as a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symmetry {
    /// Writers that may take each other's places, by position; two or more in each class.
    classes: Vec<Vec<usize>>,
    /// Whose place each writer takes. The first way leaves everybody in place.
    ways: Vec<Box<[usize]>>,
    /// The way that one way after another comes to: `products[second * ways + first]`.
    products: Vec<u16>,
}

impl Symmetry {
    /// The writers of a scenario that have the same statements, word for word, and the same settings. Their names differ.
    ///
    /// # Errors
    /// When no two are alike.
    pub fn of(scenario: &Scenario) -> Result<Self, NoneAlike> {
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for (index, writer) in scenario.writers.iter().enumerate() {
            let alike = |class: &&mut Vec<usize>| {
                let first = &scenario.writers[class[0]];
                first.statements == writer.statements
                    && first.on_conflict == writer.on_conflict
                    && first.commit_retries == writer.commit_retries
            };
            match classes.iter_mut().find(alike) {
                Some(class) => class.push(index),
                None => classes.push(vec![index]),
            }
        }
        let symmetry = Self::of_classes(scenario.writers.len(), classes);
        if symmetry.classes.is_empty() { Err(NoneAlike) } else { Ok(symmetry) }
    }

    /// Of so many writers these classes.
    pub(super) fn of_classes(writers: usize, mut classes: Vec<Vec<usize>>) -> Self {
        let mut count = 1;
        for class in &mut classes {
            let mut used = 1.min(class.len());
            while used < class.len() && count * (used + 1) <= WAYS_MAX {
                used += 1;
                count *= used;
            }
            class.truncate(used);
        }
        classes.retain(|class| class.len() > 1);
        let mut ways: Vec<Vec<usize>> = vec![(0..writers).collect()];
        for class in &classes {
            let orders = orders(class);
            let with = |way: &Vec<usize>, order: &Vec<usize>| {
                let mut way = way.clone();
                for (from, to) in class.iter().zip(order) {
                    way[*from] = *to;
                }
                way
            };
            ways = ways.iter().flat_map(|way| orders.iter().map(|order| with(way, order))).collect();
        }
        let numbers: BTreeMap<Vec<usize>, u16> =
            ways.iter().enumerate().map(|(number, way)| (way.clone(), number as u16)).collect();
        let mut products = Vec::with_capacity(ways.len() * ways.len());
        for second in &ways {
            for first in &ways {
                let both: Vec<usize> = first.iter().map(|place| second[*place]).collect();
                products.push(numbers[&both]);
            }
        }
        Self { classes, ways: ways.into_iter().map(Vec::into_boxed_slice).collect(), products }
    }

    /// Writers that may take each other's places, by position.
    pub fn classes(&self) -> &[Vec<usize>] {
        &self.classes
    }

    /// How many ways there are.
    pub(super) fn len(&self) -> usize {
        self.ways.len()
    }

    /// Whose place a writer takes.
    pub(super) fn place(&self, way: usize, writer: usize) -> usize {
        self.ways[way][writer]
    }

    /// One way after another.
    pub(super) fn product(&self, second: usize, first: usize) -> usize {
        self.products[second * self.ways.len() + first] as usize
    }
}

/// Every order of some writers, their own first.
fn orders(class: &[usize]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = class.split_first() else { return vec![Vec::new()] };
    let rest = orders(rest);
    let mut all = Vec::with_capacity(class.len() * rest.len());
    for at in 0..class.len() {
        for order in &rest {
            // The others keep their order around the place where the first one goes.
            let mut order = order.clone();
            order.insert(at, *first);
            all.push(order);
        }
    }
    all
}
