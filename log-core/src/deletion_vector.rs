//! Deletion vectors: which rows of a data file are deleted ("Deletion Vectors" of the protocol). Descriptors, where they point, and the bytes there; who
//! reads and writes files is the caller.

mod bitmap;
#[cfg(test)]
mod tests;
mod z85;

use serde::{Deserialize, Serialize};

pub use bitmap::DeletedRows;

use crate::{action::Extra, value::uuid_text};

/// The format of a file of deletion vectors, which its first byte tells.
const FILE_VERSION: u8 = 1;
/// The id of a file is so many characters of Z85.
const ID_CHARACTERS: usize = 20;

/// Where a deletion vector is stored ("Deletion Vector Descriptor Schema").
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionVector {
    /// `u` = a file beside the data, `i` = inline, `p` = an absolute path.
    pub storage_type: String,
    /// The file's random prefix and id, the bytes, or the path.
    pub path_or_inline_dv: String,
    /// Where in the file it begins, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// Bytes.
    pub size_in_bytes: i32,
    /// Deleted rows.
    pub cardinality: i64,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where the bytes of a deletion vector are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the descriptor: here they are, not yet checked.
    Inline(Vec<u8>),
    /// In a file of the table: its path below the table's folder, as it is on the disk, not percent-encoded.
    InTable(String),
    /// In a file that may be anywhere: its path as the log spells it, percent-encoded.
    Absolute(String),
}

/// A deletion vector that cannot be read or written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeletionVectorError {
    /// The storage type is none of the protocol.
    #[error("its storage type is '{0}', and the protocol knows u, i and p")]
    StorageType(String),
    /// The text is no Z85. A group of five characters that stands for more than 32 bits is none either: some clients let it wrap around, and
    /// then delete other rows than the writer meant.
    #[error("'{0}' is not Z85")]
    Z85(String),
    /// The text is too short for the id of a file, or its prefix is no name of a folder.
    #[error("'{0}' does not name a file: it must be a prefix that is a plain name, or none, and 20 characters of Z85")]
    FileName(String),
    /// The file is of another format.
    #[error("the first byte of the file says format {0}, and this build of contend reads format 1")]
    FileVersion(u8),
    /// What the descriptor says lies outside of the file or of the inline bytes.
    #[error("it is said to be {size} bytes at offset {offset}, and there are {found} bytes in all")]
    CutOff {
        /// Where it begins.
        offset: i64,
        /// Its bytes.
        size: i64,
        /// Bytes of the file.
        found: usize,
    },
    /// Descriptor and file disagree about its size.
    #[error("the log says that it has {wanted} bytes, its file says {found}")]
    Size {
        /// By the log.
        wanted: i32,
        /// By the file.
        found: u32,
    },
    /// The checksum does not fit.
    #[error("its checksum is {found:08x} and should be {wanted:08x}: the file is damaged")]
    Checksum {
        /// By the file.
        wanted: u32,
        /// Of the bytes.
        found: u32,
    },
    /// The bytes are of a format that is not known.
    #[error("its first four bytes say format {0}, and the protocol knows 1681511376 and 1681511377")]
    Magic(u32),
    /// The bitmap is damaged.
    #[error("its bitmap is damaged: {0}")]
    Bitmap(String),
    /// Descriptor and bitmap disagree about how many rows are deleted.
    #[error("the log says that it deletes {wanted} rows, its bitmap has {found}")]
    Cardinality {
        /// By the log.
        wanted: i64,
        /// By the bitmap.
        found: u64,
    },
    /// A file of vectors would be larger than an offset of 32 bits can tell.
    #[error("a file of deletion vectors cannot be larger than 2 GiB")]
    TooLarge,
}

impl DeletionVector {
    /// The id that, with the path, names a logical file ("Action Reconciliation").
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type, self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type, self.path_or_inline_dv),
        }
    }

    /// Where its bytes are.
    ///
    /// # Errors
    /// When the descriptor makes no sense. A path of [`Place::InTable`] never leads out of the table; that of [`Place::Absolute`] may.
    pub fn place(&self) -> Result<Place, DeletionVectorError> {
        let text = &self.path_or_inline_dv;
        match self.storage_type.as_str() {
            "i" => z85::decode(text).map(Place::Inline),
            "u" => {
                let wrong = || DeletionVectorError::FileName(text.clone());
                let cut = text.len().checked_sub(ID_CHARACTERS).ok_or_else(wrong)?;
                let (prefix, id) = text.split_at_checked(cut).ok_or_else(wrong)?;
                if prefix.contains(['/', '\\', '\0']) || matches!(prefix, "." | "..") {
                    return Err(wrong());
                }
                let id = <[u8; 16]>::try_from(z85::decode(id)?).map_err(|_| wrong())?;
                Ok(Place::InTable(file_path(prefix, id)))
            }
            "p" => Ok(Place::Absolute(text.clone())),
            other => Err(DeletionVectorError::StorageType(other.to_owned())),
        }
    }

    /// The deleted rows, from the bytes of [`Place::Inline`].
    ///
    /// # Errors
    /// When size, format or number of rows are not what the descriptor says.
    pub fn read_inline(&self, bytes: &[u8]) -> Result<DeletedRows, DeletionVectorError> {
        // The text has whole groups of four bytes.
        let size = usize::try_from(self.size_in_bytes).ok();
        let bytes = size.and_then(|size| bytes.get(..size)).ok_or_else(|| self.cut_off(bytes))?;
        self.checked(DeletedRows::parse(bytes)?)
    }

    /// The deleted rows, from the bytes of the file that [`place`](Self::place) names.
    ///
    /// # Errors
    /// When size, checksum, format or number of rows are not what the descriptor says.
    pub fn read_file(&self, file: &[u8]) -> Result<DeletedRows, DeletionVectorError> {
        match file.first() {
            None => return Err(self.cut_off(file)),
            Some(&FILE_VERSION) => {}
            Some(other) => return Err(DeletionVectorError::FileVersion(*other)),
        }
        let range = |start: usize, length: usize| {
            start.checked_add(length).and_then(|end| file.get(start..end)).ok_or_else(|| self.cut_off(file))
        };
        let number = |start: usize| {
            range(start, 4).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes were asked for")))
        };
        let start = usize::try_from(self.start()).map_err(|_| self.cut_off(file))?;
        let size = number(start)?;
        if i64::from(size) != i64::from(self.size_in_bytes) {
            return Err(DeletionVectorError::Size { wanted: self.size_in_bytes, found: size });
        }
        let size = usize::try_from(size).map_err(|_| self.cut_off(file))?;
        // These fit: the four bytes before them did.
        let bytes = range(start + 4, size)?;
        let (wanted, found) = (number(start + 4 + size)?, crc32fast::hash(bytes));
        if wanted != found {
            return Err(DeletionVectorError::Checksum { wanted, found });
        }
        self.checked(DeletedRows::parse(bytes)?)
    }

    /// A descriptor that carries the rows itself.
    ///
    /// # Errors
    /// When it would be larger than 2 GiB.
    pub fn inline(rows: &DeletedRows) -> Result<Self, DeletionVectorError> {
        let mut bytes = rows.to_bytes();
        let size_in_bytes = i32::try_from(bytes.len()).map_err(|_| DeletionVectorError::TooLarge)?;
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Ok(Self {
            storage_type: "i".to_owned(),
            path_or_inline_dv: z85::encode(&bytes),
            size_in_bytes,
            cardinality: rows.cardinality(),
            ..Self::default()
        })
    }

    /// Where it begins in its file. Where the log does not say it is the first one, behind the byte of the format.
    fn start(&self) -> i32 {
        self.offset.unwrap_or(1)
    }

    fn cut_off(&self, found: &[u8]) -> DeletionVectorError {
        let offset = if self.storage_type == "i" { 0 } else { self.start() };
        DeletionVectorError::CutOff { offset: offset.into(), size: self.size_in_bytes.into(), found: found.len() }
    }

    fn checked(&self, rows: DeletedRows) -> Result<DeletedRows, DeletionVectorError> {
        if i64::try_from(rows.len()) == Ok(self.cardinality) {
            return Ok(rows);
        }
        Err(DeletionVectorError::Cardinality { wanted: self.cardinality, found: rows.len() })
    }
}

/// A file of deletion vectors that is ready to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VectorFile {
    /// Its path below the table's folder, as it is on the disk.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What the log says of each vector, in the order in which they were given.
    pub descriptors: Vec<DeletionVector>,
}

impl VectorFile {
    /// A file that holds the vectors of several data files. `id` is 16 bytes that no other file of the table has; `prefix` is a folder of the table, or
    /// empty.
    ///
    /// # Errors
    /// When it would be larger than 2 GiB, or the prefix is no plain name.
    pub fn new(prefix: &str, id: [u8; 16], vectors: &[&DeletedRows]) -> Result<Self, DeletionVectorError> {
        let mut file = Self {
            path: file_path(prefix, id),
            bytes: vec![FILE_VERSION],
            descriptors: Vec::with_capacity(vectors.len()),
        };
        for rows in vectors {
            let bytes = rows.to_bytes();
            let offset = i32::try_from(file.bytes.len()).map_err(|_| DeletionVectorError::TooLarge)?;
            let size = i32::try_from(bytes.len()).map_err(|_| DeletionVectorError::TooLarge)?;
            file.bytes.extend(size.to_be_bytes());
            file.bytes.extend(&bytes);
            file.bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
            let descriptor = DeletionVector {
                storage_type: "u".to_owned(),
                path_or_inline_dv: format!("{prefix}{}", z85::encode(&id)),
                offset: Some(offset),
                size_in_bytes: size,
                cardinality: rows.cardinality(),
                ..DeletionVector::default()
            };
            descriptor.place()?;
            file.descriptors.push(descriptor);
        }
        Ok(file)
    }
}

/// The path of a file of deletion vectors below the table's folder.
fn file_path(prefix: &str, id: [u8; 16]) -> String {
    let uuid = uuid_text(id);
    let slash = if prefix.is_empty() { "" } else { "/" };
    format!("{prefix}{slash}deletion_vector_{uuid}.bin")
}
