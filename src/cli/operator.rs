//! A daemon as those who operate it ask it: what it does, who is connected, and the end of that.
//!
//! A thread asks, so that nobody who shows the answers is held up by a server that hangs or is not there. It
//! connects when it is first asked, and again after a connection broke. Knows no terminal.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use plyd_protocol::{self as wire, Command, DisconnectTarget, ErrorCode, Message, ResultBody};
use rustix::fd::{AsFd, BorrowedFd};
use serde::Serialize;

use super::failure::Failure;
use super::over_tls::unanswered;
use super::parse;
use super::token_file::read_token;
use crate::client::{Address, Client, ClientError, LineError, WakeupReader, wakeup};

/// The feature of servers that list their connections and end them.
const FEATURE: &str = "operate";
/// The shortest time between two looks.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// The most connections that a list is read of: more than any server has.
const MOST_CONNECTIONS: usize = 100_000;

/// Which daemon is asked, and how.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Daemon {
    /// Where it serves: tcp=HOST:PORT, ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT or unix=PATH
    #[arg(value_name = "ADDR", value_parser = Address::read)]
    pub(super) address: Address,
    /// Show it the token in this file, which must be that of an operator
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// How long an answer may take
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse::duration)]
    timeout: Duration,
}

/// What a daemon does at an instant.
#[derive(Clone, Debug, Serialize)]
pub(super) struct View {
    pub(super) server: wire::Server,
    pub(super) limits: wire::Limits,
    pub(super) status: wire::StatusResult,
    /// Who is connected; none if the server does not say that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) connections: Option<Vec<wire::ConnectionInfo>>,
    /// How often the connection to the daemon had broken, or could not be made, by then.
    #[serde(skip)]
    pub(super) breaks: u64,
}

/// What is asked of it.
#[derive(Clone, Debug)]
pub(super) enum Order {
    Look,
    Close { connection: u64, session: String },
    Disconnect(DisconnectTarget),
}

/// What it answers.
#[derive(Debug)]
pub(super) enum OperatorReply {
    Seen(Box<View>),
    Closed,
    Disconnected(Vec<u64>),
}

/// The thread that asks, from outside.
pub(super) struct Operator {
    orders: Sender<Numbered>,
    answers: Receiver<(u64, Result<OperatorReply, String>)>,
    /// Holds a byte for each answer that was not taken.
    bell: WakeupReader,
    timeout: Duration,
    last: u64,
    /// The breaks before the last view that was taken.
    breaks: u64,
}

/// An order, with its number and the breaks before the view that it goes by.
struct Numbered {
    number: u64,
    breaks: u64,
    order: Order,
}

impl Daemon {
    /// Gets ready to ask it under this name.
    ///
    /// # Errors
    /// The token cannot be read, or the system gives no thread.
    pub(super) fn operator(&self, name: &'static str) -> Result<Operator, Failure> {
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        let (address, timeout) = (self.address.clone(), self.timeout);
        let (orders, to_obey) = channel::<Numbered>();
        let (say, answers) = channel();
        let (bell, mut ring) = wakeup()?;
        thread::Builder::new().name("operator".into()).spawn(move || {
            let mut line = Line { address, token, name, timeout, open: None, breaks: 0 };
            for Numbered { number, breaks, order } in to_obey {
                let answer = line.obey(order, breaks);
                if say.send((number, answer)).is_err() || ring.write_all(&[0]).is_err() {
                    return;
                }
            }
        })?;
        Ok(Operator { orders, answers, bell, timeout, last: 0, breaks: 0 })
    }
}

impl Operator {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// It does not answer in time, or refuses.
    pub(super) fn ask(&mut self, order: Order) -> Result<OperatorReply, Failure> {
        let asked = self.send(order);
        let end = Instant::now() + self.timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok((number, answer)) = self.answers.recv_timeout(left) else {
                return Err(Failure::Failed(no_answer(self.timeout)));
            };
            self.take(&answer);
            // One that came too late is no answer to this.
            if number == asked {
                return answer.map_err(Failure::Failed);
            }
        }
    }

    /// What the daemon does now.
    ///
    /// # Errors
    /// As for [`Operator::ask`].
    pub(super) fn look(&mut self) -> Result<View, Failure> {
        match self.ask(Order::Look)? {
            OperatorReply::Seen(view) => Ok(*view),
            other => Err(Failure::Failed(format!("the answer to another question came: {other:?}"))),
        }
    }

    /// Asks; the answer is [`heard`](Operator::heard) later, by the number that this returns.
    pub(super) fn send(&mut self, order: Order) -> u64 {
        self.last += 1;
        let (number, breaks) = (self.last, self.breaks);
        let _thread_gone = self.orders.send(Numbered { number, breaks, order });
        self.last
    }

    /// An answer that has come, if there is one.
    pub(super) fn heard(&mut self) -> Option<(u64, Result<OperatorReply, String>)> {
        let (number, answer) = self.answers.try_recv().ok()?;
        self.take(&answer);
        Some((number, answer))
    }

    /// Can be read from when an answer has come.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Takes the byte of an answer; it comes right behind the answer.
    fn take(&mut self, answer: &Result<OperatorReply, String>) {
        let _thread_gone = self.bell.read_exact(&mut [0]);
        if let Ok(OperatorReply::Seen(view)) = answer {
            self.breaks = view.breaks;
        }
    }
}

/// A connection to the daemon.
struct Line {
    address: Address,
    token: Option<String>,
    name: &'static str,
    timeout: Duration,
    open: Option<(Client, wire::HelloResult)>,
    /// How often it has broken, or could not be made.
    breaks: u64,
}

/// Why there is no answer.
enum Trouble {
    /// The server says why.
    Refused(Box<wire::ErrorMessage>),
    /// The connection is not to be used any more.
    Broken(String),
}

impl Trouble {
    fn nonsense() -> Self {
        Self::Broken("it answers something else than was asked".to_owned())
    }
}

impl Line {
    fn obey(&mut self, order: Order, breaks: u64) -> Result<OperatorReply, String> {
        // The numbers of connections may be those of others now: the daemon may have been started again.
        if self.breaks != breaks && !matches!(order, Order::Look) {
            return Err("the connection to the daemon broke: look again first".to_owned());
        }
        self.try_obey(order).map_err(|trouble| match trouble {
            Trouble::Broken(message) => {
                self.hang_up();
                message
            }
            Trouble::Refused(error) => {
                if error.fatal {
                    self.hang_up();
                }
                let advice = match error.code {
                    ErrorCode::AuthRequired => "; give --token-file",
                    ErrorCode::Forbidden => "; give --token-file with the token of such a client",
                    _ => "",
                };
                format!("{}{advice}", error.message)
            }
        })
    }

    fn hang_up(&mut self) {
        self.open = None;
        self.breaks += 1;
    }

    fn try_obey(&mut self, order: Order) -> Result<OperatorReply, Trouble> {
        let hello = self.hello()?;
        let is_able = hello.features.iter().any(|feature| feature == FEATURE);
        let (server, limits) = (hello.server.clone(), hello.limits.clone());
        let command = match order {
            Order::Look => {
                let ResultBody::Status(status) = self.ask(Command::Status(wire::Status::default()))? else {
                    return Err(Trouble::nonsense());
                };
                let connections = if is_able { Some(self.connections()?) } else { None };
                let breaks = self.breaks;
                return Ok(OperatorReply::Seen(Box::new(View {
                    server,
                    limits,
                    status,
                    connections,
                    breaks,
                })));
            }
            _ if !is_able => {
                let message =
                    format!("this server lacks the feature `{FEATURE}`: update it to a plyd that has it");
                return Err(Trouble::Broken(message));
            }
            Order::Close { connection, session } => {
                Command::Close(wire::Close { session, connection: Some(connection) })
            }
            Order::Disconnect(target) => Command::Disconnect(wire::Disconnect { target }),
        };
        match self.ask(command)? {
            ResultBody::Close(_) => Ok(OperatorReply::Closed),
            ResultBody::Disconnect(result) => Ok(OperatorReply::Disconnected(result.connections)),
            _ => Err(Trouble::nonsense()),
        }
    }

    /// All connections, page by page.
    fn connections(&mut self) -> Result<Vec<wire::ConnectionInfo>, Trouble> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let asked = Command::Connections(wire::Connections { after });
            let ResultBody::Connections(page) = self.ask(asked)? else {
                return Err(Trouble::nonsense());
            };
            all.extend(page.connections);
            match page.next {
                None => return Ok(all),
                Some(next) if next > after && all.len() < MOST_CONNECTIONS => after = next,
                Some(_) => return Err(Trouble::Broken("its list of connections has no end".to_owned())),
            }
        }
    }

    /// Connects, unless it is connected; the greeting of the server.
    fn hello(&mut self) -> Result<&wire::HelloResult, Trouble> {
        if self.open.is_none() {
            let mut client = Client::at(&self.address)
                .map_err(|error| Trouble::Broken(unanswered(&self.address, &error)))?;
            client.set_write_timeout(self.timeout);
            let hello = wire::Hello {
                protocol: wire::Versions { min: wire::VERSION, max: wire::VERSION },
                client: Some(wire::ClientInfo {
                    name: Some(self.name.to_owned()),
                    version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                }),
                token: self.token.clone(),
                ..wire::Hello::default()
            };
            let ResultBody::Hello(hello) =
                ask(&mut client, Command::Hello(hello), self.timeout, Some(&self.address))?
            else {
                return Err(Trouble::nonsense());
            };
            self.open = Some((client, *hello));
        }
        self.open.as_ref().map(|(_, hello)| hello).ok_or_else(Trouble::nonsense)
    }

    fn ask(&mut self, command: Command) -> Result<ResultBody, Trouble> {
        let (client, _) = self.open.as_mut().ok_or_else(Trouble::nonsense)?;
        ask(client, command, self.timeout, None)
    }
}

/// Asks one thing; the first one at a server names its address, for what its silence may mean.
fn ask(
    client: &mut Client,
    command: Command,
    timeout: Duration,
    greeted: Option<&Address>,
) -> Result<ResultBody, Trouble> {
    let end = Instant::now() + timeout;
    let answer = client.request(command).and_then(|(id, _)| client.wait_final(&id, end));
    match answer {
        Ok(answer) => match answer.last.envelope.message {
            Message::Result(result) => Ok(result.body),
            Message::Error(error) => Err(Trouble::Refused(error)),
            _ => Err(Trouble::nonsense()),
        },
        Err(error) => Err(last_words(client, &error, timeout, greeted)),
    }
}

/// What is said of a time that is over, whoever sees that first: the thread that asks, or whoever waits for
/// it.
fn no_answer(timeout: Duration) -> String {
    format!("no answer within {}", parse::duration_text(timeout))
}

/// Why a connection broke: what the server said last, if that is a fatal error.
fn last_words(
    client: &mut Client,
    error: &ClientError,
    timeout: Duration,
    greeted: Option<&Address>,
) -> Trouble {
    while let Ok(received) = client.next(Instant::now()) {
        if let Message::Error(error) = received.envelope.message
            && error.fatal
        {
            return Trouble::Refused(error);
        }
    }
    Trouble::Broken(match error {
        ClientError::Line(LineError::TimedOut) => no_answer(timeout),
        _ => greeted.map_or_else(|| error.to_string(), |address| unanswered(address, error)),
    })
}
