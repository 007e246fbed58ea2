//! Runs of scenarios that ship.

use crate::support::{run, shipped};

#[test]
fn three_writers_on_threads_are_explained() {
    for level in ["WriteSerializable", "Serializable"] {
        let root = tempfile::tempdir().unwrap();
        let result = run(shipped("@write-conflict", &[("isolation", level)]), root.path()).unwrap();
        assert!(result.violations.is_empty(), "{:?}", result.violations);
        assert!((3..=9).contains(&result.committed), "{}", result.committed);
        assert_eq!(result.committed + result.conflicts, 9);
        assert_eq!(result.tables[0].version.0 as usize, 1 + result.committed);
        assert_eq!(result.orphans(), result.conflicts);
    }
}
