//! Who comes to a port and is no client: silent sockets, and web pages by way of a browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::Client;
use plyd_protocol::{Command, ErrorCode, Hello, Message, VERSION, Versions};

use crate::finding::{Figure, Finding, LOST, Place, figure, tcp};
use crate::server::{Outcome, Server};

/// Silent sockets beside a client that has the token, and clients that are silent after their `hello`.
pub(crate) const SILENT: Finding = Finding {
    lines: &[
        ("256 silent sockets without the token: a client that has it", "greeted within 1 s"),
        ("a client that does nothing, where it may be idle for 1 s (`--idle 1`)", "`timed_out` within 2 s"),
        ("a client that says nothing: when the system asks whether it is there (keepalive)", "within 60 s"),
    ],
    measure: silent,
};

/// A request of a browser with the protocol in its body.
pub(crate) const HTTP: Finding = Finding {
    lines: &[("`PROPFIND` whose body holds `hello` and `go`: searches run for it", "0")],
    measure: http,
};

const TOKEN: &str = "open sesame";

fn silent(build: &Path) -> Outcome<Vec<Figure>> {
    let place = Place::new("token")?;
    let server = tcp(build, &["--token-file", &place.file("token", TOKEN)?])?;
    let _silent: Vec<TcpStream> =
        (0..256).map(|_| TcpStream::connect(server.address())).collect::<Result<_, _>>()?;
    let began = Instant::now();
    let token = match greeted(&server, Some(TOKEN), began + LOST) {
        Some(_) => {
            let waited = began.elapsed();
            let text = format!("greeted after {:.1} ms", waited.as_secs_f64() * 1000.0);
            figure(text, waited < Duration::from_secs(1))
        }
        None => figure(format!("kept out for {} s", LOST.as_secs()), false),
    };
    Ok(vec![token, idle(build)?, keepalive(build)?])
}

/// How a client ends that does nothing for longer than it may.
fn idle(build: &Path) -> Outcome<Figure> {
    let Ok(server) = tcp(build, &["--idle", "1"]) else {
        return Ok(figure("no such limit", false));
    };
    let began = Instant::now();
    let mut client = greeted(&server, None, began + LOST).ok_or("not greeted")?;
    let since = Instant::now();
    let mut last = None;
    while let Ok(received) = client.next(began + LOST) {
        last = Some(received);
    }
    let Some(Message::Error(error)) = last.as_ref().map(|last| &last.envelope.message) else {
        return Ok(figure(format!("no error in {} s", LOST.as_secs()), false));
    };
    let waited = since.elapsed();
    let text = format!("{} after {:.1} s", error.code, waited.as_secs_f64());
    let is_kept = error.code == ErrorCode::TimedOut && waited < Duration::from_secs(2);
    Ok(figure(text, is_kept))
}

/// When the system will ask a silent client whether it is there.
fn keepalive(build: &Path) -> Outcome<Figure> {
    let server = tcp(build, &[])?;
    let mut stream = TcpStream::connect(server.address())?;
    stream.set_read_timeout(Some(LOST))?;
    stream.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n")?;
    BufReader::new(&stream).read_line(&mut String::new())?;
    let deadline = Instant::now() + LOST;
    // Another timer comes first until what was sent is acknowledged.
    let (kind, hundredths) = loop {
        let timer = timer(server.address(), stream.local_addr()?)?;
        if timer.0 != "01" || Instant::now() > deadline {
            break timer;
        }
        thread::sleep(Duration::from_millis(10));
    };
    Ok(if kind == "02" {
        figure(format!("in {:.1} s", f64::from(hundredths) / 100.0), hundredths <= 6000)
    } else {
        figure("never", false)
    })
}

/// The kind of the system's timer for a server's end of a connection (`02` is a keepalive), and in how many
/// hundredths of a second it is due.
fn timer(server: SocketAddr, peer: SocketAddr) -> Outcome<(String, u32)> {
    let [own, peer] = [server, peer].map(|address| format!(":{:04X}", address.port()));
    let table = fs::read_to_string("/proc/net/tcp")?;
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut timers = rows.filter(|row| row[1].ends_with(&own) && row[2].ends_with(&peer)).map(|row| row[5]);
    let timer = timers.next().and_then(|timer| timer.split_once(':')).ok_or("no such connection")?;
    Ok((timer.0.to_owned(), u32::from_str_radix(timer.1, 16)?))
}

/// Connects until it is greeted: a client, none where that does not come about in time.
pub(crate) fn greeted(server: &Server, token: Option<&str>, deadline: Instant) -> Option<Client> {
    while Instant::now() < deadline {
        if let Ok(mut client) = Client::connect(server.address()) {
            let protocol = Versions { min: VERSION, max: VERSION };
            let hello = Hello { protocol, token: token.map(str::to_owned), ..Hello::default() };
            let answer = client.request(Command::Hello(hello));
            let answer = answer.and_then(|(id, _)| client.wait_final(&id, deadline));
            if answer.is_ok_and(|answer| matches!(answer.last.envelope.message, Message::Result(_))) {
                return Some(client);
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

fn http(build: &Path) -> Outcome<Vec<Figure>> {
    let server = tcp(build, &[])?;
    let body = "{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n\
        {\"id\":\"g\",\"cmd\":\"go\",\"game\":\"l-game\",\"position\":{},\"limit\":{\"nodes\":1000}}\n";
    let mut stream = TcpStream::connect(server.address())?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    write!(
        stream,
        "PROPFIND / HTTP/1.1\r\nHost: rebound.example:{}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        server.address().port(),
        body.len()
    )?;
    let mut answer = Vec::new();
    // It ends with the connection, or with a time in which nothing more comes.
    let ended = stream.read_to_end(&mut answer).is_ok();
    let answer = String::from_utf8_lossy(&answer);
    let searches = answer.matches("\"type\":\"bestmove\"").count();
    let (then, lines) = (if ended { "closed" } else { "not closed" }, answer.lines().count());
    let lines = if lines == 1 { "1 answer".to_owned() } else { format!("{lines} answers") };
    let text = format!("{searches} ({lines}, then {then})");
    Ok(vec![figure(text, searches == 0 && ended)])
}
