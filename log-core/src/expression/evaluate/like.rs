//! LIKE.

/// A part of a pattern.
#[derive(PartialEq)]
enum Part {
    /// `%`
    AnyText,
    /// `_`
    AnyCharacter,
    Character(char),
}

/// Does a whole text match a pattern? `escape` makes the next character stand for itself; at the very end it stands for itself too.
pub(super) fn matches(text: &str, pattern: &str, escape: char, ignore_case: bool) -> bool {
    let fold = |c: char| -> Vec<char> { if ignore_case { c.to_lowercase().collect() } else { vec![c] } };
    let text: Vec<char> = text.chars().flat_map(fold).collect();
    let mut parts = Vec::new();
    let mut pattern = pattern.chars();
    while let Some(c) = pattern.next() {
        match c {
            c if c == escape => parts.extend(fold(pattern.next().unwrap_or(c)).into_iter().map(Part::Character)),
            '%' => parts.push(Part::AnyText),
            '_' => parts.push(Part::AnyCharacter),
            c => parts.extend(fold(c).into_iter().map(Part::Character)),
        }
    }
    matches_parts(&text, &parts)
}

/// Takes `%` as short as possible, and when that fails later, one character longer. Only the last `%` need ever be reconsidered, so the time
/// is bounded by the product of both lengths.
fn matches_parts(text: &[char], parts: &[Part]) -> bool {
    let (mut at, mut part) = (0, 0);
    // Where the last `%` stands, and where the text after what it takes begins.
    let mut retry = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::AnyText) => {
                part += 1;
                retry = Some((part, at));
            }
            Some(Part::AnyCharacter) => (at, part) = (at + 1, part + 1),
            Some(Part::Character(c)) if *c == text[at] => (at, part) = (at + 1, part + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (at, part) = (from + 1, after);
                }
                None => return false,
            },
        }
    }
    parts[part..].iter().all(|part| *part == Part::AnyText)
}
