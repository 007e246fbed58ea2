//! Text that fits a width, in columns of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide a text is.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text on one line: runs of spaces and line breaks become one space, other control characters a question mark.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().map(|c| if c.is_control() { '?' } else { c }).collect())
        .collect();
    words.join(" ")
}

/// A text cut to a width; `…` stands for what is missing.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut short = take(text, most.saturating_sub(1)).0.trim_end().to_owned();
    if most > 0 {
        short.push('…');
    }
    short
}

/// A text with spaces after it up to a width.
pub(crate) fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// A text with spaces before it up to a width.
pub(crate) fn pad_left(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}

/// A text broken between its words into lines of a width; a word that is longer is broken too. At least one line.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in one_line(text).split(' ') {
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) <= most {
            line.push_str(&" ".repeat(gap));
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = word;
        while width(rest) > most {
            let (head, tail) = take(rest, most);
            // A character that is wider than the line stands alone.
            let (head, tail) = if head.is_empty() { rest.split_at(first_len(rest)) } else { (head, tail) };
            lines.push(head.to_owned());
            rest = tail;
        }
        line.push_str(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The same in at most so many lines, the last one shortened.
pub(crate) fn wrap_at_most(text: &str, most: usize, lines_max: usize) -> Vec<String> {
    let mut lines = wrap(text, most);
    if lines.len() > lines_max {
        let rest = lines.split_off(lines_max - 1).join(" ");
        lines.push(shorten(&rest, most));
    }
    lines
}

/// A paragraph: its first line begins with `first`, the others with as many spaces as `first` is wide. Every line ends with a line break.
pub(crate) fn paragraph(first: &str, text: &str, most: usize) -> String {
    let indent = width(first);
    let mut paragraph = String::new();
    let lines = text.lines().flat_map(|line| wrap(line, most.saturating_sub(indent).max(16)));
    for (i, line) in lines.enumerate() {
        let start = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
        paragraph.push_str(format!("{start}{line}").trim_end());
        paragraph.push('\n');
    }
    paragraph
}

/// `1 row`, `2 rows`, `12,345 rows`.
pub(crate) fn count(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number))
}

/// A number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// As much of a text as fits, and the rest.
fn take(text: &str, most: usize) -> (&str, &str) {
    let mut taken = 0;
    for (offset, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > most {
            return text.split_at(offset);
        }
    }
    (text, "")
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fits_its_width() {
        assert_eq!(shorten("UPDATE t SET x = 1", 10), "UPDATE t…");
        assert_eq!(shorten("表表表", 5), "表表…");
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abc", 0), "");
        assert_eq!(wrap("a bb\n ccc dddddd", 4), ["a bb", "ccc", "dddd", "dd"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("表", 1), ["表"]);
        assert_eq!(wrap_at_most("a b c d e", 3, 2), ["a b", "c…"]);
        assert_eq!(pad("表", 4), "表  ");
        assert_eq!(one_line("a\u{1b}[1m\tb"), "a?[1m b");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(count(1, "row"), "1 row");
    }
}
