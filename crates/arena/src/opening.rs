//! Positions where games begin: random plies from a start, and the draws of chance.

use std::collections::HashSet;
use std::sync::Arc;

use plyd_core::engine::{AnyRoot, ToMove};
use plyd_core::zobrist::SplitMix64;

/// How often an opening is drawn again before a repeated one is accepted.
const DRAWS: usize = 64;

/// Why there is no opening.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoOpening {
    /// Every drawn opening ended the game too early.
    #[error(
        "no opening of {plies} random plies was found: the games were over before; give fewer --random-plies"
    )]
    Over {
        /// The plies asked for.
        plies: usize,
    },
    /// There is no start.
    #[error("no start: {0}")]
    Start(String),
}

/// Draws `count` positions, each `plies` random moves from a start, with all legal moves equally likely.
/// `start` gives the start of an opening by its index; it may draw one from the random numbers. In each
/// position the game is not over and a player is to move. Positions differ, unless 64 draws found no new one.
///
/// ```
/// use std::sync::Arc;
///
/// use plyd_arena::{NoOpening, openings};
/// use plyd_core::play::Position;
///
/// let start = Position::start(&plyd_core::nim::ENTRY);
/// let openings = openings(|_, _| Ok::<_, NoOpening>(Arc::clone(start.root())), 2, 3, 0)?;
/// // Of 21 stones two moves leave 15 to 19: three of these openings differ.
/// assert!(openings.iter().all(|opening| opening.played().len() == 2));
/// assert_ne!(openings[0].text(), openings[1].text());
/// # Ok::<(), NoOpening>(())
/// ```
///
/// # Errors
/// [`NoOpening`] if the game was over in 64 draws in a row, or `start` fails.
pub fn openings<E: ToString>(
    mut start: impl FnMut(usize, &mut SplitMix64) -> Result<Arc<dyn AnyRoot>, E>,
    plies: usize,
    count: usize,
    seed: u64,
) -> Result<Vec<Arc<dyn AnyRoot>>, NoOpening> {
    let mut random = SplitMix64::new(seed);
    let mut seen = HashSet::new();
    // Once no new opening was found, later ones of the start that was drawn last have little hope.
    let mut exhausted = HashSet::new();
    (0..count)
        .map(|index| {
            let (mut known, mut of) = (None, None);
            for _ in 0..DRAWS {
                let start = start(index, &mut random).map_err(|error| NoOpening::Start(error.to_string()))?;
                let is_exhausted = exhausted.contains(&*of.insert(start.text()));
                if let Some(opening) = draw(start.as_ref(), plies, &mut random) {
                    if seen.insert(opening.text()) {
                        return Ok(opening);
                    }
                    known = Some(opening);
                    if is_exhausted {
                        break;
                    }
                }
            }
            exhausted.extend(of);
            known.ok_or(NoOpening::Over { plies })
        })
        .collect()
}

/// One random opening; none if the game is over too early.
fn draw(start: &dyn AnyRoot, plies: usize, random: &mut SplitMix64) -> Option<Arc<dyn AnyRoot>> {
    let mut opening = start.extend(&[]).expect("no move is no illegal one");
    let root = Arc::get_mut(&mut opening).expect("it is new");
    settle(root, random);
    for _ in 0..plies {
        let mut moves = root.legal();
        if moves.is_empty() {
            return None;
        }
        play(root, &moves.swap_remove(random.below(moves.len())));
        settle(root, random);
    }
    root.outcome().is_none().then_some(opening)
}

/// Draws chance outcomes by their probabilities until a player is to move or the game is over.
///
/// ```
/// use std::sync::Arc;
///
/// use plyd_core::engine::ToMove;
/// use plyd_core::engine::settings::Settings;
/// use plyd_core::play::Position;
/// use plyd_core::zobrist::SplitMix64;
///
/// // IJK, in which chance puts the first tile.
/// let rules = Settings::from_iter([("mode", "nondet")]);
/// let start = Position::open(&plyd_games::ijk::ENTRY, &rules, None)?;
/// let mut root = start.root().extend(&[])?;
/// let opening = Arc::get_mut(&mut root).expect("it is new");
/// plyd_arena::settle(opening, &mut SplitMix64::new(7));
/// assert!(matches!(root.to_move(), ToMove::Player(_)));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub fn settle(root: &mut dyn AnyRoot, random: &mut SplitMix64) {
    while root.to_move() == ToMove::Chance {
        let outcomes = root.chance();
        let probabilities: Vec<u32> = outcomes.iter().map(|outcome| outcome.ppm).collect();
        let outcome = random.outcome(&probabilities).expect("a chance node has outcomes");
        play(root, &outcomes[outcome].mv);
    }
}

fn play(root: &mut dyn AnyRoot, mv: &str) {
    root.play(mv).expect("the rules list this move");
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::engine::conformance::chosen;
    use plyd_core::engine::settings;
    use plyd_core::game::{Rules, Setting};
    use plyd_games::REGISTRY;

    fn isolation(width: i64, height: i64) -> Arc<dyn AnyRoot> {
        let entry = REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap();
        let rules = vec![("width", Setting::Int(width)), ("height", Setting::Int(height))];
        settings::open(entry, &Rules::new(rules), None).unwrap()
    }

    /// Openings that all begin alike.
    fn drawn(
        start: &Arc<dyn AnyRoot>,
        plies: usize,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Arc<dyn AnyRoot>>, NoOpening> {
        openings(|_, _| Ok::<_, String>(start.clone()), plies, count, seed)
    }

    fn texts(openings: &[Arc<dyn AnyRoot>]) -> Vec<String> {
        openings.iter().map(|opening| opening.text()).collect()
    }

    #[test]
    fn openings_of_every_game_can_be_played_on_from() {
        for entry in chosen(REGISTRY) {
            let start = settings::open(entry, &Rules::default(), None).unwrap();
            for opening in drawn(&start, 3, 20, 7).unwrap() {
                assert_eq!(opening.outcome(), None, "{}", entry.name);
                assert!(!opening.legal().is_empty(), "{}", entry.name);
                assert_eq!(opening.played().iter().filter(|ply| !ply.starts_with('~')).count(), 3);
            }
        }
    }

    #[test]
    fn a_seed_gives_its_openings_and_another_seed_gives_others() {
        let start = isolation(5, 5);
        let seeded = |seed| texts(&drawn(&start, 2, 10, seed).unwrap());
        assert_eq!(seeded(1), seeded(1));
        assert_ne!(seeded(1), seeded(2));
        let longer = texts(&drawn(&start, 2, 20, 1).unwrap());
        assert_eq!(seeded(1), longer[..10], "a longer match begins like a shorter one");
    }

    #[test]
    fn openings_differ_until_there_are_no_more() {
        let texts = texts(&drawn(&isolation(3, 3), 1, 20, 5).unwrap());
        let distinct: HashSet<&String> = texts.iter().collect();
        assert_eq!((texts.len(), distinct.len()), (20, 9));
        assert_eq!(texts[..9].iter().collect::<HashSet<_>>().len(), 9, "a new one comes before a known one");
    }

    #[test]
    fn a_start_with_few_openings_leaves_the_others_theirs() {
        let starts = [isolation(3, 3), isolation(5, 5)];
        let starts = |index: usize, _: &mut SplitMix64| Ok::<_, String>(starts[index % 2].clone());
        let texts = texts(&openings(starts, 1, 40, 5).unwrap());
        let distinct = |of: usize| texts.iter().skip(of).step_by(2).collect::<HashSet<_>>().len();
        assert_eq!((distinct(0), distinct(1)), (9, 20));
    }

    #[test]
    fn games_that_are_over_are_no_openings() {
        assert_eq!(drawn(&isolation(3, 3), 9, 1, 5).err(), Some(NoOpening::Over { plies: 9 }));
        let none = openings(|index, _| Err(format!("none of index {index}")), 0, 1, 5);
        assert_eq!(none.err(), Some(NoOpening::Start("none of index 0".into())));
    }
}
