//! A server of NATS for tests: in a folder of its own, on a port of its own, ended with them; and a client of
//! it that can do what plyd never would.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use plyd::client::Process;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Folder, process, until_within};

/// How long something may take; far above what a loaded machine needs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Waits until something is so that many games or connections may come before.
pub(crate) fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    until_within(TIMEOUT, what, is_so);
}

/// A server with JetStream.
pub(crate) struct Nats {
    pub(crate) folder: Folder,
    port: u16,
    server: Mutex<Option<Process>>,
}

impl Nats {
    /// Starts a server that lets everybody in; none where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// Starts a server with more lines in its configuration, in which `FOLDER` is its folder.
    pub(crate) fn start_with(configuration: &str) -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let path = std::env::var_os("PATH")?;
        let mut places = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
        places.find(|place| place.join("nats-server").exists())?;
        let folder = Folder::new(&format!("nats-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        // Free at this instant; it is kept over restarts.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let nats = Self { folder, port, server: Mutex::default() };
        nats.configure(configuration);
        nats.serve();
        Some(nats)
    }

    /// Writes its configuration, which it reads when it starts.
    pub(crate) fn configure(&self, more: &str) {
        let place = self.folder.path.display().to_string();
        let more = more.replace("FOLDER", &place);
        let port = self.port;
        let text =
            format!("listen: 127.0.0.1:{port}\njetstream {{ store_dir: \"{place}/store\" }}\n{more}\n");
        self.folder.file("nats.conf", text);
    }

    /// Takes from a server that does not run all that it had stored.
    pub(crate) fn lose_all(&self) {
        fs::remove_dir_all(self.folder.path.join("store")).unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Starts it, where it was before.
    pub(crate) fn serve(&self) {
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(self.folder.path.join("nats.conf")).arg("-l").arg(self.log());
        command.env("PATH", format!("{}:/usr/sbin", std::env::var("PATH").unwrap()));
        let mut launch = process::launch(&command);
        launch.command.stdout(Stdio::null()).stderr(Stdio::null());
        *self.server.lock().unwrap() = Some(process::spawn(launch));
        wait_until("the server listens", || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    /// Ends it by a signal.
    pub(crate) fn end(&self, signal: Signal) {
        let mut server = self.server.lock().unwrap().take().unwrap();
        process::signal(&server, signal);
        process::exit(&mut server);
    }

    /// A client.
    pub(crate) fn client(&self) -> RawClient {
        RawClient::connect(self.port)
    }

    fn log(&self) -> PathBuf {
        self.folder.path.join("log")
    }

    /// What it logged.
    pub(crate) fn logged(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }
}

/// A client that speaks the protocol of NATS by itself.
pub(crate) struct RawClient {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
    requests: usize,
}

/// A message that came.
#[derive(Debug)]
pub(crate) struct RawMessage {
    pub(crate) subject: String,
    pub(crate) reply: Option<String>,
    pub(crate) headers: String,
    pub(crate) bytes: Vec<u8>,
}

impl RawMessage {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// The pair of a job.
    pub(crate) fn pair(&self) -> usize {
        self.subject.rsplit('.').next().unwrap().parse().unwrap()
    }
}

impl RawClient {
    fn connect(port: u16) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        lines.read_line(&mut String::new()).unwrap();
        stream.write_all(b"CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB _INBOX.test.* 1\r\n").unwrap();
        Self { stream, lines, requests: 0 }
    }

    /// Sends a message and waits for the answer.
    pub(crate) fn request(&mut self, subject: &str, headers: &[(&str, &str)], bytes: &[u8]) -> RawMessage {
        self.requests += 1;
        let inbox = format!("_INBOX.test.{}", self.requests);
        self.send(subject, Some(&inbox), headers, bytes);
        loop {
            let message = self.next();
            if message.subject == inbox || !message.subject.starts_with("_INBOX") {
                return message;
            }
        }
    }

    /// Asks the server's own API.
    pub(crate) fn api(&mut self, subject: &str, payload: &Value) -> Value {
        self.request(&format!("$JS.API.{subject}"), &[], payload.to_string().as_bytes()).json()
    }

    /// Stores a message at a subject that has none; what the server says of it.
    pub(crate) fn store(&mut self, subject: &str, bytes: &[u8]) -> Value {
        self.request(subject, &[("Nats-Expected-Last-Subject-Sequence", "0")], bytes).json()
    }

    /// The description of the only match that there is.
    pub(crate) fn description(&mut self) -> RawMessage {
        let info = self.api("STREAM.INFO.plyd_results", &json!({ "subjects_filter": "plyd.match.*" }));
        let subject = info["state"]["subjects"].as_object().unwrap().keys().next().unwrap();
        self.request(&format!("$JS.API.DIRECT.GET.plyd_results.{subject}"), &[], b"")
    }

    /// Takes a job.
    pub(crate) fn take(&mut self) -> RawMessage {
        // Nobody answers for a consumer that is not there.
        wait_until("there is a queue", || {
            !self.api("CONSUMER.INFO.plyd_jobs.workers", &json!({}))["config"].is_null()
        });
        // Without a time: NATS 2.9 may leave a request unanswered whose time is over when it is first looked
        // at.
        let message = self.request("$JS.API.CONSUMER.MSG.NEXT.plyd_jobs.workers", &[], b"{\"batch\":1}");
        assert!(message.subject.starts_with("plyd.job."), "{message:?}");
        message
    }

    /// Says that a job is done.
    pub(crate) fn done(&mut self, job: &RawMessage) {
        self.request(job.reply.as_ref().unwrap(), &[], b"+ACK");
    }

    /// How many messages a stream has.
    pub(crate) fn count(&mut self, stream: &str) -> u64 {
        self.api(&format!("STREAM.INFO.{stream}"), &json!({}))["state"]["messages"].as_u64().unwrap_or(0)
    }

    /// How many jobs are played just now.
    pub(crate) fn played(&mut self) -> u64 {
        let info = self.api("CONSUMER.INFO.plyd_jobs.workers", &json!({}));
        info["num_ack_pending"].as_u64().unwrap_or(0)
    }

    fn send(&mut self, subject: &str, reply: Option<&str>, headers: &[(&str, &str)], bytes: &[u8]) {
        let reply = reply.map_or_else(String::new, |reply| format!("{reply} "));
        let mut head = String::new();
        if !headers.is_empty() {
            head = "NATS/1.0\r\n".to_owned();
            headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
            head += "\r\n";
        }
        let (verb, sizes) = if head.is_empty() {
            ("PUB", bytes.len().to_string())
        } else {
            ("HPUB", format!("{} {}", head.len(), head.len() + bytes.len()))
        };
        let start = format!("{verb} {subject} {reply}{sizes}\r\n{head}");
        self.stream.write_all(&[start.as_bytes(), bytes, b"\r\n"].concat()).unwrap();
    }

    fn next(&mut self) -> RawMessage {
        let end = Instant::now() + TIMEOUT;
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the server is gone");
            // It pings those to whom it has nothing to say.
            assert!(Instant::now() < end, "no message came");
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_message = ["MSG", "HMSG"].contains(&words[0]);
            if words[0] == "PING" {
                self.stream.write_all(b"PONG\r\n").unwrap();
            }
            assert!(!words[0].starts_with("-ERR"), "{line}");
            if is_message {
                let length: usize = words.last().unwrap().parse().unwrap();
                let head: usize =
                    if words[0] == "HMSG" { words[words.len() - 2].parse().unwrap() } else { 0 };
                let sizes = if words[0] == "HMSG" { 2 } else { 1 };
                let mut bytes = vec![0; length + 2];
                self.lines.read_exact(&mut bytes).unwrap();
                let headers = String::from_utf8(bytes[..head].to_vec()).unwrap();
                return RawMessage {
                    subject: words[1].to_owned(),
                    reply: (words.len() == 4 + sizes).then(|| words[3].to_owned()),
                    headers,
                    bytes: bytes[head..length].to_vec(),
                };
            }
        }
    }
}
