//! Commands and options that this build lacks, because it was compiled without the feature that brings them:
//! the error says which feature that is, and how to install a plyd with it.

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error};

/// What a feature brings, the feature, and whether this build has it.
const OF_FEATURES: [(&str, &str, bool); 5] = [
    ("ladder", "ladder", cfg!(feature = "ladder")),
    ("fleet", "fleet", cfg!(feature = "fleet")),
    ("worker", "fleet", cfg!(feature = "fleet")),
    ("--nats", "fleet", cfg!(feature = "fleet")),
    ("mcp", "mcp", cfg!(feature = "mcp")),
];

/// The error as it is shown: one about an unknown command or option that a feature brings names the feature.
pub(super) fn explained(error: Error, command: &mut Command) -> Error {
    let asked = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| {
        let Some(ContextValue::String(asked)) = error.get(kind) else { return None };
        OF_FEATURES.iter().find(|(name, _, is_there)| name == asked && !is_there)
    });
    let Some((name, feature, _)) = asked else { return error };
    command.error(error.kind(), lacks(name, feature))
}

fn lacks(name: &str, feature: &str) -> String {
    format!(
        "this build of plyd lacks `{name}`, which comes with the feature `{feature}`\n\n  \
         in a clone of plyd: cargo install --locked --path . --features {feature}"
    )
}
