//! A game as the store has it becomes one that is played: its opening, its clocks, and who sits where.

use std::sync::Arc;
use std::time::Duration;

use plyd_arena::referee::Terms;
use plyd_arena::{Entrant, NoOpening, openings};
use plyd_bridge as bridge;
use plyd_core::engine::settings::{self, Caps};
use plyd_core::engine::{AnyRoot, Entry};
use plyd_core::zobrist::mix;
use plyd_protocol::Seed;

use crate::game::{OpenGame, Opening};
use crate::play::{Game, HousePlayer, Network, Resumed, Seat, SeatGuard};
use crate::store::House;
use crate::terms::PoolTerms;

/// What a house player may use: it is as strong on any machine.
const HOUSE: Caps = Caps { threads: 1, hash_mb: 64 };

/// The game of that name.
///
/// # Errors
/// This plyd has none.
pub(super) fn entry(games: &[&'static Entry], name: &str) -> Result<&'static Entry, String> {
    let found = games.iter().copied().find(|entry| entry.name == name);
    found.ok_or_else(|| format!("this plyd has no game `{name}`"))
}

/// Draws where an encounter begins.
///
/// # Errors
/// The terms have no such beginning.
pub fn draw(games: &[&'static Entry], terms: &PoolTerms, seed: Seed) -> Result<Opening, String> {
    let entry = entry(games, &terms.game)?;
    let given = bridge::given(&terms.rules);
    let start = |_, random: &mut plyd_core::zobrist::SplitMix64| {
        // Rules may draw their start.
        let rules = settings::rules(entry, &given, random.next())?;
        settings::open(entry, &rules, None)
    };
    let drawn = openings(start, terms.opening_plies, 1, mix(seed.0));
    let drawn = drawn.map_err(|error| match error {
        NoOpening::Over { plies } => {
            format!("no opening of {plies} random plies was found: the games were over before; give fewer")
        }
        NoOpening::Start(why) => why,
    })?;
    let root = drawn.into_iter().next().ok_or("no opening was drawn")?;
    Ok(Opening { start: root.start_text(), moves: root.played().to_vec() })
}

/// The position where a game begins.
fn root(entry: &'static Entry, game: &OpenGame) -> Result<Arc<dyn AnyRoot>, String> {
    let opened = settings::rules(entry, &bridge::given(&game.terms.rules), game.seed.0)
        .and_then(|rules| settings::open(entry, &rules, Some(&game.opening.start)))
        .and_then(|start| start.extend(&game.opening.moves));
    opened.map_err(|fault| format!("its opening cannot be read: {}", fault.message))
}

/// A house player for a game. The same game is played alike each time.
///
/// # Errors
/// The game has no such player.
pub fn house(entry: &Entry, house: &House, seed: u64) -> Result<HousePlayer, String> {
    let given = bridge::given(&house.options);
    let options = settings::check_options(entry, &given)
        .and_then(|_| settings::options(entry, &given, seed, HOUSE))
        .map_err(|fault| format!("the house bot cannot play {}: {fault}", entry.name))?;
    Ok(HousePlayer::new(options, house.nodes))
}

/// The game with everything that its table needs, but the places of its bots.
pub(super) struct Prepared {
    pub(super) terms: Terms,
    pub(super) houses: [Option<HousePlayer>; 2],
}

/// Prepares a game; `houses` are the house bots among its players.
///
/// # Errors
/// Why it cannot be played.
pub(super) fn prepare(
    games: &[&'static Entry],
    game: &OpenGame,
    houses: [Option<&House>; 2],
) -> Result<Prepared, String> {
    let entry = entry(games, &game.terms.game)?;
    let mut seed = mix(game.seed.0 ^ game.id.0);
    let mut seat = |house: Option<&House>| {
        seed = mix(seed);
        house.map(|house| self::house(entry, house, seed)).transpose()
    };
    let [first, second] = houses;
    let houses = [seat(first)?, seat(second)?];
    let terms = Terms {
        opening: root(entry, game)?,
        chance: game.seed.0,
        controls: [game.terms.clock.control(); 2],
        strictness: game.terms.strictness,
    };
    Ok(Prepared { terms, houses })
}

/// Sits down.
pub(super) fn game(
    open: &OpenGame,
    prepared: Prepared,
    places: [SeatGuard; 2],
    builds: [Option<String>; 2],
    resumed: Option<Resumed>,
) -> Game {
    let Prepared { terms, houses: [first, second] } = prepared;
    let [one, other] = places;
    let seat = |house: Option<HousePlayer>, place: SeatGuard| {
        house.map_or_else(|| Seat::Bot(Arc::new(place)), Seat::House)
    };
    let [p1, p2] = builds;
    let entrant = |at: usize, build| Entrant {
        index: usize::try_from(open.players[at].bot.0).unwrap_or(usize::MAX),
        name: open.players[at].name.clone(),
        build,
    };
    let ms = Duration::from_millis;
    Game {
        id: open.id,
        pool: open.pool,
        seed: open.seed,
        players: [seat(first, one), seat(second, other)],
        entrants: [entrant(0, p1), entrant(1, p2)],
        terms,
        network: Network {
            most_of_move: ms(open.terms.network.move_ms),
            most_of_game: ms(open.terms.network.game_ms),
        },
        resumed,
        voided: None,
    }
}
