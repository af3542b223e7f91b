//! What a check is, and what it is given to talk to the server with.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::monitor::{Findings, InvariantMonitor};
use super::referee::Referee;
use super::requests::with;
use super::verdict::{Checked, Stop, like};
use plyd_bridge::program::{FLUSH, Log};
use plyd_client::{Address, LineError, Lines, Program, Reaper};
use plyd_core::engine::Entry;

/// The placeholders of the ladder's address and of the token's file in the arguments of a program that dials.
pub(super) const LADDER: &str = "{ladder}";
pub(super) const TOKEN: &str = "{token}";

/// Checks that belong together.
pub(super) struct Group {
    pub name: &'static str,
    pub checks: &'static [Check],
}

/// One thing that the specification says.
pub(super) struct Check {
    pub name: &'static str,
    /// What it says, in a few words.
    pub about: &'static str,
    pub run: Run,
}

/// How a check is decided.
pub(super) enum Run {
    /// By a conversation of its own.
    Conversation(fn(&Trial<'_>) -> Checked),
    /// By the rows of `refusals.txt` under its name.
    Refusals,
    /// By all messages of all conversations; see [`Findings`].
    Watched,
}

impl Check {
    pub(super) const fn new(name: &'static str, about: &'static str, run: fn(&Trial<'_>) -> Checked) -> Self {
        Self { name, about, run: Run::Conversation(run) }
    }

    pub(super) const fn refusals(name: &'static str, about: &'static str) -> Self {
        Self { name, about, run: Run::Refusals }
    }

    pub(super) const fn watched(name: &'static str, about: &'static str) -> Self {
        Self { name, about, run: Run::Watched }
    }
}

/// What kind of program is checked.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A server, which keeps the whole protocol.
    Server,
    /// A bot, which speaks the least: it is asked to play these games, and may not know some of them.
    Bot {
        /// The games.
        games: Vec<&'static Entry>,
    },
    /// A program that dials a ladder and offers it a bot. In its arguments `{ladder}` stands for the address
    /// of the ladder, and `{token}` for the file that has its token.
    Dialer {
        /// Where the ladder listens; with the port 0 each check has a port of its own.
        at: SocketAddr,
    },
}

impl Subject {
    /// Whether the arguments of a program say where it dials, and by which token.
    ///
    /// ```
    /// use plyd_conform::Subject;
    ///
    /// let of = |arguments: &[&str]| arguments.iter().map(Into::into).collect::<Vec<_>>();
    /// assert!(Subject::is_dialer(&of(&["--url={ladder}", "--token-file", "{token}"])));
    /// assert!(!Subject::is_dialer(&of(&["--url={ladder}"])));
    /// ```
    #[must_use]
    pub fn is_dialer(arguments: &[OsString]) -> bool {
        let has = |what: &str| arguments.iter().any(|argument| argument.to_string_lossy().contains(what));
        has(LADDER) && has(TOKEN)
    }
}

/// What is to be checked: [the crate's page](crate) has an example.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it is.
    pub subject: Subject,
    /// The games whose rules the checks know: what a server says about them is compared with these rules.
    pub games: &'static [&'static Entry],
    /// Where it is.
    pub address: Address,
    /// The token that it wants, if it wants one.
    pub token: Option<String>,
    /// How long a check may take.
    pub timeout: Duration,
    /// Groups and checks (`GROUP/CHECK`) to run; all when empty.
    pub only: Vec<String>,
    /// Whether the log of a server that is started goes to our stderr; otherwise it is dropped.
    pub log: bool,
    /// The reaper that kills started servers if this process is killed; without one they see the end of their
    /// input.
    pub reaper: Option<Arc<Reaper>>,
}

impl Plan {
    /// All checks for a server, without the rules of any game to compare with; each check may take 30 s.
    #[must_use]
    pub fn new(address: Address) -> Self {
        Self {
            subject: Subject::Server,
            games: &[],
            address,
            token: None,
            timeout: Duration::from_secs(30),
            only: Vec::new(),
            log: false,
            reaper: None,
        }
    }

    /// A `hello` of a client that speaks version 1.
    pub(super) fn hello(&self) -> Value {
        let mut hello = json!({ "id": "hello", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
        if let Some(token) = &self.token {
            hello["token"] = json!(token);
        }
        hello
    }
}

/// What a check is run with.
pub(super) struct Trial<'a> {
    plan: &'a Plan,
    findings: &'a Findings,
    /// `GROUP/CHECK`.
    pub name: String,
    pub deadline: Instant,
}

impl<'a> Trial<'a> {
    pub(super) fn new(plan: &'a Plan, findings: &'a Findings, name: &str) -> Self {
        Self { plan, findings, name: name.to_owned(), deadline: Instant::now() + plan.timeout }
    }

    /// Opens a connection of its own on which nothing was said: starts a process, or connects.
    pub(super) fn open(&self) -> Checked<Conversation<'a>> {
        let (lines, log) =
            logged(self.plan).map_err(|error| Stop::failed("a connection", error.to_string()))?;
        let monitor = InvariantMonitor::new(self.findings, self.referee());
        let silence = match self.plan.subject {
            Subject::Bot { .. } if self.is_stdio() => Some(FLUSH),
            _ => None,
        };
        Ok(Conversation::new(lines, (self.deadline, self.plan.timeout), monitor).explained(log, silence))
    }

    /// The rules of the games that are known here.
    pub(super) fn referee(&self) -> Referee {
        Referee(self.plan.games)
    }

    /// The games that a bot is asked to play.
    pub(super) fn games(&self) -> &'a [&'static Entry] {
        match &self.plan.subject {
            Subject::Server | Subject::Dialer { .. } => self.plan.games,
            Subject::Bot { games } => games,
        }
    }

    /// The program that dials, and where the ladder is to be.
    pub(super) fn dialer(&self) -> Checked<(&'a Program, SocketAddr)> {
        match (&self.plan.address, &self.plan.subject) {
            (Address::Program(program), Subject::Dialer { at }) => Ok((program, *at)),
            _ => Err(Stop::skipped("of programs that dial a ladder")),
        }
    }

    /// The reaper that kills started programs if this process is killed.
    pub(super) fn reaper(&self) -> Option<&'a Arc<Reaper>> {
        self.plan.reaper.as_ref()
    }

    /// Whether the log of a program goes to our stderr.
    pub(super) fn shows_log(&self) -> bool {
        self.plan.log
    }

    /// Opens a connection and says `hello`.
    pub(super) fn greet(&self) -> Checked<Conversation<'a>> {
        self.greet_with(&json!({}))
    }

    /// Opens a connection and says `hello` with further fields.
    pub(super) fn greet_with(&self, fields: &Value) -> Checked<Conversation<'a>> {
        let mut peer = self.open()?;
        peer.hello = peer.result(&with(self.hello(), fields))?;
        Ok(peer)
    }

    /// A `hello` of a client that speaks version 1.
    pub(super) fn hello(&self) -> Value {
        self.plan.hello()
    }

    /// Whether the check has used up its time.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// The token that the server wants.
    pub(super) fn token(&self) -> Option<&str> {
        self.plan.token.as_deref()
    }

    /// Whether the server speaks on standard streams.
    pub(super) fn is_stdio(&self) -> bool {
        matches!(self.plan.address, Address::Program(_))
    }

    /// Whether the server is at a Unix socket.
    pub(super) fn is_unix(&self) -> bool {
        matches!(self.plan.address, Address::Unix(_))
    }

    /// Whether lines are messages of a WebSocket.
    pub(super) fn is_websocket(&self) -> bool {
        matches!(self.plan.address, Address::WebSocket(_) | Address::SecureWebSocket(_))
    }

    /// The host and port of a WebSocket; skips the check if there is none.
    pub(super) fn needs_websocket(&self) -> Checked<&str> {
        match &self.plan.address {
            Address::WebSocket(address) => Ok(address),
            Address::SecureWebSocket(to) => Ok(&to.at),
            _ => Err(Stop::skipped("of WebSocket alone")),
        }
    }

    /// A connection to a server of WebSocket that has not asked for one.
    pub(super) fn before_websocket(&self) -> Result<Lines, LineError> {
        match &self.plan.address {
            Address::WebSocket(address) => Lines::connect(address),
            Address::SecureWebSocket(to) => Lines::connect_tls(to),
            _ => lines(self.plan),
        }
    }

    /// Skips the check over WebSocket: there no answer can follow the end of the input.
    pub(super) fn needs_half_closing(&self) -> Checked {
        if self.is_websocket() {
            Err(Stop::skipped("not of a WebSocket, which ends in both directions at once"))
        } else {
            Ok(())
        }
    }

    /// Skips the check over sockets.
    pub(super) fn needs_stdio(&self) -> Checked {
        if self.is_stdio() {
            Ok(())
        } else {
            Err(Stop::skipped("standard streams only: give a command behind `--`"))
        }
    }

    /// Skips the check if the server has a single connection.
    pub(super) fn needs_several_connections(&self) -> Checked {
        if self.is_stdio() {
            Err(Stop::skipped("several connections only: call a server with tcp=HOST:PORT"))
        } else {
            Ok(())
        }
    }

    /// Skips the check on standard streams.
    pub(super) fn needs_socket(&self) -> Checked {
        if self.is_stdio() {
            Err(Stop::skipped("sockets only: call a server with tcp=HOST:PORT"))
        } else {
            Ok(())
        }
    }
}

pub(super) fn lines(plan: &Plan) -> Result<Lines, LineError> {
    logged(plan).map(|(lines, _)| lines)
}

/// The same with the log of a program that is started, unless that is shown.
fn logged(plan: &Plan) -> Result<(Lines, Option<Log>), LineError> {
    let Address::Program(program) = &plan.address else { return Ok((plan.address.lines()?, None)) };
    let mut launch = program.launch(plan.reaper.as_ref())?;
    let mut kept = None;
    if !plan.log {
        match Log::keep() {
            Ok((log, stderr)) => {
                launch.command.stderr(stderr);
                kept = Some(log);
            }
            Err(_) => {
                launch.command.stderr(Stdio::null());
            }
        }
    }
    Ok((Lines::spawn(launch)?, kept))
}

/// Sends a request and compares its result by `like`, as most checks of `rules` and `handshake` do.
pub(super) fn result_like(peer: &mut Conversation<'_>, request: &Value, fields: &Value) -> Checked {
    let result = peer.result(request)?;
    like(&result, fields).map_err(|stop| stop.at(&request.to_string()))
}
