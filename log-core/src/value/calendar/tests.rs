use super::*;

#[test]
fn every_day_comes_back_from_its_date() {
    // Each day once around the epoch, 16 000 years in big steps, and both ends.
    for day in (-800..800).chain((-3_000_000..3_000_000).step_by(997)).chain([i32::MIN, i32::MAX]) {
        let (year, month, of_month) = civil_from_days(day);
        assert_eq!(days_from_civil(year, month, of_month), day);
        assert!((1..=days_in_month(year, month)).contains(&of_month));
    }
    assert!((-800..800).map(civil_from_days).is_sorted_by(|a, b| a < b));
    assert_eq!(civil_from_days(0), (1970, 1, 1));
    assert_eq!(days_from_civil(2000, 3, 1), 11_017);
    assert_eq!(days_from_civil(1, 1, 1), -719_162);
    assert_eq!(days_from_civil(i32::MAX, 1, 1), i32::MAX, "beyond the range: its end");
}
