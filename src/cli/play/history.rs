//! The game as it was played: its plies with their answers, and the place in it that is shown.
//!
//! Does no I/O and knows no rules: which plies are legal, a server says before they are put here.

use std::time::Duration;

use crate::arena::{Answered, Forfeit, GameClock, TimeControl};
use plyd_protocol::{Outcome, Player, Position, Settings};

use super::seats;

/// A ply.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Ply {
    /// The move or, after a `~`, the outcome of chance.
    pub(super) text: String,
    /// Who answered with it and when; none for chance and for the plies with which the game began.
    pub(super) answer: Option<Answered>,
}

impl Ply {
    fn is_chance(&self) -> bool {
        self.text.starts_with('~')
    }
}

/// A game and a place in it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct History {
    /// All rules in force.
    pub(super) rules: Settings,
    /// The position's text where it began.
    pub(super) start: String,
    plies: Vec<Ply>,
    /// How many of the plies lead to the position that is shown.
    at: usize,
    /// Whether the place is only shown: nothing behind it is taken back yet.
    pub(super) looking: bool,
    /// How the game ended if not by its rules.
    pub(super) broken_off: Option<BrokenOff>,
}

/// What a file has of a game.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Saved {
    moves: Vec<String>,
    broken_off: Option<BrokenOff>,
}

/// The end of a game that its rules do not know.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum BrokenOff {
    /// A flag fell, or a match had a forfeit.
    Forfeit(Forfeit),
    /// This side resigned.
    Resigned(Player),
}

impl BrokenOff {
    /// What records say of a game that was resigned.
    pub(super) const RESIGNATION: &str = "resignation";

    /// How the game ended by it.
    pub(super) fn outcome(&self) -> Outcome {
        let (loser, by) = match self {
            Self::Forfeit(forfeit) => (forfeit.player, forfeit.reason.kind.name()),
            Self::Resigned(player) => (*player, Self::RESIGNATION),
        };
        Outcome { winner: Some(seats::other(loser)), by: by.to_owned(), scores: None }
    }
}

impl History {
    /// A game that begins with these plies, and stands behind them.
    pub(super) fn new(
        rules: Settings,
        start: String,
        plies: Vec<Ply>,
        broken_off: Option<BrokenOff>,
    ) -> Self {
        Self { rules, start, at: plies.len(), plies, looking: false, broken_off }
    }

    /// The position that is shown.
    pub(super) fn position(&self) -> Position {
        self.position_after(self.at)
    }

    /// The position after so many plies.
    pub(super) fn position_after(&self, plies: usize) -> Position {
        let moves = self.plies[..plies].iter().map(|ply| ply.text.clone()).collect();
        Position { start: Some(self.start.clone()), moves }
    }

    /// How many plies lead to the position that is shown.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many plies there are, those included that were taken back and can be played again.
    pub(super) fn len(&self) -> usize {
        self.plies.len()
    }

    /// Whether the place is the end of what was played.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.plies.len()
    }

    /// The plies that a record of the game has: all, unless some were taken back.
    pub(super) fn kept(&self) -> &[Ply] {
        if self.looking { &self.plies } else { &self.plies[..self.at] }
    }

    /// What a file has once the game is saved.
    pub(super) fn saved(&self) -> Saved {
        let kept = self.kept();
        // An end stands behind the last ply: whoever went back from there is before it.
        let broken_off = self.broken_off.clone().filter(|_| kept.len() == self.plies.len());
        Saved { moves: kept.iter().map(|ply| ply.text.clone()).collect(), broken_off }
    }

    /// Whether a file with this has all of the game.
    pub(super) fn is_in(&self, file: &Saved) -> bool {
        let now = self.saved();
        if now.broken_off.is_some() { now == *file } else { file.moves.starts_with(&now.moves) }
    }

    /// All plies, those included that were taken back.
    pub(super) fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// Plays a ply at the place that is shown. What came behind it is dropped.
    pub(super) fn play(&mut self, text: String, answer: Option<Answered>) {
        self.plies.truncate(self.at);
        self.plies.push(Ply { text, answer });
        self.at += 1;
        self.looking = false;
        self.broken_off = None;
    }

    /// Ends the game at the place that is shown. What was taken back is dropped.
    pub(super) fn break_off(&mut self, how: BrokenOff) {
        self.plies.truncate(self.at);
        self.looking = false;
        self.broken_off = Some(how);
    }

    /// Goes to the place after so many plies, or to the nearest there is.
    pub(super) fn go_to(&mut self, ply: usize) {
        self.at = ply.min(self.plies.len());
    }

    /// Goes back by a move, with the chance that followed it; returns whether there was one.
    pub(super) fn back(&mut self) -> bool {
        let last = self.plies[..self.at].iter().rposition(|ply| !ply.is_chance());
        self.at = last.unwrap_or(self.at);
        last.is_some()
    }

    /// Goes on by a move, with the chance that followed it; returns whether there was one.
    pub(super) fn forward(&mut self) -> bool {
        let before = self.at;
        while self.at < self.plies.len() && (self.at == before || self.plies[self.at].is_chance()) {
            self.at += 1;
        }
        self.at > before
    }

    /// The clocks of p1 and p2 at the place that is shown, under a control for each.
    pub(super) fn clocks(&self, controls: [TimeControl; 2]) -> [GameClock; 2] {
        let mut clocks = controls.map(GameClock::new);
        // A move that took no time was made before any clock ran, and brings no increment.
        let timed = self.plies[..self.at].iter().filter_map(|ply| ply.answer.as_ref());
        for answer in timed.filter(|answer| answer.time_us > 0) {
            let clock = &mut clocks[usize::from(answer.player == Player::P2)];
            // A clock may be given in the middle of a game: earlier moves never make a flag fall.
            let time = Duration::from_micros(answer.time_us).min(clock.allowed().unwrap_or(Duration::MAX));
            let _within = clock.press(time, Duration::ZERO);
        }
        clocks
    }
}

/// The answer of a player of whose time nothing is known.
pub(super) fn untimed(player: Player) -> Answered {
    Answered {
        player,
        time_us: 0,
        own_us: None,
        left_us: None,
        granted_us: None,
        forgiven_us: None,
        score: None,
        incident: None,
    }
}

/// The plies of a record, whose first `opening` have no answers; answers that do not fit are left out.
pub(super) fn plies(moves: Vec<String>, opening: usize, answers: Vec<Answered>) -> Vec<Ply> {
    let asked = moves.iter().skip(opening).filter(|mv| !mv.starts_with('~')).count();
    let mut answers = if asked == answers.len() { answers } else { Vec::new() }.into_iter();
    let plies = moves.into_iter().enumerate().map(|(index, text)| {
        let answer = if index < opening || text.starts_with('~') { None } else { answers.next() };
        Ply { text, answer }
    });
    plies.collect()
}

/// The fields of a record that hold the plies: moves, how many of them are the opening, and the answers.
pub(super) fn record(plies: &[Ply]) -> (Vec<String>, usize, Vec<Answered>) {
    let moves = plies.iter().map(|ply| ply.text.clone()).collect();
    // Behind the last move that nobody answered for, each move has its answer.
    let unanswered = plies.iter().rposition(|ply| ply.answer.is_none() && !ply.is_chance());
    let opening = unanswered.map_or(0, |last| last + 1);
    let answers = plies[opening..].iter().filter_map(|ply| ply.answer.clone()).collect();
    (moves, opening, answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(player: Player, ms: u64) -> Option<Answered> {
        let time_us = ms * 1000;
        Some(Answered { time_us, own_us: Some(time_us), ..untimed(player) })
    }

    /// A game of moves and `~` chance plies, each answered in a second by p1 and p2 in turn.
    fn game(moves: &str) -> History {
        let mut history = History::default();
        let mut players = [Player::P1, Player::P2].into_iter().cycle();
        for mv in moves.split(' ') {
            let answer = if mv.starts_with('~') { None } else { answer(players.next().unwrap(), 1000) };
            history.play(mv.into(), answer);
        }
        history
    }

    #[test]
    fn moves_are_taken_back_with_the_chance_behind_them() {
        let mut history = game("U ~a1 L ~b2 D");
        let mut places = Vec::new();
        while history.back() {
            places.push(history.at());
        }
        assert_eq!(places, [4, 2, 0]);
        let mut places = Vec::new();
        while history.forward() {
            places.push(history.at());
        }
        assert_eq!(places, [2, 4, 5]);
        assert_eq!(history.plies().len(), 5);
    }

    #[test]
    fn chance_before_the_first_move_is_not_taken_back() {
        let mut history = game("~a1 U ~b2 L");
        let places = [(); 3].map(|()| (history.back(), history.at()));
        assert_eq!(places, [(true, 3), (true, 1), (false, 1)]);
    }

    #[test]
    fn a_new_move_drops_what_was_taken_back_and_looking_drops_nothing() {
        let mut history = game("a b c");
        history.looking = true;
        history.go_to(1);
        assert_eq!((history.kept().len(), history.position().moves.len()), (3, 1));
        history.looking = false;
        assert_eq!(history.kept().len(), 1);
        history.play("d".into(), None);
        assert_eq!(history.position().moves, ["a", "d"]);
        assert!(history.is_at_end());
        history.go_to(99);
        assert_eq!(history.at(), 2);
    }

    #[test]
    fn a_file_has_a_game_if_nothing_in_the_game_differs() {
        let file = game("a b c").saved();
        for (moves, is_in) in [("a", true), ("a b c", true), ("a c", false), ("a b c d", false)] {
            assert_eq!(game(moves).is_in(&file), is_in, "{moves}");
        }
        let mut resigned = game("a b c");
        resigned.break_off(BrokenOff::Resigned(Player::P1));
        assert!(!resigned.is_in(&file));
        let file = resigned.saved();
        assert!(resigned.is_in(&file));
        resigned.looking = true;
        resigned.go_to(1);
        assert!(resigned.is_in(&file));
        resigned.break_off(BrokenOff::Resigned(Player::P1));
        assert!(!resigned.is_in(&file));
    }

    #[test]
    fn clocks_follow_the_place_that_is_shown() {
        let control =
            TimeControl::Increment { base: Duration::from_secs(10), increment: Duration::ZERO, moves: None };
        let left =
            |history: &History| history.clocks([control; 2]).map(|clock| clock.left().unwrap().as_secs());
        let mut history = game("a b c");
        assert_eq!(left(&history), [8, 9]);
        history.back();
        assert_eq!(left(&history), [9, 9]);
        let increment = TimeControl::Increment {
            base: Duration::from_secs(9),
            increment: Duration::from_secs(1),
            moves: None,
        };
        let mut before = History::default();
        before.play("a".into(), Some(untimed(Player::P1)));
        let left =
            |history: &History| history.clocks([increment; 2]).map(|clock| clock.left().unwrap().as_secs());
        assert_eq!(left(&before), [9, 9]);
        let long = History::new(
            Settings::new(),
            String::new(),
            vec![Ply { text: "a".into(), answer: answer(Player::P1, 60_000) }],
            None,
        );
        assert_eq!(long.clocks([control; 2]).map(|clock| clock.left().unwrap().as_secs()), [0, 10]);
    }

    #[test]
    fn records_hold_what_was_played_and_are_read_back() {
        for (moves, opening) in [("a ~1 b c", 0), ("a b", 2), ("a ~1 b", 2), ("~1 a", 1)] {
            let history = game(moves);
            let mut kept = history.kept().to_vec();
            for ply in &mut kept[..opening] {
                ply.answer = None;
            }
            let (texts, opening_plies, answers) = record(&kept);
            assert_eq!(plies(texts, opening_plies, answers), kept, "{moves}");
        }
        let unfit = plies(vec!["a".into(), "b".into()], 0, vec![answer(Player::P1, 1).unwrap()]);
        assert!(unfit.iter().all(|ply| ply.answer.is_none()));
    }
}
