//! What a verdict costs in memory.

use allocation_counter::measure;
use benches::winners::{commits, passes, store, transaction, winners};
use conflict::rules::RuleSet;

/// From parsed winners to the verdict: a winner costs the same, however many files it adds that do not match.
#[test]
fn a_file_that_does_not_match_costs_no_memory() {
    let rules = RuleSet::delta_spark();
    let count = |adds: u64| {
        let commits = commits(10, adds);
        let transaction = transaction(&mut store(&commits));
        let winners = winners(&commits);
        let mut passed = false;
        let counted = measure(|| passed = passes(&rules, &transaction, &winners)).count_total;
        assert!(passed);
        counted
    };
    let (few, many) = (count(10), count(1000));
    assert!(few > 0, "the counter counts");
    assert_eq!(few, many);
}
