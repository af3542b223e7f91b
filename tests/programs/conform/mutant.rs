//! A server that breaks one promise: our own daemon, with one thing distorted on the way.
//!
//! What is distorted is data, a row of `mutants.txt`: which lines of which direction, and what becomes of
//! them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Which lines a mutant distorts.
#[derive(Clone, Debug)]
enum Lines {
    /// Every one.
    All,
    /// JSON with these fields.
    Like(Value),
    /// Those that hold this text.
    Holding(Vec<u8>),
    /// This very line.
    Exactly(Vec<u8>),
    /// Those of so many bytes, or of more.
    Of(usize),
    Over(usize),
}

/// What becomes of a line.
#[derive(Clone, Debug)]
enum Change {
    Set(String, Value),
    Add(String, i64),
    Append(String, Value),
    Remove(String),
    /// Every number of that name changes its sign.
    Negate(String),
    Replace(String, String),
    Become(String),
    Before(String),
    Behind(Value),
    Drop,
    Twice,
    Lossy,
    Delay(u64),
    /// Most of the time that the clock of a `go` gives a move passes before it is seen.
    UseClock,
    Exit(u8),
    /// All connections are closed.
    HangUp,
    /// The line is shown in the log.
    Log,
    /// A program that dials is started again, when it has ended or its ladder has cut it off.
    Restart,
    /// A program that dials comes back after the whole pause, always.
    Align,
    /// A line ends where a read ends.
    Chop,
    /// Of what is read at once only the first line is seen.
    First,
    /// The server lacks features: it does not announce them, and refuses requests that use one.
    Without(Vec<String>),
    /// At the end of input: a line without its end is lost, the server stays, or is killed.
    LoseRest,
    Stay,
    Kill,
}

/// A row of `mutants.txt` without its checks.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    direction: String,
    lines: Lines,
    change: Change,
}

impl Mutant {
    /// Reads `DIRECTION LINES` and the change.
    pub(crate) fn read(lines: &str, change: &str) -> Self {
        let (direction, lines) = lines.split_once(' ').unwrap_or((lines, "*"));
        let json = |text: &str| -> Value {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let text = |text: &str| json(text).as_str().expect("a text").to_owned();
        let lines = match lines.split_at(lines.len().min(1)) {
            ("*", "") => Lines::All,
            ("{", _) => Lines::Like(json(lines)),
            ("~", rest) => Lines::Holding(text(rest).into_bytes()),
            ("=", rest) => Lines::Exactly(text(rest).into_bytes()),
            ("#", rest) => Lines::Of(rest.parse().expect("a length")),
            (">", rest) => Lines::Over(rest.parse().expect("a length")),
            _ => panic!("{lines}"),
        };
        let (verb, rest) = change.split_once(' ').unwrap_or((change, ""));
        let two = || rest.split_once(' ').unwrap_or((rest, "null"));
        let change = match verb {
            "set" => Change::Set(two().0.to_owned(), json(two().1)),
            "add" => Change::Add(two().0.to_owned(), two().1.parse().expect("a number")),
            "append" => Change::Append(two().0.to_owned(), json(two().1)),
            "negate" => Change::Negate(rest.to_owned()),
            "remove" => Change::Remove(rest.to_owned()),
            "replace" => Change::Replace(text(two().0), text(two().1)),
            "become" => Change::Become(rest.to_owned()),
            "before" => Change::Before(rest.to_owned()),
            "behind" => Change::Behind(json(rest)),
            "drop" => Change::Drop,
            "twice" => Change::Twice,
            "lossy" => Change::Lossy,
            "delay" => Change::Delay(rest.parse().expect("ms")),
            "use-clock" => Change::UseClock,
            "exit" => Change::Exit(rest.parse().expect("a code")),
            "hang-up" => Change::HangUp,
            "log" => Change::Log,
            "restart" => Change::Restart,
            "align" => Change::Align,
            "without" => Change::Without(rest.split(' ').map(str::to_owned).collect()),
            "chop" => Change::Chop,
            "first" => Change::First,
            "lose-rest" => Change::LoseRest,
            "stay" => Change::Stay,
            "kill" => Change::Kill,
            _ => panic!("{change}"),
        };
        Self { direction: direction.to_owned(), lines, change }
    }

    /// Serves on standard input and output.
    #[allow(clippy::disallowed_methods, reason = "the daemon is of the mutant's group, which the suite ends")]
    pub(crate) fn serve(self, daemon: &str) -> ExitCode {
        let mut child = Command::new(daemon)
            .args(["serve", "--threads", "2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the daemon starts");
        self.pass_signals(&child);
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let shared = Arc::new(self);
        let requests = Arc::clone(&shared);
        let child = Arc::new(Mutex::new(child));
        let killed = Arc::clone(&child);
        thread::spawn(move || {
            let is_gone = requests.pass_requests(io::stdin().lock(), stdin, &|| {
                let _ended_already = killed.lock().unwrap().kill();
            });
            if is_gone {
                // What it wrote before is passed on, if somebody reads it, and the process ends then.
                thread::sleep(Duration::from_secs(2));
                std::process::exit(9);
            }
        });
        let code = shared.pass_messages(stdout, io::stdout().lock());
        if let (Change::Stay, "eof") = (&shared.change, &*shared.direction) {
            loop {
                thread::park();
            }
        }
        let status = child.lock().unwrap().wait().expect("a child can be waited for");
        let own = match (&shared.change, &*shared.direction) {
            (Change::Exit(code), "exit") => Some(*code),
            _ => code,
        };
        ExitCode::from(own.unwrap_or_else(|| status.code().unwrap_or(9) as u8))
    }

    /// Serves over TCP, in front of the daemon that listens there: its own address. The threads end with the
    /// process.
    pub(crate) fn listen(self, daemon: SocketAddr) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(self);
        thread::spawn(move || {
            let open = Arc::new(Mutex::new(Vec::new()));
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(daemon).expect("the daemon listens");
                let twin = |stream: &TcpStream| stream.try_clone().expect("a second handle");
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("a TCP option");
                    open.lock().unwrap().push(twin(stream));
                }
                let (requests, input, output) = (Arc::clone(&shared), twin(&client), twin(&server));
                let sockets = Arc::clone(&open);
                thread::spawn(move || {
                    requests.pass_requests(input, &output, &|| {
                        for socket in sockets.lock().unwrap().iter() {
                            let _closed_already = socket.shutdown(Shutdown::Both);
                        }
                    });
                    let _closed_already = output.shutdown(Shutdown::Write);
                });
                let messages = Arc::clone(&shared);
                thread::spawn(move || {
                    messages.pass_messages(&server, &client);
                    let _closed_already = client.shutdown(Shutdown::Both);
                });
            }
        });
        address
    }

    /// Whether a program that dials is started again at such an end.
    pub(crate) fn restarts(&self, end: &str) -> bool {
        matches!(self.change, Change::Restart) && self.direction == end
    }

    /// Whether a program that dials comes back after the whole pause.
    pub(crate) fn aligns(&self) -> bool {
        matches!(self.change, Change::Align)
    }

    /// Whether it goes on when the program behind it has ended.
    pub(crate) fn stays(&self) -> bool {
        matches!(self.change, Change::Stay)
    }

    /// The code by which it exits when a ladder has cut it off.
    pub(crate) fn exits_at_end(&self) -> Option<u8> {
        match self.change {
            Change::Exit(code) if self.direction == "end" => Some(code),
            _ => None,
        }
    }

    fn is_at(&self, direction: &str, line: &[u8]) -> bool {
        // `<>` is both.
        self.direction.contains(direction)
            && match &self.lines {
                Lines::All => true,
                Lines::Like(fields) => {
                    serde_json::from_slice(line).is_ok_and(|value: Value| is_like(&value, fields))
                }
                Lines::Holding(text) => line.windows(text.len()).any(|part| part == text),
                Lines::Exactly(text) => line == text,
                Lines::Of(length) => line.len() == *length,
                Lines::Over(length) => line.len() > *length,
            }
    }

    /// A line as the change makes it: none or several.
    fn changed(&self, line: &[u8]) -> Vec<Vec<u8>> {
        let edited = |edit: &dyn Fn(&mut Value)| {
            let mut value: Value = serde_json::from_slice(line).unwrap_or_default();
            edit(&mut value);
            vec![value.to_string().into_bytes()]
        };
        match &self.change {
            Change::Set(pointer, new) => edited(&|value| set(value, pointer, new)),
            Change::Add(pointer, more) => edited(&|value| {
                if let Some(place) = value.pointer_mut(pointer) {
                    *place = (place.as_i64().unwrap_or_default() + more).into();
                }
            }),
            Change::Append(pointer, new) => edited(&|value| {
                if let Some(list) = value.pointer_mut(pointer).and_then(Value::as_array_mut) {
                    list.push(new.clone());
                }
            }),
            Change::Negate(name) => edited(&|value| negate(value, name)),
            Change::Remove(pointer) => edited(&|value| remove(value, pointer)),
            Change::Replace(old, new) => vec![replaced(line, old.as_bytes(), new.as_bytes())],
            Change::Become(text) => vec![text.clone().into_bytes()],
            Change::Before(text) => vec![text.clone().into_bytes(), line.to_vec()],
            Change::Twice => vec![line.to_vec(), line.to_vec()],
            Change::Lossy => vec![String::from_utf8_lossy(line).into_owned().into_bytes()],
            Change::Drop => Vec::new(),
            Change::Without(features) => {
                let whole: Value = serde_json::from_slice(line).unwrap_or_default();
                let mut rest = whole.clone();
                features.iter().for_each(|feature| take_away(&mut rest, feature));
                // Other lines stay as they were written.
                vec![if rest == whole { line.to_vec() } else { rest.to_string().into_bytes() }]
            }
            Change::Log => {
                let shown = [line, b"\n"].concat();
                io::stderr().write_all(&shown).expect("the suite reads the log");
                vec![line.to_vec()]
            }
            Change::UseClock => {
                let go: Value = serde_json::from_slice(line).unwrap_or_default();
                let ms = go["clock"]["ms"].as_u64().unwrap_or_default();
                thread::sleep(Duration::from_millis(ms) * 3 / 5);
                vec![line.to_vec()]
            }
            Change::Delay(ms) => {
                thread::sleep(Duration::from_millis(*ms));
                vec![line.to_vec()]
            }
            _ => vec![line.to_vec()],
        }
    }

    /// Reads requests to their end, or until the server takes no more, and returns whether it was that;
    /// `kill` ends the server for good.
    pub(crate) fn pass_requests(&self, mut input: impl Read, mut out: impl Write, kill: &dyn Fn()) -> bool {
        let (mut rest, mut chunk, mut seen) = (Vec::new(), vec![0; 64 << 10], 0);
        loop {
            let count = input.read(&mut chunk).unwrap_or(0);
            if count == 0 {
                break;
            }
            rest.extend_from_slice(&chunk[..count]);
            if matches!(self.change, Change::Chop) && rest.last() != Some(&b'\n') {
                rest.push(b'\n');
            }
            let mut is_first = true;
            while let Some(end) = rest[seen..].iter().position(|&byte| byte == b'\n').map(|end| seen + end) {
                seen = 0;
                let line: Vec<u8> = rest.drain(..=end).collect();
                let line = &line[..end];
                if matches!(self.change, Change::First) && !is_first {
                    continue;
                }
                is_first = false;
                match self.change {
                    Change::HangUp if self.is_at(">", line) => kill(),
                    Change::Exit(code) if self.is_at(">", line) => std::process::exit(code.into()),
                    _ => {}
                }
                let lines = if self.is_at(">", line) { self.changed(line) } else { vec![line.to_vec()] };
                for mut line in lines {
                    line.push(b'\n');
                    if out.write_all(&line).is_err() {
                        return true;
                    }
                }
            }
            seen = rest.len();
        }
        if !matches!(self.change, Change::LoseRest) {
            let _daemon_gone = out.write_all(&rest);
        }
        match (&self.change, &*self.direction) {
            (Change::Stay, "eof") => loop {
                thread::park();
            },
            (Change::Kill, "eof") => kill(),
            _ => {}
        }
        false
    }

    /// Writes what the daemon writes; a code to exit with, where the change is that.
    pub(crate) fn pass_messages(&self, input: impl Read, mut out: impl Write) -> Option<u8> {
        let mut held: Option<(Vec<u8>, Value)> = None;
        let mut seq = 0;
        // Lines that come, go or change places keep their numbers right; that they count is another promise.
        let renumbers = matches!(self.change, Change::Drop | Change::Twice | Change::Behind(_));
        let mut write = |line: &[u8]| {
            let mut line = line.to_vec();
            if renumbers && let Ok(mut value) = serde_json::from_slice::<Value>(&line) {
                seq += 1;
                value["seq"] = seq.into();
                line = value.to_string().into_bytes();
            }
            line.push(b'\n');
            // A client that is gone reads nothing any more; the daemon learns it by the end of its input.
            let _client_gone = out.write_all(&line).and_then(|()| out.flush());
        };
        for line in BufReader::new(input).split(b'\n').map_while(Result::ok) {
            let is_at = self.is_at("<", &line);
            match &self.change {
                Change::Exit(code) if is_at => return Some(*code),
                Change::Behind(until) if is_at && held.is_none() => {
                    held = Some((line.clone(), until.clone()))
                }
                _ if is_at => self.changed(&line).iter().for_each(|line| write(line)),
                _ => write(&line),
            }
            let is_time =
                |until: &Value| serde_json::from_slice(&line).is_ok_and(|value| is_like(&value, until));
            if held.as_ref().is_some_and(|(late, until)| *late != line && is_time(until))
                && let Some((late, _)) = held.take()
            {
                write(&late);
            }
        }
        if let Some((late, _)) = held {
            write(&late);
        }
        None
    }

    /// Signals are the daemon's, unless the change is that they kill.
    pub(crate) fn pass_signals(&self, child: &Child) {
        use tokio::signal::unix::{SignalKind, signal};
        let pid = Pid::from_child(child);
        let (dies, is_deaf) = (self.direction == "signal", matches!(self.change, Change::Drop));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (ready, is_ready) = std::sync::mpsc::channel();
        thread::spawn(move || {
            runtime.block_on(async {
                let mut terminate = signal(SignalKind::terminate()).expect("a signal");
                let mut hangup = signal(SignalKind::hangup()).expect("a signal");
                let mut interrupt = signal(SignalKind::interrupt()).expect("a signal");
                let _nobody_waits = ready.send(());
                loop {
                    let signal = tokio::select! {
                        _ = terminate.recv() => Signal::TERM,
                        _ = interrupt.recv() => Signal::INT,
                        _ = hangup.recv() => Signal::HUP,
                    };
                    let signal = if dies { Signal::KILL } else { signal };
                    if dies && is_deaf {
                        continue;
                    }
                    let _gone_already = kill_process(pid, signal);
                }
            });
        });
        is_ready.recv().expect("the signals are taken");
    }
}

/// Takes a feature out of the result of a `hello`; a request that uses it becomes one that is refused, as by
/// a server that never heard of it.
fn take_away(message: &mut Value, feature: &str) {
    if let Some(features) = message.get_mut("features").and_then(Value::as_array_mut) {
        features.retain(|name| name != feature);
    }
    let is_ponderhit = message["cmd"] == "update" && message["mode"] == "move" && feature == "ponder";
    let unknown = Value::from("?");
    if message["mode"] == feature || is_ponderhit {
        set(message, "/mode", &unknown);
    } else if message["clock"]["kind"] == feature {
        set(message, "/clock/kind", &unknown);
    } else if message.get("cmd").is_some() {
        for fields in ["", "/options"] {
            let fields = message.pointer_mut(fields).and_then(Value::as_object_mut);
            if let Some(fields) = fields
                && let Some(value) = fields.remove(feature)
            {
                fields.insert(format!("not-{feature}"), value);
            }
        }
    }
}

/// Whether a value has these fields.
fn is_like(value: &Value, fields: &Value) -> bool {
    match (value, fields) {
        (Value::Object(value), Value::Object(fields)) => {
            fields.iter().all(|(name, field)| value.get(name).is_some_and(|value| is_like(value, field)))
        }
        _ => value == fields,
    }
}

/// Sets what a pointer names; its last name may be a new one of an object.
fn set(value: &mut Value, pointer: &str, new: &Value) {
    if let Some(place) = value.pointer_mut(pointer) {
        *place = new.clone();
    } else if let Some((parent, name)) = pointer.rsplit_once('/')
        && parent.is_empty()
    {
        value[name] = new.clone();
    }
}

fn remove(value: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => drop(fields.remove(name)),
        Some(Value::Array(items)) => {
            if let Some(index) = name.parse().ok().filter(|&index| index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

fn negate(value: &mut Value, name: &str) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                match value.as_i64().filter(|_| field == name) {
                    Some(number) => *value = (-number).into(),
                    None => negate(value, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| negate(item, name)),
        _ => {}
    }
}

fn replaced(line: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if line[at..].starts_with(old) {
            out.extend_from_slice(new);
            at += old.len();
        } else {
            out.push(line[at]);
            at += 1;
        }
    }
    out
}
