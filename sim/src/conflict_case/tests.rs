use conflict::rules::{ConflictKind, RuleSet};

use super::*;

/// Report 7: a delete on a table that is partitioned by a date, which lost to an append on another day.
fn deleting(predicate: &str, winner: bool) -> Verdict {
    let field = |name: &str, data_type: &str| {
        format!(r#"{{\"name\":\"{name}\",\"type\":\"{data_type}\",\"nullable\":true,\"metadata\":{{}}}}"#)
    };
    let columns = [
        ("id", "long"),
        ("ts", "timestamp"),
        ("local", "timestamp_ntz"),
        ("d", "date"),
        ("amount", "decimal(9,2)"),
        ("v", "string"),
    ];
    let fields: Vec<String> = columns.iter().map(|(name, data_type)| field(name, data_type)).collect();
    let add = |path: &str, day: &str| {
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{"d":"{day}"}},"size":1,"modificationTime":0,"dataChange":true}}}}"#
        )
    };
    let winners = if winner {
        format!(r#"[{{"commitInfo":{{"operation":"WRITE"}}}},{}]"#, add("n", "2024-01-05"))
    } else {
        String::new()
    };
    let predicate = serde_json::to_string(predicate).unwrap();
    let text = format!(
        r#"{{"name":"x","isolation":"Serializable","setup":[[{{"protocol":{{"minReaderVersion":1,"minWriterVersion":2}}}},
        {{"metaData":{{"id":"x","format":{{"provider":"parquet"}},"schemaString":"{{\"type\":\"struct\",\"fields\":[{}]}}","partitionColumns":["d"],"configuration":{{}}}}}},{}]],
        "transaction":{{"operation":"DELETE","reads":{{"predicates":[{predicate}]}},"actions":[{{"remove":{{"path":"f1","dataChange":true}}}}]}},
        "winners":[{winners}],"expect":{{"outcome":"committed"}}}}"#,
        fields.join(","),
        add("f1", "2024-01-01")
    );
    judge(&Case::parse(&text).unwrap(), &RuleSet::delta_spark()).unwrap()
}

/// Every kind of literal is taken with and without a winner, and whatever cannot be evaluated is a conflict that has a name.
#[test]
fn a_predicate_of_any_kind_gives_a_verdict() {
    for (predicate, conflicts) in [
        ("ts < TIMESTAMP '2024-01-02 00:00:00Z'", true),
        ("ts < TIMESTAMP '2024-01-02 00:00:00+02:00'", true),
        ("local < TIMESTAMP_NTZ '2024-01-02 00:00:00'", true),
        ("d < DATE '2024-01-05'", false),
        ("d = DATE '2024-01-05'", true),
        ("d < '2024-01-05'", false),
        ("d < TIMESTAMP '2024-01-05 00:00:00Z'", false),
        ("d <= TIMESTAMP '2024-01-05 00:00:00Z'", true),
        // Bounds that arrive as day numbers cannot be compared with a date.
        ("d >= 19723 AND d <= 19724", true),
        ("amount > 1.50", true),
        ("v = 'it''s'", true),
        ("d IN (DATE '2024-01-01', DATE '2024-01-02')", false),
        ("d IN (DATE '2024-01-01', DATE '2024-01-05')", true),
        ("d IS NULL", false),
        ("NOT d = DATE '2024-01-01'", true),
        ("NOT d IS NULL", true),
        ("year(d) = 2023", false),
        ("year(d) = 2024", true),
        ("nosuch(d) = 2023", true),
        ("rand() < 0.5", true),
        ("d < current_date()", true),
        ("d = (SELECT max(d) FROM u)", true),
        ("1 / 0 = 1 AND d = DATE '2024-01-01'", false),
        ("1 / 0 = 1", true),
    ] {
        let verdict = deleting(predicate, true);
        match verdict.outcome {
            Outcome::Committed { .. } => assert!(!conflicts, "{predicate}"),
            Outcome::Conflict(explanation) => {
                assert!(conflicts, "{predicate}: {explanation}");
                assert_eq!(explanation.kind, ConflictKind::ConcurrentAppend);
                assert_eq!(explanation.predicate.as_deref(), Some(predicate));
            }
            Outcome::Stuck(error) => panic!("{error}"),
        }
        let alone = deleting(predicate, false).outcome;
        assert!(matches!(alone, Outcome::Committed { version: Version(1), .. }), "{predicate}");
    }
}

#[test]
fn what_is_not_as_expected_is_said() {
    let differences = deleting("d = DATE '2024-01-05'", true).differences;
    assert_eq!(differences, ["expected a commit, found ConcurrentAppend with version 1"]);
    assert!(deleting("d IS NULL", true).differences.is_empty());
}
