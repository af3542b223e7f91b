//! The table of requests and roles: what the least role is that may ask for something.
//!
//! Knows no client and no connection. The specification has the same table, and a test compares them.

use plyd_protocol::{Command, Mode, Role};

/// Whether a request shows or ends what other connections do.
pub(super) fn is_about_others(command: &Command) -> bool {
    match command {
        Command::Connections(_) | Command::Disconnect(_) => true,
        Command::Close(close) => close.connection.is_some(),
        _ => false,
    }
}

/// The least role for a request, and the field of the request that asks for so much.
pub(super) fn least_role(command: &Command) -> (Role, &'static str) {
    match command {
        Command::Hello(_)
        | Command::Ping(_)
        | Command::Describe(_)
        | Command::NewGame(_)
        | Command::SetOption(_)
        | Command::Inspect(_)
        // It can turn a search into one for a move, and into nothing else.
        | Command::Update(_)
        | Command::Stop(_)
        | Command::Quit(_) => (Role::Play, "/cmd"),
        Command::Go(go) if go.mode == Mode::Analyse => (Role::Analyse, "/mode"),
        // By several lines a search for a move, or a ponder, is an analysis by another name.
        Command::Go(go) if go.multipv > 1 => (Role::Analyse, "/multipv"),
        Command::Go(_) => (Role::Play, "/cmd"),
        Command::Close(close) if close.connection.is_some() => (Role::Operate, "/connection"),
        Command::Close(_) => (Role::Play, "/cmd"),
        // They show the whole server, and end what others do there.
        Command::Status(_) | Command::Connections(_) | Command::Disconnect(_) => (Role::Operate, "/cmd"),
    }
}
