//! How a player is asked for a move: the `go` that it gets, when it is sent again, and what the answer means.
//! Reads no clock and knows no connection: the caller says when each line was sent and arrived.

use std::time::{Duration, Instant};

use plyd_client::Retry;
use plyd_protocol::{Command, ErrorCode, ErrorMessage, GameRef, Go, InfoRequest, Limit, Settings};

use super::{ForfeitKind, ForfeitReason, MoveRequest, Play, PlayerMessage, Reply};
use plyd_bridge as bridge;

/// How a player wants to be asked.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GoSettings {
    /// The session that it holds for the game; none: each `go` names game, rules and options.
    pub session: Option<String>,
    /// Its options, for a `go` without a session.
    pub options: Settings,
    /// Limits of each search.
    pub limit: Limit,
    /// Whether each `go` brings it the legal moves (`x_legal`).
    pub legal: bool,
}

/// A question for a move, until it is answered.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use plyd_arena::referee::{GoSettings, Play, Question, PlayerMessage, Step, Terms, Verdict};
/// use plyd_core::play::Position;
///
/// let mut play = Play::new(Terms::new(Position::start(&plyd_core::nim::ENTRY).root().clone()));
/// let Step::Ask(ask) = play.step() else { panic!("nobody has moved") };
/// let mut question = Question::new(&play, ask, &GoSettings::default(), Duration::from_secs(10));
///
/// // Sent to a player, who answers a second later.
/// let sent = Instant::now();
/// question.sent(sent);
/// let said = PlayerMessage::read(br#"{"id":"1","type":"bestmove","move":"1"}"#)?;
/// let Verdict::Reply(reply) = question.hear(said, sent + Duration::from_secs(1)) else { panic!("a move") };
/// assert_eq!((reply.mv.as_str(), reply.time), ("1", Duration::from_secs(1)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Question {
    go: Go,
    legal: Option<Vec<String>>,
    /// The time that its clock leaves; none: it has no clock.
    allowed: Option<Duration>,
    /// How long a player without a clock may be overloaded.
    timeout: Duration,
    /// When it was asked for the first time.
    first: Option<(Instant, Retry)>,
}

/// What an answer means for the question.
#[derive(Debug)]
pub enum Verdict {
    /// The player chose a move.
    Reply(Reply),
    /// It is overloaded: ask again after this pause, if [there is time](Question::has_time) then.
    Again {
        /// How long to wait.
        pause: Duration,
        /// For how long it was overloaded so far, for people.
        overloaded: String,
    },
    /// It was overloaded until its time was over: nobody is to blame, but the game cannot go on. Says for how
    /// long, for people.
    Overloaded(String),
    /// It failed.
    Forfeit(ForfeitReason),
}

impl Question {
    /// The question for a request of the referee, in the form that the player's settings want. `timeout` is
    /// how long a player without a clock may be overloaded.
    #[must_use]
    pub fn new(play: &Play, ask: MoveRequest, settings: &GoSettings, timeout: Duration) -> Self {
        let root = play.root();
        let game = match &settings.session {
            Some(session) => GameRef::Session { session: session.clone() },
            None => GameRef::Game { game: root.entry().name.to_owned(), rules: bridge::rules(&root.rules()) },
        };
        let mut go = Go::new(game, ask.position);
        if settings.session.is_none() {
            go.options = settings.options.clone();
        }
        go.clock = ask.clock;
        go.limit = settings.limit;
        go.info = InfoRequest { events: Vec::new(), min_interval_ms: 0 };
        let legal = settings.legal.then(|| root.legal());
        Self { go, legal, allowed: ask.allowed, timeout, first: None }
    }

    /// What is to be sent.
    #[must_use]
    pub fn command(&self) -> Command {
        Command::Go(Box::new(self.go.clone()))
    }

    /// The legal moves, if they are to be sent.
    #[must_use]
    pub fn legal(&self) -> Option<&[String]> {
        self.legal.as_deref()
    }

    /// Notes when its last byte was sent. If it is sent again, the first time counts.
    pub fn sent(&mut self, at: Instant) {
        self.first.get_or_insert_with(|| (at, Retry::new(&self.go, at)));
    }

    /// The time that the clock leaves at an instant; zero if there is no clock, as if it had run out.
    #[must_use]
    pub fn left(&self, now: Instant) -> Duration {
        self.allowed.unwrap_or_default().saturating_sub(self.spent(now))
    }

    /// Whether the clock, or the timeout without one, leaves time at an instant for sending it again. Check
    /// this after the pause, which may have lasted longer than asked for.
    #[must_use]
    pub fn has_time(&self, now: Instant) -> bool {
        let is_patient = self.go.clock.is_some() || self.spent(now) < self.timeout;
        is_patient && self.first.is_none_or(|(_, retry)| retry.has_time(now))
    }

    /// Prepares it for being sent again at `now`: the `go` then states the time that was spent.
    pub fn renew(&mut self, now: Instant) {
        if let Some((_, retry)) = self.first {
            retry.renew(&mut self.go, now);
        }
    }

    /// Judges the final message about it, which arrived at an instant.
    pub fn hear(&self, said: PlayerMessage, at: Instant) -> Verdict {
        let error = match said {
            PlayerMessage::BestMove(best) => return Verdict::Reply(best.after(self.spent(at))),
            PlayerMessage::Error(refused) => ErrorMessage::from(refused),
            PlayerMessage::Result(_) | PlayerMessage::Info | PlayerMessage::Notice => {
                let message = "the answer to `go` is no `bestmove`";
                return Verdict::Forfeit(ForfeitReason::new(ForfeitKind::Protocol, message));
            }
        };
        if error.code != ErrorCode::Overloaded {
            return Verdict::Forfeit(ForfeitReason::refused("go", &error));
        }
        let overloaded = format!("for {:?}: {}", self.spent(at), error.message);
        let pause = self.first.and_then(|(_, retry)| retry.pause(&self.go, &error, at));
        // A pause that does not fit is not begun, or a player could have everybody wait for ever.
        match pause.filter(|&pause| at.checked_add(pause).is_some_and(|then| self.has_time(then))) {
            Some(pause) => Verdict::Again { pause, overloaded },
            None => Verdict::Overloaded(overloaded),
        }
    }

    /// The time since it was asked for the first time.
    fn spent(&self, now: Instant) -> Duration {
        self.first.map_or(Duration::ZERO, |(first, _)| now.saturating_duration_since(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::referee::{Step, Terms};
    use crate::{Strictness, TimeControl};
    use plyd_core::play::Position;

    const MS: Duration = Duration::from_millis(1);

    fn question(control: TimeControl, settings: &GoSettings, timeout: Duration) -> Question {
        let opening = Position::start(&plyd_core::nim::ENTRY).play("3").unwrap().root().clone();
        let strictness = Strictness::default();
        let play = Play::new(Terms { controls: [control; 2], strictness, ..Terms::new(opening) });
        let Step::Ask(ask) = play.step() else { panic!("it is over") };
        Question::new(&play, ask, settings, timeout)
    }

    #[test]
    fn a_question_names_game_and_options_only_without_a_session() {
        let options = Settings::from_iter([("level", 3)]);
        let limit = Limit { nodes: Some(9), ..Limit::default() };
        let without = GoSettings { session: None, options, limit, legal: true };
        let within = GoSettings { session: Some("s".into()), legal: false, ..without.clone() };
        let rest = concat!(
            r#""position":{"start":"21 1","moves":["3"]},"clock":{"kind":"per_move","ms":5},"#,
            r#""limit":{"nodes":9},"info":{"events":[]}"#
        );
        for (settings, game, options, legal) in [
            (without, r#""game":"nim","rules":{"most":3}"#, r#","options":{"level":3}"#, Some("1 2 3")),
            (within, r#""session":"s""#, "", None),
        ] {
            let question = question(TimeControl::PerMove(5 * MS), &settings, MS);
            let sent = serde_json::to_string(&question.command()).unwrap();
            assert_eq!(sent, format!(r#"{{"cmd":"go",{game},{rest}{options}}}"#));
            assert_eq!(question.legal().map(|moves| moves.join(" ")), legal.map(str::to_owned));
        }
    }

    #[test]
    fn an_overloaded_player_is_asked_again_within_its_time_alone() {
        let full = r#"{"id":"1","type":"error","code":"overloaded","message":"full","retry_ms":20}"#;
        let long = &full.replace("20", "290");
        let endless = &full.replace("20", &u64::MAX.to_string());
        let broken = r#"{"id":"1","type":"error","code":"internal","message":"broken","pointer":"/x"}"#;
        let done = r#"{"id":"1","type":"result","of":"go"}"#;
        let (fixed, none) = (TimeControl::PerMove(100 * MS), TimeControl::Unlimited);
        // The clock, the line, after how many ms it comes, and the pause in ms or why there is none.
        for (control, line, at, expected) in [
            (fixed, full, 10, Ok(20)),
            (fixed, full, 70, Ok(20)),
            (fixed, full, 71, Err("overloaded for 71ms: full")),
            (none, full, 99, Ok(20)),
            (none, full, 279, Ok(20)),
            (none, full, 280, Err("overloaded for 280ms: full")),
            (none, full, 300, Err("overloaded for 300ms: full")),
            (none, long, 10, Err("overloaded for 10ms: full")),
            (none, endless, 10, Err("overloaded for 10ms: full")),
            (fixed, endless, 10, Err("overloaded for 10ms: full")),
            (fixed, broken, 1, Err("protocol: `go` was refused at /x: broken")),
            (fixed, done, 1, Err("protocol: the answer to `go` is no `bestmove`")),
        ] {
            let mut question = question(control, &GoSettings::default(), 300 * MS);
            let sent = Instant::now();
            question.sent(sent);
            let at = sent + at * MS;
            match (question.hear(PlayerMessage::read(line.as_bytes()).unwrap(), at), expected) {
                (Verdict::Again { pause, .. }, Ok(expected)) => {
                    assert_eq!(pause, expected * MS, "{line}");
                    // Whoever sleeps longer may have no time left.
                    let has_time = |after| question.has_time(sent + after * MS);
                    assert_eq!((has_time(90), has_time(91)), (true, control == none), "{line}");
                    assert_eq!((has_time(299), has_time(300)), (control == none, false), "{line}");
                    // The first time that it was sent counts, and goes along.
                    question.renew(at + pause);
                    question.sent(at + pause);
                    let Command::Go(go) = question.command() else { panic!("no go") };
                    let spent = at + pause - sent;
                    assert_eq!(u128::from(go.elapsed_ms), spent.as_millis(), "{line}");
                    let best = PlayerMessage::read(br#"{"id":"2","type":"bestmove","move":"1"}"#).unwrap();
                    let Verdict::Reply(reply) = question.hear(best, at + pause + MS) else {
                        panic!("a move")
                    };
                    assert_eq!(reply.time, spent + MS);
                    let left = if control == none { Duration::ZERO } else { 100 * MS - spent };
                    assert_eq!(question.left(at + pause), left);
                }
                (Verdict::Overloaded(message), Err(expected)) => {
                    assert_eq!(format!("overloaded {message}"), expected);
                }
                (Verdict::Forfeit(reason), Err(expected)) => assert_eq!(reason.to_string(), expected),
                (found, expected) => panic!("{line}: {found:?} instead of {expected:?}"),
            }
        }
    }
}
