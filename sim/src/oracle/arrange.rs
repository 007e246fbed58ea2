//! Looks for an order of the writes, other than the log's, that gives each its effect.
//!
//! # The graph
//!
//! Let `net(j)` be the rows that operation j inserted less those that it deleted, as multisets, and let the *footprint* of operation i be the
//! rows that at least one predicate by which it reads its snapshot matches, or has no value for. Operation j is *relevant* to i when `net(j)`
//! changes the count of a row of i's footprint. When j is relevant to i and i saw j, j must come before i; when i did not see j, after it.
//!
//! **An order that keeps all of this gives every operation its effect.** What i does is a function of the rows of its footprint: a row outside
//! is not matched, not aggregated, not selected. Contents are the base plus the nets of what was done, whatever the order. So the contents before i
//! in this order differ from the snapshot that i read by nets of operations that are not relevant to i, and those do not touch its footprint. The
//! effect is the same, and the rows that it deletes are there, being in its footprint. No predicate that had a value for all rows of the snapshot
//! meets a row here for which it has none, as such rows belong to the footprint too.
//!
//! The reverse does not hold: two operations that are in each other's way may still do the same by coincidence. Where the graph has a cycle, orders
//! are searched by effect, by the sets of operations done so far: the contents after a set do not depend on its order, so a set that could not be
//! completed once need not be tried again.
//!
//! # Parts
//!
//! By the same argument, groups of operations that are not relevant to each other across groups can be arranged each on its own, exactly. A group of
//! at most [`SEARCHED_MAX`] operations with a cycle is searched as a whole, and finding nothing proves that there is no order. In a larger one
//! only its strongly connected components are searched; an order that is found is good, but finding none proves nothing.

use super::{
    graph::{Graph, Reason},
    judge::{Recorded, TableHistory},
    memo::{Oracle, RowsId},
    problem::{Edge, Problem, Why},
    rows::Row,
};

/// Operations among which an order is searched by effect.
pub const SEARCHED_MAX: usize = 12;

impl Oracle {
    /// An order that gives every operation its recorded effect; at most `searched_max` operations are searched at once.
    pub(super) fn arrange(
        &mut self,
        history: &TableHistory,
        recorded: &[Recorded],
        searched_max: usize,
    ) -> Result<Vec<usize>, Problem> {
        let graph = self.graph(history, recorded);
        let all: Vec<usize> = (0..recorded.len()).collect();
        let mut order = Vec::with_capacity(recorded.len());
        if let Some(sorted) = graph.sorted(&all) {
            order = sorted;
        } else {
            let mut undecided = None;
            let mut rows = history.base;
            for group in graph.groups() {
                match self.arrange_group(history, recorded, &graph, &group, rows, searched_max) {
                    Ok(part) => {
                        for &index in &part {
                            rows = self.step(rows, recorded[index].effect).expect("an order replays");
                        }
                        order.extend(part);
                    }
                    Err(problem @ Problem::Cycle { .. }) => return Err(problem),
                    // The groups do not depend on each other: a later one may be a clear case.
                    Err(problem) => undecided = undecided.or(Some(problem)),
                }
            }
            if let Some(problem) = undecided {
                return Err(problem);
            }
        }
        debug_assert!(self.replays(history.base, recorded, &order), "an order that does not replay");
        Ok(order)
    }

    /// Is the graph of a history not enough to find an order?
    #[cfg(test)]
    pub(super) fn has_cycle(&mut self, history: &TableHistory) -> bool {
        let recorded = self.effects_of_log(history).expect("the effects are right");
        let all: Vec<usize> = (0..recorded.len()).collect();
        self.graph(history, &recorded).sorted(&all).is_none()
    }

    fn graph(&mut self, history: &TableHistory, recorded: &[Recorded]) -> Graph {
        let operations = recorded.len();
        let mut must = vec![None; operations * operations];
        for (reader, operation) in history.operations.iter().enumerate() {
            let Some(statement) = operation.statement else { continue };
            for writer in (0..operations).filter(|&writer| writer != reader) {
                if self.relevant(recorded[writer].effect, statement).is_some() {
                    let (from, to) = if writer < operation.seen { (writer, reader) } else { (reader, writer) };
                    must[from * operations + to].get_or_insert(Reason { writer, reader });
                }
            }
        }
        Graph { operations, must }
    }

    fn arrange_group(
        &mut self,
        history: &TableHistory,
        recorded: &[Recorded],
        graph: &Graph,
        group: &[usize],
        start: RowsId,
        searched_max: usize,
    ) -> Result<Vec<usize>, Problem> {
        if let Some(sorted) = graph.sorted(group) {
            return Ok(sorted);
        }
        if group.len() <= searched_max {
            return self.search(recorded, group, start).ok_or_else(|| Problem::Cycle {
                operations: group.iter().map(|&index| history.operation(index)).collect(),
                edges: self.shortest_cycle(history, recorded, graph, group),
            });
        }
        let mut order = Vec::with_capacity(group.len());
        let mut rows = start;
        for component in graph.components(group) {
            let found = if component.len() == 1 {
                Some(component.clone())
            } else if component.len() <= searched_max {
                self.search(recorded, &component, rows)
            } else {
                None
            };
            let part = found.ok_or_else(|| Problem::Undecided {
                operations: component.iter().map(|&index| history.operation(index)).collect(),
                edges: self.shortest_cycle(history, recorded, graph, &component),
            })?;
            for &index in &part {
                rows = self.step(rows, recorded[index].effect).expect("an order replays");
            }
            order.extend(part);
        }
        Ok(order)
    }

    /// Tries all orders of some operations on contents; of those that fit, the first in the order of the log.
    fn search(&mut self, recorded: &[Recorded], operations: &[usize], start: RowsId) -> Option<Vec<usize>> {
        let mut failed = vec![false; 1 << operations.len()];
        let mut order = Vec::with_capacity(operations.len());
        self.complete(recorded, operations, 0, start, &mut failed, &mut order).then_some(order)
    }

    /// Completes an order whose operations so far are the set `done`.
    fn complete(
        &mut self,
        recorded: &[Recorded],
        operations: &[usize],
        done: usize,
        rows: RowsId,
        failed: &mut [bool],
        order: &mut Vec<usize>,
    ) -> bool {
        if order.len() == operations.len() {
            return true;
        }
        if failed[done] {
            return false;
        }
        for (position, &index) in operations.iter().enumerate() {
            if done & (1 << position) != 0 || !self.has_effect(recorded[index], rows) {
                continue;
            }
            let next = self.step(rows, recorded[index].effect).expect("it deletes what it found");
            order.push(index);
            if self.complete(recorded, operations, done | (1 << position), next, failed, order) {
                return true;
            }
            order.pop();
        }
        failed[done] = true;
        false
    }

    fn shortest_cycle(
        &mut self,
        history: &TableHistory,
        recorded: &[Recorded],
        graph: &Graph,
        among: &[usize],
    ) -> Vec<Edge> {
        let cycle = graph.shortest_cycle(among);
        let edge = |(position, &from): (usize, &usize)| {
            let to = cycle[(position + 1) % cycle.len()];
            let Reason { writer, reader } = graph.reason(from, to).expect("an edge of the cycle");
            let statement = history.operations[reader].statement.expect("a reader has a statement");
            let (row, count) = self.relevant(recorded[writer].effect, statement).expect("an edge has a row").clone();
            let why = why(writer == from, count > 0, row);
            Edge { from: history.operation(from), to: history.operation(to), why }
        };
        cycle.iter().enumerate().map(edge).collect()
    }
}

fn why(saw: bool, inserted: bool, row: Row) -> Why {
    match (saw, inserted) {
        (true, true) => Why::SawInserted { row },
        (true, false) => Why::SawDeleted { row },
        (false, true) => Why::MissedInserted { row },
        (false, false) => Why::MissedDeleted { row },
    }
}
