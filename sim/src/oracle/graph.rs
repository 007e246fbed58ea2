//! Which operation of a history must come before which.

/// Which operation must come before which.
pub(super) struct Graph {
    pub(super) operations: usize,
    /// Row by row: `must[from * operations + to]`.
    pub(super) must: Vec<Option<Reason>>,
}

/// Why an operation must come before another: `writer` (one of the two) changed a row that `reader` (the other) reads.
#[derive(Clone, Copy)]
pub(super) struct Reason {
    pub(super) writer: usize,
    pub(super) reader: usize,
}

impl Graph {
    pub(super) fn reason(&self, from: usize, to: usize) -> Option<Reason> {
        self.must[from * self.operations + to]
    }

    fn edge(&self, from: usize, to: usize) -> bool {
        self.reason(from, to).is_some()
    }

    /// A topological order of some operations, the earliest in the log first among those that may come next. `None` when there is a cycle.
    pub(super) fn sorted(&self, among: &[usize]) -> Option<Vec<usize>> {
        let mut waiting = among.to_vec();
        let mut order = Vec::with_capacity(among.len());
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|&to| !waiting.iter().any(|&from| self.edge(from, to)))?;
            order.push(waiting.remove(ready));
        }
        Some(order)
    }

    /// The operations in groups without an edge between them, each in log order.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let mut grouped = vec![false; self.operations];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for first in 0..self.operations {
            if grouped[first] {
                continue;
            }
            grouped[first] = true;
            let mut group = vec![first];
            let mut next = 0;
            while let Some(&one) = group.get(next) {
                next += 1;
                for (other, grouped) in grouped.iter_mut().enumerate() {
                    if !*grouped && (self.edge(one, other) || self.edge(other, one)) {
                        *grouped = true;
                        group.push(other);
                    }
                }
            }
            group.sort_unstable();
            groups.push(group);
        }
        groups
    }

    /// The operations that can be reached from one along edges, among some.
    fn reachable(&self, from: usize, among: &[usize]) -> Vec<bool> {
        let mut reached = vec![false; self.operations];
        let mut open = vec![from];
        while let Some(one) = open.pop() {
            for &other in among {
                if !reached[other] && self.edge(one, other) {
                    reached[other] = true;
                    open.push(other);
                }
            }
        }
        reached
    }

    /// The strongly connected components of some operations, each before those that it has edges to.
    pub(super) fn components(&self, among: &[usize]) -> Vec<Vec<usize>> {
        let reach: Vec<Vec<bool>> = among.iter().map(|&one| self.reachable(one, among)).collect();
        let mut waiting: Vec<Vec<usize>> = Vec::new();
        for (position, &one) in among.iter().enumerate() {
            let shares = |component: &&mut Vec<usize>| {
                let first = among.binary_search(&component[0]).expect("a member");
                reach[position][component[0]] && reach[first][one]
            };
            match waiting.iter_mut().find(shares) {
                Some(component) => component.push(one),
                None => waiting.push(vec![one]),
            }
        }
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let before = |a: &[usize], b: &[usize]| a.iter().any(|&from| b.iter().any(|&to| self.edge(from, to)));
            let ready = (0..waiting.len())
                .find(|&one| (0..waiting.len()).all(|other| other == one || !before(&waiting[other], &waiting[one])));
            ordered.push(waiting.remove(ready.expect("components have no cycle between them")));
        }
        ordered
    }

    /// The shortest cycle among some operations, its smallest operation first; the first such in the order of the log.
    pub(super) fn shortest_cycle(&self, among: &[usize]) -> Vec<usize> {
        let mut shortest: Option<Vec<usize>> = None;
        for &start in among {
            if let Some(cycle) = self.cycle_through(start, among)
                && shortest.as_ref().is_none_or(|shortest| cycle.len() < shortest.len())
            {
                shortest = Some(cycle);
            }
        }
        shortest.expect("a graph without a topological order has a cycle")
    }

    fn cycle_through(&self, start: usize, among: &[usize]) -> Option<Vec<usize>> {
        let mut previous = vec![None; self.operations];
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&one) = queue.get(next) {
            next += 1;
            if self.edge(one, start) {
                let mut cycle = vec![one];
                while let Some(before) = previous[cycle[cycle.len() - 1]] {
                    cycle.push(before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            for &other in among {
                if other != start && previous[other].is_none() && self.edge(one, other) {
                    previous[other] = Some(one);
                    queue.push(other);
                }
            }
        }
        None
    }
}
