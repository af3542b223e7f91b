//! A client takes its connection up over another socket.

use plyd_protocol as wire;
use plyd_protocol::{ErrorCode, ResultBody, Resumable};

use super::KEPT;
use crate::config::clients::TokenHash;
use crate::ids::{ClientId, ConnId};
use crate::log::{bounded, targets};
use crate::state::outbox::{Missed, Outbox};
use crate::state::request_error::RequestError;
use crate::state::session::{Arrival, Greeting};
use crate::state::timers::Timer;
use crate::state::{Stage, State};

impl State {
    /// The connection of a client that is kept under this token, or would be if its socket broke; `new` is
    /// the connection over which the client asks.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn kept_under(
        &self,
        new: ConnId,
        token: &str,
        client: Option<ClientId>,
    ) -> Result<ConnId, RequestError> {
        let hash = TokenHash::of(token);
        let mut found = None;
        // Compares with all of them, so that the time does not depend on which one matches.
        for (id, conn) in &self.conns {
            let is_it = conn.promise.as_ref().is_some_and(|promise| promise.token.is_same(&hash));
            if is_it && conn.client == client && conn.stage == Stage::Open {
                found = Some(*id);
            }
        }
        // Standard streams are no sockets that could break, and may have sessions of their own by now.
        let is_remote = self.conns.get(&new).is_some_and(|new| new.remote);
        found.filter(|_| is_remote).ok_or_else(|| {
            let message = "no connection of this client is kept under this token: the token is wrong, or the \
                           time is over";
            RequestError::new(ErrorCode::ResumeUnknown, message).at("/resume/token")
        })
    }

    /// Lets the client that said `hello` take up that connection, behind the message `seq`, and answers
    /// there.
    ///
    /// # Errors
    /// What it missed cannot be sent again, or its address has no place for it. Nothing has changed then.
    pub(crate) fn take_up(
        &mut self,
        kept: ConnId,
        at: &Arrival,
        name: &str,
        hello: &wire::Hello,
        seq: Option<u64>,
        now_ns: u64,
    ) -> Result<Greeting, RequestError> {
        let gone = || RequestError::new(ErrorCode::Internal, "the connection is gone");
        let conn = self.conns.get(&kept).ok_or_else(gone)?;
        let new = self.conns.get(&at.conn).ok_or_else(gone)?;
        if conn.inflight.contains_key(name) {
            return Ok(Greeting::Duplicate);
        }
        let again = conn.outbox.missed(seq).map_err(not_sent_again)?;
        if conn.network != new.network {
            self.find_place_of_address(new.network)?;
        }
        let span = new.span.clone();
        self.exchange_links(kept, at.conn, again, now_ns);
        let conn = self.conns.get_mut(&kept).ok_or_else(gone)?;
        conn.on_eof = hello.on_eof;
        conn.active_ns = now_ns;
        // This `hello` is the next line of the connection.
        let lines = conn.lines;
        conn.lines += 1;
        conn.lines_before = conn.lines.wrapping_sub(at.line);
        let promise = conn.promise.as_mut();
        let keep_ms = promise.as_ref().map_or(0, |promise| promise.keep_ns / 1_000_000);
        if let Some(until_ns) = promise.and_then(|promise| promise.until_ns.take()) {
            self.clear_timer(until_ns, Timer::Kept(kept));
        }
        let result = self.hello_result(kept, hello, &span, Some(Resumable { token: None, keep_ms, lines }));
        bounded!(
            KEPT, INFO, target: targets::KEPT_TAKE_UP, parent: &span, connection = kept, again,
            "the client takes its connection up"
        );
        self.send_result(kept, name, ResultBody::Hello(Box::new(result)), now_ns);
        Ok(Greeting::TakenUp)
    }

    /// Gives a connection the socket of another one, `new`, which has not said `hello`. That one ends: with
    /// the socket that the connection may still have, whose peer hears why, behind what is on its way there.
    fn exchange_links(&mut self, kept: ConnId, new: ConnId, again: usize, now_ns: u64) {
        self.give_up_line(kept);
        let Some(mut other) = self.conns.remove(&new) else { return };
        let Some(conn) = self.conns.get_mut(&kept) else { return };
        let hears_why = conn.link.is_some();
        let farewell = Outbox::behind(&conn.outbox);
        conn.outbox.lose_writer(now_ns);
        conn.outbox.go_on(std::mem::replace(&mut other.outbox, farewell), again, now_ns);
        for (own, others) in [
            (&mut conn.writer, &mut other.writer),
            (&mut conn.reader, &mut other.reader),
            (&mut conn.room, &mut other.room),
        ] {
            std::mem::swap(own, others);
        }
        std::mem::swap(&mut conn.link, &mut other.link);
        std::mem::swap(&mut conn.network, &mut other.network);
        std::mem::swap(&mut conn.origin, &mut other.origin);
        self.taken_up.extend(conn.link.map(|link| (link, kept)));
        self.taken_up.extend(other.link.map(|link| (link, new)));
        self.away.retain(|id| *id != kept);
        self.away_bytes -= std::mem::take(&mut conn.away_bytes);
        self.conns.insert(new, other);
        self.count_unread(kept);
        self.count_unread(new);
        if hears_why {
            let message = "the client has taken this connection up over another socket";
            let refusal = RequestError::new(ErrorCode::Disconnected, message);
            // It is no failure, and not counted as one.
            let message = wire::Message::Error(Box::new(refusal.into_message(None, 0, None, true)));
            self.drain(new, Some(message.to_body()), wire::OnEof::Stop, now_ns);
        } else {
            self.drop_conn(new, now_ns, false);
        }
    }
}

/// Why messages that a client missed cannot be sent again, as it hears it.
fn not_sent_again(missed: Missed) -> RequestError {
    let (code, message) = match missed {
        Missed::Gap(gone) => (
            ErrorCode::ResumeGap,
            format!("the messages up to {gone} are not kept any more: without `seq` the rest is sent"),
        ),
        Missed::Ahead(last) => (ErrorCode::OutOfRange, format!("the last message was {last}")),
    };
    RequestError::new(code, message).at("/resume/seq")
}
