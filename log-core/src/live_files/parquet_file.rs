//! A Parquet file of a checkpoint on its way: footer, other actions, live files.

use std::{collections::VecDeque, ops::Range};

use arrow::array::BooleanArray;

use super::{LiveFile, PartitionTexts};
use crate::{
    action::Action,
    checkpoint::{
        CheckpointError, adds,
        pieces::{self, Batches, Columns, Footer, Progress, Slice},
    },
    store::Bytes,
};

/// Whoever is shown the adds of a file.
pub(super) trait Sink {
    type Error: From<CheckpointError>;

    /// Are statistics wanted?
    fn with_stats(&self) -> bool;
    /// Is it worth the while to read partition values first?
    fn by_partition(&self) -> bool;
    fn may_want(&mut self, values: &PartitionTexts<'_>) -> bool;
    fn show(&mut self, file: &LiveFile<'_>) -> Result<(), Self::Error>;
}

/// Where its reading is.
#[derive(Debug)]
pub(super) struct ParquetFile {
    known: Known,
    work: Option<Work>,
    slices: VecDeque<Slice>,
}

#[derive(Debug)]
enum Known {
    Nothing(Footer),
    Columns(Columns),
}

#[derive(Debug)]
enum Work {
    /// Actions other than adds.
    Actions(Batches),
    /// Which of the adds of a slice are wanted.
    Partitions { slice: Slice, batches: Batches, chosen: Vec<BooleanArray> },
    /// Adds.
    Adds(Batches),
}

impl ParquetFile {
    /// A file of so many bytes.
    pub(super) fn new(length: u64) -> Result<Self, CheckpointError> {
        Ok(Self { known: Known::Nothing(Footer::new(length)?), work: None, slices: VecDeque::new() })
    }

    /// Takes the bytes that were needed.
    pub(super) fn push(&mut self, bytes: Bytes) -> Result<(), CheckpointError> {
        match (&mut self.work, &mut self.known) {
            (Some(Work::Actions(batches) | Work::Partitions { batches, .. } | Work::Adds(batches)), _) => {
                batches.push(bytes)
            }
            (None, Known::Nothing(footer)) => footer.push(bytes),
            (None, Known::Columns(_)) => panic!("bytes come only where some are needed"),
        }
    }

    /// Reads what leads up to the columns; gives the bytes that are needed, or nothing when that is done.
    fn footer(&mut self) -> Result<Option<Range<u64>>, CheckpointError> {
        if let Known::Nothing(footer) = &mut self.known {
            match footer.next()? {
                Progress::Needs(range) => return Ok(Some(range)),
                Progress::Found(columns) => {
                    self.slices = columns.slices().into();
                    self.known = Known::Columns(columns);
                }
            }
        }
        Ok(None)
    }

    fn columns(known: &Known) -> &Columns {
        match known {
            Known::Columns(columns) => columns,
            Known::Nothing(_) => panic!("the footer is read first"),
        }
    }

    /// Reads the actions other than adds and removes; gives the bytes that are needed, or nothing when that is done.
    pub(super) fn actions(&mut self, actions: &mut Vec<Action>) -> Result<Option<Range<u64>>, CheckpointError> {
        if let Some(range) = self.footer()? {
            return Ok(Some(range));
        }
        let columns = Self::columns(&self.known);
        loop {
            let Some(Work::Actions(batches)) = &mut self.work else {
                self.work = Some(Work::Actions(columns.actions()?));
                continue;
            };
            match batches.next(columns)? {
                Progress::Needs(range) => return Ok(Some(range)),
                Progress::Found(Some(batch)) => pieces::actions(&batch, actions)?,
                Progress::Found(None) => {
                    self.work = None;
                    return Ok(None);
                }
            }
        }
    }

    /// Shows every add; gives the bytes that are needed, or nothing when that is done.
    pub(super) fn adds<S: Sink>(&mut self, sink: &mut S) -> Result<Option<Range<u64>>, S::Error> {
        if let Some(range) = self.footer()? {
            return Ok(Some(range));
        }
        let columns = Self::columns(&self.known);
        loop {
            match &mut self.work {
                None => {
                    let Some(slice) = self.slices.pop_front() else { return Ok(None) };
                    self.work = Some(match sink.by_partition() {
                        true => Work::Partitions { slice, batches: columns.partitions(slice)?, chosen: Vec::new() },
                        false => Work::Adds(columns.adds(slice, None, sink.with_stats())?),
                    });
                }
                Some(Work::Partitions { slice, batches, chosen }) => match batches.next(columns)? {
                    Progress::Needs(range) => return Ok(Some(range)),
                    Progress::Found(Some(batch)) => chosen.push(adds::chosen(&batch, |texts| sink.may_want(texts))?),
                    Progress::Found(None) => {
                        let some = chosen.iter().any(|rows| rows.true_count() > 0);
                        let adds = || columns.adds(*slice, Some(chosen), sink.with_stats()).map(Work::Adds);
                        self.work = some.then(adds).transpose()?;
                    }
                },
                Some(Work::Adds(batches)) => match batches.next(columns)? {
                    Progress::Needs(range) => return Ok(Some(range)),
                    Progress::Found(Some(batch)) => adds::for_each(&batch, |file| sink.show(file))?,
                    Progress::Found(None) => self.work = None,
                },
                Some(Work::Actions(_)) => panic!("actions are read to their end"),
            }
        }
    }
}
