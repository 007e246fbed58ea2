use super::*;

#[test]
fn a_duration_is_a_sum_of_numbers_with_units() {
    let check = |text: &str, expected| assert_eq!(duration_ms(text), expected, "{text}");
    check("interval 1 week", Some(7 * MS_PER_DAY));
    check("INTERVAL 1 WEEK 2 Days", Some(9 * MS_PER_DAY));
    check("30 days", Some(30 * MS_PER_DAY));
    check(" interval  0 hours ", Some(0));
    check("interval 1 hour 2 minutes 3 seconds 4 milliseconds 5999 microseconds", Some(3_723_009));
    check("interval 2 days -1 hours", Some(2 * MS_PER_DAY - 3_600_000));
    for text in [
        "",
        "interval",
        "interval 1",
        "1 month",
        "1 year",
        "-1 days",
        "one day",
        "1.5 days",
        "1 dayss",
        "99999999999999 weeks",
        "interval interval 1 day",
    ] {
        check(text, None);
    }
}

#[test]
fn what_says_no_time_is_an_expired_tombstone_and_kept_progress() {
    let retention = Retention { tombstones_after_ms: 10, transactions_after_ms: Some(10) };
    for (time, kept) in [(None, false), (Some(10), false), (Some(11), true)] {
        let remove = RemoveFile { deletion_timestamp: time, ..RemoveFile::default() };
        assert_eq!(retention.keeps_tombstone(&remove), kept, "{time:?}");
    }
    for (time, kept) in [(None, true), (Some(10), false), (Some(11), true)] {
        let transaction = SetTransaction { last_updated: time, ..SetTransaction::default() };
        assert_eq!(retention.keeps_transaction(&transaction), kept, "{time:?}");
    }
    let for_ever = Retention { transactions_after_ms: None, ..retention };
    assert!(for_ever.keeps_transaction(&SetTransaction { last_updated: Some(0), ..SetTransaction::default() }));
}
