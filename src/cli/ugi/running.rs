//! The search that runs: begun by the commands, reported and ended by the messages, on two threads.
//!
//! Each `go` is answered by one `bestmove`, whatever happens to it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use plyd_protocol::{BestMove, ErrorMessage, Info};

use super::command::move_word;
use super::words;
use super::{note, print};

/// The move of a position that has none, or that cannot be searched.
pub(super) const NO_MOVE: &str = "0000";

/// The search that runs, if one does.
#[derive(Debug, Default)]
pub(super) struct Running {
    state: Mutex<State>,
    /// Signals that a search ended, or that no message can come any more.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    search: Option<RunningSearch>,
    /// Whether no message can come any more.
    is_over: bool,
}

#[derive(Debug)]
struct RunningSearch {
    /// The id of its `go`.
    id: String,
    /// Whether the answer waits for `ponderhit` or `stop`, as a `ponder` promises.
    holds: bool,
    /// The answer that waits.
    held: Option<Box<BestMove>>,
}

impl Running {
    /// A search begins; it waits for `ponderhit` or `stop` if it is to `hold` its answer.
    pub(super) fn begin(&self, id: String, holds: bool) {
        self.lock().search = Some(RunningSearch { id, holds, held: None });
    }

    /// Allows the answer to be printed; returns the id of the search if it still runs.
    pub(super) fn release(&self) -> Option<String> {
        let mut state = self.lock();
        let search = state.search.as_mut()?;
        search.holds = false;
        let Some(best) = search.held.take() else {
            return Some(search.id.clone());
        };
        self.answer(state, Some(&best));
        None
    }

    /// Waits until the search that was released has answered.
    pub(super) fn wait(&self) {
        let state = self.lock();
        let runs = |state: &mut State| state.search.is_some() && !state.is_over;
        drop(self.changed.wait_while(state, runs).unwrap_or_else(PoisonError::into_inner));
    }

    /// News of a search.
    pub(super) fn info(&self, info: &Info) {
        if self.is_running(&info.id) {
            print(info.lines.iter().map(|line| words::info(line, &info.stats)));
        }
    }

    /// A search ended with a move.
    pub(super) fn best(&self, best: Box<BestMove>) {
        let mut state = self.lock();
        match &mut state.search {
            Some(search) if search.id == best.id && search.holds => search.held = Some(best),
            Some(search) if search.id == best.id => self.answer(state, Some(&best)),
            _ => {}
        }
    }

    /// A search could not begin; returns whether the error was about one.
    pub(super) fn refused(&self, error: &ErrorMessage) -> bool {
        let state = self.lock();
        let is_meant = state.search.as_ref().is_some_and(|search| error.id.as_ref() == Some(&search.id));
        if is_meant {
            note(&error.message);
            self.answer(state, None);
        }
        is_meant
    }

    /// No message can come any more.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn is_running(&self, id: &str) -> bool {
        self.lock().search.as_ref().is_some_and(|search| search.id == id)
    }

    /// Prints the answer. The lock is held until then: nothing comes between this and the next search.
    fn answer(&self, mut state: MutexGuard<'_, State>, best: Option<&BestMove>) {
        let infos =
            best.into_iter().flat_map(|best| best.lines.iter().map(|line| words::info(line, &best.stats)));
        let mv = best.map_or_else(|| NO_MOVE.to_owned(), |best| move_word(&best.mv));
        print(infos.chain([format!("bestmove {mv}")]));
        state.search = None;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
