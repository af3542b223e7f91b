//! The control: a thread that sleeps to instants and notes how late it wakes.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use crate::samples::Samples;

/// A thread that does nothing but sleep to instants.
pub(crate) struct Control {
    instants: Sender<Instant>,
    wakes: Receiver<(Instant, Instant)>,
    asked: usize,
}

impl Control {
    /// Starts the thread; it ends when the control is dropped.
    pub(crate) fn start() -> Self {
        let (instants, asked) = mpsc::channel::<Instant>();
        let (woke, wakes) = mpsc::channel();
        thread::spawn(move || {
            for due in asked {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                if woke.send((due, Instant::now())).is_err() {
                    return;
                }
            }
        });
        Self { instants, wakes, asked: 0 }
    }

    /// Sleeps to this instant on the control's thread.
    pub(crate) fn sleep_to(&mut self, due: Instant) {
        self.instants.send(due).expect("the control's thread lives as long as this sender");
        self.asked += 1;
    }

    /// How late the control woke since this was asked last.
    pub(crate) fn take(&mut self) -> Samples {
        let mut samples = Samples::default();
        for (due, at) in self.wakes.iter().take(std::mem::take(&mut self.asked)) {
            samples.add(due, at);
        }
        samples
    }
}
