//! Runs of random scenarios, judged by the oracle.

use std::cell::Cell;

use proptest::prelude::*;
use proptests::{
    check,
    scenarios::{scenarios, schedules, setting},
};
use sim::{
    run::{SimulatedFiles, Simulator, conclude, simulate},
    scenario::Scenario,
    world::{Clock, Environment, Granularity, World},
};

#[test]
fn one_seed_is_one_history() {
    check(60, (scenarios(), any::<u64>()), |(scenario, seed)| {
        let setting = setting(scenario, Clock::Virtual, Granularity::Needs, 0);
        let first = simulate(&setting, seed).expect("it runs");
        // Another seed before it leaves nothing behind.
        let mut simulator = Simulator::new(setting).expect("it runs");
        simulator.run(seed.wrapping_add(1)).expect("it runs");
        let second = simulator.run(seed).expect("it runs");
        prop_assert_eq!(&first.history, &second.history);
        prop_assert_eq!(&first.violations, &second.violations);
        prop_assert!(first.violations.is_empty(), "{:?}", first.violations);
        for (first, second) in first.tables.iter().zip(&second.tables) {
            prop_assert_eq!((&first.rows_sha256, first.version), (&second.rows_sha256, second.version));
        }
        Ok(())
    });
}

#[test]
fn no_schedule_and_no_fault_breaks_the_promise_of_a_level() {
    let (committed, lost, faults) = (Cell::new(0), Cell::new(0), Cell::new(0));
    check(250, (scenarios(), schedules(40), 0..3_u32), |(scenario, schedule, budget)| {
        let setting = setting(scenario, Clock::PerCall, Granularity::Points, budget);
        let mut environment = Environment::default();
        let mut world = World::new(setting.clone(), &mut environment).expect("the setup succeeds");
        let first = world.tables.iter().map(|table| table.commits()).collect();
        let mut schedule = schedule.into_iter();
        loop {
            let events = world.events();
            if events.is_empty() {
                break;
            }
            let event = schedule.next().map_or(events[0], |index| *index.get(&events));
            world.apply(&mut environment, event).expect("no table is damaged");
        }
        let spent = budget - world.network.budget.total;
        let files = &mut SimulatedFiles(&environment);
        let result = conclude(&setting, world.history, first, &world.tables, files);
        prop_assert!(result.violations.is_empty(), "{:?}", result.violations);
        committed.set(committed.get() + result.committed);
        lost.set(lost.get() + result.conflicts);
        faults.set(faults.get() + spent);
        Ok(())
    });
    let seen = (committed.get(), lost.get(), faults.get());
    assert!(seen.0 > 200 && seen.1 > 50 && seen.2 > 50, "commits, conflicts and faults: {seen:?}");
}

#[test]
fn a_scenario_reads_back_from_its_text() {
    check(100, scenarios(), |scenario| {
        let again = Scenario::parse(&scenario.to_string(), "again").expect("it is a scenario");
        prop_assert_eq!(again, scenario);
        Ok(())
    });
}
