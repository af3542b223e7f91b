//! The store on a thread of its own, for those that must not block: what they ask is done in the order in
//! which they ask.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

use super::{Store, StoreError};

/// Something to be done with the store.
type Work = Box<dyn FnOnce(&mut Store) + Send>;

/// A store on a thread of its own. Its clones ask the same store; the last one to be dropped waits until all
/// that was asked is done, and closes it.
///
/// ```no_run
/// use plyd_ladder::store::{Database, StoreHandle, Store};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let database: Database = "ladder.db".parse()?;
/// let handle = StoreHandle::new(Store::serve(&database)?)?;
/// let pools = handle.ask(|store| store.pools()).await?;
/// println!("{} pools", pools.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StoreHandle {
    thread: Arc<Thread>,
}

/// The thread, as long as somebody may ask it.
struct Thread {
    /// Taken to end it.
    work: Mutex<Option<Sender<Work>>>,
    handle: Option<JoinHandle<()>>,
}

impl StoreHandle {
    /// Gives a store its thread.
    ///
    /// # Errors
    /// The system has no thread more.
    pub fn new(mut store: Store) -> io::Result<Self> {
        let (sender, work) = mpsc::channel::<Work>();
        let handle = thread::Builder::new().name("ladder store".into()).spawn(move || {
            for work in work {
                work(&mut store);
            }
        })?;
        Ok(Self { thread: Arc::new(Thread { work: Mutex::new(Some(sender)), handle: Some(handle) }) })
    }

    /// Does something with the store, behind all that was asked before. It is done even if nobody waits for
    /// the answer any more.
    ///
    /// # Errors
    /// What the work gives; [`StoreError::Closed`] if the thread ended by a panic.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.send(work).await.unwrap_or(Err(StoreError::Closed))
    }

    /// The same for those who may block.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    ///
    /// # Panics
    /// On a thread of a tokio runtime.
    pub fn ask_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.send(work).blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |store| {
            let _nobody_waits = answer.send(work(store));
        });
        let sender = self.thread.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender {
            // If the thread has ended, the answer ends with it.
            let _ = sender.send(work);
        }
        answered
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(handle) = self.handle.take() {
            // Its panic was reported when it happened.
            let _ = handle.join();
        }
    }
}
