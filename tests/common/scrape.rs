//! The metrics of a daemon, asked for as Prometheus does.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::TIMEOUT;

/// The numbers of one scrape, by the name of the series with its labels.
pub(crate) struct Scrape(pub(crate) BTreeMap<String, f64>);

impl Scrape {
    /// Asks a daemon for its metrics, and checks their form.
    pub(crate) fn of(address: SocketAddr) -> Self {
        let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
        Self(series(body))
    }

    /// The number of a series.
    pub(crate) fn get(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("no {name} in {:#?}", self.0.keys()))
    }

    /// The sum of all series of a metric.
    pub(crate) fn sum(&self, metric: &str) -> f64 {
        let is_of = |name: &&String| name.split('{').next() == Some(metric);
        self.0.iter().filter(|(name, _)| is_of(name)).map(|(_, value)| value).sum()
    }
}

/// Sends the text of a request, and nothing more; everything that comes until the end.
pub(crate) fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a time");
    // It may have been turned away before it was sent as a whole.
    let _closed = stream.write_all(request.as_bytes()).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer);
    String::from_utf8(answer).expect("UTF-8")
}

/// The series of a text in Prometheus' format. Each metric has its help and its type before its samples,
/// which stand together; a counter ends in `_total`.
fn series(text: &str) -> BTreeMap<String, f64> {
    let (mut series, mut helped, mut current) =
        (BTreeMap::new(), BTreeMap::new(), (String::new(), String::new()));
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a text");
            assert!(helped.insert(name.to_owned(), help.to_owned()).is_none() && !help.is_empty(), "{line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert!(helped.contains_key(name), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            current = (name.to_owned(), kind.to_owned());
        } else {
            let (name, value) = line.rsplit_once(' ').expect("a series and a number");
            let metric = name.split('{').next().expect("a name");
            let ends: &[&str] = if current.1 == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(ends.iter().any(|end| format!("{}{end}", current.0) == metric), "{line} in {current:?}");
            let value: f64 = value.parse().expect("a number");
            assert!(value.is_finite() && value >= 0.0, "{line}");
            assert!(series.insert(name.to_owned(), value).is_none(), "{line} is there twice");
        }
    }
    series
}
