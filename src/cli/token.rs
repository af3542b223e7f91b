//! `plyd token`: the tokens of the clients that a daemon knows by name. A token is printed when it is made,
//! and then only its hash is left.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::serve::{Rights, client_name, read_clients};
use super::system::open_secrets;
use crate::daemon::{TokenHash, new_token};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd token new alice --clients-file clients.toml > alice.token
                                         a client more; the token is for alice, who calls the server with
                                         --token-file alice.token
  plyd token new lab --role analyse --connections 4 --searches 8 --threads 8 --memory-mb 512
                                         the token on standard output, what belongs into the file on stderr
  plyd serve --tcp 127.0.0.1:7117 --clients-file clients.toml

To take a client's rights away, remove its table from the file and send the daemon SIGHUP. To give it another token, \
remove it and make it anew.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a token for a new client and print it. It is shown this once: the file keeps its hash alone
    New(New),
}

#[derive(Debug, clap::Args)]
struct New {
    /// The client's name, 1 to 64 of A-Z a-z 0-9 - _
    #[arg(value_parser = client_name)]
    name: String,
    /// Add the client to this file, for `plyd serve --clients-file`; it is made if there is none
    #[arg(long, value_name = "FILE")]
    clients_file: Option<PathBuf>,
    #[command(flatten)]
    rights: Rights,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::New(args) => new(args, out),
    }
}

fn new(New { name, clients_file, rights }: &New, out: &mut impl Write) -> Result<(), Failure> {
    let token = random_token()?;
    let table = rights.table(name, TokenHash::of(&token));
    match clients_file {
        Some(path) => add(path, name, &table)?,
        None => io::stderr().write_all(format!("# For the file of clients:\n{table}").as_bytes())?,
    }
    // Not what is said of other output that nobody reads: the token is lost.
    let printed = writeln!(out, "{token}").and_then(|()| out.flush());
    printed.map_err(|error| {
        Failure::Failed(format!("the token cannot be printed and is lost ({error}): remove `[{name}]` again"))
    })
}

fn random_token() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(new_token(&bytes))
}

/// Adds the table of a client to a file, in one write, so that a daemon which reads the file finds all of it
/// or nothing.
fn add(path: &Path, name: &str, table: &str) -> Result<(), Failure> {
    let refused =
        |what: &dyn std::fmt::Display| Failure::Failed(format!("--clients-file {}: {what}", path.display()));
    // Opening a pipe would wait for its reader.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(refused(&"this is no regular file"));
    }
    // Another one that adds a client waits; the end of this function lets it go on.
    let file = open_secrets(path).map_err(|error| refused(&error))?;
    if read_clients(path)?.iter().any(|client| client.name == name) {
        return Err(refused(&format!(
            "it has a client {name} already: give another name, or remove its table from the file first"
        )));
    }
    let text = match last_byte(&file).map_err(|error| refused(&error))? {
        None => table.to_owned(),
        Some(b'\n') => format!("\n{table}"),
        Some(_) => format!("\n\n{table}"),
    };
    (&file).write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| refused(&error))
}

fn last_byte(mut file: &File) -> io::Result<Option<u8>> {
    let Some(at) = file.metadata()?.len().checked_sub(1) else { return Ok(None) };
    let mut byte = [0];
    // What is written is appended all the same.
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut byte)?;
    Ok(Some(byte[0]))
}
