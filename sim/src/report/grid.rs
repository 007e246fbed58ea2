//! A small table of text.

use super::text::{pad, pad_left, shorten, width};

/// Where the text of a column stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    /// Left.
    Left,
    /// Right: numbers.
    Right,
}

/// Rows under a heading. Columns are as wide as what is in them; what does not fit the width is taken from the widest ones.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
    /// Columns that are never made narrower.
    kept: Vec<usize>,
}

const GAP: &str = "  ";
/// A column is not made narrower than this.
const LEAST: usize = 4;

impl Grid {
    pub(crate) fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new(), kept: Vec::new() }
    }

    /// Never makes the columns of these names narrower.
    #[cfg(any(feature = "real", test))]
    pub(crate) fn keep(&mut self, names: &[&str]) {
        let columns = self.columns.iter().enumerate();
        self.kept = columns.filter(|(_, (name, _))| names.contains(&name.as_str())).map(|(i, _)| i).collect();
    }

    /// Adds a row of one-line texts.
    pub(crate) fn row(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    /// The table, indented, every line with a line break.
    pub(crate) fn render(&self, indent: usize, most: usize) -> String {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, (name, _))| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(i))
                    .map(|cell| width(cell))
                    .max()
                    .unwrap_or(0)
                    .max(width(name))
            })
            .collect();
        let room = most.saturating_sub(indent + GAP.len() * self.columns.len().saturating_sub(1));
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
                match align {
                    Align::Left => pad(&cell, *width),
                    Align::Right => pad_left(&cell, *width),
                }
            });
            let line = format!("{}{}", " ".repeat(indent), cells.collect::<Vec<_>>().join(GAP));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_column_stays_whole() {
        let mut grid = Grid::new([("time", Align::Left), ("what", Align::Left)]);
        grid.keep(&["time"]);
        grid.row(["2024-01-01".to_owned(), "UPDATE".to_owned()]);
        assert_eq!(grid.render(0, 16), "time        what\n2024-01-01  UPD…\n");
    }

    #[test]
    fn the_widest_column_gives_way() {
        let mut grid = Grid::new([("n", Align::Right), ("statement", Align::Left)]);
        grid.row(["10".to_owned(), "UPDATE logs SET id = 1".to_owned()]);
        grid.row(["9".to_owned(), "DELETE".to_owned()]);
        assert_eq!(grid.render(2, 20), "   n  statement\n  10  UPDATE logs S…\n   9  DELETE\n");
        assert_eq!(grid.render(0, 80), " n  statement\n10  UPDATE logs SET id = 1\n 9  DELETE\n");
    }
}
