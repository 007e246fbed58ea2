//! Which files newer commits spoke of.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashSet;
use twox_hash::XxHash3_128;

use crate::{deletion_vector::DeletionVector, path::path_key};

/// Identities of files, as hashes of 128 bits: of a billion files two have the same one with a probability below 10^-20. That is good enough against
/// chance, and nobody can gain by finding two: whoever writes the log says anyway which files are live. Nothing depends on an order.
#[derive(Default, Debug)]
pub(super) struct Seen {
    hashes: HashSet<u128, BuildHasherDefault<Lowest>>,
    buffer: Vec<u8>,
}

/// The lowest bits of what is a hash already.
#[derive(Default, Debug)]
pub(super) struct Lowest(u64);

impl Hasher for Lowest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers of 128 bits are hashed");
    }
}

impl Seen {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.hashes.clear();
    }

    /// The hash of an identity: see [`FileKey`](crate::action::FileKey).
    pub(super) fn hash(&mut self, path: &str, deletion_vector: Option<&str>) -> u128 {
        let path = path_key(path);
        let Some(id) = deletion_vector else { return XxHash3_128::oneshot(path.as_bytes()) };
        self.buffer.clear();
        self.buffer.extend_from_slice(path.as_bytes());
        // No text has this byte.
        self.buffer.push(0xff);
        self.buffer.extend_from_slice(id.as_bytes());
        XxHash3_128::oneshot(&self.buffer)
    }

    /// The hash of what a commit names.
    pub(super) fn hash_of(&mut self, path: &str, deletion_vector: Option<&DeletionVector>) -> u128 {
        self.hash(path, deletion_vector.map(DeletionVector::unique_id).as_deref())
    }

    /// Sees what a commit adds. Was it new?
    pub(super) fn is_new(&mut self, path: &str, deletion_vector: Option<&DeletionVector>) -> bool {
        let hash = self.hash_of(path, deletion_vector);
        self.insert(hash)
    }

    /// Was it new?
    pub(super) fn insert(&mut self, hash: u128) -> bool {
        self.hashes.insert(hash)
    }

    /// Is it one of those that were seen?
    pub(super) fn contains(&self, hash: u128) -> bool {
        self.hashes.contains(&hash)
    }

    /// Was nothing seen?
    pub(super) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}
