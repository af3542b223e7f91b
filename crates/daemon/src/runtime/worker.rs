//! The thread that owns an engine and searches with it, one search at a time.
//!
//! It knows nothing of connections: commands come in over a channel, and what the search finds goes to the
//! daemon's state. A search that panics costs its engine, never the thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use plyd_protocol as wire;

use super::Shared;
use crate::ids::WorkerId;
use crate::log::targets;
use crate::state::job::LoadedEngine;
use crate::state::order::{Order, Return, Run};
use plyd_bridge as bridge;
use plyd_core::search::End;
use plyd_core::search::clock::now_ns;

/// Searches until there are no more commands.
pub(super) fn work(shared: &Arc<Shared>, id: WorkerId, orders: &Receiver<Order>) {
    shared.priority.apply();
    let mut loaded: Option<LoadedEngine> = None;
    while let Ok(order) = orders.recv() {
        match order {
            Order::Forget => drop_engine(loaded.take()),
            Order::Search(mut run) => {
                let span = run.span.clone();
                let _within = span.enter();
                let fresh = run.loaded.take();
                if loaded.as_ref().is_some_and(|kept| kept.key == run.key) {
                    drop_engine(fresh);
                } else {
                    // An earlier search may have left an engine with other settings.
                    drop_engine(std::mem::replace(&mut loaded, fresh));
                }
                let job = run.job;
                let searched = catch_unwind(AssertUnwindSafe(|| search(shared, &mut loaded, &run)));
                // The position is dropped before the answer goes out: nothing of it is left when a client
                // reads the answer.
                let dropped = catch_unwind(AssertUnwindSafe(|| drop(run)));
                let returned = match (searched, dropped) {
                    (Ok(Some((lines, end))), Ok(())) => Return::Ended(lines, end),
                    (Ok(None), Ok(())) => Return::Ended(Vec::new(), End::Stopped),
                    (Err(panic), _) | (Ok(_), Err(panic)) => {
                        drop_engine(loaded.take());
                        Return::Failed { incident: shared.incident("a search panicked", panic.as_ref()) }
                    }
                };
                let time = now_ns();
                shared.with(|state| state.came_back(id, job, returned, time));
            }
        }
    }
    drop_engine(loaded);
}

fn search(
    shared: &Arc<Shared>,
    loaded: &mut Option<LoadedEngine>,
    run: &Run,
) -> Option<(Vec<wire::Line>, End)> {
    let job = run.job;
    if !shared.with(|state| state.search_began(job, now_ns())) {
        return None;
    }
    run.control.count_cpu();
    let loaded = match loaded {
        Some(loaded) if loaded.engine.fits(run.root.as_ref()) => {
            if run.forget {
                loaded.engine.clear();
            }
            loaded
        }
        other => {
            // The thread is a replacement, or searched with other options since the request was prepared:
            // these were checked then, so that this fails only if the engine is broken.
            let fresh = LoadedEngine::new(run.root.as_ref(), run.key.clone(), &run.memory);
            other.insert(fresh.unwrap_or_else(|fault| panic!("no engine: {}", fault.message)))
        }
    };
    let mut first = true;
    let mut publish = |lines| {
        let lines = Arc::new(bridge::lines(lines));
        let is_sent = shared.with(|state| state.publish(job, lines, now_ns()));
        // The writer that was just woken may have been given this core: let it go first, once a search, or
        // the first move waits for a time slice. If nothing is to be written, some
        // other thread would get the core.
        if std::mem::take(&mut first) && is_sent {
            std::thread::yield_now();
        }
    };
    let (lines, end) =
        loaded.engine.search(run.root.as_ref(), &run.candidates, run.multipv, &run.control, &mut publish);
    Some((bridge::lines(lines), end))
}

/// Drops an engine, whose destructor is the game's code.
fn drop_engine(loaded: Option<LoadedEngine>) {
    if catch_unwind(AssertUnwindSafe(|| drop(loaded))).is_err() {
        tracing::error!(target: targets::WORKER, "dropping an engine panicked");
    }
}
