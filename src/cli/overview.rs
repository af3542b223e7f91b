//! What a daemon does, in lines for people: a head, and tables of its connections, searches and sessions.
//!
//! Knows neither where the lines go nor how many fit.

use plyd_protocol::{ConnectionInfo, SearchInfo, SearchState};

use super::columns::{Columns, grouped};
use super::operator::View;
use super::styled::{Text, Tone, line};
use super::words::count;

/// A line, and what it is about.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) text: Text,
    pub(super) subject: Option<Subject>,
}

/// A connection, a session of it or a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Subject {
    pub(super) connection: u64,
    pub(super) session: Option<String>,
    pub(super) search: Option<String>,
}

impl Row {
    fn plain(text: Text) -> Self {
        Self { text, subject: None }
    }
}

/// The load of the whole daemon, in two lines; the nodes a second are not in it unless they are known.
pub(super) fn head(view: &View, nodes_per_second: Option<u64>) -> [Text; 2] {
    let View { server, limits, status, connections, .. } = view;
    let mut text = Text::new(&format!("{} {}", server.name, server.version), Tone::Strong);
    let mut parts = vec![format!("up {}", span(status.uptime_ms))];
    parts.extend(connections.as_ref().map(|all| count(all.len() as u64, "connection")));
    parts.push(count(status.sessions, "session"));
    let waits = |search: &&SearchInfo| {
        matches!(
            search.state.known(),
            Some(SearchState::Preparing | SearchState::Waiting | SearchState::Starting)
        )
    };
    let searches = connections.iter().flatten().flat_map(|connection| &connection.searches);
    let waiting = match searches.filter(waits).count() {
        0 => String::new(),
        waiting => format!(" ({waiting} not begun)"),
    };
    parts.push(count(status.searches, "search") + &waiting);
    parts.push(format!("{} of {} threads busy", grouped(status.threads), limits.threads));
    let mib = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
    parts.push(format!("{} of {} MiB of tables", mib(status.hash_bytes), mib(limits.hash_bytes)));
    text.push(&format!(", {}", parts.join(", ")), Tone::Plain);
    let counters = &status.counters;
    let mut so_far = format!(
        "so far {} nodes in {}, {}, {} dropped",
        grouped(counters.nodes),
        count(counters.searches, "search"),
        count(counters.errors, "error"),
        count(counters.connections_dropped, "connection"),
    );
    if let Some(nodes) = nodes_per_second {
        so_far += &format!("; now {} nodes/s", grouped(nodes));
    }
    [text, Text::new(&so_far, Tone::Faint)]
}

/// Tables of the connections, the searches and the sessions.
pub(super) fn tables(view: &View) -> Vec<Row> {
    let mut rows = Vec::new();
    match &view.connections {
        Some(all) => {
            connections(&mut rows, all);
            searches(&mut rows, all);
            sessions(&mut rows, all);
        }
        None => rows.push(Row::plain("this server does not say who is connected".into())),
    }
    rows
}

fn connections(rows: &mut Vec<Row>, all: &[ConnectionInfo]) {
    let mut table = Columns::new([
        "connection",
        "client",
        "role",
        "from",
        "state",
        "open for",
        "idle for",
        "requests",
        "searches",
        "sessions",
        "unsent bytes",
    ]);
    let mut subjects = Vec::new();
    for one in all {
        let role = one.role.as_ref().map(ToString::to_string).unwrap_or_default();
        let from = format!("{} {}", one.transport, one.peer.as_deref().unwrap_or_default());
        table.row([
            one.connection.to_string(),
            client(one),
            line(&role),
            line(&from),
            line(&one.state.to_string()),
            span(one.age_ms),
            span(one.idle_ms),
            grouped(one.requests),
            one.searches.len().to_string(),
            one.sessions.len().to_string(),
            grouped(one.unsent_bytes),
        ]);
        subjects.push(Subject { connection: one.connection, ..Subject::default() });
    }
    section(rows, &table, subjects);
}

fn searches(rows: &mut Vec<Row>, all: &[ConnectionInfo]) {
    let mut table = Columns::new([
        "search",
        "connection",
        "client",
        "session",
        "game",
        "mode",
        "state",
        "threads",
        "age",
        "due in",
        "depth",
        "nodes",
    ]);
    let mut subjects = Vec::new();
    for (one, search) in all.iter().flat_map(|one| one.searches.iter().map(move |search| (one, search))) {
        let session = search.session.clone();
        table.row([
            line(&search.id),
            one.connection.to_string(),
            client(one),
            line(session.as_deref().unwrap_or_default()),
            line(search.game.as_deref().unwrap_or_default()),
            line(&search.mode.to_string()),
            line(&search.state.to_string()),
            search.threads.map(|threads| threads.to_string()).unwrap_or_default(),
            span(search.age_ms),
            search.due_ms.map(span).unwrap_or_default(),
            search.stats.depth.to_string(),
            grouped(search.stats.nodes),
        ]);
        let search = Some(search.id.clone());
        subjects.push(Subject { connection: one.connection, session, search });
    }
    section(rows, &table, subjects);
}

fn sessions(rows: &mut Vec<Row>, all: &[ConnectionInfo]) {
    let mut table = Columns::new(["session", "connection", "client", "game"]);
    let mut subjects = Vec::new();
    for (one, session) in all.iter().flat_map(|one| one.sessions.iter().map(move |session| (one, session))) {
        table.row([line(&session.session), one.connection.to_string(), client(one), line(&session.game)]);
        let session = Some(session.session.clone());
        subjects.push(Subject { connection: one.connection, session, search: None });
    }
    section(rows, &table, subjects);
}

/// Adds a table behind a blank line, unless it has no rows.
fn section(rows: &mut Vec<Row>, table: &Columns, subjects: Vec<Subject>) {
    if subjects.is_empty() {
        return;
    }
    if !rows.is_empty() {
        rows.push(Row::plain(Text::default()));
    }
    let text = table.to_string();
    let mut lines = text.lines();
    rows.extend(lines.next().map(|heading| Row::plain(Text::new(heading, Tone::Strong))));
    let pairs = lines.zip(subjects);
    rows.extend(pairs.map(|(line, subject)| Row { text: line.into(), subject: Some(subject) }));
}

/// The name by which the server knows the client, else how it calls itself, in quotes.
fn client(one: &ConnectionInfo) -> String {
    match (&one.client, &one.name) {
        (Some(client), _) => line(client),
        (None, Some(name)) => format!("\"{}\"", line(name)),
        (None, None) => String::new(),
    }
}

/// A time in the unit that suits it, to two digits or more.
fn span(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        10_000..100_000 => format!("{} s", ms / 1000),
        100_000..6_000_000 => format!("{} min", ms / 60_000),
        6_000_000..360_000_000 => format!("{} h", ms / 3_600_000),
        _ => format!("{} d", ms / 86_400_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (ms, text) in [
            (0, "0.0 s"),
            (9_999, "9.9 s"),
            (10_000, "10 s"),
            (100_000, "1 min"),
            (6_000_000, "1 h"),
            (360_000_000, "4 d"),
            (u64::MAX, "213503982334 d"),
        ] {
            assert_eq!(span(ms), text);
        }
        assert_eq!([count(1, "search"), count(2, "search")], ["1 search", "2 searches"]);
        assert_eq!(count(1_000, "session"), "1,000 sessions");
    }

    #[test]
    fn what_a_peer_calls_itself_cannot_command_the_terminal() {
        let connection = json!({
            "connection": 3, "transport": "tcp", "peer": "192.0.2.7:1", "state": "open", "name": "a\x1b[2J\u{9b}b",
            "role": "play", "age_ms": 1, "idle_ms": 1, "requests": 1, "unsent_bytes": 0,
            "sessions": [{ "session": "s\n", "game": "g\u{202e}" }], "searches": [],
        });
        let view = View {
            server: plyd_protocol::Server { name: "x\x1b".into(), version: "1".into() },
            limits: plyd_protocol::Limits::default(),
            status: plyd_protocol::StatusResult::default(),
            connections: Some(vec![serde_json::from_value(connection).unwrap()]),
            breaks: 0,
        };
        let rows = tables(&view);
        let head = head(&view, None);
        let texts: Vec<String> =
            head.iter().chain(rows.iter().map(|row| &row.text)).map(Text::plain).collect();
        assert!(
            !texts.iter().any(|text| text.contains(|c: char| c.is_control() || c == '\u{202e}')),
            "{texts:?}"
        );
        assert!(texts.iter().any(|text| text.contains("\"a\u{fffd}[2J\u{fffd}b\"")), "{texts:?}");
        let sessions = rows.iter().filter_map(|row| row.subject.as_ref()?.session.as_deref());
        assert_eq!(sessions.collect::<Vec<_>>(), ["s\n"]);
    }
}
