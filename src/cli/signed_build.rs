//! The builds that house bots are pinned to, and that workers of a fleet compare. A version of plyd is no
//! measure of strength: any commit may change how a game is searched, and the game's signature says whether
//! one did.

#[cfg(feature = "ladder")]
use std::collections::BTreeMap;
use std::ptr;

use crate::cli::bench;
use crate::cli::failure::Failure;
#[cfg(feature = "ladder")]
use crate::cli::registry;
use crate::engine::Entry;
use crate::games::REGISTRY;

/// The signatures of plyd's own games, a line each, which a test compares with `plyd bench`.
const RECORDED: &str = include_str!("../../tests/signature.txt");

/// The build of this program for a game.
///
/// # Errors
/// The game is not plyd's own, and does not take its own bench positions.
pub(super) fn build(entry: &'static Entry) -> Result<String, Failure> {
    let signature = match recorded(entry) {
        Some(signature) => signature.to_owned(),
        None => bench::signature_of(entry)?,
    };
    Ok(format!("plyd {}, bench {signature}", env!("CARGO_PKG_VERSION")))
}

/// The builds of this program for all its games, by their names.
///
/// # Errors
/// As [`build`].
#[cfg(feature = "ladder")]
pub(super) fn builds() -> Result<BTreeMap<String, String>, Failure> {
    registry::games().iter().map(|entry| Ok((entry.name.to_owned(), build(entry)?))).collect()
}

/// A game of another program may have the name of one of plyd's.
fn recorded(entry: &'static Entry) -> Option<&'static str> {
    let is_own = REGISTRY.iter().any(|own| ptr::eq(*own, entry));
    let mut lines = RECORDED.lines().filter_map(|line| line.split_once(' ')).filter(|_| is_own);
    lines.find_map(|(name, signature)| (name == entry.name).then_some(signature))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::nim;

    #[test]
    fn a_build_has_the_signature_of_its_game_recorded_or_computed() {
        for entry in REGISTRY.iter().copied().chain([&nim::ENTRY]) {
            let build = build(entry).unwrap();
            let is_own = recorded(entry).is_some_and(|signature| build.ends_with(signature));
            assert_eq!(is_own, entry.name != "nim", "{build}");
        }
        let l_game = REGISTRY.iter().find(|entry| entry.name == "l-game").unwrap();
        assert_eq!(recorded(l_game), Some(bench::signature_of(l_game).unwrap().as_str()));
    }
}
