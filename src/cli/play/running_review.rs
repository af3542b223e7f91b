//! A review that runs beside the game, in a thread of this process.
//!
//! It asks no server: this process knows the rules as the server does, so that the game goes on meanwhile and
//! a lost server costs no review.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use crate::cli::records::Game;
use crate::cli::review;
use crate::review::{Review, ReviewLimits};

/// A review that runs; it is cancelled when this is dropped.
pub(super) struct RunningReview {
    stop: Arc<AtomicBool>,
    news: Receiver<ReviewNews>,
    pub(super) done: usize,
    pub(super) moves: usize,
}

/// What a review says.
pub(super) enum ReviewNews {
    /// So many moves are done.
    Done(usize),
    /// It is ready: the game with its review.
    Over(Box<(Game, Review)>),
    /// It cannot be had, and why.
    Refused(String),
}

impl RunningReview {
    /// Begins to review a game.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn begin(game: Game, limits: ReviewLimits) -> io::Result<Self> {
        let (sender, news) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, moves) = (Arc::clone(&stop), review::chosen(&game));
        thread::Builder::new().name("review".into()).spawn(move || work(game, limits, &stopped, &sender))?;
        Ok(Self { stop, news, done: 0, moves })
    }

    /// The next thing that it says, if it said anything; never waits.
    pub(super) fn said(&self) -> Option<ReviewNews> {
        match self.news.try_recv() {
            Ok(news) => Some(news),
            Err(TryRecvError::Empty) => None,
            // Its thread panicked, and said so on stderr.
            Err(TryRecvError::Disconnected) => Some(ReviewNews::Refused("a search failed".to_owned())),
        }
    }
}

impl Drop for RunningReview {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn work(game: Game, limits: ReviewLimits, stop: &AtomicBool, news: &Sender<ReviewNews>) {
    let progress = |done| {
        let is_heard = news.send(ReviewNews::Done(done)).is_ok();
        if stop.load(Ordering::Relaxed) || !is_heard {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let said = match review::review(&game, limits, progress) {
        Ok(Some(review)) => ReviewNews::Over(Box::new((game, review))),
        Ok(None) => return,
        Err(failure) => ReviewNews::Refused(failure.to_string()),
    };
    let _nobody_waits = news.send(said);
}
