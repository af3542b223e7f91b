//! Games and players for other Rust programs: the place to begin.
//!
//! A [`Position`] lists and plays moves, which are texts; a [`Player`] searches positions within
//! [`SearchLimits`]; a [`Control`] stops a running search from another thread. They are the objects of
//! [`engine`](crate::engine) with fewer choices: errors are sentences, moves are strings, and the rules may
//! take as long as they need. They add no I/O and no thread.
//!
//! ```
//! use plyd_core::nim;
//! use plyd_core::options::Options;
//! use plyd_core::play::{Player, Position, SearchLimits};
//!
//! let heap = Position::start(&nim::ENTRY);
//! assert_eq!(heap.to_string(), "21 1");
//! assert_eq!(heap.legal(), ["1", "2", "3"]);
//!
//! let heap = heap.play("3")?;
//! let mut player = Player::new(&heap, &Options::default())?;
//! let answer = player.best(&heap, &SearchLimits { depth: Some(20), ..SearchLimits::default() })?;
//! assert_eq!(answer.mv(), "2");
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! Games that know what they are, and their searches as types, are in [`game`](crate::game) and
//! [`search`](crate::search).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::settings::{self, Settings};
use crate::engine::{
    AnyRoot, ChanceOutcome, Engine, Entry, Fault, FaultCode, Line, Place, Successor, ToMove,
};
use crate::game::{Drawing, Outcome};
use crate::options::Options;
use crate::search::clock::now_ns;
use crate::search::{Control, End, Stats, UNLIMITED};
use crate::svg::Theme;

/// The seed of rules that draw something, such as the start, and are given no seed.
const SEED: u64 = 0;

/// A position of a game, with its history. A copy costs little, and threads may share it.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let mut heap = Position::start(&nim::ENTRY);
/// while let Some(mv) = heap.legal().first() {
///     heap = heap.play(mv)?;
/// }
/// assert_eq!(heap.outcome().map(|outcome| outcome.by), Some("taken"));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[derive(Clone)]
pub struct Position(Arc<dyn AnyRoot>);

impl Position {
    /// Where a game begins under its default rules.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::play::Position;
    ///
    /// let heap = Position::start(&nim::ENTRY);
    /// assert_eq!((heap.game().name, heap.played().len()), ("nim", 0));
    /// ```
    ///
    /// # Panics
    /// If the game does not open under its own default rules, which the game's tests rule out.
    #[must_use]
    pub fn start(game: &'static Entry) -> Self {
        Self::open(game, &Settings::new(), None).expect("a game opens under its own defaults")
    }

    /// A position of a game under `rules`: the one that `text` describes, or else the start of the game.
    ///
    /// Rules that draw something at random and are given no seed draw the same each time.
    ///
    /// ```
    /// use plyd_core::engine::settings::Settings;
    /// use plyd_core::nim;
    /// use plyd_core::play::Position;
    ///
    /// let rules = Settings::from_iter([("most", 5)]);
    /// let heap = Position::open(&nim::ENTRY, &rules, Some("4 2"))?;
    /// assert_eq!(heap.legal(), ["1", "2", "3", "4"]);
    /// assert!(Position::open(&nim::ENTRY, &rules, Some("all of them")).is_err());
    /// # Ok::<(), plyd_core::engine::Fault>(())
    /// ```
    ///
    /// # Errors
    /// The game has no such rule or does not take its value, or the text is no position under these rules.
    pub fn open(game: &'static Entry, rules: &Settings, text: Option<&str>) -> Result<Self, Fault> {
        settings::open(game, &settings::rules(game, rules, SEED)?, text).map(Self)
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &'static Entry {
        self.0.entry()
    }

    /// Who decides the next ply; at the end of the game, who would.
    #[must_use]
    pub fn to_move(&self) -> ToMove {
        self.0.to_move()
    }

    /// The legal moves; none if chance decides, or the game is over.
    #[must_use]
    pub fn legal(&self) -> Vec<String> {
        self.0.legal()
    }

    /// The legal moves, each with what follows; with the static evaluation after it if an evaluator of the
    /// game is named.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::play::Position;
    ///
    /// let heap = Position::start(&nim::ENTRY);
    /// // Nim has one evaluator, which knows that a multiple of four is lost.
    /// let best = heap.successors(Some("rest"))?.into_iter().max_by_key(|after| after.eval);
    /// assert_eq!(best.map(|after| (after.mv, after.text)), Some(("1".to_owned(), "20 2".to_owned())));
    /// # Ok::<(), plyd_core::engine::Fault>(())
    /// ```
    ///
    /// # Errors
    /// The rules do not find out what a move does, or the game has no such evaluator.
    pub fn successors(&self, evaluator: Option<&str>) -> Result<Vec<Successor>, Fault> {
        self.0.moves(evaluator)
    }

    /// The possible outcomes of chance with their probabilities; none if a player moves or the game is over.
    #[must_use]
    pub fn chance(&self) -> Vec<ChanceOutcome> {
        self.0.chance()
    }

    /// The position after a move or a chance outcome.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::play::Position;
    ///
    /// let heap = Position::start(&nim::ENTRY).play("3")?.play("2")?;
    /// assert_eq!(heap.to_string(), "16 1");
    /// assert_eq!(heap.played(), ["3", "2"]);
    /// assert_eq!(heap.play("4").unwrap_err().to_string(), "ply 3: no legal move is written so");
    /// # Ok::<(), plyd_core::engine::Fault>(())
    /// ```
    ///
    /// # Errors
    /// The rules do not allow it.
    pub fn play(&self, mv: &str) -> Result<Self, Fault> {
        self.0.extend(&[mv.to_owned()]).map(Self)
    }

    /// The plies that were played since the start.
    #[must_use]
    pub fn played(&self) -> &[String] {
        self.0.played()
    }

    /// How the game ended, if it is over.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }

    /// The board as drawing primitives.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::play::Position;
    ///
    /// let board = Position::start(&nim::ENTRY).board();
    /// let mut row = vec!["."; board.cols];
    /// for piece in &board.pieces {
    ///     for &(_, col) in &piece.cells {
    ///         row[col] = "o";
    ///     }
    /// }
    /// assert_eq!(row.concat(), "o".repeat(21));
    /// ```
    #[must_use]
    pub fn board(&self) -> Drawing {
        self.0.board()
    }

    /// The board as a picture, SVG, with the last move pointed out.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::play::Position;
    /// use plyd_core::svg::Theme;
    ///
    /// let svg = Position::start(&nim::ENTRY).svg(Theme::Auto);
    /// assert!(svg.starts_with("<svg ") && svg.matches("<circle").count() == 21);
    /// ```
    #[must_use]
    pub fn svg(&self, theme: Theme) -> String {
        self.0.svg(theme)
    }

    /// The underlying object of [`engine`](crate::engine), which answers everything else.
    #[must_use]
    pub fn root(&self) -> &Arc<dyn AnyRoot> {
        &self.0
    }
}

impl From<Arc<dyn AnyRoot>> for Position {
    fn from(root: Arc<dyn AnyRoot>) -> Self {
        Self(root)
    }
}

/// The position's text, which [`Position::open`] reads.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text())
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({}: {self})", self.game().name)
    }
}

/// When a search ends, and how many lines it gives; the defaults set no end.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_core::play::SearchLimits;
///
/// // A second at most, less if a million positions were visited before.
/// let limits = SearchLimits {
///     nodes: Some(1_000_000),
///     time: Some(Duration::from_secs(1)),
///     ..SearchLimits::default()
/// };
/// assert_eq!((limits.depth, limits.multipv), (None, 1));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchLimits {
    /// The plies to look ahead.
    pub depth: Option<u32>,
    /// The positions to visit.
    pub nodes: Option<u64>,
    /// The time from the start of the search. Within an iteration the clock is looked at every 1,024 nodes:
    /// where a node is much work, a search takes longer. What it prepares before the first comes on top.
    pub time: Option<Duration>,
    /// How many lines to give, each with another first move; never more than there are moves.
    pub multipv: usize,
    /// The moves to choose from; all of them if the list is empty.
    pub searchmoves: Vec<String>,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { depth: None, nodes: None, time: None, multipv: 1, searchmoves: Vec::new() }
    }
}

/// Chooses moves in games under the same rules, and keeps what it learned for the next search.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::options::Options;
/// use plyd_core::play::{Player, Position, SearchLimits};
///
/// // A player against itself.
/// let mut heap = Position::start(&nim::ENTRY);
/// let mut player = Player::new(&heap, &Options::default())?;
/// let limits = SearchLimits { depth: Some(12), ..SearchLimits::default() };
/// while heap.outcome().is_none() {
///     heap = heap.play(player.best(&heap, &limits)?.mv())?;
/// }
/// assert!(heap.outcome().is_some_and(|end| end.winner == Some(plyd_core::game::Side::First)));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub struct Player(Box<dyn Engine>);

impl Player {
    /// A player for games under the rules of a position; [`Options::default`] is the game's strongest.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::options::Options;
    /// use plyd_core::play::{Player, Position};
    ///
    /// let heap = Position::start(&nim::ENTRY);
    /// let beginner = Options { level: 1, ..Options::default() };
    /// assert!(Player::new(&heap, &beginner).is_ok());
    /// let stranger = Options { player: "grandmaster".to_owned(), ..Options::default() };
    /// assert!(Player::new(&heap, &stranger).is_err());
    /// ```
    ///
    /// # Errors
    /// The game does not have such a player.
    pub fn new(position: &Position, options: &Options) -> Result<Self, Fault> {
        position.0.engine(options).map(Self)
    }

    /// The best move within the limits. Without limits it searches until the best move is proven, which may
    /// never happen.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn best(&mut self, position: &Position, limits: &SearchLimits) -> Result<Answer, Fault> {
        self.search(position, limits, &Control::default(), |_| ())
    }

    /// Searches within the limits until `control` says stop. Calls `publish` with each better answer, and
    /// goes on when it returns; the first is a legal move, before anything was searched.
    ///
    /// Each [`Control`] is for one search. If it says stop before the search has begun, the search ends at
    /// once, with a legal move.
    ///
    /// ```
    /// use plyd_core::nim;
    /// use plyd_core::options::Options;
    /// use plyd_core::play::{Player, Position, SearchLimits};
    /// use plyd_core::search::{Control, End};
    ///
    /// let heap = Position::start(&nim::ENTRY);
    /// let mut player = Player::new(&heap, &Options { player: "tree".to_owned(), ..Options::default() })?;
    /// let control = Control::default();
    /// let answer = std::thread::scope(|scope| {
    ///     scope.spawn(|| control.stop());
    ///     player.search(&heap, &SearchLimits::default(), &control, |lines| {
    ///         println!("depth {}: {}", lines[0].depth, lines[0].mv());
    ///     })
    /// })?;
    /// assert!(heap.legal().iter().any(|mv| mv == answer.mv()));
    /// # Ok::<(), plyd_core::engine::Fault>(())
    /// ```
    ///
    /// # Errors
    /// The game is over, chance decides, a move of `searchmoves` is not legal, or the player was made for
    /// another game or other rules.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &SearchLimits,
        control: &Control,
        mut publish: impl FnMut(&[Line]),
    ) -> Result<Answer, Fault> {
        let root = position.0.as_ref();
        if !self.0.fits(root) {
            let message = "the player was made for another game or other rules";
            return Err(Fault::new(FaultCode::RulesUnsupported, Place::Request, message));
        }
        let candidates = root.candidates(&limits.searchmoves, &[])?;
        control.set_limits(limits.nodes, limits.depth);
        if let Some(time) = limits.time {
            let ns = u64::try_from(time.as_nanos()).unwrap_or(UNLIMITED);
            let deadline = now_ns().saturating_add(ns);
            control.set_deadlines(deadline, deadline);
        }
        let (lines, end) =
            self.0.search(root, &candidates, limits.multipv, control, &mut |lines| publish(&lines));
        Ok(Answer { lines, end, stats: control.stats() })
    }

    /// Forgets what was learned in earlier searches.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The result of a search.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::options::Options;
/// use plyd_core::play::{Player, Position, SearchLimits};
/// use plyd_core::search::End;
///
/// let heap = Position::start(&nim::ENTRY);
/// let answer = Player::new(&heap, &Options::default())?.best(&heap, &SearchLimits::default())?;
/// assert_eq!((answer.mv(), answer.end), ("1", End::Proven));
/// let proof = answer.lines[0].value.and_then(|value| value.proof);
/// assert!(proof.is_some_and(|proof| proof.result.is_gt()));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The lines, best first; at least one.
    pub lines: Vec<Line>,
    /// Why the search ended.
    pub end: End,
    /// How far the search came.
    pub stats: Stats,
}

impl Answer {
    /// The move to be played.
    #[must_use]
    pub fn mv(&self) -> &str {
        self.lines[0].mv()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim;

    fn limits(depth: u32) -> SearchLimits {
        SearchLimits { depth: Some(depth), ..SearchLimits::default() }
    }

    #[test]
    fn searches_keep_their_limits() {
        let heap = Position::start(&nim::ENTRY);
        let mut player = Player::new(&heap, &Options::default()).unwrap();
        assert_eq!(player.best(&heap, &limits(3)).unwrap().stats.depth, 3);
        let chosen = SearchLimits { searchmoves: vec!["2".into(), "3".into()], multipv: 9, ..limits(1) };
        assert_eq!(player.best(&heap, &chosen).unwrap().lines.len(), 2);
        let brief = SearchLimits { time: Some(Duration::ZERO), ..SearchLimits::default() };
        assert_eq!(player.best(&heap, &brief).unwrap().end, End::Clock);
        let control = Control::default();
        control.stop();
        let stopped = player.search(&heap, &SearchLimits::default(), &control, |_| ()).unwrap();
        assert_eq!(stopped.end, End::Stopped);
    }

    #[test]
    fn a_depth_of_0_is_one_of_a_move_at_sight_or_of_a_ply() {
        let heap = Position::start(&nim::ENTRY);
        for player in nim::ENTRY.players() {
            let options = Options { player: player.name.into(), ..Options::default() };
            let found = Player::new(&heap, &options).unwrap().best(&heap, &limits(0)).unwrap();
            assert!(found.stats.depth <= 1 && !found.lines.is_empty(), "{}", player.name);
        }
    }

    #[test]
    fn what_cannot_be_searched_is_refused() {
        let heap = Position::start(&nim::ENTRY);
        let mut player = Player::new(&heap, &Options::default()).unwrap();
        let rules = Settings::from_iter([("most", 5)]);
        let other = Position::open(&nim::ENTRY, &rules, None).unwrap();
        let over = Position::open(&nim::ENTRY, &Settings::new(), Some("0 2")).unwrap();
        for (position, limits, code) in [
            (&other, limits(1), FaultCode::RulesUnsupported),
            (&over, limits(1), FaultCode::GameOver),
            (&heap, SearchLimits { searchmoves: vec!["4".into()], ..limits(1) }, FaultCode::IllegalMove),
        ] {
            assert_eq!(player.best(position, &limits).unwrap_err().code, code, "{position:?}");
        }
        let message = player.best(&over, &limits(1)).unwrap_err().message;
        assert!(message.contains(" has won (`") && message.ends_with("nothing to search"), "{message}");
    }
}
