//! `plyd connect` over WebSocket and TLS: what it offers, plays and says at its end is the same on every way.

// The functions beside the tests are called by them alone.
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use crate::common::{Folder, TIMEOUT, process, until};
use crate::connect::LEAST;
use plyd::client::Process;
use rustix::process::Signal;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// The ladder's end of a connection.
trait Wire {
    /// The next line; none at the end.
    fn read(&mut self) -> Option<Value>;
    fn write(&mut self, line: &Value);
}

impl<S: std::io::Read + std::io::Write> Wire for WebSocket<S> {
    fn read(&mut self) -> Option<Value> {
        loop {
            match WebSocket::read(self) {
                Ok(Message::Text(line)) => return Some(serde_json::from_str(&line).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    fn write(&mut self, line: &Value) {
        self.send(Message::text(line.to_string())).unwrap();
    }
}

/// Starts a bot that dials there.
fn bot(folder: &Folder, address: &str) -> Process {
    let token = folder.file("token", "plyd_of_the_bot\n");
    let mut launch = process::plyd(["connect", address, "--token-file", &token, "--", "sh", "-c", LEAST]);
    launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
    process::spawn(launch)
}

/// Waits for the bot.
fn called(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut accepted = None;
    until("the bot dials", || {
        accepted = listener.accept().ok();
        accepted.is_some()
    });
    let (stream, _) = accepted.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// Is its ladder for one move, and until it leaves.
fn serves(wire: &mut dyn Wire, bot: Process) {
    let take = |wire: &mut dyn Wire, offer: &Value, games: Value| {
        wire.write(
            &json!({ "type": "result", "id": offer["id"], "of": "offer", "bot": "kari", "concurrency": 1,
            "games": games, "heartbeat_ms": 60_000 }),
        );
    };
    let offer = wire.read().unwrap();
    assert_eq!((&offer["cmd"], &offer["token"]), (&json!("offer"), &json!("plyd_of_the_bot")));
    take(wire, &offer, json!([]));
    // Longer than any frame or record.
    let pad = "x".repeat(100_000);
    wire.write(
        &json!({ "id": "1", "cmd": "go", "x_game": "a", "x_pad": pad, "game": "isolation", "position": {},
        "clock": { "kind": "per_move", "ms": 1000 } }),
    );
    let answer = wire.read().unwrap();
    assert_eq!((&answer["id"], &answer["type"]), (&json!("1"), &json!("bestmove")));
    process::signal(&bot, Signal::TERM);
    let last = wire.read().unwrap();
    assert_eq!((&last["cmd"], &last["concurrency"]), (&json!("offer"), &json!(0)));
    take(wire, &last, json!(["a"]));
    wire.write(&json!({ "id": "2", "cmd": "over", "x_game": "a", "outcome": "won" }));
    assert_eq!(wire.read().unwrap()["of"], "over");
    assert_eq!(wire.read(), None);
    let output = process::outcome(bot);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_bot_dials_a_websocket_and_dials_it_again() {
    let (folder, listener) = (Folder::new("connect-ws"), TcpListener::bind("127.0.0.1:0").unwrap());
    let bot = bot(&folder, &format!("ws://{}/ws", listener.local_addr().unwrap()));
    // What answers with another status is no ladder yet.
    let mut refused = BufReader::new(called(&listener));
    let mut line = String::new();
    refused.read_line(&mut line).unwrap();
    assert_eq!(line, "GET /ws HTTP/1.1\r\n");
    let refusal = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    std::io::Write::write_all(refused.get_mut(), refusal).unwrap();
    drop(refused);
    let mut cut = tungstenite::accept(called(&listener)).unwrap();
    assert_eq!(Wire::read(&mut cut).unwrap()["cmd"], "offer");
    drop(cut);
    serves(&mut tungstenite::accept(called(&listener)).unwrap(), bot);
}

#[cfg(feature = "service")]
mod secure {
    use std::io::{self, Read, Write};
    use std::process::{ChildStdin, ChildStdout, Command};

    use super::{BufRead, BufReader, Folder, Process, Stdio, TcpListener, Value, Wire, bot, process, serves};
    use crate::examples::runs;

    /// What came and goes through openssl's end of TLS.
    struct Tunnel {
        _server: Process,
        output: ChildStdout,
        input: ChildStdin,
    }

    impl Tunnel {
        /// Serves TLS at a port, to one client.
        fn at(port: u16) -> Self {
            let file = |name: &str| format!("{}/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
            let mut command = Command::new("openssl");
            command.args(["s_server", "-quiet", "-tls1_3", "-naccept", "1"]);
            command.args(["-accept", &format!("127.0.0.1:{port}")]);
            command.args(["-cert", &file("server.pem"), "-key", &file("server.key")]);
            let mut launch = process::launch(&command);
            launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut server = process::spawn(launch);
            let (output, input) = (server.take_stdout().unwrap(), server.take_stdin().unwrap());
            Self { _server: server, output, input }
        }
    }

    impl Read for Tunnel {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.output.read(bytes)
        }
    }

    impl Write for Tunnel {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.input.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.input.flush()
        }
    }

    impl Wire for BufReader<Tunnel> {
        fn read(&mut self) -> Option<Value> {
            let mut line = String::new();
            self.read_line(&mut line).unwrap();
            (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap_or_else(|_| panic!("`{line}`")))
        }

        fn write(&mut self, line: &Value) {
            self.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }

    #[test]
    #[allow(clippy::print_stderr, reason = "a test that does not run says so")]
    fn a_bot_dials_over_tls() {
        if !runs("openssl", "version") {
            eprintln!("skipped: it needs openssl");
            return;
        }
        for way in ["tls", "wss"] {
            let folder = Folder::new("connect-tls");
            // A port that nobody has; if somebody takes it before openssl does, the bot is refused by it.
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut tunnel = BufReader::new(Tunnel::at(port));
            let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates/authority.pem");
            let bot = bot(&folder, &format!("{way}://localhost:{port}?ca={authority}"));
            match way {
                "tls" => serves(&mut tunnel, bot),
                _ => serves(&mut tungstenite::accept(tunnel.into_inner()).unwrap(), bot),
            }
        }
    }
}
