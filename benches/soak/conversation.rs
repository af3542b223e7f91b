//! A conversation with the daemon, one request after the other. Every message counts: it has the next number,
//! and is about a request of this conversation that has no final message yet. A conversation may outlive its
//! socket, and comes back over another one in the middle of a search.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::{Address, Answer, Client, Received, is_final, message_id};
use plyd_protocol::{
    Command, Hello, HelloResult, Message, NamedClient, Quit, QuitMode, Request, ResultBody, Resume, Role,
    Stop, StopTarget, VERSION, Versions,
};
use rustix::net::sockopt::set_socket_linger;

use crate::server::{Door, Outcome, TIMEOUT};

/// For how long the daemon keeps a conversation that has lost its socket: less than a calm is waited for.
pub(crate) const KEEP_MS: u64 = 20_000;

/// Why a client stops using its connection.
pub(crate) enum Trouble {
    /// The connection ended; whether a search had started whose answer was owed.
    Lost(String, bool),
    /// An answer is wrong.
    Wrong(String),
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::Lost(error.into().to_string(), false)
    }
}

/// What becomes of the socket that a conversation leaves.
#[derive(Clone, Copy)]
pub(crate) enum Break {
    /// It is reset before the client comes back.
    Reset,
    /// It stays open, so that the daemon does not know that it is of no use.
    Unnoticed,
}

/// A request without a final message.
#[derive(Debug)]
struct Open {
    request: Request,
    /// Which line of the conversation it is.
    line: u64,
    infos: Vec<Received>,
}

/// A conversation after its handshake.
pub(crate) struct Conversation {
    door: Door,
    client: Client,
    /// The client that the daemon takes it for.
    pub(crate) known_as: Option<Box<NamedClient>>,
    /// What the ids of its requests begin with, so that nobody else's look like them.
    name: String,
    /// The last request's number.
    number: u64,
    /// How many lines were sent.
    lines: u64,
    /// The number of the last message.
    seq: u64,
    /// By which the conversation is resumed, if it can be.
    token: Option<String>,
    open: Vec<Open>,
    /// Final messages that nobody has asked for yet.
    settled: HashMap<String, Answer>,
}

impl Conversation {
    /// Connects and shakes hands.
    pub(crate) fn enter(door: &Door, name: &str) -> Result<Self, Trouble> {
        Self::begin(door, name, None)
    }

    /// The same for a conversation that is to outlive its sockets.
    pub(crate) fn enter_resumable(door: &Door, name: &str) -> Result<Self, Trouble> {
        let conversation = Self::begin(door, name, Some(Resume::Keep { keep_ms: KEEP_MS }))?;
        if conversation.token.is_none() {
            return Err(Trouble::Wrong("the daemon does not promise to keep the connection".to_owned()));
        }
        Ok(conversation)
    }

    fn begin(door: &Door, name: &str, resume: Option<Resume>) -> Result<Self, Trouble> {
        let mut conversation = Self {
            client: Client::at(&door.address)?,
            door: door.clone(),
            known_as: None,
            name: name.to_owned(),
            number: 0,
            lines: 0,
            seq: 0,
            token: None,
            open: Vec::new(),
            settled: HashMap::new(),
        };
        let id = conversation.send(conversation.hello(resume))?;
        let hello = greeting(conversation.settle(&id)?)?;
        conversation.known_as = hello.limits.client;
        conversation.token = hello.resume.and_then(|promise| promise.token);
        Ok(conversation)
    }

    fn hello(&self, resume: Option<Resume>) -> Command {
        let protocol = Versions { min: VERSION, max: VERSION };
        Command::Hello(Hello { protocol, token: self.door.token.clone(), resume, ..Hello::default() })
    }

    /// Sends a request; gives its id.
    pub(crate) fn send(&mut self, command: Command) -> Outcome<String> {
        self.number += 1;
        self.lines += 1;
        let request = Request { id: format!("{}-{}", self.name, self.number), command };
        let id = request.id.clone();
        self.client.send(&request)?;
        self.open.push(Open { request, line: self.lines, infos: Vec::new() });
        Ok(id)
    }

    /// Ends a search; gives the id of the `stop`.
    pub(crate) fn stop(&mut self, go: &str) -> Outcome<String> {
        self.send(Command::Stop(Stop { target: StopTarget::Go(go.to_owned()), discard: false }))
    }

    /// The final message of a request. If the connection ends instead, the error says whether the search had
    /// started.
    pub(crate) fn settle(&mut self, id: &str) -> Result<Answer, Trouble> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(answer) = self.settled.remove(id) {
                return Ok(answer);
            }
            match self.client.next(deadline) {
                Ok(received) => self.take(received)?,
                Err(error) => {
                    let asked = self.open.iter().find(|open| open.request.id == id);
                    let has_started = asked.is_some_and(|open| !open.infos.is_empty());
                    // What nobody can explain yet is told with all that is known of it.
                    let known = format!("{:?}, lines {}, {asked:?}", self.door.address, self.lines);
                    return Err(Trouble::Lost(format!("{id}: {error}; {known}"), has_started));
                }
            }
        }
    }

    /// Whether the final message of a request is there.
    pub(crate) fn is_settled(&self, id: &str) -> bool {
        self.settled.contains_key(id)
    }

    /// Takes what comes within so long.
    pub(crate) fn listen(&mut self, time: Duration) -> Result<(), Trouble> {
        let deadline = Instant::now() + time;
        // Whoever waits for an answer notices that a connection has ended.
        while let Ok(received) = self.client.next(deadline) {
            self.take(received)?;
        }
        Ok(())
    }

    /// Loses its socket, is away for so long, and comes back over another one: nothing may be missing then,
    /// and nothing come twice. Gives how many requests had not arrived and were sent again.
    pub(crate) fn come_back(&mut self, how: Break, away: Duration) -> Result<u64, Trouble> {
        let token = self.token.clone().ok_or("nobody waits for this client")?;
        let next = Client::at(&self.door.address)?;
        let old = std::mem::replace(&mut self.client, next);
        // A Unix socket cannot be reset.
        let is_reset = matches!(how, Break::Reset) && !matches!(self.door.address, Address::Unix(_));
        let _unnoticed = if is_reset {
            set_socket_linger(old.input(), Some(Duration::ZERO))?;
            drop(old);
            None
        } else {
            Some(old)
        };
        thread::sleep(away);
        let sent = self.lines;
        let id = self.send(self.hello(Some(Resume::Take { token, seq: Some(self.seq) })))?;
        let first = self.client.next(Instant::now() + TIMEOUT)?;
        // A refusal, and the notice of an end, are messages of the connection that the new socket opened.
        let is_refused = match &first.envelope.message {
            Message::Error(error) => error.fatal || error.id.as_ref() == Some(&id),
            Message::Notice(_) => first.envelope.seq <= self.seq,
            _ => false,
        };
        if is_refused {
            return Err(Trouble::Lost(format!("not resumed: {}", first.envelope.message.to_body()), false));
        }
        self.take(first)?;
        let hello = greeting(self.settle(&id)?)?;
        let read = hello.resume.as_ref().map(|promise| promise.lines).filter(|lines| *lines <= sent);
        let Some(read) =
            read.filter(|_| who(hello.limits.client.as_deref()) == who(self.known_as.as_deref()))
        else {
            return Err(wrong(&format!("coming back after {sent} lines as {:?}", self.known_as), &hello));
        };
        // The `hello` is the line behind those that were read.
        self.lines = read + 1;
        let mut again = 0;
        for open in self.open.iter_mut().filter(|open| open.line > read) {
            self.lines += 1;
            again += 1;
            open.line = self.lines;
            self.client.send(&open.request)?;
        }
        Ok(again)
    }

    /// Says goodbye, so that the daemon waits for nobody.
    pub(crate) fn leave(mut self) {
        if self.token.is_some()
            && let Ok(id) = self.send(Command::Quit(Quit { mode: QuitMode::Finish }))
        {
            let _gone_already = self.settle(&id);
        }
    }

    /// Takes the next message.
    fn take(&mut self, received: Received) -> Result<(), Trouble> {
        let message = &received.envelope.message;
        self.seq += 1;
        if received.envelope.seq != self.seq {
            return Err(Trouble::Wrong(format!("not message {}: {:?}", self.seq, received.envelope)));
        }
        let Some(id) = message_id(message) else {
            return match message {
                Message::Error(error) if !error.fatal => Err(wrong("nothing in particular", message)),
                // The end of the connection follows a fatal error.
                _ => Ok(()),
            };
        };
        let Some(index) = self.open.iter().position(|open| open.request.id == id) else {
            return Err(wrong(&format!("what {} did not ask or knows already", self.name), message));
        };
        if is_final(message) {
            let Open { request, infos, .. } = self.open.remove(index);
            self.settled.insert(request.id, Answer { infos, last: received });
        } else {
            self.open[index].infos.push(received);
        }
        Ok(())
    }
}

/// The client without its limits, which change.
pub(crate) fn who(client: Option<&NamedClient>) -> Option<(&str, Role)> {
    client.map(|client| (client.name.as_str(), client.role.known().copied().unwrap_or_default()))
}

/// What the daemon says to a `hello`.
fn greeting(answer: Answer) -> Result<HelloResult, Trouble> {
    match answer.last.envelope.message {
        Message::Result(result) => match result.body {
            ResultBody::Hello(hello) => Ok(*hello),
            other => Err(wrong("hello", &other)),
        },
        other => Err(format!("no answer to hello: {}", other.to_body()).into()),
    }
}

/// A request or a position that has another answer.
pub(crate) fn wrong(what: &str, came: &impl std::fmt::Debug) -> Trouble {
    let came: String = format!("{came:?}").chars().take(500).collect();
    Trouble::Wrong(format!("{what} was answered by {came}"))
}
