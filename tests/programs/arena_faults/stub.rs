//! A player that takes any game and then does what its argument says when it is asked for a move.

use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpgid, getppid, kill_process, setpgid};
use serde_json::{Value, json};

/// Where a stub lists its process and those that it starts, a number a line, in the directory where it runs.
pub(crate) const PROCESSES: &str = "processes";

/// What a stub that hangs makes in that directory once it is asked for a move.
pub(crate) const ASKED: &str = "asked";

/// When a stub that is overloaded wants to be asked again.
const RETRY_MS: u64 = 30;

/// What a player does, by the words of its command line.
pub(crate) struct Stub<O> {
    way: String,
    /// Whether it speaks only what a bot must.
    is_bot: bool,
    out: O,
    seq: u64,
    /// How often it was asked while it was overloaded.
    refused: u64,
    /// The games that it began.
    games: u64,
    /// How often it was asked for a move.
    asked: u64,
}

/// Plays on the standard streams, as the whole of a process.
#[allow(clippy::disallowed_methods, reason = "the referee is to end what a player leaves behind")]
pub(crate) fn run(way: &str) -> io::Result<()> {
    if way == "orphan" {
        forever();
    }
    note(process::id())?;
    match way {
        "forks" | "forks and crashes" | "forks and hangs" => {
            let mut orphan = Command::new(std::env::current_exe()?);
            // The name by which the test's executable knows that it is the stub.
            orphan.arg0("stub").arg("orphan").stdin(Stdio::null());
            if way == "forks and crashes" {
                orphan.stdout(Stdio::null());
            }
            note(orphan.spawn()?.id())?;
        }
        // To that of the referee, where it is not killed with its own.
        "leaves its group" => setpgid(None, Some(getpgid(getppid())?))?,
        _ => {}
    }
    Stub::new(way, io::stdout()).play(io::stdin().lock())?;
    if way == "bot keeps back" {
        io::stdout().write_all(b"{\"type\":\"bestmove\",\"id\":\"start-l-game\",\"move\":\"4 3 W\"}\n")?;
    }
    if matches!(way, "stays" | "bot stays" | "leaves its group") { forever() } else { Ok(()) }
}

impl<O: Write> Stub<O> {
    pub(crate) fn new(way: &str, out: O) -> Self {
        let (is_bot, way) = way.strip_prefix("bot ").map_or((false, way), |way| (true, way));
        Self { way: way.to_owned(), is_bot, out, seq: 0, refused: 0, games: 0, asked: 0 }
    }

    /// Answers until the input ends or a `quit` comes.
    pub(crate) fn play(&mut self, input: impl BufRead) -> io::Result<()> {
        for line in input.lines() {
            let request: Value = serde_json::from_str(&line?)?;
            let id = request["id"].as_str().unwrap_or_default();
            match request["cmd"].as_str() {
                Some(cmd) if self.is_bot && cmd != "go" => self.send(unknown(id))?,
                Some("hello") => self.send(hello(id))?,
                Some("newgame") => self.begin(id)?,
                Some("go") => {
                    if !self.choose(id, &request)? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Answers a `newgame`.
    fn begin(&mut self, id: &str) -> io::Result<()> {
        self.games += 1;
        match &*self.way {
            "refuses" => self.send(error(id, "never heard of it")),
            "begins with another" => self.send(json!({ "type": "result", "id": id, "of": "ping" })),
            "begins with nothing" => self.send(json!({ "type": "result", "of": "newgame" })),
            "begins never" => Ok(()),
            "begins busy" if !self.games.is_multiple_of(3) => self.send(overloaded(id)),
            _ => self.send(new_game(id)),
        }
    }

    /// Answers a `go`, or does what else it is to do; false: it leaves.
    fn choose(&mut self, id: &str, request: &Value) -> io::Result<bool> {
        let way = self.way.clone();
        self.asked += 1;
        match &*way {
            "silent" | "keeps back" => {}
            "no more reads" => forever(),
            "forks and hangs" => {
                File::create(ASKED)?;
                forever();
            }
            "chatty" => self.flood(u64::MAX)?,
            "blank lines" => loop {
                self.out.write_all(&[b'\n'; 1000])?;
            },
            "crashes later" if self.asked == 1 => self.send(best(id, "4 3 W"))?,
            "crash" | "crashes later" | "forks and crashes" => {
                io::stderr().write_all(b"Traceback\nKeyError: 'moves'\n")?;
                process::exit(3)
            }
            "aborts" => process::abort(),
            "hangs up" => return Ok(false),
            // Nobody holds the output any more, though the process goes on.
            "close" => return Err(Command::new("sleep").arg("1000").stdout(Stdio::null()).exec()),
            "half a line" => {
                self.out.write_all(b"{\"seq\":2,\"t_us\":0,\"type\":\"bestmove\",")?;
                return Ok(false);
            }
            "garbage" => self.out.write_all(b"e2e4, perhaps\n")?,
            "complains and leaves" => {
                self.out.write_all(b"boo\n")?;
                self.out.flush()?;
                process::exit(3);
            }
            "parrot" => self.out.write_all(b"{\"id\":\"2\",\"cmd\":\"go\"}\n")?,
            "binary" => self.out.write_all(&[0xff, 0x00, 0xc3, 0x28, b'\n'])?,
            "no object" => self.out.write_all(b"[[[[]]]]\n")?,
            "no fields" => self.send(json!({ "type": "bestmove", "id": id }))?,
            "long line" => self.out.write_all(&[&[b'x'; 2 << 20][..], b"\n"].concat())?,
            "endless line" => loop {
                self.out.write_all(&[b'x'; 1000])?;
            },
            "wrong type" => self.send(new_game(id))?,
            "wrong id" => self.send(best("other", "4 3 W"))?,
            "error" => self.send(error(id, "no idea"))?,
            // Twice; then a move, if the referee has waited as it was asked to and says for how long.
            "busy" => {
                self.refused += 1;
                let waited = request["elapsed_ms"].as_u64() >= Some(2 * RETRY_MS);
                if !self.refused.is_multiple_of(3) {
                    self.send(overloaded(id))?;
                } else {
                    self.send(best(id, if waited { "4 3 W" } else { "too soon" }))?;
                }
            }
            "full" => self.send(overloaded(id))?,
            "full for ever" => {
                let mut message = overloaded(id);
                message["retry_ms"] = 1_000_000_000_000_u64.into();
                self.send(message)?;
            }
            "full at first" if self.games == 1 => self.send(overloaded(id))?,
            "deaf" => {
                let mut message = error(id, "what?");
                message["id"] = Value::Null;
                self.send(message)?;
            }
            "twice" => {
                self.send(best(id, "4 3 W"))?;
                self.send(best(id, "4 3 W"))?;
            }
            // Whatever the game is.
            "plays" | "plays slowly" | "dawdles" => {
                match request["x_legal"].as_array().and_then(|legal| legal.last()?.as_str()) {
                    Some(mv) if is_whole(request) => {
                        match &*way {
                            "plays slowly" => thread::sleep(Duration::from_millis(150)),
                            "dawdles" => thread::sleep(Duration::from_secs(1)),
                            _ => {}
                        }
                        self.send(best(id, mv))?;
                    }
                    _ => self.send(error(id, "what am I to play?"))?,
                }
            }
            "illegal" => self.send(best(id, "1 1 N"))?,
            "nonsense" => self.send(best(id, "resign"))?,
            "boasts" => {
                let mut message = best(id, "4 3 W");
                let proof = json!({ "outcome": "win", "plies": 1 });
                message["lines"][0]["score"] = json!({ "bound": "exact", "proof": proof });
                self.send(message)?;
            }
            "stops the referee" => {
                let referee = getppid().ok_or(io::ErrorKind::NotFound)?;
                // The referee's clock begins once it has written the question and runs again.
                while !is_asleep(referee.as_raw_nonzero().get())? {
                    thread::sleep(Duration::from_millis(5));
                }
                kill_process(referee, Signal::STOP)?;
                thread::sleep(Duration::from_secs(1));
                self.send(best(id, "4 3 W"))?;
                kill_process(referee, Signal::CONT)?;
            }
            "failed" => {
                let mut message = best(id, "4 3 W");
                message["reason"] = "failed".into();
                message["incident"] = "inc-7".into();
                self.send(message)?;
            }
            "chatty good" => {
                self.flood(20_000)?;
                self.send(best(id, "4 3 W"))?;
            }
            _ => {
                if let Some(ms) = way.strip_prefix("late ") {
                    thread::sleep(Duration::from_millis(ms.parse().expect("milliseconds")));
                }
                self.send(best(id, "4 3 W"))?;
            }
        }
        Ok(true)
    }

    fn flood(&mut self, lines: u64) -> io::Result<()> {
        (0..lines).try_for_each(|_| {
            self.send(json!({ "type": "notice", "kind": "warning", "message": "thinking" }))
        })
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        self.seq += 1;
        if self.is_bot {
            let least = ["id", "type", "move", "code"];
            message.as_object_mut().expect("it is one").retain(|field, _| least.contains(&&**field));
        } else {
            message["seq"] = self.seq.into();
            message["t_us"] = 0.into();
        }
        self.out.write_all(format!("{message}\n").as_bytes())?;
        self.out.flush()
    }
}

fn best(id: &str, mv: &str) -> Value {
    let stats = json!({ "nodes": 0, "nps": 0, "time_ms": 0, "depth": 0, "seldepth": 0, "hash_ppm": 0 });
    let timing = json!({ "received_us": 0, "started_us": 0, "decided_us": 0 });
    let line = json!({ "rank": 1, "move": mv, "pv": [mv], "depth": 1 });
    json!({ "type": "bestmove", "id": id, "reason": "limit", "move": mv, "hash": "0", "lines": [line],
        "stats": stats, "timing": timing })
}

fn error(id: &str, message: &str) -> Value {
    json!({ "type": "error", "id": id, "line": 1, "code": "internal", "message": message, "fatal": false })
}

fn overloaded(id: &str) -> Value {
    let mut message = error(id, "come back");
    (message["code"], message["retry_ms"]) = ("overloaded".into(), RETRY_MS.into());
    message
}

fn unknown(id: &str) -> Value {
    json!({ "type": "error", "id": id, "code": "unknown_cmd" })
}

/// Whether a `go` holds all that a bot must know.
fn is_whole(request: &Value) -> bool {
    request["game"].is_string()
        && request["rules"].is_object()
        && request["position"]["start"].is_string()
        && request.get("session").is_none()
}

fn new_game(id: &str) -> Value {
    json!({ "type": "result", "id": id, "of": "newgame", "session": "match", "game": "stub", "rules": {},
        "options": {}, "seed": "0", "to_move": "p1" })
}

fn hello(id: &str) -> Value {
    json!({ "type": "result", "id": id, "of": "hello", "protocol": 1,
        "server": { "name": "stub", "version": "0" }, "features": [], "games": [],
        "limits": { "line_bytes": 1 << 20, "nesting": 32, "finished_ids": 0, "requests": 1, "sessions": 1,
            "searches": 1, "threads": 1, "hash_bytes": 0, "multipv": 1, "depth": 1, "unsent_bytes": 0,
            "stalled_ms": 0, "eof_ms": 0, "shutdown_ms": 0,
            "guarantees": { "first_best_us": 0, "stop_p50_us": 0, "stop_p99_us": 0, "ping_p99_us": 0,
                "hard_p999_us": 0 } } })
}

/// Whether every thread of a process sleeps until something happens; if the system does not say, it
/// is taken to after a moment.
fn is_asleep(process: i32) -> io::Result<bool> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        thread::sleep(Duration::from_millis(200));
        return Ok(true);
    };
    for each in threads {
        // A thread that ended meanwhile has no status. The state stands after the name, which may hold
        // anything.
        let status = fs::read_to_string(each?.path().join("stat")).unwrap_or_default();
        if !status.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" S")) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn note(process: u32) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(PROCESSES)?;
    file.write_all(format!("{process}\n").as_bytes())
}

fn forever() -> ! {
    loop {
        thread::park();
    }
}
