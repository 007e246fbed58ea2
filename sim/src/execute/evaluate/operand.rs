//! What a node of the tree evaluates to: a column, or one value for all rows.

use std::sync::Arc;

use arrow::{
    array::{
        Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Datum, PrimitiveArray, Scalar, StringArray,
        UInt32Array,
    },
    compute::take,
};

use crate::execute::ExecuteError;

/// A column with a value per row, or one value for all rows.
#[derive(Clone)]
pub(super) enum Operand {
    /// A value per row.
    Array(ArrayRef),
    /// One value.
    Scalar(Scalar<ArrayRef>),
}

impl Datum for Operand {
    fn get(&self) -> (&dyn Array, bool) {
        match self {
            Self::Array(array) => (array.as_ref(), false),
            Self::Scalar(scalar) => scalar.get(),
        }
    }
}

impl Operand {
    /// One value, given as an array of length one.
    pub(super) fn scalar(array: ArrayRef) -> Self {
        Self::Scalar(Scalar::new(array))
    }

    /// The result of a kernel: one value when all its operands were.
    pub(super) fn result(array: ArrayRef, single: bool) -> Self {
        if single { Self::scalar(array) } else { Self::Array(array) }
    }

    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Self::Scalar(_))
    }

    /// The array: of length one for a single value.
    pub(super) fn array(&self) -> ArrayRef {
        match self {
            Self::Array(array) => array.clone(),
            Self::Scalar(scalar) => scalar.clone().into_inner(),
        }
    }

    /// The same, brought to a length.
    pub(super) fn into_array(self, rows: usize) -> Result<ArrayRef, ExecuteError> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Scalar(scalar) => {
                let array = scalar.into_inner();
                if rows == 1 {
                    return Ok(array);
                }
                let indices = UInt32Array::from(vec![0; rows]);
                take(&array, &indices, None).map_err(ExecuteError::plumbing("repeating a value"))
            }
        }
    }

    /// Applies a function to the array, whatever its length.
    pub(super) fn map(
        &self,
        f: impl FnOnce(&ArrayRef) -> Result<ArrayRef, ExecuteError>,
    ) -> Result<Self, ExecuteError> {
        Ok(Self::result(f(&self.array())?, self.is_scalar()))
    }
}

/// Operands brought to one length: how many rows to compute, and whether the result is a single value.
pub(super) fn shape<'a>(operands: impl IntoIterator<Item = &'a Operand>) -> (usize, bool) {
    operands
        .into_iter()
        .find_map(|operand| match operand {
            Operand::Array(array) => Some((array.len(), false)),
            Operand::Scalar(_) => None,
        })
        .unwrap_or((1, true))
}

/// Reads rows of an operand as one typed array; a single value answers for every row.
pub(super) struct Rows<A> {
    array: A,
    single: bool,
}

impl<A: Array> Rows<A> {
    /// The position in the array, `None` where it is NULL.
    fn position(&self, row: usize) -> Option<usize> {
        let row = if self.single { 0 } else { row };
        self.array.is_valid(row).then_some(row)
    }
}

impl Rows<StringArray> {
    pub(super) fn get(&self, row: usize) -> Option<&str> {
        self.position(row).map(|row| self.array.value(row))
    }
}

impl<T: ArrowPrimitiveType> Rows<PrimitiveArray<T>> {
    pub(super) fn get(&self, row: usize) -> Option<T::Native> {
        self.position(row).map(|row| self.array.value(row))
    }
}

/// The rows of an operand of text.
pub(super) fn text(operand: &Operand) -> Result<Rows<StringArray>, ExecuteError> {
    let array = operand.array();
    let array = array.as_string_opt::<i32>().ok_or_else(|| mistyped(&array, "string"))?;
    Ok(Rows { array: array.clone(), single: operand.is_scalar() })
}

/// The rows of an operand of numbers, dates or timestamps.
pub(super) fn numbers<T: ArrowPrimitiveType>(operand: &Operand) -> Result<Rows<PrimitiveArray<T>>, ExecuteError> {
    let array = operand.array();
    Ok(Rows { array: primitive::<T>(&array)?.clone(), single: operand.is_scalar() })
}

/// A column of booleans.
pub(super) fn boolean(array: &ArrayRef) -> Result<&BooleanArray, ExecuteError> {
    array.as_boolean_opt().ok_or_else(|| mistyped(array, "boolean"))
}

/// A column of numbers, dates or timestamps.
pub(super) fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&PrimitiveArray<T>, ExecuteError> {
    array.as_primitive_opt::<T>().ok_or_else(|| mistyped(array, &T::DATA_TYPE.to_string()))
}

/// An operand of another type than the operation takes.
pub(super) fn mistyped(array: &ArrayRef, wanted: &str) -> ExecuteError {
    ExecuteError::Type { place: "an operand".to_owned(), found: array.data_type().clone(), wanted: wanted.to_owned() }
}

/// Shorthand for a finished array.
pub(super) fn shared(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}
