//! `plyd arena --merge`: the report of a match that was played in shards.

use std::io::Write;

use super::html::Gallery;
use super::report::Report;
use super::{Args, show};
use crate::arena::{MergeError, merge};
use crate::cli::failure::Failure;
use crate::cli::{output, registry};

/// Reads the records of all shards, and reports on the whole match.
pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(path) = &args.html {
        args.merge.iter().try_for_each(|part| output::try_path("--html", path, Some(part)))?;
    }
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
