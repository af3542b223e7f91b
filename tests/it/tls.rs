//! TLS against the real binary: who is let in, what is said of the others, and that none of them is in the
//! way.

// The functions beside the tests are called by them alone.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use crate::common::scrape::Scrape;
use crate::common::{Folder, LogReader, TIMEOUT, listening, process, until};
use crate::identity::{Clients, hello};
use plyd::client::{Address, Client, ClientError, LineError, Process};
use plyd_protocol::{Command, Hello, Message, Ping, Versions};
use rustix::process::Signal;
use serde_json::{Value, json};

/// The path of a file of `tests/certificates`.
pub(crate) fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(name);
    path.to_str().unwrap().to_owned()
}

/// The flags that serve TLS with that certificate.
pub(crate) fn certificate(name: &str) -> [String; 4] {
    ["--tls-cert".into(), file(&format!("{name}.pem")), "--tls-key".into(), file(&format!("{name}.key"))]
}

/// A daemon whose log is read, on a free port of TCP and one of WebSocket.
pub(crate) struct Daemon {
    pub(crate) process: Process,
    pub(crate) log: LogReader,
    pub(crate) tcp: SocketAddr,
    pub(crate) ws: SocketAddr,
}

impl Daemon {
    pub(crate) fn start(arguments: &[String]) -> Self {
        Self::start_in(arguments, &[])
    }

    /// One with variables in its environment.
    pub(crate) fn start_in(arguments: &[String], variables: &[(&str, String)]) -> Self {
        let ports = ["serve", "-v", "--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0"].map(str::to_owned);
        let mut launch = process::plyd([&ports[..], arguments].concat());
        launch.command.envs(variables.iter().map(|(name, value)| (name, value)));
        launch.command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let log = LogReader::of(&mut process);
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut daemon = Self { process, log, tcp: nowhere, ws: nowhere };
        daemon.tcp = listening(&daemon.logged("listening")).unwrap();
        daemon.ws = listening(&daemon.logged("listening")).unwrap();
        daemon
    }

    /// One with that certificate.
    fn with(name: &str) -> Self {
        Self::start(&certificate(name))
    }

    /// One that asks its clients for certificates.
    pub(crate) fn of_clients(arguments: &[&str]) -> Self {
        let clients = ["--tls-client-ca".to_owned(), file("authority.pem")];
        let more: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Self::start(&[&certificate("server")[..], &clients, &more].concat())
    }

    /// Waits for a line of the log.
    pub(crate) fn logged(&self, text: &str) -> String {
        self.log.wait_for(text)
    }

    pub(crate) fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.tcp).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket
    }

    /// Its addresses over TLS, with these files behind each.
    pub(crate) fn addresses(&self, files: &[(&str, &str)]) -> [String; 2] {
        let options: Vec<String> =
            files.iter().map(|(name, path)| format!("{name}={}", file(path))).collect();
        let options = options.join("&");
        [format!("tls={}?{options}", self.tcp), format!("wss={}?{options}", self.ws)]
    }

    /// What its clients see who trust our authority.
    pub(crate) fn trusting(&self) -> [String; 2] {
        self.addresses(&[("ca", "authority.pem")])
    }

    pub(crate) fn signal(&self, signal: Signal) {
        process::signal(&self.process, signal);
    }
}

/// Calls a server, says hello and asks something.
pub(crate) fn ask(address: &str) -> Result<Client, String> {
    let words = |error: ClientError| error.to_string();
    let hello = Hello { protocol: Versions { min: 1, max: 1 }, ..Hello::default() };
    let mut client = Client::at(&Address::read(address).unwrap()).map_err(words)?;
    for command in [Command::Hello(hello), Command::Ping(Ping::default())] {
        let (id, _) = client.request(command).map_err(words)?;
        match client.wait_final(&id, Instant::now() + TIMEOUT).map_err(words)?.last.envelope.message {
            Message::Result(_) => {}
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(client)
}

/// The answer to a request.
pub(crate) fn answer(client: &mut Client, request: &Value) -> Value {
    client.send_line(request.to_string().as_bytes()).unwrap();
    let id = request["id"].as_str().unwrap();
    let answer = client.wait_final(id, Instant::now() + TIMEOUT).unwrap();
    serde_json::to_value(&answer.last.envelope.message).unwrap()
}

/// The error of a client that is not let in.
pub(crate) fn refused(address: &str) -> String {
    ask(address).map(|_| ()).expect_err(address)
}

/// Waits until so many were refused, by the reason: a peer may know before it is counted.
pub(crate) fn counted(metrics: SocketAddr, refusals: &[(&str, f64)]) {
    for (reason, count) in refusals {
        let series = format!("plyd_refusals_total{{reason=\"{reason}\"}}");
        until(&format!("{count} {reason}"), || Scrape::of(metrics).get(&series) == *count);
    }
}

/// Reads to the end, which must come.
pub(crate) fn rest(mut socket: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    match socket.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("it stays open: {error}"),
    }
    bytes
}

#[test]
fn who_trusts_the_authority_is_served_and_asks_for_moves() {
    let daemon = Daemon::with("server");
    for address in daemon.trusting() {
        ask(&address).unwrap();
        // The name of the host as well as its number.
        ask(&address.replace("127.0.0.1", "localhost")).unwrap();
    }
}

#[test]
fn a_certificate_that_is_not_good_is_refused_by_our_clients() {
    for (certificate, words) in
        [("expired", "expired"), ("elsewhere", "not valid for name"), ("foreign", "?ca=FILE")]
    {
        let metrics = ["--metrics", "127.0.0.1:0"].map(str::to_owned);
        let daemon = Daemon::start(&[&self::certificate(certificate)[..], &metrics].concat());
        let page = daemon.log.metrics();
        for (count, address) in [1.0, 2.0].into_iter().zip(daemon.trusting()) {
            let said = refused(&address);
            assert!(said.contains(words), "{certificate}: {said}");
            assert!(said.contains("127.0.0.1"), "the address: {said}");
            counted(page, &[("handshake_broken", count), ("certificate_refused", 0.0)]);
        }
        daemon.logged("the peer broke the handshake off");
    }
    // Without a file the authorities of the system count, none of which is that of the tests.
    let daemon = Daemon::with("server");
    assert!(ask(&format!("tls={}", daemon.tcp)).is_err());
    let said = refused(&format!("tls={}?ca=/nowhere.pem", daemon.tcp));
    assert!(said.contains("/nowhere.pem"), "{said}");
}

#[test]
fn clients_show_certificates_where_they_are_asked_for() {
    let daemon = Daemon::of_clients(&["--metrics", "127.0.0.1:0"]);
    let page = daemon.log.metrics();
    let showing = |name: &str| {
        let (cert, key) = (format!("{name}.pem"), format!("{name}.key"));
        daemon.addresses(&[("ca", "authority.pem"), ("cert", &cert), ("key", &key)])
    };
    for address in showing("client") {
        ask(&address).unwrap();
    }
    // Each kind by itself, on both ways: what it is called, and how many were turned away for that so far.
    let (mut missing, mut refusals) = (0.0, 0.0);
    for (addresses, is_missing, logged, said) in [
        (daemon.trusting(), true, Some("no client certificate"), "?cert=FILE"),
        (showing("foreign-client"), false, Some("a client certificate that is not accepted"), ""),
        // The same again so soon is counted, and not logged.
        (showing("expired-client"), false, None, ""),
        (showing("server"), false, None, ""),
    ] {
        for address in addresses {
            let error = refused(&address);
            assert!(error.contains("TLS") && error.contains(said), "{address}: {error}");
            *if is_missing { &mut missing } else { &mut refusals } += 1.0;
            counted(page, &[("certificate_missing", missing), ("certificate_refused", refusals)]);
        }
        logged.iter().for_each(|text| drop(daemon.logged(text)));
    }
    // A hello with a token is no certificate.
    assert!(ask(&format!("tcp={}", daemon.tcp)).is_err());
    counted(page, &[("plain_on_tls", 1.0), ("certificate_missing", 2.0), ("certificate_refused", 6.0)]);
}

#[test]
fn plain_text_and_garbage_are_closed_with_a_hint_in_the_log() {
    let metrics = ["--metrics", "127.0.0.1:0"].map(str::to_owned);
    let daemon = Daemon::start(&[&certificate("server")[..], &metrics].concat());
    let page = daemon.log.metrics();
    let hello = "{\"id\":\"1\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n";
    for (bytes, logged) in [
        (hello.as_bytes(), Some("plain text where TLS is served")),
        (b"\x16\x03\x01\x00\x05hello", Some("a handshake that cannot be understood")),
        (&[&b"\x16\x03\x01\xff\xff"[..], &[0x41; 70_000]].concat()[..], None),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", None),
        (b"\x80\x2e\x01\x03\x01", None),
        (b"\0", None),
        (b"", None),
    ] {
        let mut socket = daemon.socket();
        // It may be closed before all is written.
        let _sent = socket.write_all(bytes);
        let _sent = socket.shutdown(std::net::Shutdown::Write);
        let answer = rest(socket);
        // An alert of TLS at most.
        assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
        logged.iter().for_each(|text| drop(daemon.logged(text)));
    }
    ask(&daemon.trusting()[0]).unwrap();
    counted(page, &[("plain_on_tls", 4.0), ("handshake_malformed", 2.0), ("certificate_missing", 0.0)]);
}

#[test]
fn tls_on_a_plain_port_is_closed_with_a_hint_in_the_log() {
    let daemon = Daemon::start(&["--metrics", "127.0.0.1:0"].map(str::to_owned));
    let page = daemon.log.metrics();
    for address in daemon.trusting() {
        let said = refused(&address);
        assert!(said.contains("is TLS served there?"), "{said}");
        daemon.logged("TLS where plain text is served");
    }
    counted(page, &[("tls_on_plain", 2.0), ("foreign_protocol", 0.0)]);
    ask(&format!("tcp={}", daemon.tcp)).unwrap();
}

#[test]
fn the_end_of_the_input_is_half_closed_and_what_was_asked_is_answered() {
    let daemon = Daemon::with("server");
    let [tls, _] = daemon.trusting();
    let mut client = ask(&tls).unwrap();
    let go =
        json!({ "id": "go", "cmd": "go", "game": "isolation", "position": {}, "limit": { "nodes": 1000 } });
    client.send_line(go.to_string().as_bytes()).unwrap();
    client.finish_input();
    let answer = client.wait_final("go", Instant::now() + TIMEOUT).unwrap();
    assert!(matches!(answer.last.envelope.message, Message::BestMove(_)));
    let end = client.next(Instant::now() + TIMEOUT);
    assert!(matches!(end, Err(ClientError::Line(LineError::Closed))), "{end:?}");
    assert!(client.send_line(b"{}").is_err());
}

#[test]
fn long_answers_arrive_whole_however_slowly_they_are_read() {
    let daemon = Daemon::with("server");
    for address in daemon.trusting() {
        let mut client = ask(&address).unwrap();
        let count = 50;
        for number in 0..count {
            let id = format!("i{number}");
            let inspect =
                json!({ "id": id, "cmd": "inspect", "game": "sudoku", "position": {}, "want": ["moves"] });
            client.send_line(inspect.to_string().as_bytes()).unwrap();
        }
        let mut bytes = 0;
        for number in 0..count {
            let answer = client.wait_final(&format!("i{number}"), Instant::now() + TIMEOUT).unwrap();
            let answer = serde_json::to_value(&answer.last.envelope.message).unwrap();
            assert_eq!(answer["type"], "result", "{address}: {answer}");
            bytes += answer.to_string().len();
        }
        assert!(bytes > 5_000_000, "{bytes} are few");
    }
}

#[test]
fn other_machines_need_a_token_or_a_certificate() {
    let token = Folder::new("tls-token");
    let token_file = token.file("token", "secret");
    let cert = certificate("server");
    let clients = ["--tls-client-ca".to_owned(), file("authority.pem")];
    let at = ["serve", "--check", "--tcp", "0.0.0.0:0"].map(str::to_owned);
    for (more, is_good) in [
        (vec![], false),
        (clients.to_vec(), true),
        (vec!["--token-file".to_owned(), token_file], true),
        (vec!["--insecure".to_owned()], true),
    ] {
        let output = process::output(process::plyd([&at[..], &cert, &more].concat()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), is_good, "{more:?}: {said}");
        assert!(is_good || said.contains("without a token"), "{said}");
    }
}

#[test]
fn every_promise_of_the_protocol_holds_over_tls() {
    let daemon = Daemon::of_clients(&["--threads", "2", "--resume-ms", "600000"]);
    for address in daemon.addresses(&[("ca", "authority.pem"), ("cert", "client.pem"), ("key", "client.key")])
    {
        let mut arguments = vec!["conform", "--timeout", "120s", &address];
        if !crate::common::is_whole() {
            for group in ["framing", "handshake", "ids", "ends", "races", "websocket", "resume"] {
                arguments.extend(["--only", group]);
            }
        }
        let output = process::output(process::plyd(&arguments));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let resumed = said.lines().filter(|line| line.starts_with("resume/") && line.contains(" passed "));
        assert_eq!(resumed.count(), 8, "{said}");
    }
}

#[test]
fn who_may_not_come_in_or_do_that_is_refused_over_tls_as_over_tcp() {
    let clients = Clients::new("tls");
    let alice = clients.add("alice", &["--connections", "1"]);
    let arguments = ["--clients-file".to_owned(), clients.file.clone()];
    let daemon = Daemon::start(&[&certificate("server")[..], &arguments].concat());
    for address in daemon.trusting() {
        let greet = |token: Option<&str>| {
            let mut client = Client::at(&Address::read(&address).unwrap()).unwrap();
            let code = answer(&mut client, &hello(token))["code"].take();
            (client, code)
        };
        assert_eq!(greet(None).1, "auth_required", "{address}");
        assert_eq!(greet(Some("open sesame")).1, "auth_failed", "{address}");
        let (mut client, code) = greet(Some(&alice));
        assert_eq!(code, Value::Null, "{address}");
        assert_eq!(answer(&mut client, &json!({ "id": "s", "cmd": "status" }))["code"], "forbidden");
        assert_eq!(greet(Some(&alice)).1, "too_many_connections", "{address}");
        // The last word before the place is free for the next address.
        client.send_line(br#"{"id":"q","cmd":"quit"}"#).unwrap();
        while client.next(Instant::now() + TIMEOUT).is_ok() {}
    }
}

#[test]
fn the_log_the_metrics_and_operators_see_what_came_over_tls() {
    let metrics = ["--metrics", "127.0.0.1:0"].map(str::to_owned);
    let daemon = Daemon::start(&[&certificate("server")[..], &metrics].concat());
    let page = daemon.log.metrics();
    for (address, transport) in daemon.trusting().iter().zip(["tls", "wss"]) {
        let mut client = ask(address).unwrap();
        let seen = answer(&mut client, &json!({ "id": "c", "cmd": "connections" }));
        let transports: Vec<&Value> =
            seen["connections"].as_array().unwrap().iter().map(|one| &one["transport"]).collect();
        assert!(transports.contains(&&json!(transport)), "{seen}");
        daemon.logged(&format!("transport=\"{transport}\" peer=127.0.0.1:"));
        let opened = format!("plyd_connections_opened_total{{transport=\"{transport}\"}}");
        assert_eq!(Scrape::of(page).get(&opened), 1.0);
    }
    for other in ["tcp", "websocket"] {
        let opened = format!("plyd_connections_opened_total{{transport=\"{other}\"}}");
        assert_eq!(Scrape::of(page).get(&opened), 0.0);
    }
}

/// The clients in other languages and the part that the adapters share, by tests in these languages.
#[test]
#[allow(clippy::print_stderr, reason = "a test that does not run says so")]
fn the_clients_in_python_and_javascript_speak_tls() {
    for (program, arguments) in [
        ("python3", &["-W", "error::ResourceWarning", "python/tests/test_tls.py"][..]),
        ("python3", &["-W", "error::ResourceWarning", "examples/tests/test_link.py", "-k", "server"]),
        ("node", &["--test", "javascript/tests/sockets.test.js"]),
    ] {
        let mut command = std::process::Command::new(program);
        // A build whose TLS is not found is no reason to skip them here.
        command.args(arguments).env("PLYD_BIN", process::PLYD).env("PLYD_HAS_TLS", "1");
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        if !crate::examples::runs(program, "--version") {
            eprintln!("skipped: the tests of examples need {program}");
            continue;
        }
        let output = process::output(process::launch(&command));
        let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}{log}");
    }
}
