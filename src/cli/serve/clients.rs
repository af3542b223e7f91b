//! The file of the clients that a daemon knows by name: TOML, a table for each, with the hash of its token,
//! its role and its limits.
//!
//! Knows no token. What a client may is declared once, as flags of `plyd token new` and as settings of the
//! file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use plyd_protocol::{Role, echo};

use super::file::{Table, read_tables};
use super::given::{GivenSetting, SettingError};
use super::keys::keys_of;
use super::sources::{parsed, refusal};
use super::values::whole;
use crate::cli::failure::Failure;
use crate::cli::system::others_read;
use crate::daemon::{Client, ClientLimits, SETTINGS, TokenHash};

/// The most that the file may hold: thousands of clients.
const MOST_BYTES: usize = 1 << 20;
/// The longest name.
const MOST_CHARACTERS: usize = 64;

/// What a client may.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct Rights {
    /// What the client may ask for: play (games), analyse (positions as well) or operate (everything)
    #[arg(long, value_name = "ROLE", value_parser = role, default_value = "play")]
    role: Role,
    #[command(flatten)]
    limits: Limits,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Limits of the client, over all its connections together [default: none]")]
struct Limits {
    /// Connections at once
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    connections: Option<u32>,
    /// Sessions open at once
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    sessions: Option<u32>,
    /// Searches at once
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    searches: Option<u32>,
    /// Threads of these searches together
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    threads: Option<u32>,
    /// Memory in MiB of their hash tables; and as much again for what its sessions and requests hold
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    memory_mb: Option<u32>,
}

/// A table of the file.
#[derive(Clone, Debug, clap::Args)]
struct ClientTable {
    /// The hash of the token
    #[arg(long, value_name = "HASH", value_parser = hash)]
    token: Option<TokenHash>,
    #[command(flatten)]
    rights: Rights,
}

impl Rights {
    /// The table of a client with these rights, as text.
    pub(in crate::cli) fn table(&self, name: &str, token: TokenHash) -> String {
        let Limits { connections, sessions, searches, threads, memory_mb } = self.limits;
        let mut text = format!("[{name}]\ntoken = \"{token}\"\nrole = \"{}\"\n", self.role);
        for (name, limit) in [
            ("connections", connections),
            ("sessions", sessions),
            ("searches", searches),
            ("threads", threads),
            ("memory-mb", memory_mb),
        ] {
            if let Some(limit) = limit {
                let _a_string_takes_all = writeln!(text, "{name} = {limit}");
            }
        }
        text
    }
}

impl Limits {
    fn of_client(&self) -> ClientLimits {
        let Self { connections, sessions, searches, threads, memory_mb } = *self;
        let memory_bytes = memory_mb.map(|mib| u64::from(mib) << 20);
        ClientLimits { connections, sessions, searches, threads, memory_bytes }
    }
}

/// The clients in a file.
///
/// # Errors
/// All that is wrong with it, a line each.
pub(in crate::cli) fn read_clients(path: &Path) -> Result<Vec<Client>, Failure> {
    let (tables, mut faults) = read_tables(&keys_of::<ClientTable>(), path, MOST_BYTES);
    let mut clients = Vec::new();
    let mut names: BTreeMap<TokenHash, String> = BTreeMap::new();
    for table in tables {
        match client(&table) {
            Ok(Some(client)) => {
                if let Some(other) = names.insert(client.token, client.name.clone()) {
                    let message =
                        format!("{} has the token of {other}: each client needs its own", client.name);
                    faults.push(SettingError { place: table.place, message });
                }
                clients.push(client);
            }
            Ok(None) => {}
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() { Ok(clients) } else { Err(refusal(faults)) }
}

/// The client of a table; none if the table is wrong and that is said already.
fn client(table: &Table) -> Result<Option<Client>, Vec<SettingError>> {
    let Table { name, place, found, is_whole } = table;
    let fault = |message: String| vec![SettingError { place: place.clone(), message }];
    self::name(name).map_err(|advice| fault(format!("`{}`: {advice}", echo(name))))?;
    let faults: Vec<SettingError> = found.iter().flat_map(GivenSetting::faults).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    if !is_whole {
        return Ok(None);
    }
    let ClientTable { token, rights } = parsed(found).map_err(|error| fault(error.to_string()))?;
    let Some(token) = token else {
        return Err(fault(format!("{name} has no `token`: `plyd token new {name}` makes one")));
    };
    Ok(Some(Client { name: name.clone(), token, role: rights.role, limits: rights.limits.of_client() }))
}

/// Warns of a file with secrets that users read who need not.
pub(super) fn warn_if_others_read(path: &Path) {
    let Ok(metadata) = path.metadata() else { return };
    if metadata.is_file() && others_read(&metadata) {
        let path = path.display();
        tracing::warn!(target: SETTINGS, "every user can read {path}: `chmod o= {path}` keeps them out");
    }
}

/// The name of a client.
pub(in crate::cli) fn name(text: &str) -> Result<String, String> {
    let is_meant = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if (1..=MOST_CHARACTERS).contains(&text.len()) && text.bytes().all(is_meant) {
        return Ok(text.to_owned());
    }
    Err(format!("a client's name is 1 to {MOST_CHARACTERS} of A-Z a-z 0-9 - _"))
}

fn role(text: &str) -> Result<Role, String> {
    let role = Role::ALL.into_iter().find(|role| role.to_string() == text);
    role.ok_or_else(|| format!("give {}", Role::ALL.map(|role| role.to_string()).join(", ")))
}

fn hash(text: &str) -> Result<TokenHash, String> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_client_has_every_setting_that_is_given() {
        let keys = keys_of::<ClientTable>();
        let flags = ["--role=operate", "--connections=1", "--sessions=2", "--searches=3", "--threads=4"];
        let command = super::super::keys::command::<Rights>();
        let matches = command.get_matches_from(flags.into_iter().chain(["--memory-mb=5"]));
        let rights = <Rights as clap::FromArgMatches>::from_arg_matches(&matches).unwrap();
        let text = rights.table("a", TokenHash::of("abc"));
        let named: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
        assert_eq!(named, keys.iter().map(|key| key.name()).collect::<Vec<_>>());
        assert!(text.starts_with("[a]\ntoken = \"sha256:ba78"), "{text}");
    }
}
