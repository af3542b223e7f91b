//! All games out of a ladder and into another one, and copies of the database.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::PathBuf;

use super::place::{Place, failed};
use crate::cli::failure::Failure;
use crate::cli::system::open_without_waiting;
use crate::cli::words;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder export games.jsonl             for another ladder, or for `plyd show`
  plyd ladder export - | zstd > games.zst")]
pub(super) struct Export {
    /// The file, which must not be there; - for the standard output
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder init --db postgres://plyd@localhost/ladder
  plyd ladder import games.jsonl --db postgres://plyd@localhost/ladder

The ladder must be new: games, bots and pools keep their numbers and names. Tokens and the audit log do not come along; \
a backup keeps those.")]
pub(super) struct Import {
    /// What `plyd ladder export` wrote
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder backup /backup/ladder-$(date +%F).db
  plyd ladder check --db /backup/ladder-2027-01-31.db

Of a ladder in PostgreSQL pg_dump makes backups.")]
pub(super) struct Backup {
    /// The file, which must not be there
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

pub(super) fn export(args: &Export, out: &mut impl Write) -> Result<(), Failure> {
    let mut store = args.place.open()?;
    if args.file.as_os_str() == "-" {
        store.export(out).map_err(failed)?;
        return Ok(());
    }
    let wrong = |error: std::io::Error| {
        let file = args.file.display();
        Failure::Usage(match error.kind() {
            ErrorKind::AlreadyExists => format!("{file} is there already: give another file"),
            _ => format!("{file}: {error}"),
        })
    };
    let file = File::options().write(true).create_new(true).open(&args.file).map_err(wrong)?;
    let mut lines = BufWriter::new(file);
    let games = store.export(&mut lines).map_err(failed)?;
    lines.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(writeln!(out, "{}", words::count(games, "game"))?)
}

pub(super) fn import(args: &Import, out: &mut impl Write) -> Result<(), Failure> {
    let wrong = |error| Failure::Usage(format!("{}: {error}", args.file.display()));
    let file = open_without_waiting(&args.file).map_err(wrong)?;
    // It writes for long, and a server would go on with what it read before.
    let mut store = args.place.open_alone()?;
    let imported = store.import(&mut BufReader::new(file), &args.place.by()).map_err(failed)?;
    let plyd_ladder::store::Imported { games, encounters, bots } = imported;
    let count = words::count;
    let (games, encounters, bots) =
        (count(games, "game"), count(encounters, "encounter"), count(bots, "bot"));
    Ok(writeln!(out, "{games} of {encounters}, and {bots}")?)
}

pub(super) fn backup(args: &Backup, out: &mut impl Write) -> Result<(), Failure> {
    args.place.open()?.backup(&args.file).map_err(failed)?;
    Ok(writeln!(out, "{}", args.file.display())?)
}
