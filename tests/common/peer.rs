//! One connection: raw bytes in, messages out, each checked by the ledger.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;
use serde_json::{Value, json};

use super::TIMEOUT;
use super::ledger::Ledger;

/// The client's end of a connection.
pub(crate) struct Peer {
    out: Option<Box<dyn Write + Send>>,
    socket: Option<TcpStream>,
    arrivals: Receiver<Value>,
    ledger: Ledger,
    finals: HashMap<String, VecDeque<Value>>,
    faults: VecDeque<Value>,
    lines: u64,
    closed: bool,
    /// Every message so far, in order.
    pub(crate) log: Vec<Value>,
}

impl Peer {
    /// A connection over two pipes.
    pub(crate) fn new(out: Box<dyn Write + Send>, input: impl Read + Send + 'static) -> Self {
        let (sender, arrivals) = channel();
        std::thread::spawn(move || {
            // A reset ends the input like its end does.
            for line in BufReader::new(input).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "no message": line }));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            out: Some(out),
            socket: None,
            arrivals,
            ledger: Ledger::default(),
            finals: HashMap::new(),
            faults: VecDeque::new(),
            lines: 0,
            closed: false,
            log: Vec::new(),
        }
    }

    /// A connection over TCP.
    pub(crate) fn tcp(stream: TcpStream, reading: TcpStream) -> Self {
        let socket = stream.try_clone().expect("a further handle");
        Self::new(Box::new(stream), reading).over(socket)
    }

    /// The same connection with a handle of the socket that carries it.
    pub(crate) fn over(mut self, socket: TcpStream) -> Self {
        self.socket = Some(socket);
        self
    }

    /// Says `hello` with these further fields and takes its result.
    pub(crate) fn hello(&mut self, fields: Value) -> Value {
        let mut request = json!({ "id": "hello", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
        let fields = fields.as_object().expect("an object of fields").clone();
        request.as_object_mut().expect("an object").extend(fields);
        let result = self.ask(&request);
        assert_eq!(result["type"], "result", "{result}");
        result
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, request: &Value) {
        self.line(request.to_string().as_bytes());
    }

    /// Sends several requests in one write.
    pub(crate) fn send_all(&mut self, requests: &[Value]) {
        let mut bytes = Vec::new();
        for request in requests {
            bytes.extend(request.to_string().into_bytes());
            bytes.push(b'\n');
            self.ledger.sent(request["id"].as_str().expect("an id"));
        }
        self.lines += requests.len() as u64;
        self.bytes(&bytes);
    }

    /// Sends a line, whatever is in it.
    pub(crate) fn line(&mut self, line: &[u8]) {
        if let Ok(Value::Object(request)) = serde_json::from_slice(line)
            && let Some(id) = request.get("id").and_then(Value::as_str)
        {
            self.ledger.sent(id);
        }
        self.lines += 1;
        self.bytes(&[line, b"\n"].concat());
    }

    /// Sends bytes that the ledger does not know.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let out = self.out.as_mut().expect("the input has not ended");
        // A peer may close at any time; what it answered before counts.
        let _closed = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Notes a request that was sent by [`bytes`](Self::bytes).
    pub(crate) fn expect(&mut self, id: &str) {
        self.ledger.sent(id);
    }

    /// The number of lines sent.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Sends a request and waits for its final message.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        self.last(request["id"].as_str().expect("an id"))
    }

    /// Sends a request and takes its result.
    pub(crate) fn result(&mut self, request: &Value) -> Value {
        let last = self.ask(request);
        assert_eq!(last["type"], "result", "{request} -> {last}");
        last
    }

    /// Sends a `go` and takes its best move.
    pub(crate) fn best(&mut self, request: &Value) -> Value {
        let last = self.ask(request);
        assert_eq!(last["type"], "bestmove", "{request} -> {last}");
        last
    }

    /// Waits for the final message of the id.
    pub(crate) fn last(&mut self, id: &str) -> Value {
        self.wait(&format!("the final message of {id}"), |peer| {
            peer.finals.get(id).is_some_and(|all| !all.is_empty())
        });
        self.finals.get_mut(id).and_then(VecDeque::pop_front).expect("just seen")
    }

    /// Waits for an error without id.
    pub(crate) fn fault(&mut self) -> Value {
        self.wait("an error without id", |peer| !peer.faults.is_empty());
        self.faults.pop_front().expect("just seen")
    }

    /// Waits for an `info` of that event and request.
    pub(crate) fn info(&mut self, id: &str, event: &str) -> Value {
        let is_it =
            |message: &&Value| message["type"] == "info" && message["id"] == id && message["event"] == event;
        self.wait(&format!("{event} of {id}"), |peer| peer.log.iter().any(|message| is_it(&message)));
        self.log.iter().find(is_it).expect("just seen").clone()
    }

    /// Waits for a notice.
    pub(crate) fn notice(&mut self, kind: &str) {
        self.wait(kind, |peer| peer.log.iter().any(|message| message["kind"] == kind));
    }

    /// Waits until a `ping` is answered, and with it what came before.
    pub(crate) fn ping(&mut self) {
        let id = format!("ping-{}", self.lines);
        let result = self.result(&json!({ "id": id, "cmd": "ping", "echo": id }));
        assert_eq!(result["echo"], id.as_str());
    }

    /// Goes on with what another connection began, behind that message of it.
    pub(crate) fn follow(&mut self, earlier: &Self, seq: u64) {
        self.ledger.follow(&earlier.ledger, &earlier.log, seq);
    }

    /// Resets the connection, so that the server sees it break; what came before is in the log.
    pub(crate) fn reset(&mut self) {
        let socket = self.socket.take().expect("a connection over TCP");
        // The thread that reads finds the end, and lets its handle of the socket go.
        let _broken = socket.shutdown(Shutdown::Read);
        while let Ok(message) = self.arrivals.recv_timeout(TIMEOUT) {
            self.take(message);
        }
        self.out = None;
        set_socket_linger(&socket, Some(Duration::ZERO)).expect("an option of TCP");
    }

    /// Ends the input; messages may still come.
    pub(crate) fn end_input(&mut self) {
        self.out = None;
        if let Some(socket) = &self.socket {
            let _closed = socket.shutdown(Shutdown::Write);
        }
    }

    /// Waits until the other side closes; gives everything that came since the connection opened.
    pub(crate) fn closed(&mut self) -> &[Value] {
        self.wait("the end of the connection", |peer| peer.closed);
        &self.log
    }

    /// The number of requests without a final message so far.
    pub(crate) fn open(&self) -> usize {
        self.ledger.open()
    }

    /// Whether the request has no final message so far.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.ledger.is_open(id)
    }

    /// Takes messages until the condition holds.
    pub(crate) fn wait(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = Instant::now() + TIMEOUT;
        while !holds(self) {
            match self.arrivals.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Disconnected) if !self.closed => self.closed = true,
                Err(error) => {
                    let tail: Vec<String> =
                        self.log.iter().rev().take(8).rev().map(Value::to_string).collect();
                    panic!("no {what} ({error}) after\n{}", tail.join("\n"));
                }
            }
        }
    }

    fn take(&mut self, message: Value) {
        self.ledger.arrived(&message);
        self.log.push(message.clone());
        match (message["type"].as_str(), message["id"].as_str()) {
            (Some("result" | "bestmove" | "error"), Some(id)) => {
                self.finals.entry(id.to_owned()).or_default().push_back(message);
            }
            (Some("error"), None) => self.faults.push_back(message),
            _ => {}
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            let _closed = socket.shutdown(Shutdown::Both);
        }
    }
}
