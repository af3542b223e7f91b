//! A search that runs.

use std::time::Instant;

use plyd_protocol::{
    BestMove, Command, ErrorMessage, Go, Info, Message, Mode, Stop, StopTarget, Update, UpdateMode,
};

use super::Engine;
use crate::limit::overdue;
use crate::{Error, LineError, Retry, message_id};

/// A search that runs. Dropping it before it has ended stops it on the server, too.
#[derive(Debug)]
#[must_use = "a search that is dropped is stopped"]
pub struct Search<'a> {
    engine: &'a mut Engine,
    go: Go,
    id: u64,
    retry: Retry,
    /// When its answer is overdue; none if nothing bounds its time.
    overdue: Option<Instant>,
    /// Why the server refused it as overloaded, and when it is sent again.
    refused: Option<(Box<ErrorMessage>, Instant)>,
    best: Option<BestMove>,
    is_over: bool,
}

impl<'a> Search<'a> {
    pub(crate) async fn start(engine: &'a mut Engine, go: Go) -> Result<Self, Error> {
        let began = Instant::now();
        let (retry, overdue) = (Retry::new(&go, began), overdue(&go, began, engine.timeout));
        engine.flush().await?;
        let id = engine.post(Command::Go(Box::new(go.clone())))?;
        let search = Self { engine, go, id, retry, overdue, refused: None, best: None, is_over: false };
        // If this future is dropped, the search is dropped too, and thereby stopped.
        search.engine.flush().await?;
        Ok(search)
    }

    /// The next `info` of the search; none once it has ended. If the server is overloaded, the request is
    /// sent again within the same clock.
    ///
    /// Cancel safe: if the future is dropped, no message is lost.
    ///
    /// # Errors
    /// See [`Error`]; it ends the search.
    pub async fn next(&mut self) -> Result<Option<Info>, Error> {
        while !self.is_over {
            self.ask_again().await?;
            match self.receive().await {
                Ok(Message::Info(info)) => return Ok(Some(info)),
                Ok(Message::BestMove(best)) => {
                    self.best = Some(*best);
                    self.is_over = true;
                }
                Ok(_) => return self.fail(Error::Unasked),
                Err(Error::Refused(error)) => match self.retry.pause(&self.go, &error, Instant::now()) {
                    Some(pause) => self.refused = Some((error, Instant::now() + pause)),
                    None => return self.fail(Error::Refused(error)),
                },
                Err(error) => return self.fail(error),
            }
        }
        Ok(None)
    }

    /// Waits for the move, and skips the `info` before it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn best(mut self) -> Result<BestMove, Error> {
        while self.next().await?.is_some() {}
        self.best.take().ok_or(Error::Unasked)
    }

    /// Asks for the best move so far, which ends the search: [`best`](Self::best) has it.
    ///
    /// # Errors
    /// See [`Error`]. [`Error::Refused`] if the server is overloaded and the request was to be sent again: it
    /// is not.
    pub async fn stop(&mut self) -> Result<(), Error> {
        if let Some((error, _)) = self.refused.take() {
            return self.fail(Error::Refused(error));
        }
        if !self.is_over {
            let target = StopTarget::Go(self.id.to_string());
            self.engine.send(Command::Stop(Stop { target, discard: false })).await?;
            self.overdue = Instant::now().checked_add(self.engine.timeout);
        }
        Ok(())
    }

    /// Changes the clock, the limits or the mode. The update's `target` is overwritten with this search.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn update(&mut self, update: Update) -> Result<(), Error> {
        if !self.is_over {
            self.go.clock = update.clock.or(self.go.clock);
            if update.mode == Some(UpdateMode::Move) {
                self.go.mode = Mode::Move;
            }
            (self.go.limit, self.go.hard_ms) = (update.limit, update.hard_ms);
            // What is to be sent again has the change in it.
            if self.refused.is_none() {
                let target = self.id.to_string();
                self.engine.send(Command::Update(Update { target, ..update })).await?;
            }
            self.overdue = overdue(&self.go, Instant::now(), self.engine.timeout);
        }
        Ok(())
    }

    /// Sends the request again after the pause for which the server asked.
    async fn ask_again(&mut self) -> Result<(), Error> {
        let Some((_, again)) = &self.refused else { return Ok(()) };
        self.engine.wait.pause(again.saturating_duration_since(Instant::now())).await;
        self.engine.flush().await?;
        if let Some((error, _)) = self.refused.take() {
            // The pause may have lasted longer.
            if !self.retry.has_time(Instant::now()) {
                return self.fail(Error::Refused(error));
            }
            self.retry.renew(&mut self.go, Instant::now());
            self.id = self.engine.post(Command::Go(Box::new(self.go.clone())))?;
        }
        self.engine.flush().await
    }

    /// The next message about this search, or the error of a request that changes it.
    async fn receive(&mut self) -> Result<Message, Error> {
        loop {
            let message = self.engine.receive(self.id, self.overdue).await?;
            let is_ours = message_id(&message).is_some_and(|id| id == self.id.to_string());
            let is_late = self.overdue.is_some_and(|overdue| Instant::now() >= overdue);
            match message {
                Message::Error(error) => return Err(Error::Refused(error)),
                // Without this, a server that never ends its `info` would keep the call waiting forever.
                Message::Info(_) if is_late => return Err(LineError::TimedOut.into()),
                message if is_ours => return Ok(message),
                // The results of `stop` and `update`.
                _ => {}
            }
        }
    }

    fn fail<T>(&mut self, error: Error) -> Result<T, Error> {
        // A server that still searches is asked to stop.
        if !matches!(error, Error::Refused(_)) {
            self.engine.give_up(self.id);
        }
        self.is_over = true;
        Err(error)
    }
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.engine.give_up(self.id);
        }
    }
}
