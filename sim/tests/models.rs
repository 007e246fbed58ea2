//! Exact figures of M(W, C), and what every search promises, shown on it.

use std::{collections::HashSet, ops::ControlFlow};

use sim::{
    models::put_if_absent::{PutIfAbsentLog, State, Step},
    search::{Bounded, Exploration, Limits, Model, Options, count_schedules, explore_with},
};

const LIMITS: Limits = Limits { memory_bytes: 1 << 30 };

fn log(writers: u32, commits: u32) -> PutIfAbsentLog {
    PutIfAbsentLog::new(writers, commits).expect("there is room")
}

fn search<M: Model>(model: &mut M, threads: usize, symmetry: bool) -> Exploration<M> {
    let options = Options { limits: LIMITS, threads, symmetry };
    match explore_with(model, options, &mut |_| ControlFlow::Continue(())) {
        Ok(exploration) => exploration,
        Err(_) => panic!("the model goes on"),
    }
}

#[test]
fn every_figure_is_the_one_that_other_programs_counted() {
    let check = |[writers, commits]: [u32; 2], schedules: u128, states: usize, finals: usize| {
        let mut model = log(writers, commits);
        let searched = search(&mut model, 1, false);
        assert!(searched.exhausted);
        assert_eq!(searched.states, states, "states of {writers} x {commits}");
        let logs: HashSet<Vec<u8>> = searched.ends.iter().map(|end| end.log().collect()).collect();
        assert_eq!([searched.ends.len(), logs.len()], [finals, finals], "final logs of {writers} x {commits}");
        assert_eq!(count_schedules(&mut model, LIMITS), Ok(schedules), "schedules of {writers} x {commits}");
    };
    check([2, 1], 6, 12, 2);
    check([2, 2], 226, 60, 6);
    check([2, 3], 12_952, 242, 20);
    check([2, 4], 829_274, 916, 70);
    check([3, 1], 498, 65, 6);
    check([3, 2], 240_040_122, 1_652, 90);
    check([3, 3], 298_336_028_518_200, 35_327, 1_680);
    check([3, 4], 462_038_819_820_920_824_050, 759_602, 34_650);
}

#[test]
fn writers_that_are_alike_leave_a_sixth_of_the_states() {
    let check = |commits: u32, states: usize, finals: usize| {
        let searched = search(&mut log(3, commits), 1, true);
        assert_eq!(searched.states, states, "states of 3 x {commits}");
        assert_eq!(searched.ends.len(), finals / 6, "final logs of 3 x {commits}");
    };
    check(3, 5_900, 1_680);
    check(4, 126_618, 34_650);
}

fn writer(step: &Step) -> u32 {
    step.writer.into()
}

#[test]
fn schedules_with_few_preemptions_reach_few_of_the_final_logs() {
    let finals = [6, 42, 192, 552, 1_062, 1_506, 1_680];
    let schedules = [6, 96, 1_092, 9_462, 67_968, 417_930];
    for (bound, finals) in finals.into_iter().enumerate() {
        let mut model = Bounded::new(log(3, 3), bound as u32, writer);
        let searched = search(&mut model, 1, false);
        let logs: HashSet<State> = searched.ends.iter().map(|end| end.state).collect();
        assert_eq!(logs.len(), finals, "final logs with {bound} preemptions");
        if let Some(schedules) = schedules.get(bound) {
            assert_eq!(count_schedules(&mut model, LIMITS), Ok(*schedules), "schedules with {bound} preemptions");
        }
    }
}
