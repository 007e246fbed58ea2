//! An add as nearly every writer writes it, read in one pass.
//!
//! Most bytes of a log are statistics of adds. A general reader of JSON looks at each of them twice: to find where they end, and to take their escapes away. Lines
//! of the usual shape are read here instead: without white space, with every field once, without escapes but in the statistics, with integers of up to eighteen
//! digits. Of every other line nothing is said here, and [`Line::parse`](super::line::Line::parse) decides; what is accepted here means there the same.

use super::line::Pairs;

/// An add of the usual shape.
pub(super) struct PlainAdd<'a> {
    pub(super) path: &'a str,
    pub(super) partition_values: Pairs<'a>,
    pub(super) size: i64,
    pub(super) modification_time: i64,
    pub(super) stats: Option<&'a str>,
}

/// The add of a line; `None` when the line is another action, none at all, or of another shape. `buffer` holds the statistics.
pub(super) fn parse<'a>(line: &'a str, buffer: &'a mut Vec<u8>) -> Option<PlainAdd<'a>> {
    let mut rest = Rest(line.strip_prefix(r#"{"add":{"#)?);
    let (mut path, mut partition_values, mut stats) = (None, None, None);
    let (mut size, mut modification_time, mut data_change) = (None, None, None);
    loop {
        let name = rest.text()?;
        rest.byte(b':')?;
        match name {
            "path" => once(&mut path, rest.text()?)?,
            "partitionValues" => once(&mut partition_values, rest.pairs()?)?,
            "size" => once(&mut size, rest.integer()?)?,
            "modificationTime" => once(&mut modification_time, rest.integer()?)?,
            "dataChange" => once(&mut data_change, rest.boolean()?)?,
            "stats" => once(&mut stats, rest.escaped(buffer)?)?,
            // These are stepped over, there as here.
            "tags" => drop(rest.pairs()?),
            "baseRowId" | "defaultRowCommitVersion" => drop(rest.integer()?),
            "clusteringProvider" => drop(rest.text()?),
            _ => return None,
        }
        match rest.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    let stats = match stats {
        Some(length) => Some(std::str::from_utf8(&buffer[..length]).ok()?),
        None => None,
    };
    data_change?;
    (rest.0 == "}").then_some(PlainAdd {
        path: path?,
        partition_values: partition_values?,
        size: size?,
        modification_time: modification_time?,
        stats,
    })
}

/// Keeps a value unless there is one.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// What is left of a line.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.0.as_bytes().first()?;
        // Of a character of several bytes nothing is taken away.
        self.0 = self.0.get(1..)?;
        Some(byte)
    }

    fn byte(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    /// A text in quotes that has no escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.byte(b'"')?;
        let end = memchr::memchr2(b'"', b'\\', self.0.as_bytes())?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        self.byte(b'"')?;
        // JSON has control characters as escapes only. All bytes are looked at, which is faster than to stop at the first.
        let controls = text.bytes().fold(false, |found, byte| found | (byte < 0x20));
        (!controls).then_some(text)
    }

    /// A map from texts to texts or null.
    fn pairs(&mut self) -> Option<Pairs<'a>> {
        let mut pairs = Pairs::default();
        self.byte(b'{')?;
        if let Some(rest) = self.0.strip_prefix('}') {
            self.0 = rest;
            return Some(pairs);
        }
        loop {
            let name = self.text()?;
            self.byte(b':')?;
            let value = match self.0.strip_prefix("null") {
                Some(rest) => {
                    self.0 = rest;
                    None
                }
                None => Some(self.text()?),
            };
            pairs.0.push((name.into(), value.map(Into::into)));
            match self.next()? {
                b',' => {}
                b'}' => return Some(pairs),
                _ => return None,
            }
        }
    }

    /// An integer that surely fits. What follows it is for the caller to look at: a point or an exponent is none of the bytes that may.
    fn integer(&mut self) -> Option<i64> {
        let (negative, text) = match self.0.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, self.0),
        };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let leading_zero = digits > 1 && text.starts_with('0');
        if digits == 0 || digits > 18 || leading_zero {
            return None;
        }
        let number = text.bytes().take(digits).fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        // In JSON, minus nought is a number with a point.
        if negative && number == 0 {
            return None;
        }
        self.0 = &text[digits..];
        Some(if negative { -number } else { number })
    }

    fn boolean(&mut self) -> Option<bool> {
        for (text, value) in [("true", true), ("false", false)] {
            if let Some(rest) = self.0.strip_prefix(text) {
                self.0 = rest;
                return Some(value);
            }
        }
        None
    }

    /// A text in quotes, into `buffer` without its escapes; gives its length there.
    fn escaped(&mut self, buffer: &mut Vec<u8>) -> Option<usize> {
        self.byte(b'"')?;
        let from = self.0.as_bytes();
        // Eight bytes are copied at a time, and some of them may be too many.
        if buffer.len() < from.len() + 8 {
            buffer.resize(from.len() + 8, 0);
        }
        let (mut read, mut written) = (0, 0);
        loop {
            if let Some(word) = from.get(read..read + 8) {
                buffer[written..written + 8].copy_from_slice(word);
                let plain = plain_bytes(u64::from_le_bytes(word.try_into().ok()?));
                (read, written) = (read + plain, written + plain);
                if plain == 8 {
                    continue;
                }
            }
            let byte = *from.get(read)?;
            read += 1;
            buffer[written] = match byte {
                b'"' => break,
                b'\\' => {
                    let escape = *from.get(read)?;
                    read += 1;
                    match escape {
                        b'"' | b'\\' | b'/' => escape,
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'b' => 0x08,
                        b'f' => 0x0c,
                        // A character by its number.
                        _ => return None,
                    }
                }
                0..0x20 => return None,
                _ => byte,
            };
            written += 1;
        }
        self.0 = self.0.get(read..)?;
        Some(written)
    }
}

/// How many of eight bytes, from the lowest, come before a quote, a backslash or a control character.
fn plain_bytes(word: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // The high bit of each byte that is below a bound of at most 0x80; above the lowest such byte there may be wrong ones, which do not matter.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGHS;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let found = below(word, 0x20) | is(b'"') | is(b'\\');
    found.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests;
