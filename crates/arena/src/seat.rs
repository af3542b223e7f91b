//! A player's process or connection: started when a game needs it, asked for moves by the referee's clock,
//! and ended as soon as it fails.
//!
//! Every wait is bounded, whatever the player does: writing to one that does not read, reading from one that
//! writes without end, and the farewell to one that does not leave.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plyd_bridge::program::{FLUSH, JSON_LINES, Log};
use plyd_client::{ClientError, LineError, Lines, Retry};
use plyd_protocol::{self as wire, Command, ErrorCode, ErrorMessage, Hello, NewGame, Quit, Seed, Versions};
use serde_json::error::Category;

use super::link::{Link, ReceivedMessage};
use super::referee::{
    ForfeitKind, ForfeitReason, GoSettings, MoveRequest, Play, PlayerMessage, Question, Reply, Verdict,
};
use super::{Address, Match, Player};

/// The one session that a player's process holds, unless it is a bot that knows none.
const SESSION: &str = "match";

/// How long a process that closed its output may take to end, so that its exit code can be reported; also
/// after the farewell at the end of the match, before it is killed.
const EXIT: Duration = Duration::from_secs(1);

/// Longer than any game.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// A player's place: its process or connection, if there is one.
pub(super) struct Seat<'m> {
    the_match: &'m Match,
    player: &'m Player,
    /// Its number among the games that are played at once.
    place: usize,
    link: Option<Link>,
    /// Whether its program has crashed, at this table or another: the stderr of further crashes is hidden.
    has_crashed: Arc<AtomicBool>,
    /// Whether it has opened the session. A bot that does not know `newgame` plays without: each `go` names
    /// game, rules and options.
    has_session: bool,
}

/// A player's answer. It took from the end of writing the `go` to the end of reading the `bestmove`.
pub(super) struct Answer {
    pub(super) reply: Reply,
    /// When the `bestmove` was read.
    pub(super) at: Instant,
}

/// Why there is no answer to a request for a game or a move.
pub(super) enum NoReply {
    /// The player failed.
    Forfeit(ForfeitReason),
    /// Its server was overloaded each time that it was asked: nobody is to blame, but the game cannot go on.
    /// Says for how long, for people.
    Overloaded(String),
}

impl From<NoReply> for ForfeitReason {
    /// What keeps a player from playing at all.
    fn from(why: NoReply) -> Self {
        match why {
            NoReply::Forfeit(reason) => reason,
            NoReply::Overloaded(message) => {
                Self::new(ForfeitKind::Protocol, format!("its server was overloaded {message}"))
            }
        }
    }
}

impl From<ForfeitReason> for NoReply {
    fn from(reason: ForfeitReason) -> Self {
        Self::Forfeit(reason)
    }
}

impl<'m> Seat<'m> {
    /// The seat of a player at `place` among the games that are played at once; its process starts with the
    /// first game.
    pub(super) fn new(
        the_match: &'m Match,
        player: &'m Player,
        place: usize,
        has_crashed: Arc<AtomicBool>,
    ) -> Self {
        Self { the_match, player, place, link: None, has_crashed, has_session: false }
    }

    /// Begins a game, with nothing left of the game before; first starts the process, or connects, if
    /// necessary. A server that is overloaded is asked again until the referee's timeout is over.
    ///
    /// # Errors
    /// How the player failed, and then its process is killed; or that its server was overloaded for so long.
    pub(super) fn new_game(&mut self, seed: u64) -> Result<(), NoReply> {
        let game = self.the_match.game.name.to_owned();
        let (rules, options) = (self.the_match.rules.clone(), self.player.options.clone());
        let new_game = NewGame { session: SESSION.to_owned(), game, rules, options, seed: Some(Seed(seed)) };
        let (new_game, began) = (Command::NewGame(new_game), Instant::now());
        let said = loop {
            let (_, ReceivedMessage { at, said }) = self.ask(new_game.clone(), None, Duration::ZERO)?;
            let refused = match said {
                PlayerMessage::Error(refused) if refused.is_overload() => ErrorMessage::from(refused),
                said => break said,
            };
            let pause = Retry::wanted(&refused);
            let spent = at.saturating_duration_since(began);
            if spent.saturating_add(pause) >= self.the_match.strictness.timeout {
                return Err(NoReply::Overloaded(format!("for {spent:?}: {}", refused.message)));
            }
            std::thread::sleep(pause);
        };
        self.has_session = agreed("newgame", said).map_err(|reason| self.fail(reason))? == Agreed::Done;
        Ok(())
    }

    /// Asks for the move that the referee wants; a server that is overloaded is asked again while its clock
    /// lasts.
    ///
    /// # Errors
    /// How the player failed, and then its process is killed; or that its server was overloaded until there
    /// was no time left.
    pub(super) fn choose(&mut self, play: &Play, ask: MoveRequest) -> Result<Answer, NoReply> {
        let settings = GoSettings {
            session: self.has_session.then(|| SESSION.to_owned()),
            options: self.player.options.clone(),
            limit: self.player.limit,
            legal: self.player.legal,
        };
        let mut question = Question::new(play, ask, &settings, self.the_match.strictness.timeout);
        loop {
            let left = question.left(Instant::now());
            let (sent, ReceivedMessage { at, said }) =
                self.ask(question.command(), question.legal(), left)?;
            question.sent(sent);
            match question.hear(said, at) {
                Verdict::Reply(reply) => return Ok(Answer { reply, at }),
                Verdict::Again { pause, overloaded } => {
                    std::thread::sleep(pause);
                    if !question.has_time(Instant::now()) {
                        return Err(NoReply::Overloaded(overloaded));
                    }
                    question.renew(Instant::now());
                }
                Verdict::Overloaded(message) => return Err(NoReply::Overloaded(message)),
                Verdict::Forfeit(reason) => return Err(self.fail(reason).into()),
            }
        }
    }

    /// Ends the process or connection at once; gives the reason back.
    fn fail(&mut self, reason: ForfeitReason) -> ForfeitReason {
        let has_log = self.link.as_ref().is_some_and(|link| link.log.is_some());
        let is_first = || !self.has_crashed.swap(true, Ordering::Relaxed);
        if reason.kind == ForfeitKind::Crash && has_log && is_first() {
            // One traceback is enough: the forfeits of later crashes have their last lines.
            let name = &self.player.name;
            let _nobody_reads =
                writeln!(io::stderr(), "`{name}` crashed; what it writes to stderr is shown no more");
        }
        self.disconnect();
        reason
    }

    /// Sends a command and waits for its final message, for the time that its clock leaves, the
    /// margin and the timeout. Also returns when the last byte left.
    fn ask(
        &mut self,
        command: Command,
        legal: Option<&[String]>,
        allowed: Duration,
    ) -> Result<(Instant, ReceivedMessage), ForfeitReason> {
        let strictness = self.the_match.strictness;
        let timeout = allowed.saturating_add(strictness.margin).saturating_add(strictness.timeout);
        self.try_ask(command, legal, timeout).map_err(|reason| self.fail(reason))
    }

    fn try_ask(
        &mut self,
        command: Command,
        legal: Option<&[String]>,
        timeout: Duration,
    ) -> Result<(Instant, ReceivedMessage), ForfeitReason> {
        if self.link.is_none() {
            self.connect()?;
        }
        let link = self.link.as_mut().expect("it is connected");
        exchange(link, command, legal, timeout)
    }

    /// Starts the process, or connects and says `hello`.
    fn connect(&mut self) -> Result<(), ForfeitReason> {
        let crash = |error: LineError| ForfeitReason::new(ForfeitKind::Crash, error.to_string());
        let Match { strictness, cores, reaper, .. } = self.the_match;
        let link = match &self.player.address {
            Address::Program(program) => {
                // Without a pipe for its log the program writes to our stderr itself.
                let (log, stderr) = Log::keep_and_show(Arc::clone(&self.has_crashed)).ok().unzip();
                let start = || {
                    let mut launch = program.launch(reaper.as_ref())?;
                    if let Some(stderr) = stderr {
                        launch.command.stderr(stderr);
                    }
                    Lines::spawn(launch)
                };
                let lines = match cores {
                    Some(cores) => cores.start(self.place, start),
                    None => start(),
                };
                let mut link = Link::new(lines.map_err(crash)?);
                link.log = log;
                link
            }
            address => Link::call(address).map_err(crash)?,
        };
        let link = self.link.insert(link);
        link.lines.set_write_timeout(strictness.timeout);
        if link.lines.pid().is_some() {
            return Ok(());
        }
        let (_, answer) = exchange(link, hello(self.player.token.clone()), None, strictness.timeout)?;
        agreed("hello", answer.said).map(drop)
    }

    /// Ends the process, with what it started, or the connection, so that the next game begins with a fresh
    /// one.
    pub(super) fn disconnect(&mut self) {
        self.link = None;
    }
}

impl Drop for Seat<'_> {
    /// Says farewell: a player may have something to write down. One that does not end is killed.
    fn drop(&mut self) {
        if let Some(link) = &mut self.link
            && link.request(Command::Quit(Quit::default()), None).is_ok()
        {
            link.lines.finish_input();
            let _killed_then = link.lines.wait_exit(Instant::now() + EXIT);
        }
        self.disconnect();
    }
}

/// The outcome of a command that a bot need not know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreed {
    Done,
    Unknown,
}

/// Reads the answer to such a command.
fn agreed(command: &str, said: PlayerMessage) -> Result<Agreed, ForfeitReason> {
    match said {
        PlayerMessage::Result(done) if done.is_of(command) => Ok(Agreed::Done),
        PlayerMessage::Error(refused) => match ErrorMessage::from(refused) {
            error if error.code == ErrorCode::UnknownCmd => Ok(Agreed::Unknown),
            error => Err(ForfeitReason::refused(command, &error)),
        },
        _ => Err(ForfeitReason::new(ForfeitKind::Protocol, format!("no answer to `{command}`"))),
    }
}

/// What opens a connection over a socket.
fn hello(token: Option<String>) -> Command {
    let (name, version) = (Some("plyd arena".to_owned()), Some(env!("CARGO_PKG_VERSION").to_owned()));
    Command::Hello(Hello {
        protocol: Versions { min: wire::VERSION, max: wire::VERSION },
        client: Some(wire::ClientInfo { name, version }),
        token,
        ..Hello::default()
    })
}

/// Sends a command and waits for its final message. Also returns when the last byte left.
fn exchange(
    link: &mut Link,
    command: Command,
    legal: Option<&[String]>,
    timeout: Duration,
) -> Result<(Instant, ReceivedMessage), ForfeitReason> {
    let (id, sent) = link.request(command, legal).map_err(|error| broken(link, error.into()))?;
    let answer = wait_final(link, &id, sent.checked_add(timeout).unwrap_or(sent + FOREVER))?;
    Ok((sent, answer))
}

/// Waits for the final message about a request, however much else is written meanwhile.
fn wait_final(link: &mut Link, id: &str, deadline: Instant) -> Result<ReceivedMessage, ForfeitReason> {
    loop {
        let heard = link.next(deadline).map_err(|error| broken(link, error))?;
        match heard.said {
            // A chatty player can time out, too: the deadline ends the wait even if there is always
            // a line to read.
            PlayerMessage::Info | PlayerMessage::Notice if Instant::now() >= deadline => {
                return Err(broken(link, LineError::TimedOut.into()));
            }
            PlayerMessage::Info | PlayerMessage::Notice => {}
            PlayerMessage::Error(refused) if refused.is_about_no_request() => {
                let ErrorMessage { message, .. } = refused.into();
                let message = format!("an error without the `id` of the request that it answers: {message}");
                return Err(ForfeitReason::new(ForfeitKind::Protocol, message));
            }
            said if said.ends() == Some(id) => return Ok(ReceivedMessage { at: heard.at, said }),
            said => {
                let other = wire::echo(said.ends().unwrap_or_default());
                let message = format!("an answer to `{other}`, where `{id}` was asked");
                return Err(ForfeitReason::new(ForfeitKind::Protocol, message));
            }
        }
    }
}

/// What a connection's failure says about the player.
fn broken(link: &mut Link, error: ClientError) -> ForfeitReason {
    match error {
        ClientError::Line(LineError::TimedOut) if link.lines.pid().is_some() => {
            ForfeitReason::new(ForfeitKind::Timeout, format!("{error}: {FLUSH}"))
        }
        ClientError::Line(LineError::TimedOut | LineError::Unread) => {
            ForfeitReason::new(ForfeitKind::Timeout, error.to_string())
        }
        ClientError::Line(LineError::TooLong(_)) => {
            ForfeitReason::new(ForfeitKind::Protocol, error.to_string())
        }
        // A program that complains on its output and gives up: how it ended says more than its line.
        ClientError::Garbled { ref line, error: ref why } => {
            let message = match why.classify() {
                Category::Data => error.to_string(),
                _ => format!("expected {JSON_LINES}, came `{line}`"),
            };
            let ended = exit(link).map(|status| format!("; then it ended, {status}")).unwrap_or_default();
            ForfeitReason::new(ForfeitKind::Protocol, format!("{message}{ended}"))
        }
        ClientError::Line(_) => {
            let message =
                exit(link).map_or_else(|| error.to_string(), |status| format!("it ended, {status}"));
            ForfeitReason::new(ForfeitKind::Crash, message)
        }
    }
}

/// How a program ended, with the last line of its log; none if it has not, or is none.
fn exit(link: &mut Link) -> Option<String> {
    let status = link.lines.wait_exit(Instant::now() + EXIT).ok().flatten()?;
    let last = link.log.as_ref().map(|log| log.said_last(EXIT)).unwrap_or_default();
    Some(format!("{status}{last}"))
}
