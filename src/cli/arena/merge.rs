//! `plyd arena --merge`: the report of a match that was played in shards.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::html::Gallery;
use super::report::Report;
use super::reviews::MatchReview;
use super::{Args, REVIEW_ENDS, show};
use crate::arena::{MergeError, merge};
use crate::cli::failure::Failure;
use crate::cli::interrupt::Halt;
use crate::cli::{output, registry};

/// Reads the records of all shards, and reports on the whole match.
pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        args.merge
            .iter()
            .try_for_each(|part| output::try_path("--html", path, Some((output::GAMES, part))))?;
    }
    let mut gallery = args.html.is_some().then(Gallery::default);
    let mut kept = args.review.map(|_| Vec::new());
    let merged = merge(&args.merge, registry::games(), |game| {
        if let Some(gallery) = &mut gallery {
            gallery.add(game);
        }
        if let Some(kept) = &mut kept {
            kept.push(game.clone());
        }
    });
    let (header, summary) = merged.map_err(|error| match error {
        MergeError::File { .. } => Failure::Usage(format!("--merge {error}")),
        MergeError::Empty => Failure::Usage(format!("--merge: {error}")),
        MergeError::Missing(missing) => Failure::Usage(format!(
            "--merge: games are missing:\n{missing}\ngive the files of all shards; if a shard is unfinished, finish it first"
        )),
    })?;
    let halt = args.review.map(|_| Halt::on_interrupt(REVIEW_ENDS)).transpose()?;
    let never = AtomicBool::new(false);
    let interrupted = halt.as_ref().map_or(&never, Halt::interrupted);
    let review = MatchReview::wanted(args.review, kept.as_deref(), header.players.len(), interrupted)?;
    let report = Report::new(&header, None, &summary, None, review.as_ref());
    show(args, &header, &report, gallery, out)?;
    report.check_players(args.json)
}
