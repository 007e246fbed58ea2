//! The nearest of several names: for "did you mean".

/// The candidate that needs the fewest edits to become `name`, letter case aside; `None` when all are too far to be a slip of the pen.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = 1.max(name.chars().count() / 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Characters to insert, drop or replace to turn one text into the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_found() {
        let names = ["id", "date", "population"];
        for (name, expected) in [
            ("dat", Some("date")),
            ("ID", Some("id")),
            ("poplation", Some("population")),
            ("idd", Some("id")),
            ("x", None),
            ("country", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
