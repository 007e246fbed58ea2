use std::ops::ControlFlow;

use conflict::rules::RuleSet;

use super::*;
use crate::{
    scenario::Scenario,
    search::{Exploration, Limits, Options, explore_with},
    world::{Clock, Granularity},
};

/// Searches two writers with these statements as if they were alike, whether they are or not.
fn search(
    first: &str,
    second: &str,
    without: &[&str],
    alike: bool,
) -> (WorldModel, Result<Exploration<WorldModel>, WorldError>) {
    let text = format!(
        "name = \"two\"\nisolation = \"Serializable\"\nsetup = [\"CREATE TABLE t (id INT)\", \"INSERT INTO t VALUES (1)\"]\n\
         [[writer]]\nname = \"a\"\nstatements = [\"{first}\"]\n[[writer]]\nname = \"b\"\nstatements = [\"{second}\"]\n"
    );
    let scenario = Scenario::parse(&text, "inline").expect("a valid scenario");
    let rules = without.iter().fold(RuleSet::delta_spark(), |rules, rule| rules.without(rule).expect("a rule"));
    let setting = Setting::new(scenario, rules, String::new(), Clock::PerCall, Granularity::Points);
    let setting = Arc::new(setting.expect("a valid scenario"));
    let model = if alike {
        WorldModel::with_symmetry(setting, Symmetry::of_classes(2, vec![vec![0, 1]]))
    } else {
        WorldModel::new(setting)
    };
    let mut model = model.expect("the setup succeeds");
    let options = Options { symmetry: alike, ..Options::new(Limits { memory_bytes: 1 << 30 }) };
    let searched = explore_with(&mut model, options, &mut |_| ControlFlow::Continue(()));
    (model, searched)
}

#[test]
fn writers_that_only_seem_alike_are_found_out() {
    let refused = |first: &str, second: &str, without: &[&str]| {
        let (_, searched) = search(first, second, without, true);
        searched.err().expect("the writers differ").to_string()
    };
    let insert = "INSERT INTO t VALUES (2)";
    expect_test::expect!["writers a, b have the same statements and settings, but a step of one ends otherwise than the same step of another; search without symmetry"].assert_eq(&refused(insert, "DELETE FROM t", &[]));
    expect_test::expect!["writers a, b have the same statements and settings, but a step of one ends otherwise than the same step of another; search without symmetry"].assert_eq(&refused(insert, "SELECT id FROM t", &[]));
    // Both commit whatever the other does; only the oracle tells them apart.
    expect_test::expect!["writers a, b have the same statements and settings, but what a step leads to depends on their names; search without symmetry"].assert_eq(&refused(insert, "UPDATE t SET id = id + 1", &["added-files"]));
}

#[test]
fn what_another_value_leads_to_is_among_the_ends() {
    let ends = |alike: bool| {
        let (mut model, searched) = search("UPDATE t SET id = 2", "UPDATE t SET id = 3", &[], alike);
        let Ok(searched) = searched else { panic!("they differ in a value only") };
        let ends: Vec<Parted> = searched.ends.iter().flat_map(|end| model.orbit(end)).collect();
        let ends: BTreeSet<_> = ends.iter().map(|end| (model.committed(end), model.contents(end))).collect();
        (searched.states, ends)
    };
    let ((some, symmetric), (all, plain)) = (ends(true), ends(false));
    assert!(some < all);
    assert_eq!(symmetric, plain);
}

#[test]
fn what_becomes_of_a_state_in_two_ways_is_what_becomes_of_it_in_their_product() {
    let symmetry = Symmetry::of_classes(5, vec![vec![0, 2, 3], vec![1, 4]]);
    assert_eq!(symmetry.len(), 12);
    for writer in 0..5 {
        assert_eq!(symmetry.place(0, writer), writer, "the first way leaves everybody in place");
        for second in 0..12 {
            for first in 0..12 {
                let both = symmetry.product(second, first);
                assert_eq!(symmetry.place(both, writer), symmetry.place(second, symmetry.place(first, writer)));
            }
        }
    }
}
