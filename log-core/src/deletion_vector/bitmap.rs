//! A set of rows as the bytes of a deletion vector ("Deletion Vector Format": RoaringBitmapArray).

use std::ops::Range;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::DeletionVectorError;

/// Bitmaps one after the other, their keys counted from 0: the format of early writers.
const NATIVE: u32 = 1_681_511_376;
/// The portable 64-bit format of the Roaring specification.
const PORTABLE: u32 = 1_681_511_377;

/// Rows of a data file that are deleted, counted from 0.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeletedRows(RoaringTreemap);

impl DeletedRows {
    /// How many.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is the row deleted?
    pub fn contains(&self, row: u64) -> bool {
        self.0.contains(row)
    }

    /// Is some row of a range deleted?
    pub fn any_in(&self, rows: Range<u64>) -> bool {
        let below = |row: u64| row.checked_sub(1).map_or(0, |last| self.0.rank(last));
        below(rows.end) > below(rows.start)
    }

    /// The rows in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter()
    }

    /// The rows that are in either.
    pub fn union(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    pub(super) fn cardinality(&self) -> i64 {
        i64::try_from(self.len()).unwrap_or(i64::MAX)
    }

    /// Reads a bitmap, in either format.
    ///
    /// # Errors
    /// When the bytes are no bitmap, or more than one.
    pub fn parse(bytes: &[u8]) -> Result<Self, DeletionVectorError> {
        let damaged = |error: std::io::Error| DeletionVectorError::Bitmap(error.to_string());
        let mut rest = bytes;
        let rows = match take_number(&mut rest)? {
            PORTABLE => RoaringTreemap::deserialize_from(&mut rest).map_err(damaged)?,
            NATIVE => {
                let mut bitmaps = Vec::new();
                for key in 0..take_number(&mut rest)? {
                    let size = take_number(&mut rest)? as usize;
                    let (bitmap, after) = rest.split_at_checked(size).ok_or_else(cut_off)?;
                    bitmaps.push((key, RoaringBitmap::deserialize_from(bitmap).map_err(damaged)?));
                    rest = after;
                }
                RoaringTreemap::from_bitmaps(bitmaps)
            }
            other => return Err(DeletionVectorError::Magic(other)),
        };
        if !rest.is_empty() {
            return Err(DeletionVectorError::Bitmap(format!("{} bytes follow it", rest.len())));
        }
        Ok(Self(rows))
    }

    /// The bytes, in the portable format.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = PORTABLE.to_le_bytes().to_vec();
        self.0.serialize_into(&mut bytes).expect("a vector takes every byte");
        bytes
    }
}

impl FromIterator<u64> for DeletedRows {
    fn from_iter<I: IntoIterator<Item = u64>>(rows: I) -> Self {
        Self(rows.into_iter().collect())
    }
}

fn take_number(rest: &mut &[u8]) -> Result<u32, DeletionVectorError> {
    let (number, after) = rest.split_first_chunk::<4>().ok_or_else(cut_off)?;
    *rest = after;
    Ok(u32::from_le_bytes(*number))
}

fn cut_off() -> DeletionVectorError {
    DeletionVectorError::Bitmap("it is cut off".to_owned())
}
