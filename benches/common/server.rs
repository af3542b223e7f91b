//! A daemon as a child process that listens on a free TCP port, what it costs by `/proc`, and connections to
//! it.

#![allow(dead_code, reason = "each bench uses a part of this")]

mod usage;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command as Program, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::{Address, Answer, Client, ClientError, Process, Reaper, Retry};
use plyd_protocol::{
    Clock, Command, ErrorCode, GameRef, Go, Hello, Message, NamedClient, NewGame, Position, ResultBody,
    Settings, Status, StatusResult, Stop, StopTarget, VERSION, Versions,
};
use rustix::process::{Pid, Signal, kill_process};

/// Whatever a bench can fail with.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The longest wait for an answer: far above any that is worth a figure.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The binary that cargo built for this bench.
pub(crate) const PLYD: &str = env!("CARGO_BIN_EXE_plyd");

/// The session that a connection plays in.
pub(crate) const SESSION: &str = "bench";

/// Where a daemon is reached, and the token that it is shown there.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) address: Address,
    pub(crate) token: Option<String>,
}

impl Door {
    /// A TCP port without a token.
    pub(crate) fn tcp(address: SocketAddr) -> Self {
        Self { address: Address::Tcp(address.to_string()), token: None }
    }

    /// Connects and shakes hands.
    pub(crate) fn enter(&self) -> Outcome<Peer> {
        let mut peer = Peer { client: Client::at(&self.address)?, games: Vec::new(), known_as: None };
        let protocol = Versions { min: VERSION, max: VERSION };
        match peer.ask(Command::Hello(Hello { protocol, token: self.token.clone(), ..Hello::default() }))? {
            ResultBody::Hello(hello) => {
                (peer.games, peer.known_as) = (hello.games, hello.limits.client);
            }
            other => return Err(format!("no answer to hello: {other:?}").into()),
        }
        Ok(peer)
    }
}

/// A daemon, which ends with this, and is killed if the bench is.
pub(crate) struct Server {
    process: Process,
    address: SocketAddr,
    door: Door,
}

impl Server {
    /// Starts a binary with these arguments on a free port.
    pub(crate) fn start(program: impl AsRef<OsStr>, arguments: &[&str]) -> Outcome<Self> {
        // The port is free again when the daemon binds it, unless another process is quicker.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut serve = Program::new(program);
        serve.arg("serve").args(arguments);
        Self::start_at(serve, address)
    }

    /// Starts a command, to which the address to listen on is added, and waits until it listens.
    pub(crate) fn start_at(serve: Program, address: SocketAddr) -> Outcome<Self> {
        Self::start_logging(serve, address, Stdio::inherit())
    }

    /// The same with its log elsewhere.
    pub(crate) fn start_logging(mut serve: Program, address: SocketAddr, log: Stdio) -> Outcome<Self> {
        serve.args(["--tcp", &address.to_string()]);
        let mut launch = Reaper::start(PLYD)?.launch(&serve)?;
        launch.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let process = Process::spawn(launch)?;
        let mut server = Self { process, address, door: Door::tcp(address) };
        let deadline = Instant::now() + TIMEOUT;
        while let Err(error) = Client::connect(address) {
            if let Some(status) = server.wait_exit(Instant::now())? {
                return Err(format!("the daemon ended at once, {status}").into());
            }
            if Instant::now() > deadline {
                return Err(error.into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }

    /// Starts a command that serves the sockets that it gets as standard input and output, and waits until it
    /// lets somebody in at that door.
    pub(crate) fn activated(serve: Program, tcp: Stdio, unix: Stdio, door: Door) -> Outcome<Self> {
        let mut launch = Reaper::start(PLYD)?.launch(&serve)?;
        launch.command.stdin(tcp).stdout(unix);
        let process = Process::spawn(launch)?;
        door.enter()?;
        Ok(Self { process, address: SocketAddr::from(([0; 4], 0)), door })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it ends by itself: how it did, none at the deadline.
    pub(crate) fn wait_exit(&mut self, deadline: Instant) -> Outcome<Option<ExitStatus>> {
        Ok(self.process.wait_exit(deadline)?)
    }

    /// Sends its process a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Outcome<()> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).ok_or("no process id")?;
        Ok(kill_process(pid, signal)?)
    }

    /// Opens a connection and shakes hands.
    pub(crate) fn connect(&self) -> Outcome<Peer> {
        self.door.enter()
    }

    /// The CPU time that its threads used so far.
    pub(crate) fn cpu(&self) -> Outcome<Duration> {
        usage::cpu(self.pid())
    }

    /// A number of `/proc/PID/status`, such as `VmRSS:` in KiB or `Threads:`.
    pub(crate) fn proc_status(&self, name: &str) -> Outcome<u64> {
        usage::status(self.pid(), name)
    }

    /// Its open file descriptors.
    pub(crate) fn descriptors(&self) -> Outcome<u64> {
        Ok(fs::read_dir(Path::new("/proc").join(self.pid().to_string()).join("fd"))?.count() as u64)
    }
}

/// A connection after its handshake.
pub(crate) struct Peer {
    pub(crate) client: Client,
    pub(crate) games: Vec<String>,
    /// The client that the daemon takes it for.
    pub(crate) known_as: Option<Box<NamedClient>>,
}

impl Peer {
    /// Connects and shakes hands.
    pub(crate) fn connect(address: SocketAddr) -> Outcome<Self> {
        Door::tcp(address).enter()
    }

    /// Opens the session of that game with a small table.
    pub(crate) fn open(&mut self, game: &str, rules: Settings) -> Outcome<()> {
        let options = Settings::from_iter([("hash_mb", 4)]);
        let session = SESSION.to_owned();
        let new = NewGame { session, game: game.to_owned(), rules, options, ..NewGame::default() };
        self.ask(Command::NewGame(new)).map(drop)
    }

    /// Sends a request; gives its id.
    pub(crate) fn send(&mut self, command: Command) -> Outcome<String> {
        Ok(self.client.request(command)?.0)
    }

    /// Waits for the final message of a request.
    pub(crate) fn wait(&mut self, id: &str) -> Outcome<Answer> {
        self.wait_for(id, TIMEOUT).map_err(|error| format!("{id}: {error}").into())
    }

    /// The same for so long.
    pub(crate) fn wait_for(&mut self, id: &str, time: Duration) -> Result<Answer, ClientError> {
        self.client.wait_final(id, Instant::now() + time)
    }

    /// Sends a request and waits for its result.
    pub(crate) fn ask(&mut self, command: Command) -> Outcome<ResultBody> {
        let id = self.send(command)?;
        match self.wait(&id)?.last.envelope.message {
            Message::Result(result) => Ok(result.body),
            other => Err(other.to_body().into()),
        }
    }

    /// Starts a search of the session's initial position; gives its id.
    pub(crate) fn go(&mut self, change: impl FnOnce(&mut Go)) -> Outcome<String> {
        let mut go = Go::new(GameRef::Session { session: SESSION.into() }, Position::default());
        change(&mut go);
        self.send(Command::Go(Box::new(go)))
    }

    /// Asks for a move that is due then as clients do: again while the server is overloaded, until the clock
    /// is over. Gives the final message, none if there was no time for one, and how often it was overloaded.
    pub(crate) fn ask_move(&mut self, due: Instant) -> Outcome<(Option<Answer>, usize)> {
        let began = Instant::now();
        let mut go = Go::new(GameRef::Session { session: SESSION.into() }, Position::default());
        let ms = due.saturating_duration_since(began).as_millis() as i64;
        go.clock = Some(Clock::PerMove { ms });
        let retry = Retry::new(&go, began);
        let mut refused = 0;
        loop {
            let id = self.send(Command::Go(Box::new(go.clone())))?;
            let answer = self.wait(&id)?;
            let error = match &answer.last.envelope.message {
                Message::Error(error) if error.code == ErrorCode::Overloaded => error,
                _ => return Ok((Some(answer), refused)),
            };
            refused += 1;
            let Some(pause) = retry.pause(&go, error, answer.last.at) else { return Ok((None, refused)) };
            thread::sleep(pause);
            if !retry.has_time(Instant::now()) {
                return Ok((None, refused));
            }
            retry.renew(&mut go, Instant::now());
        }
    }

    /// Ends a search; gives the id of the `stop`.
    pub(crate) fn stop(&mut self, go: &str) -> Outcome<String> {
        self.send(Command::Stop(Stop { target: StopTarget::Go(go.to_owned()), discard: false }))
    }

    /// The load and the counters.
    pub(crate) fn status(&mut self) -> Outcome<StatusResult> {
        match self.ask(Command::Status(Status::default()))? {
            ResultBody::Status(status) => Ok(status),
            other => Err(format!("no answer to status: {other:?}").into()),
        }
    }
}
