//! The adds of a batch of a Parquet checkpoint, without copies where its columns are of the usual types.

use arrow::{
    array::{Array, AsArray, BooleanArray, Int64Array, MapArray, RecordBatch, StringArray, StructArray},
    datatypes::Int64Type,
};
use serde::Deserialize;

use super::{CheckpointError, cell::Cell, parquet::add, stats_parsed};
use crate::{
    deletion_vector::DeletionVector,
    live_files::{LiveFile, PartitionTexts},
};

/// The columns of adds, where they are of the types that nearly every writer gives them.
struct Usual<'a> {
    paths: &'a StringArray,
    partition_values: MapTexts<'a>,
    sizes: &'a Int64Array,
    modification_times: &'a Int64Array,
    stats: Option<&'a StringArray>,
    has_stats_parsed: bool,
    deletion_vectors: Option<&'a StructArray>,
}

/// A map from texts to texts.
#[derive(Clone, Copy)]
pub(crate) struct MapTexts<'a> {
    offsets: &'a [i32],
    keys: &'a StringArray,
    values: &'a StringArray,
}

impl<'a> MapTexts<'a> {
    fn new(array: &'a dyn Array) -> Option<Self> {
        let map: &MapArray = array.as_map_opt()?;
        let (keys, values) = (map.keys().as_string_opt()?, map.values().as_string_opt()?);
        Some(Self { offsets: map.value_offsets(), keys, values })
    }

    fn row(self, row: usize) -> PartitionTexts<'a> {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        PartitionTexts::of_arrays(self.keys, self.values, range)
    }
}

/// The column `add`, if there is one.
fn adds(batch: &RecordBatch) -> Result<Option<&StructArray>, CheckpointError> {
    let Some(array) = batch.column_by_name("add") else { return Ok(None) };
    array.as_struct_opt().map(Some).ok_or(CheckpointError::Column("add"))
}

/// Shows every add to `show` until it fails.
///
/// # Errors
/// When an add lacks a field that it needs, and when `show` says so.
pub(crate) fn for_each<E: From<CheckpointError>>(
    batch: &RecordBatch,
    mut show: impl FnMut(&LiveFile<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(array) = adds(batch)? else { return Ok(()) };
    let rows = (0..array.len()).filter(|row| array.is_valid(*row));
    let Some(usual) = Usual::new(array) else {
        for row in rows {
            show(&LiveFile::of(&add(array, row)?))?;
        }
        return Ok(());
    };
    for row in rows {
        let deletion_vector = match usual.deletion_vectors {
            Some(vectors) if vectors.is_valid(row) => Some(deletion_vector(vectors, row)?),
            _ => None,
        };
        let mut text = None;
        let stats = usual.stats.filter(|stats| stats.is_valid(row)).map(|stats| stats.value(row));
        if stats.is_none() && usual.has_stats_parsed {
            text = stats_parsed::text(array, row);
        }
        let file = LiveFile {
            path: usual.paths.value(row),
            size: usual.sizes.value(row),
            modification_time: usual.modification_times.value(row),
            partition_values: usual.partition_values.row(row),
            stats: stats.or(text.as_deref()),
            deletion_vector: deletion_vector.as_ref(),
        };
        show(&file)?;
    }
    Ok(())
}

/// The rows that hold adds of which the partition is wanted. Where it is not simple to say, a row counts as wanted.
///
/// # Errors
/// When the column is none of structs.
pub(crate) fn chosen(
    batch: &RecordBatch,
    mut wanted: impl FnMut(&PartitionTexts<'_>) -> bool,
) -> Result<BooleanArray, CheckpointError> {
    let Some(array) = adds(batch)? else { return Ok(BooleanArray::from(vec![false; batch.num_rows()])) };
    let texts = array.column_by_name("partitionValues").and_then(|column| MapTexts::new(column));
    let choose = |row| array.is_valid(row) && texts.is_none_or(|texts| wanted(&texts.row(row)));
    Ok((0..array.len()).map(choose).map(Some).collect())
}

impl<'a> Usual<'a> {
    /// `None` where a column is missing, of another type, or null in an add.
    fn new(array: &'a StructArray) -> Option<Self> {
        fn whole<'a>(array: &'a StructArray, name: &str) -> Option<&'a dyn Array> {
            let column = array.column_by_name(name)?;
            let null_rows = |row: &usize| array.is_valid(*row) && column.is_null(*row);
            let missing = column.null_count() > array.null_count() || (0..array.len()).any(|row| null_rows(&row));
            (!missing).then_some(column.as_ref())
        }
        whole(array, "dataChange")?.as_boolean_opt()?;
        let stats = match array.column_by_name("stats") {
            Some(column) => Some(column.as_string_opt()?),
            None => None,
        };
        let deletion_vectors = match array.column_by_name("deletionVector") {
            Some(column) => Some(column.as_struct_opt()?),
            None => None,
        };
        Some(Self {
            paths: whole(array, "path")?.as_string_opt()?,
            partition_values: MapTexts::new(whole(array, "partitionValues")?)?,
            sizes: whole(array, "size")?.as_primitive_opt::<Int64Type>()?,
            modification_times: whole(array, "modificationTime")?.as_primitive_opt::<Int64Type>()?,
            stats,
            has_stats_parsed: array.column_by_name("stats_parsed").is_some(),
            deletion_vectors,
        })
    }
}

fn deletion_vector(vectors: &StructArray, row: usize) -> Result<DeletionVector, CheckpointError> {
    DeletionVector::deserialize(Cell::new(vectors, row)).map_err(|error| CheckpointError::Row {
        column: "add",
        row,
        cause: error.to_string(),
    })
}
