//! Connections that lose their sockets: who is waited for, how long, and what it costs the others.

use plyd_protocol as wire;

use super::*;
use crate::config::limits::Limits;
use crate::ids::ClientId;
use crate::spans::Origin;
use crate::state::budget::Memory;
use crate::state::conn::Taken;
use crate::state::outbox::Item;
use crate::state::session::Arrival;

const MS: u64 = 1_000_000;
const TOKEN: &str = "plyd_00112233445566778899aabbccddeeff";

fn state() -> State {
    let limits = Limits { resume: Duration::from_secs(1), resume_connections: 2, ..Limits::default() };
    State::new(limits, &[], None, Memory::new(0), 0)
}

/// Opens a connection.
fn open(state: &mut State) -> ConnId {
    state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 0)
}

/// Takes a line of a socket: a `hello` with that `resume`.
fn hello(state: &mut State, socket: ConnId, number: u64, resume: &str, now_ns: u64) {
    let line =
        format!(r#"{{"id":"h{number}","cmd":"hello","protocol":{{"min":1,"max":1}},"resume":{resume}}}"#);
    let at = Arrival::of(state, SocketId(socket), number, now_ns);
    let at = Arrival { fresh_token: Some(TOKEN.to_owned()), ..at };
    state.request(&at, wire::decode(line.as_bytes()).unwrap(), now_ns);
}

fn take(seq: u64) -> String {
    format!(r#"{{"token":"{TOKEN}","seq":{seq}}}"#)
}

/// The numbers of the messages that a socket is given.
fn taken(state: &mut State, socket: ConnId) -> Vec<u64> {
    match state.take_messages(state.conn_of(SocketId(socket)), usize::MAX, 0) {
        Taken::Batch(batch) => batch.into_iter().map(|numbered| numbered.seq).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_socket_serves_what_it_opened_or_took_up_and_then_nobody() {
    let mut state = state();
    let first = open(&mut state);
    hello(&mut state, first, 1, r#"{"keep_ms":500}"#, 0);
    assert_eq!(taken(&mut state, first), [1]);
    state.all_written(first, 0);
    let at_second = open(&mut state);
    hello(&mut state, at_second, 3, &take(0), 0);
    assert_eq!(state.conn_of(SocketId(at_second)), first);
    // The old socket says goodbye, and nothing else.
    assert_eq!(state.conn_of(SocketId(first)), at_second);
    assert_eq!(state.conns[&at_second].stage, Stage::Flushing);
    state.input_ended(state.conn_of(SocketId(first)), 1);
    assert_eq!(taken(&mut state, first), [2], "its numbers go on");
    assert_eq!(taken(&mut state, at_second), [1, 2]);
    assert_eq!(taken(&mut state, first), [0; 0]);
    assert_eq!((state.conn_of(SocketId(first)), state.conns.len()), (NOBODY, 1));
    // The next line on the new socket is the connection's third.
    assert_eq!(Arrival::of(&state, SocketId(at_second), 4, 0).line, 3);
    // Whatever the old socket still reports changes nothing.
    state.lose_conn(state.conn_of(SocketId(first)), 1, false);
    state.input_ended(state.conn_of(SocketId(first)), 1);
    assert!(!state.conns[&first].is_away() && state.conns.len() == 1);
    assert_eq!(state.counters.errors, 0, "it failed in nothing");
    // One whose writer has something in hand hears it behind that, and what it has in hand is counted
    // until it is written.
    let in_hand = state.conns[&first].outbox.unsent();
    assert!(in_hand > 0);
    let at_third = open(&mut state);
    hello(&mut state, at_third, 1, &take(2), 2);
    assert_eq!(taken(&mut state, at_third), [3]);
    assert_eq!(state.conn_of(SocketId(at_second)), at_third);
    assert!(state.conns[&at_third].outbox.unsent() > in_hand);
    assert_eq!(taken(&mut state, at_second), [3]);
    assert!(state.conns[&at_third].outbox.unsent() < in_hand);
    assert_eq!(taken(&mut state, at_second), [0; 0]);
    assert_eq!((state.conn_of(SocketId(at_second)), state.conns.len()), (NOBODY, 1));
    // One that does not take it is not waited for longer than others.
    let at_fourth = open(&mut state);
    hello(&mut state, at_fourth, 1, &take(3), 3);
    taken(&mut state, at_fourth);
    state.all_written(first, 3);
    let stalled_ns = state.limits.stalled.as_nanos() as u64;
    state.tick(stalled_ns + 2);
    assert_eq!(state.conn_of(SocketId(at_third)), at_fourth);
    state.tick(stalled_ns + 3);
    assert_eq!((state.conn_of(SocketId(at_third)), state.conns.len()), (NOBODY, 1));
    state.drop_conn(first, 3, false);
    assert_eq!(state.conn_of(SocketId(at_fourth)), NOBODY);
    assert!(state.taken_up.is_empty() && state.conns.is_empty() && state.next_timer().is_none());
}

#[test]
fn a_connection_waits_as_long_as_promised_and_holds_no_room_for_a_line_that_is_lost() {
    for (asked, until_ms) in [(500, 510), (5000, 1010)] {
        let mut state = state();
        let id = open(&mut state);
        hello(&mut state, id, 1, &format!(r#"{{"keep_ms":{asked}}}"#), 0);
        taken(&mut state, id);
        state.reserve(id, 100_000);
        assert!(state.conns[&id].held.total() > 0);
        state.lose_conn(id, 10 * MS, false);
        // Another break, such as the writer's, is none.
        state.lose_conn(state.conn_of(SocketId(id)), 20 * MS, false);
        assert!(state.conns[&id].is_away() && state.conns[&id].held.total() == 0);
        state.tick(until_ms * MS - 1);
        assert!(state.conns.contains_key(&id), "{asked}");
        state.tick(until_ms * MS);
        assert!(state.conns.is_empty() && state.next_timer().is_none(), "{asked}");
    }
}

#[test]
fn a_connection_that_is_taken_up_waits_the_whole_time_again() {
    let mut state = state();
    let id = open(&mut state);
    hello(&mut state, id, 1, r#"{"keep_ms":500}"#, 0);
    taken(&mut state, id);
    state.lose_conn(id, 0, false);
    let next = open(&mut state);
    hello(&mut state, next, 1, &take(1), 400 * MS);
    assert_eq!(taken(&mut state, next), [2]);
    state.tick(600 * MS);
    assert!(!state.conns[&id].is_away());
    state.lose_conn(state.conn_of(SocketId(next)), 700 * MS, false);
    state.tick(1199 * MS);
    assert!(state.conns[&id].is_away());
    state.tick(1200 * MS);
    assert!(state.conns.is_empty());
}

/// A connection that has the promise, and whose answer to `hello` is written.
fn kept(state: &mut State) -> ConnId {
    let id = open(state);
    hello(state, id, 1, r#"{"keep_ms":500}"#, 0);
    taken(state, id);
    state.all_written(id, 0);
    assert!(state.conns[&id].promise.is_some());
    id
}

/// Queues a message that is counted with so many bytes.
fn send(state: &mut State, id: ConnId, bytes: usize) {
    let before = state.conns[&id].outbox.unsent();
    state.send(id, Item::body("x".repeat(bytes - 64)), 0);
    let after = state.conns.get(&id).map(|conn| conn.outbox.unsent());
    assert!(after.is_none_or(|after| after == before + bytes));
}

#[test]
fn what_waits_for_all_who_are_away_is_bounded_and_nobody_loses_its_share() {
    let mut state = state();
    (state.limits.resume_connections, state.limits.resume_bytes) = (8, 1000);
    let ids = [0; 3].map(|_| kept(&mut state));
    for (id, bytes) in ids.into_iter().zip([900, 4000, 3000]) {
        state.lose_conn(id, 0, false);
        send(&mut state, id, bytes);
    }
    assert_eq!(state.away, ids);
    send(&mut state, ids[0], 100);
    assert_eq!(state.away, ids, "8000 bytes may wait");
    send(&mut state, ids[2], 100);
    assert_eq!(state.away, [ids[0], ids[2]], "the first one has its share");
    send(&mut state, ids[2], 5000);
    assert_eq!(state.away, [ids[0]], "the others have more than theirs");
    assert_eq!((state.conns.len(), state.counters.connections_dropped), (1, 2));
    // What is there when the socket breaks counts at once.
    let id = kept(&mut state);
    send(&mut state, id, 7001);
    assert!(state.conns.contains_key(&id));
    state.lose_conn(id, 0, false);
    assert_eq!(state.away, [ids[0]]);
    assert!(!state.conns.contains_key(&id));
    // What came and went is not counted on.
    let next = open(&mut state);
    hello(&mut state, next, 1, &take(1), 0);
    assert_eq!((state.away.len(), state.away_bytes), (0, 0));
}

#[test]
fn what_waits_for_who_is_away_keeps_no_answer_from_others() {
    let mut state = state();
    state.limits.unsent_bytes_in_all = 3 << 20;
    state.limits.resume_bytes = 4 << 20;
    let (away, other) = (kept(&mut state), open(&mut state));
    send(&mut state, other, 100);
    send(&mut state, away, 2 << 20);
    assert!(state.no_room_for_answer(other, 2 << 20, 0).is_some());
    state.lose_conn(away, 0, false);
    assert!(state.no_room_for_answer(other, 2 << 20, 0).is_none());
    assert!(state.no_room_for_answer(other, 4 << 20, u64::MAX).is_some());
    assert!(state.conns[&away].is_away(), "it is no slow reader");
    // What comes once more is among what is kept; what nobody has had yet counts again.
    state.drop_conn(away, 0, false);
    let sent = kept(&mut state);
    send(&mut state, sent, 2 << 20);
    taken(&mut state, sent);
    state.lose_conn(sent, 0, false);
    let next = open(&mut state);
    hello(&mut state, next, 1, &take(0), 0);
    assert!(state.conns[&sent].outbox.unsent() > 2 << 20);
    assert!(state.no_room_for_answer(other, 2 << 20, 0).is_none());
    send(&mut state, sent, 2 << 20);
    assert!(state.no_room_for_answer(other, 2 << 20, 0).is_some());
}

#[test]
fn nobody_has_more_promises_than_are_left_for_others() {
    let limits = Limits { resume: Duration::from_secs(1), resume_connections: 8, ..Limits::default() };
    let mut state = State::new(limits, &[], None, Memory::new(0), 0);
    let mut given = |host: u8, client: Option<ClientId>| {
        let origin = Origin::Tcp(([192, 0, 2, host], 7).into());
        (0..9)
            .filter(|_| {
                let id = state.open_conn(origin, [nobody(), nobody(), nobody()], 0);
                state.conns.get_mut(&id).unwrap().client = client;
                state.promise(id, 500, Some(TOKEN), 0).is_some()
            })
            .count()
    };
    let all = [given(1, None), given(1, Some(1)), given(2, Some(1)), given(2, None), given(3, None)];
    assert_eq!(all, [4, 2, 0, 1, 1], "a name is one wherever it calls from");
    assert_eq!(given(4, None), 0);
}

#[test]
fn without_the_promise_or_after_the_end_a_break_is_the_end() {
    for (resume, ends) in [("", ""), (r#"{"keep_ms":500}"#, "quit"), (r#"{"keep_ms":500}"#, "shutdown")] {
        let mut state = state();
        let id = open(&mut state);
        if resume.is_empty() {
            state.limits.resume = Duration::ZERO;
        }
        hello(&mut state, id, 1, r#"{"keep_ms":500}"#, 0);
        match ends {
            "quit" => state.quit(id, "q".to_owned(), wire::QuitMode::Stop, 0),
            "shutdown" => state.announce_end(Duration::from_secs(9), 0),
            _ => {}
        }
        state.lose_conn(id, 1, false);
        assert!(state.conns.is_empty() && state.next_timer().is_none(), "{resume} {ends}");
    }
    // One that waits when the end begins is not waited for.
    let mut state = state();
    let id = open(&mut state);
    hello(&mut state, id, 1, r#"{"keep_ms":500}"#, 0);
    state.lose_conn(id, 0, false);
    assert!(state.conns[&id].is_away());
    state.announce_end(Duration::from_secs(9), 1);
    assert!(state.conns.is_empty());
}
