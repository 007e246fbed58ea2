//! What the core asks of the outside world, as values.
//!
//! A [`Machine`] says what it needs as a [`Request`]; whoever drives it answers with a [`Response`]. One request is outstanding at a time. The
//! machine itself is plain data: it can be cloned, compared, hashed and printed, so a simulator can stop it anywhere and explore what follows.
//!
//! Answers are **three-valued**: it happened, it did not happen, or nobody knows. Unknown is never folded into failure.

mod object_map;

use std::sync::Arc;

pub use object_map::ObjectMap;

/// The content of an object.
pub type Bytes = Arc<[u8]>;

/// One thing that the outside world shall do. Paths are relative to the table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Request {
    /// Every object whose path sorts after `after` and lies in the same folder, in order of path.
    List {
        /// A path, which need not exist; itself not in the answer.
        after: String,
    },
    /// Size and time of an object.
    Head {
        /// The object.
        path: String,
    },
    /// The content of an object.
    Get {
        /// The object.
        path: String,
    },
    /// A part of an object's content.
    GetRange {
        /// The object.
        path: String,
        /// The first byte.
        start: u64,
        /// One past the last byte.
        end: u64,
    },
    /// The contents of several objects.
    GetMany {
        /// The objects.
        paths: Vec<String>,
    },
    /// Creates an object unless one of that path exists, atomically: of two puts, one wins.
    PutIfAbsent {
        /// The object.
        path: String,
        /// Its content.
        bytes: Bytes,
    },
    /// Creates or replaces an object.
    Put {
        /// The object.
        path: String,
        /// Its content.
        bytes: Bytes,
    },
    /// Removes an object.
    Delete {
        /// The object.
        path: String,
    },
    /// Lets some time go by. How much is the driver's choice.
    Backoff {
        /// How many puts were made before, from 1.
        attempt: u32,
    },
}

/// What the outside world answered.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Response {
    /// The time of the answer, in milliseconds since the epoch: the core has no other clock.
    pub now_ms: i64,
    /// The answer.
    pub answer: Answer,
}

/// The answer to a [`Request`], by kind of request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// To `List`.
    Listed(Vec<ObjectMeta>),
    /// To `Head`: `None` when there is no such object.
    Meta(Option<ObjectMeta>),
    /// To `Get` and `GetRange`: `None` when there is no such object.
    Content(Option<Bytes>),
    /// To `GetMany`, in the order asked.
    Contents(Vec<Option<Bytes>>),
    /// To `PutIfAbsent`, `Put` and `Delete`.
    Write(WriteAnswer),
    /// To `Backoff`.
    Waited,
    /// To a read: the store could not answer. It says nothing about whether the object exists.
    Unavailable {
        /// What the store said.
        cause: String,
    },
}

/// Did a write happen?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum WriteAnswer {
    /// It happened, now.
    Happened,
    /// It did not happen, because the object exists. Whose object that is, the answer does not say: it may be our own, put before.
    AlreadyExists,
    /// It did not happen and will not.
    DidNotHappen {
        /// What the store said.
        cause: String,
    },
    /// It may have happened, and it may still happen later.
    Unknown {
        /// What the store said.
        cause: String,
    },
}

/// An object of a listing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ObjectMeta {
    /// Its path, relative to the table.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since the epoch.
    pub modified_ms: i64,
}

/// A computation that needs the outside world: it asks, and is told.
pub trait Machine {
    /// What it comes to in the end.
    type Output;

    /// The first request. Called once.
    fn start(&mut self) -> Request;

    /// Takes the answer to the last request and gives the next one, or the end.
    fn advance(&mut self, response: Response) -> Step<Self::Output>;
}

/// A machine that is lent, so that it can be asked something when it is done.
impl<M: Machine> Machine for &mut M {
    type Output = M::Output;

    fn start(&mut self) -> Request {
        (**self).start()
    }

    fn advance(&mut self, response: Response) -> Step<M::Output> {
        (**self).advance(response)
    }
}

/// What a [`Machine`] wants next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step<T> {
    /// An answer to this.
    Request(Request),
    /// Nothing more.
    Done(T),
}

/// Runs a machine to its end.
///
/// ```
/// use log_core::store::{drive, ObjectMap, Response};
/// use log_core::load::LoadSnapshot;
///
/// let mut store = ObjectMap::default();
/// let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
/// assert_eq!(drive(LoadSnapshot::latest(), answer).unwrap(), None); // no table yet
/// ```
pub fn drive<M: Machine>(mut machine: M, mut answer: impl FnMut(Request) -> Response) -> M::Output {
    let mut request = machine.start();
    loop {
        match machine.advance(answer(request)) {
            Step::Request(next) => request = next,
            Step::Done(output) => return output,
        }
    }
}
