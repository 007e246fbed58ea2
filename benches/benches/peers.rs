//! M(W, C) in stateright, beside ours: the group is `explore` as in the other file. Built only with the feature `peers`.

use std::{ops::ControlFlow, time::Duration};

use criterion::{Criterion, SamplingMode, Throughput};
use sim::{
    models::put_if_absent::{PutIfAbsentLog, State, Step},
    search::{Limits, Model as _, Options, explore_with},
};
use stateright::{Checker, Model, Property};

/// The same states and steps, asked by stateright.
#[derive(Clone)]
struct Peer(PutIfAbsentLog);

impl Model for Peer {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![self.0.first()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        let mut log = self.0;
        log.events(state, actions);
    }

    fn next_state(&self, state: &State, action: Step) -> Option<State> {
        Some(self.0.after(state, action))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without a property that holds it stops at once.
        vec![Property::always("a log is no longer than its writers make it", |_, state: &State| state.length() <= 15)]
    }
}

fn explore(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("explore");
    for (commits, states) in [(3, 35_327), (4, 759_602)] {
        let size = format!("3x{commits}");
        group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
        group.throughput(Throughput::Elements(states));
        let log = PutIfAbsentLog::new(3, commits).expect("there is room");
        for threads in [1, 2] {
            let options = Options { threads, ..Options::new(Limits { memory_bytes: usize::MAX }) };
            group.bench_function(format!("{size}/contend {threads}"), |bencher| {
                bencher.iter(|| {
                    let Ok(found) = explore_with(&mut log.clone(), options, &mut |_| ControlFlow::Continue(()));
                    assert_eq!(found.states as u64, states);
                    found
                });
            });
            group.bench_function(format!("{size}/stateright dfs {threads}"), |bencher| {
                bencher.iter(|| {
                    let checker = Peer(log).checker().threads(threads).spawn_dfs().join();
                    assert_eq!(checker.unique_state_count() as u64, states);
                });
            });
            group.bench_function(format!("{size}/stateright bfs {threads}"), |bencher| {
                bencher.iter(|| {
                    let checker = Peer(log).checker().threads(threads).spawn_bfs().join();
                    assert_eq!(checker.unique_state_count() as u64, states);
                });
            });
        }
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    explore(&mut criterion);
    criterion.final_summary();
}
