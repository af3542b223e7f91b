//! The log of a process, read while it runs.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use plyd::client::Process;

use super::TIMEOUT;

/// What a process writes to its standard error.
pub(crate) struct LogReader {
    coming: Receiver<String>,
    /// The lines that were taken.
    taken: RefCell<Vec<String>>,
}

impl LogReader {
    /// Reads the log of a process whose standard error is piped, so that the pipe never fills up.
    pub(crate) fn of(process: &mut Process) -> Self {
        let stderr = process.take_stderr().expect("it is piped");
        let (sender, coming) = channel();
        std::thread::spawn(move || {
            // Bytes, so that nothing is lost of a line that is no text.
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                let _nobody_asks = sender.send(String::from_utf8(line).expect("UTF-8"));
            }
        });
        Self { coming, taken: RefCell::default() }
    }

    /// Waits for the next line.
    pub(crate) fn next(&self) -> String {
        self.wait_for("")
    }

    /// Waits for a line that holds this text; those before it are taken, too.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let end = Instant::now() + TIMEOUT;
        loop {
            match self.coming.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.taken.borrow_mut().push(line.clone()),
                Err(error) => panic!("no `{text}` ({error}) after {:#?}", self.taken.borrow()),
            }
            if let Some(line) = self.taken.borrow().last().filter(|line| line.contains(text)) {
                return line.clone();
            }
        }
    }

    /// Waits for the line that names where the metrics are.
    pub(crate) fn metrics(&self) -> SocketAddr {
        let line = self.wait_for("metrics at http://");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        address.expect("an address").parse().expect("an address")
    }

    /// Waits until the process has ended; the lines that were not taken.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.coming.iter().collect()
    }

    /// Waits until the process has ended; all its lines.
    pub(crate) fn all(self) -> Vec<String> {
        let mut lines = self.taken.take();
        lines.extend(self.coming);
        lines
    }
}
