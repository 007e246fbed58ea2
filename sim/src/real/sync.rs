//! The one facade for locks, atomics, threads and channels.
//!
//! Under `--cfg loom` every one of them is loom's: a lock of another kind would be invisible to the model, which then passes after one execution or
//! hangs. So nothing else in `real` names a lock, an atomic, a thread or a channel.

pub use std::sync::Arc;

#[cfg(not(loom))]
mod chosen {
    pub use std::sync::atomic::{AtomicU64, Ordering};

    pub use crossbeam::channel::{Receiver, Sender, unbounded as channel};
    pub use parking_lot::{Mutex, MutexGuard};

    /// A condition that a thread waits for.
    #[derive(Debug, Default)]
    pub struct Condvar(parking_lot::Condvar);

    impl Condvar {
        /// Waits for a notification; the lock is open meanwhile.
        pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(&mut guard);
            guard
        }

        /// Wakes every thread that waits.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// Threads.
    pub mod thread {
        use std::{io, time::Duration};

        pub use std::thread::JoinHandle;

        /// Starts a thread.
        ///
        /// # Errors
        /// When the system has none left.
        pub fn spawn<T: Send + 'static>(
            name: &str,
            run: impl FnOnce() -> T + Send + 'static,
        ) -> io::Result<JoinHandle<T>> {
            std::thread::Builder::new().name(name.to_owned()).spawn(run)
        }

        /// Lets some time go by.
        pub fn sleep(duration: Duration) {
            if !duration.is_zero() {
                std::thread::sleep(duration);
            }
        }
    }
}

#[cfg(loom)]
mod chosen {
    use std::collections::VecDeque;

    pub use loom::sync::{
        MutexGuard,
        atomic::{AtomicU64, Ordering},
    };

    /// A lock.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// A lock around a value.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("a thread that panics ends the model")
        }

        /// The value, when nobody else has the lock any more.
        pub fn into_inner(self) -> T {
            self.0.into_inner().expect("a thread that panics ends the model")
        }
    }

    /// A condition that a thread waits for.
    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        /// Waits for a notification; the lock is open meanwhile.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).expect("a thread that panics ends the model")
        }

        /// Wakes every thread that waits.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    struct Queue<T> {
        items: Mutex<(VecDeque<T>, usize)>,
        changed: Condvar,
    }

    /// One end of a channel.
    pub struct Sender<T>(super::Arc<Queue<T>>);

    /// The other end.
    pub struct Receiver<T>(super::Arc<Queue<T>>);

    /// All ends of the other side are gone.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Closed;

    /// A channel without a bound.
    pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
        let queue = Queue { items: Mutex::new((VecDeque::new(), 1)), changed: Condvar::default() };
        let queue = super::Arc::new(queue);
        (Sender(queue.clone()), Receiver(queue))
    }

    impl<T> Sender<T> {
        /// Puts an item in.
        ///
        /// # Errors
        /// Never here: whether somebody listens is not tracked.
        pub fn send(&self, item: T) -> Result<(), Closed> {
            self.0.items.lock().0.push_back(item);
            self.0.changed.notify_all();
            Ok(())
        }
    }

    impl<T> Clone for Sender<T> {
        fn clone(&self) -> Self {
            self.0.items.lock().1 += 1;
            Self(self.0.clone())
        }
    }

    impl<T> Drop for Sender<T> {
        fn drop(&mut self) {
            self.0.items.lock().1 -= 1;
            self.0.changed.notify_all();
        }
    }

    impl<T> Receiver<T> {
        /// Waits for an item.
        ///
        /// # Errors
        /// When every sender is gone and nothing is left.
        pub fn recv(&self) -> Result<T, Closed> {
            let mut items = self.0.items.lock();
            loop {
                if let Some(item) = items.0.pop_front() {
                    return Ok(item);
                }
                if items.1 == 0 {
                    return Err(Closed);
                }
                items = self.0.changed.wait(items);
            }
        }
    }

    /// Threads.
    pub mod thread {
        use std::{io, time::Duration};

        pub use loom::thread::JoinHandle;

        /// The stack of a modelled thread, in words: a statement needs more than loom's 32 kB.
        const STACK_WORDS: usize = 1 << 16;

        /// Starts a thread.
        ///
        /// # Errors
        /// Never in a model.
        pub fn spawn<T: Send + 'static>(
            name: &str,
            run: impl FnOnce() -> T + Send + 'static,
        ) -> io::Result<JoinHandle<T>> {
            loom::thread::Builder::new().name(name.to_owned()).stack_size(STACK_WORDS).spawn(run)
        }

        /// Time does not go by in a model; another thread may run.
        pub fn sleep(duration: Duration) {
            if !duration.is_zero() {
                loom::thread::yield_now();
            }
        }
    }
}

pub use chosen::*;
