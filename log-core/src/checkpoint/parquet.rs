//! The rows of a Parquet checkpoint as actions.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch, StructArray};
use parquet::{
    DecodeResult,
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
        push_decoder::ParquetPushDecoderBuilder,
    },
    file::metadata::{ParquetMetaData, ParquetMetaDataPushDecoder},
};
use serde::de::DeserializeOwned;

use super::{CheckpointError, cell::Cell, stats_parsed};
use crate::{
    action::{Action, AddFile},
    guard::guarded,
};

/// The columns that hold actions. A row has one of them.
pub(super) const COLUMNS: [&str; 8] =
    ["add", "remove", "metaData", "protocol", "txn", "domainMetadata", "checkpointMetadata", "sidecar"];

/// The actions of a Parquet file. Columns may stand in any order and be missing; one that is not known is not read.
///
/// # Errors
/// When the bytes are not a whole Parquet file, or when an action lacks a field that it needs.
pub(super) fn actions(bytes: &[u8]) -> Result<Vec<Action>, CheckpointError> {
    guarded(|| read(bytes)).unwrap_or_else(|message| Err(CheckpointError::Damaged(message)))
}

fn read(bytes: &[u8]) -> Result<Vec<Action>, CheckpointError> {
    let length = bytes.len() as u64;
    let metadata = metadata(bytes, length)?;
    let rows = metadata.file_metadata().num_rows();
    check_size(&metadata, rows, length)?;
    // The Parquet schema is the contract between writers; what one of them noted about its Arrow types is not.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let columns = ArrowReaderMetadata::try_new(metadata, options)?;
    let leaves = columns.parquet_schema().columns().iter().enumerate();
    let wanted = leaves.filter(|(_, leaf)| {
        let path = leaf.path().parts();
        // Partition values stand there as texts as well, which is how the log has them.
        COLUMNS.contains(&path[0].as_str()) && path.get(1).is_none_or(|name| name != "partitionValues_parsed")
    });
    let wanted: Vec<usize> = wanted.map(|(index, _)| index).collect();
    let mask = ProjectionMask::leaves(columns.parquet_schema(), wanted);
    let mut decoder = ParquetPushDecoderBuilder::new_with_metadata(columns).with_projection(mask).build()?;
    decoder.push_range(0..length, bytes.to_vec().into())?;
    let (mut actions, mut found) = (Vec::new(), 0);
    loop {
        match decoder.try_decode()? {
            DecodeResult::Data(batch) => {
                found += batch.num_rows() as i64;
                take(&batch, &mut actions)?;
            }
            DecodeResult::Finished if found == rows => return Ok(actions),
            DecodeResult::Finished => {
                let what = format!("its footer speaks of {rows} rows, and there are {found}");
                return Err(CheckpointError::Damaged(what));
            }
            DecodeResult::NeedsData(_) => {
                return Err(CheckpointError::Damaged("a column lies outside of the file".to_owned()));
            }
        }
    }
}

fn metadata(bytes: &[u8], length: u64) -> Result<Arc<ParquetMetaData>, CheckpointError> {
    let mut decoder = ParquetMetaDataPushDecoder::try_new(length)?;
    decoder.push_range(0..length, bytes.to_vec().into())?;
    match decoder.try_decode()? {
        DecodeResult::Data(metadata) => Ok(Arc::new(metadata)),
        _ => Err(CheckpointError::Damaged("the footer lies outside of the file".to_owned())),
    }
}

/// Run lengths and compression can make much of few bytes. Every action has a path or an id of its own, so there are no more of them than bytes;
/// and texts of a log do not shrink to a thousandth.
pub(super) fn check_size(metadata: &ParquetMetaData, rows: i64, length: u64) -> Result<(), CheckpointError> {
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    let expanded = chunks.fold(0, |sum: i64, chunk| sum.saturating_add(chunk.uncompressed_size().max(0)));
    let limit = i64::try_from(length).unwrap_or(i64::MAX);
    if rows > limit || expanded > limit.saturating_mul(1000) {
        let what =
            format!("{length} bytes cannot hold the {rows} rows and {expanded} bytes of which its footer speaks");
        return Err(CheckpointError::Damaged(what));
    }
    Ok(())
}

/// The actions of a batch.
pub(super) fn take(batch: &RecordBatch, actions: &mut Vec<Action>) -> Result<(), CheckpointError> {
    for column in COLUMNS {
        let Some(array) = batch.column_by_name(column) else { continue };
        let Some(array) = array.as_struct_opt() else { return Err(CheckpointError::Column(column)) };
        for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
            actions.push(action(column, array, row)?);
        }
    }
    Ok(())
}

/// The add of a row that has one.
pub(super) fn add(array: &StructArray, row: usize) -> Result<AddFile, CheckpointError> {
    let mut add: AddFile = body("add", array, row)?;
    if add.stats.is_none() {
        add.stats = stats_parsed::text(array, row);
    }
    Ok(add)
}

fn body<T: DeserializeOwned>(column: &'static str, array: &StructArray, row: usize) -> Result<T, CheckpointError> {
    T::deserialize(Cell::new(array, row)).map_err(|error| CheckpointError::Row {
        column,
        row,
        cause: error.to_string(),
    })
}

fn action(column: &'static str, array: &StructArray, row: usize) -> Result<Action, CheckpointError> {
    Ok(match column {
        "add" => Action::Add(add(array, row)?),
        "remove" => Action::Remove(body(column, array, row)?),
        "metaData" => Action::Metadata(body(column, array, row)?),
        "protocol" => Action::Protocol(body(column, array, row)?),
        "txn" => Action::Transaction(body(column, array, row)?),
        "domainMetadata" => Action::DomainMetadata(body(column, array, row)?),
        _ => Action::Unknown { name: column.to_owned(), body: body(column, array, row)? },
    })
}
