//! Who comes to a port and is no client: silent sockets, and web pages by way of a browser.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::Client;
use plyd_protocol::{Command, Hello, Message, VERSION, Versions};

use crate::finding::{Figure, Finding, LOST, Place, figure, tcp};
use crate::server::{Outcome, Server};

/// Silent sockets beside a client that has the token.
pub(crate) const SILENT: Finding = Finding {
    lines: &[("256 silent sockets without the token: a client that has it", "greeted within 1 s")],
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
    Ok(vec![match greeted(&server, Some(TOKEN), began + LOST) {
        Some(_) => {
            let waited = began.elapsed();
            let text = format!("greeted after {:.1} ms", waited.as_secs_f64() * 1000.0);
            figure(text, waited < Duration::from_secs(1))
        }
        None => figure(format!("kept out for {} s", LOST.as_secs()), false),
    }])
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
