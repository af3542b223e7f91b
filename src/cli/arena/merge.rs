//! `plyd arena --merge`: the report of a match that was played in shards.

use std::io::Write;

use super::html::Gallery;
use super::report::Report;
use super::{Args, show};
use crate::arena::{MergeError, merge};
use crate::cli::failure::Failure;
use crate::cli::registry;

/// What describes a match that is to be played: the records of the shards say it.
pub(super) const NOT_WITH: [&str; 20] = [
    "game",
    "position",
    "moves",
    "rules",
    "players",
    "gauntlet",
    "ladder",
    "games",
    "openings",
    "random_plies",
    "seed",
    "sprt",
    "concurrency",
    "margin",
    "forgive_stalls",
    "timeout",
    "max_moves",
    "adjudicate",
    "preset",
    "record",
];

/// Reads the records of all shards, and reports on the whole match.
pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut gallery = args.html.is_some().then(Gallery::default);
    let merged = merge(&args.merge, registry::games(), |game| {
        if let Some(gallery) = &mut gallery {
            gallery.add(game);
        }
    });
    let (header, summary) = merged.map_err(|error| match error {
        MergeError::File { .. } => Failure::Usage(format!("--merge {error}")),
        MergeError::Empty => Failure::Usage(format!("--merge: {error}")),
        MergeError::Missing(missing) => Failure::Usage(format!(
            "--merge: games are missing:\n{missing}\ngive the files of all shards, and play those to their end that are not"
        )),
    })?;
    let report = Report::new(&header, None, &summary, None);
    show(args, &header, &report, gallery, out)
}
