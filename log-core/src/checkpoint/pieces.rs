//! A Parquet checkpoint read piece by piece: the footer first, then of each row group only the columns, and where its pages are known only the rows,
//! that are asked for. Nothing here reads: what is needed is said as a range of bytes.

use std::{collections::VecDeque, ops::Range, panic::AssertUnwindSafe, sync::Arc};

use arrow::array::{BooleanArray, RecordBatch};
use parquet::{
    DecodeResult,
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, RowSelection},
        push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder},
    },
    errors::ParquetError,
    file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataPushDecoder},
};

use super::{
    CheckpointError,
    parquet::{COLUMNS, check_size, take},
};
use crate::{action::Action, guard::guarded, store::Bytes};

/// Rows that are read at a time where it is known in which pages they are.
const SLICE_ROWS: usize = 65_536;

/// What reading came to so far.
pub(crate) enum Progress<T> {
    /// These bytes are needed.
    Needs(Range<u64>),
    /// This was read.
    Found(T),
}

/// The end of a file, from which one learns what else is in it.
#[derive(Debug)]
pub(crate) struct Footer {
    length: u64,
    decoder: ParquetMetaDataPushDecoder,
    needs: Needs,
}

/// A file whose footer is known.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    length: u64,
    metadata: ArrowReaderMetadata,
}

/// Some rows of one row group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    group: usize,
    begin: usize,
    rows: usize,
}

/// Batches of some columns, one after the other.
#[derive(Debug)]
pub(crate) struct Batches {
    decoder: ParquetPushDecoder,
    needs: Needs,
    /// Rows that are still to come.
    rows: usize,
}

/// Ranges that were asked for and have not come.
#[derive(Debug, Default)]
struct Needs(VecDeque<Range<u64>>);

impl Needs {
    /// Those of the decoder; it never asks for what lies outside of the file unless the file is damaged.
    fn ask(&mut self, ranges: Vec<Range<u64>>, length: u64) -> Result<(), CheckpointError> {
        match ranges.iter().all(|range| range.start < range.end && range.end <= length) {
            true if !ranges.is_empty() => {
                self.0.extend(ranges);
                Ok(())
            }
            _ => Err(CheckpointError::Damaged("a part of it lies outside of the file".to_owned())),
        }
    }

    fn next(&self) -> Option<Range<u64>> {
        self.0.front().cloned()
    }

    fn answered(&mut self, bytes: &Bytes) -> Result<Range<u64>, CheckpointError> {
        let range = self.0.pop_front().expect("an answer comes to what was asked");
        match range.end - range.start == bytes.len() as u64 {
            true => Ok(range),
            false => Err(CheckpointError::Damaged("it became shorter while it was read".to_owned())),
        }
    }
}

/// Does work of the Parquet crate.
fn safely<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, CheckpointError> {
    match guarded(AssertUnwindSafe(work)) {
        Ok(result) => Ok(result?),
        Err(message) => Err(CheckpointError::Damaged(message)),
    }
}

impl Footer {
    /// That of a file of so many bytes.
    ///
    /// # Errors
    /// When it is too short.
    pub(crate) fn new(length: u64) -> Result<Self, CheckpointError> {
        let decoder = ParquetMetaDataPushDecoder::try_new(length)?
            .with_column_index_policy(PageIndexPolicy::Skip)
            .with_offset_index_policy(PageIndexPolicy::Optional);
        Ok(Self { length, decoder, needs: Needs::default() })
    }

    /// Goes on.
    ///
    /// # Errors
    /// When the bytes are no footer, or when it speaks of more than such a file can hold.
    pub(crate) fn next(&mut self) -> Result<Progress<Columns>, CheckpointError> {
        loop {
            if let Some(range) = self.needs.next() {
                return Ok(Progress::Needs(range));
            }
            let decoder = &mut self.decoder;
            match safely(|| decoder.try_decode())? {
                DecodeResult::Data(metadata) => return Ok(Progress::Found(Columns::new(metadata, self.length)?)),
                DecodeResult::NeedsData(ranges) => self.needs.ask(ranges, self.length)?,
                DecodeResult::Finished => return Err(CheckpointError::Damaged("it has no footer".to_owned())),
            }
        }
    }

    /// Takes the bytes that were needed.
    ///
    /// # Errors
    /// When they are not all there.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Result<(), CheckpointError> {
        let range = self.needs.answered(&bytes)?;
        Ok(self.decoder.push_range(range, bytes::Bytes::from_owner(bytes))?)
    }
}

impl Columns {
    fn new(metadata: ParquetMetaData, length: u64) -> Result<Self, CheckpointError> {
        check_size(&metadata, metadata.file_metadata().num_rows(), length)?;
        let groups = metadata.row_groups().iter().map(|group| group.num_rows());
        if groups.clone().any(|rows| rows < 0) || groups.sum::<i64>() != metadata.file_metadata().num_rows() {
            return Err(CheckpointError::Damaged("its footer counts rows in two ways".to_owned()));
        }
        // The Parquet schema is the contract between writers; what one of them noted about its Arrow types is not.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = safely(|| ArrowReaderMetadata::try_new(Arc::new(metadata), options))?;
        Ok(Self { length, metadata })
    }

    /// All actions but adds and removes.
    ///
    /// # Errors
    /// When the columns cannot be decoded.
    pub(crate) fn actions(&self) -> Result<Batches, CheckpointError> {
        let is_small =
            |name: &str| COLUMNS.contains(&name) && !matches!(name, "add" | "remove" | "txn" | "domainMetadata");
        let mask = self.mask(|path| is_small(&path[0]));
        let rows = self.metadata.metadata().file_metadata().num_rows();
        self.batches(mask, (0..self.groups().len()).collect(), None, rows as usize)
    }

    /// The rows of the file in slices of which each can be held in memory as far as the file allows it.
    pub(crate) fn slices(&self) -> Vec<Slice> {
        let pages_are_known = self.metadata.metadata().offset_index().is_some();
        let mut slices = Vec::new();
        for (group, metadata) in self.groups().iter().enumerate() {
            let all = metadata.num_rows() as usize;
            let most = if pages_are_known { SLICE_ROWS } else { all.max(1) };
            let begins = (0..all).step_by(most);
            slices.extend(begins.map(|begin| Slice { group, begin, rows: most.min(all - begin) }));
        }
        slices
    }

    /// The partition values of the adds of a slice.
    ///
    /// # Errors
    /// When the column cannot be decoded.
    pub(crate) fn partitions(&self, slice: Slice) -> Result<Batches, CheckpointError> {
        let mask = self.mask(|path| path[0] == "add" && path.get(1).is_some_and(|name| name == "partitionValues"));
        self.slice(mask, slice, None)
    }

    /// The adds of a slice, all or the chosen rows, as far as live files speak of them.
    ///
    /// # Errors
    /// When the columns cannot be decoded.
    pub(crate) fn adds(
        &self,
        slice: Slice,
        chosen: Option<&[BooleanArray]>,
        with_stats: bool,
    ) -> Result<Batches, CheckpointError> {
        let mask = self.mask(|path| {
            let Some(field) = path.get(1) else { return path[0] == "add" };
            path[0] == "add"
                && match field.as_str() {
                    "stats" | "stats_parsed" => with_stats,
                    "path" | "partitionValues" | "size" | "modificationTime" | "dataChange" | "deletionVector" => true,
                    _ => false,
                }
        });
        self.slice(mask, slice, chosen)
    }

    fn groups(&self) -> &[parquet::file::metadata::RowGroupMetaData] {
        self.metadata.metadata().row_groups()
    }

    fn mask(&self, wanted: impl Fn(&[String]) -> bool) -> ProjectionMask {
        let schema = self.metadata.parquet_schema();
        let leaves = schema.columns().iter().enumerate();
        let wanted = leaves.filter(|(_, leaf)| wanted(leaf.path().parts())).map(|(index, _)| index);
        ProjectionMask::leaves(schema, wanted.collect::<Vec<_>>())
    }

    fn slice(
        &self,
        mask: ProjectionMask,
        slice: Slice,
        chosen: Option<&[BooleanArray]>,
    ) -> Result<Batches, CheckpointError> {
        let all = self.groups()[slice.group].num_rows() as usize;
        let (selection, rows) = match chosen {
            None if slice.rows == all => (None, all),
            None => (
                Some(RowSelection::from_consecutive_ranges(
                    std::iter::once(slice.begin..slice.begin + slice.rows),
                    all,
                )),
                slice.rows,
            ),
            Some(chosen) => {
                let mut ranges = Vec::new();
                let mut at = slice.begin;
                for array in chosen {
                    ranges.extend(array.values().set_slices().map(|(begin, end)| at + begin..at + end));
                    at += array.len();
                }
                let rows = ranges.iter().map(ExactSizeIterator::len).sum();
                (Some(RowSelection::from_consecutive_ranges(ranges.into_iter(), all)), rows)
            }
        };
        self.batches(mask, vec![slice.group], selection, rows)
    }

    fn batches(
        &self,
        mask: ProjectionMask,
        groups: Vec<usize>,
        selection: Option<RowSelection>,
        rows: usize,
    ) -> Result<Batches, CheckpointError> {
        let mut builder = ParquetPushDecoderBuilder::new_with_metadata(self.metadata.clone())
            .with_projection(mask)
            .with_row_groups(groups);
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        Ok(Batches { decoder: safely(|| builder.build())?, needs: Needs::default(), rows })
    }
}

impl Batches {
    /// Goes on; `None` at the end. `length` is that of the file.
    ///
    /// # Errors
    /// When the bytes are not those of the columns, or when there are fewer rows than the footer says.
    pub(crate) fn next(&mut self, of: &Columns) -> Result<Progress<Option<RecordBatch>>, CheckpointError> {
        loop {
            if let Some(range) = self.needs.next() {
                return Ok(Progress::Needs(range));
            }
            let decoder = &mut self.decoder;
            match safely(|| decoder.try_decode())? {
                DecodeResult::Data(batch) => {
                    self.rows = self.rows.checked_sub(batch.num_rows()).ok_or_else(Self::miscounted)?;
                    return Ok(Progress::Found(Some(batch)));
                }
                DecodeResult::NeedsData(ranges) => self.needs.ask(ranges, of.length)?,
                DecodeResult::Finished if self.rows == 0 => return Ok(Progress::Found(None)),
                DecodeResult::Finished => return Err(Self::miscounted()),
            }
        }
    }

    fn miscounted() -> CheckpointError {
        CheckpointError::Damaged("its footer speaks of other rows than there are".to_owned())
    }

    /// Takes the bytes that were needed.
    ///
    /// # Errors
    /// When they are not all there.
    pub(crate) fn push(&mut self, bytes: Bytes) -> Result<(), CheckpointError> {
        let range = self.needs.answered(&bytes)?;
        Ok(self.decoder.push_range(range, bytes::Bytes::from_owner(bytes))?)
    }
}

/// The actions of a batch.
///
/// # Errors
/// When one lacks a field that it needs.
pub(crate) fn actions(batch: &RecordBatch, actions: &mut Vec<Action>) -> Result<(), CheckpointError> {
    take(batch, actions)
}
