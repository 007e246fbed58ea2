//! Versions are dense and never rewritten.

use std::fmt::Debug;

/// Watches the commits of a log: each is seen again and again, and must stay what it was.
///
/// `D` identifies the content of a commit file: its digest, or the bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VersionsWatch<D> {
    first: u64,
    digests: Vec<D>,
}

/// A log that is not a log any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RewriteProblem {
    /// A version exists, but the one before it does not.
    #[error("version {found} was committed, but version {missing} does not exist")]
    Gap {
        /// The first version that is missing.
        missing: u64,
        /// The version that exists.
        found: u64,
    },
    /// A commit file has other content than before.
    #[error("version {version} was rewritten: its content is not what it was")]
    Rewritten {
        /// The version.
        version: u64,
    },
}

impl<D: PartialEq> VersionsWatch<D> {
    /// Watches a log from a version on. Versions before it are not looked at.
    pub fn starting_at(first: u64) -> Self {
        Self { first, digests: Vec::new() }
    }

    /// The version that may be committed next.
    pub fn next_version(&self) -> u64 {
        self.first + self.digests.len() as u64
    }

    /// Notes that a version has some content.
    ///
    /// # Errors
    /// When the version before it was never observed, or this one had other content.
    pub fn observe(&mut self, version: u64, digest: D) -> Result<(), RewriteProblem> {
        let Some(position) = version.checked_sub(self.first) else { return Ok(()) };
        if position > self.digests.len() as u64 {
            return Err(RewriteProblem::Gap { missing: self.next_version(), found: version });
        }
        match self.digests.get(position as usize) {
            None => self.digests.push(digest),
            Some(known) if *known != digest => return Err(RewriteProblem::Rewritten { version }),
            Some(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_only_grows_passes() {
        let mut watch = VersionsWatch::starting_at(3);
        for (version, digest) in [(2, 'z'), (3, 'a'), (4, 'b'), (3, 'a'), (4, 'b'), (5, 'c')] {
            assert_eq!(watch.observe(version, digest), Ok(()));
        }
        assert_eq!(watch.next_version(), 6);
    }

    #[test]
    fn a_rewritten_version_fires() {
        let mut watch = VersionsWatch::starting_at(0);
        watch.observe(0, 'a').unwrap();
        watch.observe(1, 'b').unwrap();
        assert_eq!(watch.observe(0, 'x'), Err(RewriteProblem::Rewritten { version: 0 }));
    }

    #[test]
    fn a_gap_fires() {
        let mut watch = VersionsWatch::starting_at(0);
        watch.observe(0, 'a').unwrap();
        assert_eq!(watch.observe(2, 'c'), Err(RewriteProblem::Gap { missing: 1, found: 2 }));
    }
}
