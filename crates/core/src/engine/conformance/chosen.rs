//! How much the tests check: all games of a registry or the one being worked on, in full or by samples.

use crate::engine::Entry;

/// The games of a registry that are to be tested: all, or the one that the environment variable `PLYD_GAME`
/// names, as in `PLYD_GAME=ijk cargo test`. Every test that runs over all games calls this.
///
/// ```no_run
/// use plyd_core::engine::conformance::{all, chosen};
///
/// for entry in chosen(&[&plyd_core::nim::ENTRY]) {
///     all(entry).unwrap();
/// }
/// ```
///
/// # Panics
/// If the registry has no game of that name; the message lists those that it has.
#[must_use]
pub fn chosen(registry: &[&'static Entry]) -> Vec<&'static Entry> {
    let name = std::env::var_os("PLYD_GAME").filter(|name| !name.is_empty());
    let name = name.map(|name| name.to_string_lossy().into_owned());
    named(registry, name.as_deref()).unwrap_or_else(|unknown| panic!("{unknown}"))
}

/// Whether long tests are run in full: with `PLYD_WHOLE=1` in the environment, as `.ci/run` sets it.
/// Otherwise they take samples.
///
/// ```no_run
/// use plyd_core::engine::conformance::is_whole;
///
/// let boards = if is_whole() { 4_000 } else { 1_000 };
/// # let _ = boards;
/// ```
#[must_use]
pub fn is_whole() -> bool {
    std::env::var_os("PLYD_WHOLE").is_some_and(|value| value == "1")
}

fn named(registry: &[&'static Entry], name: Option<&str>) -> Result<Vec<&'static Entry>, String> {
    let is_named = |entry: &&&Entry| name.is_none_or(|name| entry.name == name);
    let games: Vec<_> = registry.iter().filter(is_named).copied().collect();
    match name {
        Some(name) if games.is_empty() => {
            let names: Vec<&str> = registry.iter().map(|entry| entry.name).collect();
            let names = names.join(", ");
            Err(format!("there is no game `{name}`, which PLYD_GAME names; there are: {names}"))
        }
        _ => Ok(games),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim;

    static OTHER: Entry = Entry { name: "other", ..nim::ENTRY };

    #[test]
    fn a_game_is_chosen_by_its_name() {
        let registry = [&nim::ENTRY, &OTHER];
        let names = |name| -> Result<Vec<&str>, String> {
            Ok(named(&registry, name)?.into_iter().map(|entry| entry.name).collect())
        };
        assert_eq!(names(None).unwrap(), ["nim", "other"]);
        assert_eq!(names(Some("nim")).unwrap(), ["nim"]);
        assert_eq!(names(Some("other")).unwrap(), ["other"]);
        for unknown in ["", "no_such_game", "othe", "\u{fffd}"] {
            let message = names(Some(unknown)).unwrap_err();
            assert!(
                message.contains(&format!("`{unknown}`")) && message.ends_with("nim, other"),
                "{message}"
            );
        }
    }
}
