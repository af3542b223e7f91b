//! Rules under which whole games are short.

/// Games with such rules.
pub(crate) const GAMES: [(&str, &str); 5] = [
    ("l-game", "max_plies=12"),
    ("isolation", "width=5,height=4"),
    ("colosseum", "size=5"),
    ("sudoku", "m=2,n=2,preset=rows"),
    ("ijk", "preset=v2-4x4,mode=nondet,max_plies=20"),
];

/// Those of a game; a game that is not in the list has its usual ones.
pub(crate) fn rules(game: &str) -> &'static str {
    GAMES.iter().find(|(name, _)| *name == game).map_or("", |(_, rules)| rules)
}
