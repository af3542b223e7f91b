//! The table at which a game is played: who is to move, what the engine is asked, and the result.
//!
//! Knows neither keys nor screens. It takes commands (see `orders`) and what the engine says (see
//! `thinking`), and leaves behind notes, which the plain lines and the full screen show each in their way.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::arena::{Answered, Forfeit, ForfeitKind, ForfeitReason, GameClock, TimeControl};
use crate::cli::styled::{Text, Tone};
use crate::cli::{picture, words};
use crate::engine::Entry;
use crate::zobrist::{SplitMix64, mix};
use plyd_protocol::{
    BestMove, Board, Cell, InspectResult, NewGame, Outcome, Player, Position, Seed, Settings, ToMove, Want,
};

use super::catalogue::Shape;
use super::cursor::{self, Naming};
use super::history::{BrokenOff, History, Saved};
use super::link::{Link, Refusal};
use super::running_review::RunningReview;
use super::search::{Purpose, RunningSearch};
use super::seats::{self, Seat};
use super::value_bar::PositionValue;
use super::view::View;

/// How much later than its clock the engine's answer may arrive: the way between clock and engine takes time.
const MARGIN: Duration = Duration::from_millis(50);

/// How long the engine thinks by default: the value of `--time`.
pub(super) const THINK: Duration = Duration::from_secs(1);

/// What is known of the position that is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Situation {
    /// None before a game was opened.
    to_move: Option<ToMove>,
    pub(super) outcome: Option<Outcome>,
    pub(super) legal: Vec<String>,
    pub(super) board: Board,
    pub(super) text: String,
    /// The cells that the last move changed.
    pub(super) last: Vec<Cell>,
    /// How its moves begin with cells, if they do, and with which.
    pub(super) naming: Option<Naming>,
    pub(super) targets: Vec<Cell>,
}

/// Something to show.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// A line.
    Say(Text),
    /// The top line of a search, again and again; only if nothing else shows the search.
    Progress(Text),
    /// More than a line or two, on request.
    Page { title: String, lines: Vec<Text> },
}

/// The table.
pub(super) struct Table {
    pub(super) entry: &'static Entry,
    pub(super) link: Link,
    pub(super) history: History,
    pub(super) here: Situation,
    pub(super) seats: [Seat; 2],
    /// Options of all players of the engine.
    pub(super) common: Settings,
    /// How long the engine thinks if there is no clock.
    pub(super) think: Duration,
    /// The clock of both sides.
    pub(super) control: TimeControl,
    pub(super) seed: u64,
    /// The engine does not move by itself.
    pub(super) paused: bool,
    pub(super) search: Option<RunningSearch>,
    /// When the side to move began to think.
    pub(super) turn_began: Instant,
    /// The rules as they were given, for another game.
    pub(super) given: Settings,
    pub(super) view: View,
    /// How the board is shown.
    pub(super) shape: Shape,
    /// How many lines an analysis shows.
    pub(super) lines: u32,
    /// Where the game was saved or loaded, if it is alone in its file.
    pub(super) file: Option<PathBuf>,
    /// What was saved or loaded last of the game.
    pub(super) saved: Saved,
    /// The last hint, to be played by a key.
    pub(super) hint: Option<String>,
    /// An interrupt was taken, and the next one leaves.
    pub(super) warned: bool,
    pub(super) leaving: bool,
    /// A review of the game that runs beside it.
    pub(super) review: Option<RunningReview>,
    /// A bar shows who is ahead.
    pub(super) bar: bool,
    /// What is known of the position that is shown.
    pub(super) value: Option<PositionValue>,
    /// The advantage with which most games under these rules are won, once it was asked for.
    pub(super) decisive: Option<i32>,
    pub(super) notes: Vec<Note>,
    /// The position changed since the board was shown.
    pub(super) board_due: bool,
}

impl Table {
    /// A table at which nothing is played yet: a game is opened or loaded next.
    pub(super) fn new(entry: &'static Entry, link: Link, seats: [Seat; 2], seed: u64) -> Self {
        Self {
            entry,
            link,
            history: History::default(),
            here: Situation::default(),
            seats,
            common: Settings::new(),
            think: THINK,
            control: TimeControl::Unlimited,
            seed,
            paused: false,
            search: None,
            turn_began: Instant::now(),
            given: Settings::new(),
            view: View::default(),
            shape: Shape::Picture,
            lines: 3,
            file: None,
            saved: Saved::default(),
            hint: None,
            warned: false,
            leaving: false,
            review: None,
            bar: false,
            value: None,
            decisive: None,
            notes: Vec::new(),
            board_due: false,
        }
    }

    /// Takes what there is to show.
    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn say(&mut self, text: impl Into<Text>) {
        self.notes.push(Note::Say(text.into()));
    }

    pub(super) fn alarm(&mut self, text: &str) {
        self.notes.push(Note::Say(Text::new(text, Tone::Alarm)));
    }

    pub(super) fn page(&mut self, title: impl Into<String>, lines: Vec<Text>) {
        self.notes.push(Note::Page { title: title.into(), lines });
    }

    /// The side to move, while the game goes on and no chance comes first.
    pub(super) fn mover(&self) -> Option<Player> {
        match self.here.to_move {
            _ if self.outcome().is_some() => None,
            Some(ToMove::P1) => Some(Player::P1),
            Some(ToMove::P2) => Some(Player::P2),
            Some(ToMove::Chance) | None => None,
        }
    }

    /// How the game ended, by its rules or by the clock.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let broken_off = self.history.broken_off.as_ref().filter(|_| self.history.is_at_end());
        self.here.outcome.clone().or_else(|| broken_off.map(BrokenOff::outcome))
    }

    /// Whether something runs that ends by itself, for which the next line of a script waits.
    pub(super) fn is_busy(&self) -> bool {
        let untimed =
            |search: &RunningSearch| matches!(search.purpose, Purpose::Analysis { timed: false, .. });
        self.review.is_some() || self.search.as_ref().is_some_and(|search| !untimed(search))
    }

    /// What is left on both clocks now; none if there is no clock.
    pub(super) fn clocks(&self) -> Option<[Duration; 2]> {
        if self.control == TimeControl::Unlimited {
            return None;
        }
        let mut left = self.game_clocks().map(|clock| clock.allowed().unwrap_or_default());
        if let Some(player) = self.mover().filter(|_| self.clock_runs()) {
            let side = &mut left[seats::index(player)];
            *side = side.saturating_sub(self.turn_began.elapsed());
        }
        Some(left)
    }

    pub(super) fn game_clocks(&self) -> [GameClock; 2] {
        self.history.clocks([self.control; 2])
    }

    pub(super) fn clock_runs(&self) -> bool {
        !self.paused && !self.history.looking
    }

    /// Looks at a position without taking its place.
    fn ask(&mut self, position: Position) -> Result<InspectResult, Refusal> {
        let want = [Want::ToMove, Want::Outcome, Want::Legal, Want::Board, Want::Text];
        self.link.inspect(self.entry.name, &self.history.rules, position, &want)
    }

    /// Takes what the rules say about the position that is shown.
    ///
    /// # Errors
    /// The server does not take the position, or is not there.
    pub(super) fn refresh(&mut self) -> Result<(), Refusal> {
        let result = self.ask(self.history.position())?;
        let mut here = situation(result)?;
        let mut before = self.history.clone();
        if before.back() {
            let earlier =
                self.link.inspect(self.entry.name, &self.history.rules, before.position(), &[Want::Board])?;
            here.last = earlier.board.map(|board| picture::changed(&board, &here.board)).unwrap_or_default();
        }
        self.here = here;
        self.turn_began = Instant::now();
        self.board_due = true;
        self.hint = None;
        self.value = None;
        Ok(())
    }

    /// As [`Self::refresh`]; what goes wrong is shown.
    pub(super) fn refreshed(&mut self) {
        if let Err(refusal) = self.refresh() {
            self.paused = true;
            self.alarm(&refusal.to_string());
        }
    }

    /// Plays a ply at the place that is shown, if the rules allow it.
    pub(super) fn play(&mut self, text: String, answer: Option<Answered>) -> Result<(), Refusal> {
        let mut position = self.history.position();
        position.moves.push(text.clone());
        self.ask(position)?;
        self.give_up();
        let before = self.history.clone();
        self.history.play(text, answer);
        let refreshed = self.refresh();
        if refreshed.is_err() {
            self.history = before;
        }
        refreshed
    }

    /// A move of the person at the keyboard; what is wrong with it is shown.
    pub(super) fn play_mine(&mut self, text: String) {
        if let Err(message) = self.try_mine(text) {
            self.alarm(&message);
        }
    }

    /// A move of the person at the keyboard.
    ///
    /// # Errors
    /// Why it cannot be made, in a sentence.
    pub(super) fn try_mine(&mut self, text: String) -> Result<(), String> {
        let Some(player) = self.mover() else {
            return Err(format!("no move can be made here: {}; `undo` or `new` goes on", self.standstill()));
        };
        let is_mine = self.seats[seats::index(player)].is_me();
        if !is_mine && !self.paused && !self.history.looking {
            let side = words::side_name(player);
            return Err(format!(
                "it is {side}'s turn, which the engine plays: `stop` makes it move now, `{side} me` gives you the side"
            ));
        }
        let time = if self.clock_runs() { self.turn_began.elapsed() } else { Duration::ZERO };
        self.played(player, text, time, time, None).map_err(|refusal| refusal.to_string())?;
        self.paused = false;
        self.advance();
        Ok(())
    }

    /// Plays a side's move, with its time on the clock; a flag that fell ends the game instead.
    pub(super) fn played(
        &mut self,
        player: Player,
        text: String,
        time: Duration,
        own: Duration,
        best: Option<&BestMove>,
    ) -> Result<(), Refusal> {
        let mut clock = self.game_clocks()[seats::index(player)].clone();
        if let Err(late) = clock.press(time, if best.is_some() { MARGIN } else { Duration::ZERO }) {
            self.flag_falls(player, late);
            return Ok(());
        }
        let answer = Answered {
            player,
            time_us: micros(time),
            own_us: Some(micros(own)),
            left_us: clock.left().map(micros),
            granted_us: None,
            forgiven_us: None,
            score: best.and_then(|best| best.lines.first()).and_then(|line| line.score),
            incident: best.and_then(|best| best.incident.clone()),
        };
        // A score beside each move of an opponent is a hint that nobody asked for.
        let is_wanted = self.bar || !self.seats.iter().any(Seat::is_me);
        let played = move_text(&self.named(player), &text, time, best, is_wanted);
        self.play(text, Some(answer))?;
        self.say(Text::new(&played, picture::tone(Some(player))));
        self.show_end();
        Ok(())
    }

    fn flag_falls(&mut self, player: Player, late: Duration) {
        self.give_up();
        let message = format!("{} after the flag fell", words::time(late));
        let reason = ForfeitReason { kind: ForfeitKind::Late, message };
        self.history.break_off(BrokenOff::Forfeit(Forfeit { player, reason }));
        self.board_due = true;
        self.show_end();
    }

    /// Gives the game up for the side of the person at the keyboard.
    pub(super) fn resign(&mut self) {
        let Some(mover) = self.mover() else {
            return self.alarm(&format!("there is nothing to resign: {}", self.standstill()));
        };
        if self.history.looking && !self.history.is_at_end() {
            return self.alarm(&format!(
                "this is an earlier position: `ply {}` goes to the end of the game",
                self.history.len()
            ));
        }
        let is_me = |player: &Player| self.seats[seats::index(*player)].is_me();
        let Some(player) = [mover, seats::other(mover)].into_iter().find(is_me) else {
            return self.alarm("the engine plays both sides; `p1 me` gives you one");
        };
        self.give_up();
        self.history.break_off(BrokenOff::Resigned(player));
        self.board_due = true;
        self.show_end();
    }

    /// Looks at a review that runs, and at the clock of the person, whose flag may have fallen.
    pub(super) fn tick(&mut self) {
        self.look_at_review();
        let Some(player) = self.mover().filter(|_| self.clock_runs()) else { return };
        if self.seats[seats::index(player)].is_me() && self.control != TimeControl::Unlimited {
            let allowed = self.game_clocks()[seats::index(player)].allowed().unwrap_or(Duration::MAX);
            if let Some(late) = self.turn_began.elapsed().checked_sub(allowed).filter(|late| !late.is_zero())
            {
                self.flag_falls(player, late);
            }
        }
    }

    fn show_end(&mut self) {
        if self.outcome().is_some() {
            let status = self.status();
            self.say(status);
            self.say("`review` says what each move was worth, `new` plays again");
        }
    }

    /// Goes on from the position that is shown: draws what chance decides, and asks the engine if it is to
    /// move.
    pub(super) fn advance(&mut self) {
        while self.here.to_move == Some(ToMove::Chance) && self.outcome().is_none() && !self.history.looking {
            if let Err(refusal) = self.draw() {
                self.paused = true;
                return self.alarm(&refusal.to_string());
            }
        }
        let Some(player) = self.mover() else { return };
        // A look for the bar gives way to the engine's move.
        let is_taken =
            self.search.as_ref().is_some_and(|search| !matches!(search.purpose, Purpose::Value(_)));
        let waits = self.paused || self.history.looking || is_taken;
        if !waits && !self.seats[seats::index(player)].is_me() {
            self.begin(Purpose::Move(player), None);
        }
        self.measure();
    }

    /// Draws one outcome of chance; the same seed, place and game draw the same.
    fn draw(&mut self) -> Result<(), Refusal> {
        let result = self.link.inspect(
            self.entry.name,
            &self.history.rules,
            self.history.position(),
            &[Want::Chance],
        )?;
        let outcomes = result.chance.unwrap_or_default();
        let mut random = SplitMix64::new(mix(self.seed ^ self.history.at() as u64));
        let probabilities: Vec<u32> = outcomes.iter().map(|outcome| outcome.ppm).collect();
        let drawn = random.outcome(&probabilities).map(|index| outcomes[index].mv.clone());
        let drawn = drawn.ok_or_else(|| Refusal::Nonsense("chance without outcomes".into()))?;
        self.play(drawn.clone(), None)?;
        self.say(format!("chance: {drawn}"));
        self.show_end();
        Ok(())
    }

    /// Opens a session for the game that is played.
    pub(super) fn open(&mut self, session: &'static str, options: Settings) -> Result<(), Refusal> {
        let new_game = NewGame {
            session: session.to_owned(),
            game: self.entry.name.to_owned(),
            rules: self.history.rules.clone(),
            options,
            seed: Some(Seed(self.seed)),
        };
        self.link.open(session, new_game)
    }

    /// Opens the session of a side's player, so that mistakes in its options show at once.
    ///
    /// # Errors
    /// There is no such player.
    pub(super) fn try_seat(&mut self, player: Player) -> Result<(), Refusal> {
        let seat = &self.seats[seats::index(player)];
        if seat.is_me() {
            return Ok(());
        }
        let options = seat.options(&self.common);
        self.open(words::side_name(player), options)
    }

    /// Ends a search without its answer, if one runs.
    pub(super) fn give_up(&mut self) {
        if self.search.take().is_some() {
            self.link.give_up();
        }
    }
}

fn move_text(who: &str, text: &str, time: Duration, best: Option<&BestMove>, has_score: bool) -> String {
    let Some(best) = best else {
        return format!("{who} plays {text}");
    };
    if !has_score {
        return format!("{who} plays {text} ({})", words::time(time));
    }
    let score = best.lines.first().and_then(|line| line.score.as_ref()).map(words::score);
    let score = score.map_or_else(String::new, |score| format!("{score}, "));
    format!("{who} plays {text} ({score}depth {}, {})", best.stats.depth, words::time(time))
}

fn situation(result: InspectResult) -> Result<Situation, Refusal> {
    let InspectResult { to_move, outcome, legal, board, text, .. } = result;
    match (to_move, outcome, legal, board, text) {
        (to_move @ Some(_), Some(outcome), Some(legal), Some(board), Some(text)) => {
            let naming = Naming::of(&board, &legal);
            let targets = naming.map(|naming| cursor::targets(&board, naming, &legal)).unwrap_or_default();
            Ok(Situation { to_move, outcome, legal, board, text, last: Vec::new(), naming, targets })
        }
        _ => Err(Refusal::Nonsense("`inspect` was not answered in full".into())),
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
