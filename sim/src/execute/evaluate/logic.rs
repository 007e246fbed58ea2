//! Three-valued logic, and branches that only some rows take.

use arrow::{
    array::{Array, ArrayRef, BooleanArray, Datum, RecordBatch, new_null_array},
    compute::{self, kernels::zip::zip},
};
use log_core::{
    batch::arrow_type,
    expression::{BinaryOperator, Expression},
    schema::PrimitiveType,
};

use super::{
    Mode, node,
    operand::{Operand, boolean, shape, shared},
};
use crate::execute::ExecuteError;

/// `NOT x`.
pub(super) fn not(value: &Operand) -> Result<Operand, ExecuteError> {
    value.map(|array| Ok(shared(compute::not(boolean(array)?).map_err(ExecuteError::plumbing("NOT"))?)))
}

/// `x IS NULL`.
pub(super) fn is_null(value: &Operand) -> Result<Operand, ExecuteError> {
    value.map(|array| Ok(shared(compute::is_null(array).map_err(ExecuteError::plumbing("IS NULL"))?)))
}

/// AND and OR.
pub(super) fn connect(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    batch: &RecordBatch,
    mode: Mode,
) -> Result<Operand, ExecuteError> {
    let and = operator == BinaryOperator::And;
    let left = node(left, batch, mode)?;
    let left_array = left.array();
    let decided = boolean(&left_array)?;
    // The rows that the left side leaves open; false decides an AND, true an OR.
    let open: BooleanArray = decided.iter().map(|x| Some(x != Some(!and))).collect();
    if open.true_count() == 0 {
        return Ok(left);
    }
    let right = if mode == Mode::Eager || open.true_count() == open.len() {
        node(right, batch, mode)?
    } else {
        let mut branches = Branches::new(batch, right.data_type());
        branches.take(&open, |rows| node(right, rows, mode))?;
        // The left side decides for the others, so anything will do.
        branches.finish()?
    };
    let (rows, single) = shape([&left, &right]);
    let (left, right) = (left.into_array(rows)?, right.into_array(rows)?);
    let (left, right) = (boolean(&left)?, boolean(&right)?);
    let result = if and { compute::and_kleene(left, right) } else { compute::or_kleene(left, right) };
    Ok(Operand::result(shared(result.map_err(ExecuteError::plumbing("AND or OR"))?), single))
}

/// CASE.
pub(super) fn case(
    branches: &[(Expression, Expression)],
    otherwise: &Expression,
    batch: &RecordBatch,
    mode: Mode,
) -> Result<Operand, ExecuteError> {
    if mode == Mode::Lazy {
        let mut taken = Branches::new(batch, otherwise.data_type());
        for (condition, value) in branches {
            let Some(open) = taken.open()? else { break };
            let condition = truth(&node(condition, &open, mode)?, open.num_rows())?;
            taken.take(&condition, |rows| node(value, rows, mode))?;
        }
        if let Some(open) = taken.open()? {
            let all = BooleanArray::from(vec![true; open.num_rows()]);
            taken.take(&all, |rows| node(otherwise, rows, mode))?;
        }
        return taken.finish();
    }
    let rows = batch.num_rows();
    let mut conditions = Vec::with_capacity(branches.len());
    for (condition, value) in branches {
        conditions.push((truth(&node(condition, batch, mode)?, rows)?, node(value, batch, mode)?));
    }
    let mut result = node(otherwise, batch, mode)?;
    for (condition, value) in conditions.into_iter().rev() {
        result = Operand::Array(choose(&condition, &value, &result)?);
    }
    Ok(result)
}

/// COALESCE.
pub(super) fn coalesce(
    arguments: &[Expression],
    batch: &RecordBatch,
    mode: Mode,
    data_type: PrimitiveType,
) -> Result<Operand, ExecuteError> {
    if mode == Mode::Lazy {
        let mut taken = Branches::new(batch, data_type);
        for argument in arguments {
            let Some(open) = taken.open()? else { break };
            let value = node(argument, &open, mode)?.into_array(open.num_rows())?;
            let present = compute::is_not_null(&value).map_err(ExecuteError::plumbing("COALESCE"))?;
            let kept = compute::filter(&value, &present).map_err(ExecuteError::plumbing("COALESCE"))?;
            taken.take(&present, |_| Ok(Operand::Array(kept)))?;
        }
        return taken.finish();
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let value = node(argument, batch, mode)?;
        let done = value.get().0.null_count() == 0;
        values.push(value);
        if done {
            break;
        }
    }
    let Some(mut result) = values.pop() else {
        return Ok(Operand::scalar(new_null_array(&arrow_type(data_type), 1)));
    };
    for value in values.into_iter().rev() {
        let (rows, single) = shape([&value, &result]);
        let value = value.into_array(rows)?;
        let present = compute::is_not_null(&value).map_err(ExecuteError::plumbing("COALESCE"))?;
        result = Operand::result(choose(&present, &Operand::Array(value), &result)?, single);
    }
    Ok(result)
}

/// Where a condition is true; NULL is not.
fn truth(condition: &Operand, rows: usize) -> Result<BooleanArray, ExecuteError> {
    let array = condition.clone().into_array(rows)?;
    let mask = boolean(&array)?;
    Ok(if mask.null_count() == 0 { mask.clone() } else { compute::prep_null_mask_filter(mask) })
}

/// `yes` where the mask is true, else `no`.
pub(super) fn choose(mask: &BooleanArray, yes: &dyn Datum, no: &dyn Datum) -> Result<ArrayRef, ExecuteError> {
    zip(mask, yes, no).map_err(ExecuteError::plumbing("choosing between branches"))
}

/// Rows of a batch that take one branch after another, each row at most one; the results are put back in place.
struct Branches<'a> {
    batch: &'a RecordBatch,
    data_type: PrimitiveType,
    /// Rows that took no branch yet.
    open: Vec<usize>,
    /// The results so far.
    pieces: Vec<ArrayRef>,
    /// Per row of the batch: which piece, and where in it.
    places: Vec<Option<(usize, usize)>>,
}

impl<'a> Branches<'a> {
    fn new(batch: &'a RecordBatch, data_type: PrimitiveType) -> Self {
        let rows = batch.num_rows();
        Self { batch, data_type, open: (0..rows).collect(), pieces: Vec::new(), places: vec![None; rows] }
    }

    /// The rows that took no branch yet, `None` when there are none.
    fn open(&self) -> Result<Option<RecordBatch>, ExecuteError> {
        if self.open.len() == self.places.len() {
            return Ok((!self.open.is_empty()).then(|| self.batch.clone()));
        }
        if self.open.is_empty() {
            return Ok(None);
        }
        select(self.batch, &self.open).map(Some)
    }

    /// Evaluates a branch on those of the open rows that the mask is true for.
    fn take(
        &mut self,
        mask: &BooleanArray,
        evaluate: impl FnOnce(&RecordBatch) -> Result<Operand, ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let (mut taken, mut open) = (Vec::new(), Vec::new());
        for (position, row) in self.open.iter().enumerate() {
            if mask.value(position) { taken.push(*row) } else { open.push(*row) }
        }
        self.open = open;
        if taken.is_empty() {
            return Ok(());
        }
        let rows = select(self.batch, &taken)?;
        let piece = evaluate(&rows)?.into_array(taken.len())?;
        for (position, row) in taken.into_iter().enumerate() {
            self.places[row] = Some((self.pieces.len(), position));
        }
        self.pieces.push(piece);
        Ok(())
    }

    /// The results in the order of the rows, NULL for a row that took no branch.
    fn finish(mut self) -> Result<Operand, ExecuteError> {
        let nothing = (self.pieces.len(), 0);
        self.pieces.push(new_null_array(&arrow_type(self.data_type), 1));
        let places: Vec<_> = self.places.iter().map(|place| place.unwrap_or(nothing)).collect();
        let pieces: Vec<&dyn Array> = self.pieces.iter().map(|piece| piece.as_ref()).collect();
        let array = compute::interleave(&pieces, &places).map_err(ExecuteError::plumbing("joining branches"))?;
        Ok(Operand::Array(array))
    }
}

/// Some rows of a batch.
fn select(batch: &RecordBatch, rows: &[usize]) -> Result<RecordBatch, ExecuteError> {
    if batch.num_columns() == 0 {
        return log_core::batch::from_columns(batch.schema(), Vec::new(), rows.len())
            .map_err(ExecuteError::plumbing("selecting rows"));
    }
    let indices: arrow::array::UInt64Array = rows.iter().map(|row| *row as u64).collect();
    compute::take_record_batch(batch, &indices).map_err(ExecuteError::plumbing("selecting rows"))
}
