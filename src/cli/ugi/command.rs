//! What a UGI program sends: a line of words becomes a command.
//!
//! Knows no game and no protocol but the words of UGI. What cannot be read is reported in a sentence; nothing
//! is fatal.

use plyd_protocol::{Clock, Limit, MAX_INT, MAX_MOVES_TO_GO, MAX_SEARCH_DEPTH, Mode, Player, Position, echo};

/// Stands for a blank in a move's text: in UGI a blank ends a move.
const BLANK: char = '_';

/// A command, with what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command<'a> {
    /// Who is there, and what can be set?
    Ugi,
    /// Answer once all before is done.
    IsReady,
    /// Forget the last game.
    NewGame,
    /// Set an option; an empty value is its default.
    SetOption { name: &'a str, value: &'a str },
    /// The position that later commands are about.
    Position(Place),
    /// Search.
    Go(GoParameters),
    /// The move that is pondered on was played.
    PonderHit,
    /// End the search.
    Stop,
    /// Ask about the position.
    Query(Query),
    /// End.
    Quit,
}

/// A position: the start that the program was given, or a text, and what was played since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// The position's text; none: `startpos`.
    pub(super) fen: Option<String>,
    /// The moves since, as the engine writes them.
    pub(super) moves: Vec<String>,
}

/// A question about the position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Query {
    /// Is it player 1's turn?
    P1Turn,
    /// Is the game over?
    GameOver,
    /// Who won?
    Result,
    /// What is its text? Not in UGI's description, and asked by some of its programs.
    Fen,
}

/// The words of a `go`. Times in ms, player 1's and player 2's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct GoParameters {
    movetime: Option<i64>,
    time: [Option<i64>; 2],
    inc: [i64; 2],
    moves_to_go: Option<i64>,
    depth: Option<i64>,
    nodes: Option<i64>,
    infinite: bool,
    ponder: bool,
    /// Only these moves are searched; none: all.
    pub(super) moves: Vec<String>,
    /// Words that are ignored.
    pub(super) ignored: Vec<String>,
}

impl<'a> Command<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn parse(line: &'a str) -> Result<Self, String> {
        let line = line.trim();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match name {
            "ugi" => Ok(Self::Ugi),
            "isready" => Ok(Self::IsReady),
            "uginewgame" => Ok(Self::NewGame),
            "setoption" => set_option(rest.trim()),
            "position" => Place::parse(rest).map(Self::Position),
            "go" => Ok(Self::Go(GoParameters::parse(rest))),
            "ponderhit" => Ok(Self::PonderHit),
            "stop" => Ok(Self::Stop),
            "query" => match rest.trim() {
                "p1turn" => Ok(Self::Query(Query::P1Turn)),
                "gameover" => Ok(Self::Query(Query::GameOver)),
                "result" => Ok(Self::Query(Query::Result)),
                "fen" => Ok(Self::Query(Query::Fen)),
                other => Err(format!(
                    "no such query `{}`; there are p1turn, gameover, result and fen",
                    echo(other)
                )),
            },
            "quit" => Ok(Self::Quit),
            other => Err(format!("no such command `{}`", echo(other))),
        }
    }
}

/// `name NAME` or `name NAME value VALUE`.
fn set_option(rest: &str) -> Result<Command<'_>, String> {
    let wrong = || "write `setoption name NAME value VALUE`".to_owned();
    let rest = rest.strip_prefix("name ").ok_or_else(wrong)?;
    let (name, value) = rest.split_once(" value").unwrap_or((rest, ""));
    if name.trim().is_empty() || !(value.is_empty() || value.starts_with(' ')) {
        return Err(wrong());
    }
    Ok(Command::SetOption { name: name.trim(), value: value.trim() })
}

impl Place {
    fn parse(rest: &str) -> Result<Self, String> {
        let mut words = rest.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let text: Vec<&str> = words.by_ref().take_while(|word| *word != "moves").collect();
        let moves = words.map(move_from).collect();
        match (kind, &text[..]) {
            ("startpos", []) | ("fen", ["startpos"]) => Ok(Self { fen: None, moves }),
            ("fen", [_, ..]) => Ok(Self { fen: Some(text.join(" ")), moves }),
            _ => {
                Err("write `position startpos` or `position fen TEXT`, then `moves` and what was played"
                    .into())
            }
        }
    }

    /// The position in the protocol's words; `startpos` is what the start stands for.
    pub(super) fn after(self, startpos: &Position) -> Position {
        match self.fen {
            Some(fen) => Position { start: Some(fen), moves: self.moves },
            None => Position {
                start: startpos.start.clone(),
                moves: startpos.moves.iter().cloned().chain(self.moves).collect(),
            },
        }
    }
}

impl GoParameters {
    fn parse(rest: &str) -> Self {
        let mut search = Self::default();
        let mut words = rest.split_whitespace().peekable();
        while let Some(word) = words.next() {
            match word {
                "infinite" => search.infinite = true,
                "ponder" => search.ponder = true,
                "searchmoves" => {
                    search.moves.extend(words.by_ref().map(move_from));
                }
                "movetime" | "p1time" | "p2time" | "p1inc" | "p2inc" | "movestogo" | "depth" | "nodes" => {
                    // The next word is left alone if it is no number: it may be a word of its own.
                    let read = words.peek().and_then(|text| number(text));
                    if read.is_some() {
                        words.next();
                    } else {
                        search.ignored.push(format!("`{word}` without a number counts as 0"));
                    }
                    search.set(word, read.unwrap_or(0));
                }
                other => search.ignored.push(format!("`{}` is unknown in go", echo(other))),
            }
        }
        search
    }

    fn set(&mut self, word: &str, value: i64) {
        match word {
            "movetime" => self.movetime = Some(value),
            "p1time" => self.time[0] = Some(value),
            "p2time" => self.time[1] = Some(value),
            "p1inc" => self.inc[0] = value,
            "p2inc" => self.inc[1] = value,
            "movestogo" => self.moves_to_go = Some(value),
            "depth" => self.depth = Some(value),
            _ => self.nodes = Some(value),
        }
    }

    /// What the search is for: without any limit it is an analysis, as `infinite`.
    pub(super) fn mode(&self) -> Mode {
        if self.ponder {
            Mode::Ponder
        } else if self.infinite || (!self.is_timed() && self.limit().is_empty()) {
            Mode::Analyse
        } else {
            Mode::Move
        }
    }

    /// The clock of a player who is to move; a time given for the opponent alone counts for both. Without
    /// either, a `movetime` is the clock.
    pub(super) fn clock(&self, mover: Player) -> Option<Clock> {
        let (me, opponent) = match mover {
            Player::P1 => (0, 1),
            Player::P2 => (1, 0),
        };
        let Some(me_ms) = self.time[me].or(self.time[opponent]) else {
            return self.movetime.map(|ms| Clock::PerMove { ms });
        };
        let inc = |side: usize| self.inc[side].max(0) as u64;
        Some(Clock::Increment {
            me_ms,
            opp_ms: self.time[opponent],
            inc_ms: inc(me),
            opp_inc_ms: Some(inc(opponent)),
            moves_to_go: self.moves_to_go.map(|moves| moves.clamp(1, MAX_MOVES_TO_GO.into()) as u32),
        })
    }

    /// The limits, among them a `movetime` beside a clock; the least of each is 1.
    pub(super) fn limit(&self) -> Limit {
        Limit {
            nodes: self.nodes.map(|nodes| nodes.max(1) as u64),
            depth: self.depth.map(|depth| depth.clamp(1, MAX_SEARCH_DEPTH.into()) as u32),
            time_ms: self.movetime.filter(|_| self.has_clock()).map(|ms| ms.max(1) as u64),
        }
    }

    fn is_timed(&self) -> bool {
        self.movetime.is_some() || self.has_clock()
    }

    fn has_clock(&self) -> bool {
        self.time.iter().any(Option::is_some)
    }
}

/// A whole number, as near to it as the protocol can say.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // What does not fit is past every limit.
    let size = digits.parse::<i64>().unwrap_or(MAX_INT).min(MAX_INT);
    Some(if text.starts_with('-') { -size } else { size })
}

/// A move as the engine writes it, from UGI's word.
fn move_from(word: &str) -> String {
    word.replace(BLANK, " ")
}

/// A move as one word.
pub(super) fn move_word(text: &str) -> String {
    text.replace(' ', &BLANK.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(line: &str) -> GoParameters {
        match Command::parse(line) {
            Ok(Command::Go(search)) => search,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn place(line: &str) -> (Option<String>, Vec<String>) {
        match Command::parse(line) {
            Ok(Command::Position(Place { fen, moves })) => (fen, moves),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn commands_are_words_with_any_blanks_between() {
        for (line, command) in [
            ("ugi", Command::Ugi),
            ("  isready \r", Command::IsReady),
            ("uginewgame", Command::NewGame),
            ("stop", Command::Stop),
            ("ponderhit", Command::PonderHit),
            ("quit now", Command::Quit),
            ("query\tresult", Command::Query(Query::Result)),
            ("query  p1turn", Command::Query(Query::P1Turn)),
            ("query gameover", Command::Query(Query::GameOver)),
            ("query fen", Command::Query(Query::Fen)),
            ("setoption name hash value 128", Command::SetOption { name: "hash", value: "128" }),
            ("setoption name seed value", Command::SetOption { name: "seed", value: "" }),
            ("setoption name Clear Hash", Command::SetOption { name: "Clear Hash", value: "" }),
            ("setoption name a value b c", Command::SetOption { name: "a", value: "b c" }),
        ] {
            assert_eq!(Command::parse(line), Ok(command), "{line}");
        }
    }

    #[test]
    fn nonsense_is_reported_with_a_way_out() {
        for (line, word) in [
            ("", "no such command"),
            ("joho", "`joho`"),
            ("UGI", "`UGI`"),
            ("query", "p1turn"),
            ("query who", "`who`"),
            ("setoption", "setoption name"),
            ("setoption hash 1", "setoption name"),
            ("setoption name  value 1", "setoption name"),
            ("setoption name a valueless", "setoption name"),
            ("position", "startpos"),
            ("position fen", "fen TEXT"),
            ("position fen moves a1", "fen TEXT"),
            ("position startpos a1", "startpos"),
            ("position a1", "startpos"),
        ] {
            let message = Command::parse(line).unwrap_err();
            assert!(message.contains(word), "{line}: {message}");
        }
    }

    #[test]
    fn a_position_is_a_text_and_moves_of_one_word() {
        assert_eq!(place("position startpos"), (None, vec![]));
        assert_eq!(place("position startpos moves a1 b2"), (None, vec!["a1".into(), "b2".into()]));
        assert_eq!(place("position fen startpos moves a1"), (None, vec!["a1".into()]));
        assert_eq!(place("position startpos moves"), (None, vec![]));
        assert_eq!(
            place("position fen 2 2 1 . ; mover 1 moves 3_1_W"),
            (Some("2 2 1 . ; mover 1".into()), vec!["3 1 W".into()])
        );
        assert_eq!(move_word("3 1 W 1 1 2 2"), "3_1_W_1_1_2_2");
        let startpos = Position { start: Some("s".into()), moves: vec!["a".into()] };
        let place = Place { fen: None, moves: vec!["b".into()] };
        assert_eq!(
            place.after(&startpos),
            Position { start: Some("s".into()), moves: vec!["a".into(), "b".into()] }
        );
    }

    #[test]
    fn clocks_are_seen_by_the_mover() {
        let search = go("go p1time 1000 p2time 2000 p1inc 10 p2inc 20 movestogo 5");
        let clock = |me_ms, opp, inc_ms, opp_inc| Clock::Increment {
            me_ms,
            opp_ms: Some(opp),
            inc_ms,
            opp_inc_ms: Some(opp_inc),
            moves_to_go: Some(5),
        };
        assert_eq!(search.clock(Player::P1), Some(clock(1000, 2000, 10, 20)));
        assert_eq!(search.clock(Player::P2), Some(clock(2000, 1000, 20, 10)));
        assert_eq!(search.mode(), Mode::Move);
        assert_eq!(go("go movetime 50").clock(Player::P2), Some(Clock::PerMove { ms: 50 }));
        assert_eq!(go("go movetime -5").clock(Player::P1), Some(Clock::PerMove { ms: -5 }));
        assert_eq!(go("go nodes 5").clock(Player::P1), None);
        // The first that is over ends the search.
        let search = go("go movetime 2500 p1time 300 p2time 400");
        assert!(matches!(search.clock(Player::P2), Some(Clock::Increment { me_ms: 400, .. })));
        assert_eq!(search.limit().time_ms, Some(2500));
        assert_eq!(go("go movetime 50").limit().time_ms, None);
    }

    #[test]
    fn searches_without_a_limit_are_analyses() {
        for (line, mode) in [
            ("go", Mode::Analyse),
            ("go infinite", Mode::Analyse),
            ("go searchmoves a1", Mode::Analyse),
            ("go ponder p1time 1 p2time 1", Mode::Ponder),
            ("go depth 3", Mode::Move),
            ("go nodes 0", Mode::Move),
            ("go movetime", Mode::Move),
        ] {
            assert_eq!(go(line).mode(), mode, "{line}");
        }
    }

    #[test]
    fn numbers_are_brought_within_what_can_be_asked() {
        let limit = |nodes, depth| Limit { nodes, depth, time_ms: None };
        assert_eq!(go("go depth 0 nodes -3").limit(), limit(Some(1), Some(1)));
        assert_eq!(
            go("go depth 99999 nodes 99999999999999999999").limit(),
            limit(Some(MAX_INT as u64), Some(MAX_SEARCH_DEPTH))
        );
        let search = go("go depth infinite joho movetime 1e3");
        assert_eq!(search.limit(), limit(None, Some(1)));
        assert!(search.infinite);
        assert_eq!(search.clock(Player::P1), Some(Clock::PerMove { ms: 0 }));
        assert_eq!(search.ignored.len(), 4, "{:?}", search.ignored);
    }
}
