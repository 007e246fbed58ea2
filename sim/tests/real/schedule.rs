//! Threads that are held to a schedule.

use sim::{
    call::CallEnd,
    real::{
        RealError,
        shared_map::{Contents, SharedMap},
        sync::Arc,
        writer::run_writer,
    },
    run::simulate,
};

use crate::support::{parse, run, setting, shipped};

#[test]
fn a_pinned_schedule_gives_one_result() {
    for (level, committed) in [("WriteSerializable", 2), ("Serializable", 1)] {
        for _ in 0..5 {
            let root = tempfile::tempdir().unwrap();
            let scenario = shipped("@reordered", &[("isolation", level)]);
            let simulated = simulate(&setting(scenario.clone()), 0).unwrap();
            let result = run(scenario, root.path()).unwrap();
            assert!(result.violations.is_empty(), "{:?}", result.violations);
            assert_eq!((result.committed, simulated.committed), (committed, committed));
            assert_eq!(result.tables[0].rows_sha256, simulated.tables[0].rows_sha256);
            assert_eq!(result.tables[0].calls, simulated.tables[0].calls);
        }
    }
}

#[test]
fn every_order_of_a_round_can_be_pinned() {
    for (schedule, winner) in [
        (r#"["a.read", "b.read", "c.read", "c.put", "b.commit", "a.commit"]"#, 2),
        (r#"["a.read", "b.read", "c.read", "b.put", "c.commit", "a.commit"]"#, 1),
    ] {
        let root = tempfile::tempdir().unwrap();
        let result = run(shipped("@write-conflict", &[("schedule", schedule)]), root.path()).unwrap();
        assert_eq!(result.tables[0].calls[0].unwrap().writer, winner);
        let lost = result.history.ends().take(3).filter(|(_, end)| matches!(end, CallEnd::Conflict(_))).count();
        assert_eq!(lost, 2);
    }
}

#[test]
fn a_step_that_is_not_possible_is_the_same_error_as_in_the_simulator() {
    for schedule in [
        r#"["a.put"]"#,
        r#"["a.read", "a.read"]"#,
        r#"["a.read", "b.read", "a.commit", "a.read"]"#,
        r#"["b.crash", "b.crash"]"#,
    ] {
        let scenario = shipped("@reordered", &[("schedule", schedule)]);
        let root = tempfile::tempdir().unwrap();
        let error = run(scenario.clone(), root.path()).unwrap_err();
        assert!(matches!(error, RealError::NotEnabled(_)), "{error}");
        assert_eq!(error.to_string(), simulate(&setting(scenario), 0).unwrap_err().to_string());
    }
}

#[test]
fn a_writer_that_crashes_goes_on_with_its_next_statement() {
    let schedule = r#"["a.read", "b.read", "a.crash", "b.commit", "a.read", "a.commit"]"#;
    let root = tempfile::tempdir().unwrap();
    let scenario = shipped("@write-conflict", &[("schedule", schedule)]);
    let result = run(scenario.clone(), root.path()).unwrap();
    assert!(result.violations.is_empty(), "{:?}", result.violations);
    let ends: Vec<_> = result.history.ends().take(3).map(|(call, end)| (call.writer, call.statement, end)).collect();
    assert_eq!(ends[0], (0, 0, &CallEnd::Crashed));
    assert!(matches!(ends[1], (1, 0, CallEnd::Committed { .. })), "{ends:?}");
    assert!(matches!(ends[2], (0, 1, CallEnd::Committed { .. })), "{ends:?}");
    assert_eq!(result.crashed, 1);
    assert_eq!(simulate(&setting(scenario), 0).unwrap().crashed, 1);
}

#[test]
fn writers_share_a_map_as_they_share_a_folder() {
    let scenario = parse(
        r#"
        name = "n"
        [[writer]]
        name = "w"
        count = 4
        statements = ["CREATE TABLE IF NOT EXISTS t (id INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]
        on_conflict = { retry = 10 }
        "#,
    );
    let setting = setting(scenario);
    let place = Arc::new(SharedMap::new(Contents::empty(setting.tables.len()), 0).with_newest());
    let threads = (0..4).map(|writer| {
        let (setting, place) = (setting.clone(), place.clone());
        std::thread::spawn(move || {
            let mut committed = 0;
            run_writer(&setting, writer, &place.view(), None, &mut |_, what| {
                committed += usize::from(matches!(what, sim::history::What::Ended(CallEnd::Committed { .. })));
            })
            .unwrap();
            committed
        })
    });
    let committed: usize = threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(committed, 1 + 8);
    assert_eq!(place.log(0).paths().count(), committed);
}
