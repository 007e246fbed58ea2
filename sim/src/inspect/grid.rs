//! A table of text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Where the text of a column stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Align {
    /// Left.
    Left,
    /// Right: numbers.
    Right,
}

/// Rows under a heading. Columns are as wide as what is in them; what does not fit the width is taken from the widest ones.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    /// Columns that are never made narrower.
    kept: Vec<usize>,
}

const GAP: &str = "  ";
/// A column is not made narrower than this.
const LEAST: usize = 4;

impl Grid {
    pub(super) fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (one_line(name), align)).collect();
        Self { columns, rows: Vec::new(), kept: Vec::new() }
    }

    /// Never makes the columns of these names narrower.
    pub(super) fn keep(&mut self, names: &[&str]) {
        let columns = self.columns.iter().enumerate();
        self.kept = columns.filter(|(_, (name, _))| names.contains(&name.as_str())).map(|(i, _)| i).collect();
    }

    /// Adds a row of texts.
    pub(super) fn row(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().map(|text| one_line(&text)).collect());
    }

    /// The table, every line with a line break.
    pub(super) fn render(&self, most: usize) -> String {
        let width = |i: usize, name: &str| {
            self.rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.width()).max().unwrap_or(0).max(name.width())
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(|(i, (name, _))| width(i, name)).collect();
        let room = most.saturating_sub(GAP.len() * self.columns.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let others = widths.iter_mut().enumerate().filter(|(i, _)| !self.kept.contains(i)).map(|(_, width)| width);
            let Some(widest) = others.max().filter(|widest| **widest > LEAST) else { break };
            *widest -= 1;
        }
        let heading = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = String::new();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let cells = row.iter().zip(&self.columns).zip(&widths).map(|((cell, (_, align)), width)| {
                let cell = shorten(cell, *width);
                let space = " ".repeat(width.saturating_sub(cell.width()));
                match align {
                    Align::Left => cell + &space,
                    Align::Right => space + &cell,
                }
            });
            text.push_str(cells.collect::<Vec<_>>().join(GAP).trim_end());
            text.push('\n');
        }
        text
    }
}

/// A text whose control characters are spelled out, so that it stays on its line and says nothing to the terminal.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{2028}' | '\u{2029}' => line.extend(character.escape_unicode()),
            character if character.is_control() => line.extend(character.escape_default()),
            character => line.push(character),
        }
    }
    line
}

fn shorten(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > most {
            break;
        }
        short.push(character);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_column_gives_way() {
        let mut grid = Grid::new([("n", Align::Right), ("statement", Align::Left)]);
        grid.row(["10".to_owned(), "UPDATE logs SET id = 1".to_owned()]);
        grid.row(["9".to_owned(), "DELETE".to_owned()]);
        assert_eq!(grid.render(18), " n  statement\n10  UPDATE logs S…\n 9  DELETE\n");
        assert_eq!(grid.render(usize::MAX), " n  statement\n10  UPDATE logs SET id = 1\n 9  DELETE\n");
    }

    #[test]
    fn a_row_is_one_line() {
        let mut grid = Grid::new([("a", Align::Left), ("b", Align::Left)]);
        grid.row(["x\ny\u{1b}[1m".to_owned(), "表".to_owned()]);
        assert_eq!(
            grid.render(80),
            "a                b\nx\\ny\\u{1b}[1m  表\n".replace("a                b", "a              b")
        );
    }
}
