//! As much of HTTP/1.1 as a page of a few files and the door to a WebSocket need: heads of requests in, whole
//! answers out. Requests with a body, other methods, and everything that is long or slow are turned away.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tungstenite::http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use tungstenite::http::{HeaderName, HeaderValue, Method, Request, StatusCode, Version};

use crate::site::Guard;

/// The longest head of a request; browsers send less than 2 KiB.
const MAX_HEAD: usize = 8 << 10;
/// The most headers of a request.
const MAX_HEADERS: usize = 64;
const READ_BYTES: usize = 2 << 10;
/// How long a head may take to arrive, or a connection be idle between two.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a peer may take to read an answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// An answer, whole.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Whether the connection closes behind it.
    pub(super) is_last: bool,
}

impl Answer {
    /// Something found.
    pub(super) fn found(mime: &'static str, body: &[u8]) -> Self {
        let headers = vec![("Content-Type", mime.to_owned())];
        Self { status: StatusCode::OK, headers, body: body.to_vec(), is_last: false }
    }

    /// A refusal with a sentence for people; the connection closes behind it.
    pub(super) fn refusal(status: StatusCode, message: &str) -> Self {
        let headers = vec![("Content-Type", "text/plain; charset=utf-8".to_owned())];
        Self { status, headers, body: format!("{message}\n").into_bytes(), is_last: true }
    }

    /// The answer with one header more, whose value has no line end.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The answer as a part of a page that may load what the policy says, and that no other page may hold.
    pub(super) fn of_page(self, policy: impl Into<String>) -> Self {
        self.with("Content-Security-Policy", policy)
            .with("Cross-Origin-Opener-Policy", "same-origin")
            .with("Cross-Origin-Resource-Policy", "same-origin")
            .with("Referrer-Policy", "no-referrer")
    }

    /// The bytes, without the body where only the head was asked for.
    fn bytes(&self, is_head_only: bool) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {}\r\n", self.status);
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n", self.body.len());
        text += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
        text += if self.is_last { "Connection: close\r\n\r\n" } else { "\r\n" };
        let mut bytes = text.into_bytes();
        if !is_head_only {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// The next request of a peer; `ahead` holds what it sent beyond the last one. `None`: the peer left, or has
/// nothing to ask.
///
/// # Errors
/// How to turn the peer away.
pub(super) async fn next_request(
    input: &mut (impl AsyncRead + Unpin),
    ahead: &mut Vec<u8>,
) -> Result<Option<Request<()>>, Answer> {
    match tokio::time::timeout(HEAD_TIME, whole_head(input, ahead)).await {
        Ok(request) => request,
        Err(_) if ahead.is_empty() => Ok(None),
        Err(_) => Err(Answer::refusal(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive")),
    }
}

async fn whole_head(
    input: &mut (impl AsyncRead + Unpin),
    ahead: &mut Vec<u8>,
) -> Result<Option<Request<()>>, Answer> {
    loop {
        if let Some((length, request)) = parse(ahead)? {
            ahead.drain(..length);
            return Ok(Some(request));
        }
        if ahead.len() >= MAX_HEAD {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Err(Answer::refusal(status, "the head of a request has at most 8 KiB"));
        }
        let mut buffer = [0; READ_BYTES];
        let room = READ_BYTES.min(MAX_HEAD - ahead.len());
        match input.read(&mut buffer[..room]).await {
            Ok(count) if count > 0 => ahead.extend_from_slice(&buffer[..count]),
            Ok(_) | Err(_) => return Ok(None),
        }
    }
}

/// The request whose head is whole, with its length in bytes.
fn parse(bytes: &[u8]) -> Result<Option<(usize, Request<()>)>, Answer> {
    let bad = |message: &str| Answer::refusal(StatusCode::BAD_REQUEST, message);
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Err(Answer::refusal(status, "a request has at most 64 headers"));
        }
        Err(_) => {
            return Err(bad(
                "this port speaks HTTP/1.1 and WebSocket; lines of JSON have ports of their own",
            ));
        }
    };
    let (method, target) = (head.method.unwrap_or_default(), head.path.unwrap_or_default());
    let mut request = Request::new(());
    *request.method_mut() = method.parse::<Method>().map_err(|_| bad("this is no method of HTTP"))?;
    *request.uri_mut() = target.parse().map_err(|_| bad("this is no target of a request"))?;
    *request.version_mut() = if head.version == Some(1) { Version::HTTP_11 } else { Version::HTTP_10 };
    for header in head.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes());
        let value = HeaderValue::from_bytes(header.value);
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(bad("this is no header of HTTP"));
        };
        request.headers_mut().append(name, value);
    }
    if request.headers().get_all(HOST).iter().count() > 1 {
        return Err(bad("a request has one Host"));
    }
    let headers = request.headers();
    let has_body = headers.contains_key(TRANSFER_ENCODING)
        || headers.get_all(CONTENT_LENGTH).iter().any(|length| length.as_bytes() != b"0");
    if has_body {
        // What follows the head would be taken for another request.
        let status = if matches!(*request.method(), Method::GET | Method::HEAD) {
            StatusCode::PAYLOAD_TOO_LARGE
        } else {
            StatusCode::METHOD_NOT_ALLOWED
        };
        return Err(Answer::refusal(status, "requests have no body here").with("Allow", "GET, HEAD"));
    }
    Ok(Some((length, request)))
}

/// A header's value, if it is there once and is text.
pub(super) fn header<'a>(request: &'a Request<()>, name: &str) -> Option<&'a str> {
    let mut values = request.headers().get_all(name).iter();
    values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok())
}

/// Refuses all methods but GET and HEAD: no request changes anything here.
pub(super) fn refuse_changes(request: &Request<()>) -> Result<(), Answer> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let refusal = Answer::refusal(StatusCode::METHOD_NOT_ALLOWED, "ask with GET or HEAD");
    Err(refusal.with("Allow", "GET, HEAD"))
}

/// The host that a request for a page names; it must be this machine, which a foreign page cannot name.
pub(super) fn own_host<'r>(request: &'r Request<()>, guard: &Guard) -> Result<&'r str, Answer> {
    let host = header(request, HOST.as_str())
        .ok_or_else(|| Answer::refusal(StatusCode::BAD_REQUEST, "a request names its Host"))?;
    if guard.knows_host(host) {
        return Ok(host);
    }
    let message = "the page is at an address or at localhost, under no other name";
    Err(Answer::refusal(StatusCode::FORBIDDEN, message))
}

/// Whether the peer wants the connection closed after this answer.
pub(super) fn wants_close(request: &Request<()>) -> bool {
    let connection = request.headers().get(CONNECTION).and_then(|value| value.to_str().ok()).unwrap_or("");
    request.version() < Version::HTTP_11 || connection.to_ascii_lowercase().contains("close")
}

/// Writes an answer.
///
/// # Errors
/// The peer is gone, or does not read.
pub(super) async fn write(
    output: &mut (impl AsyncWrite + Unpin),
    answer: &Answer,
    is_head_only: bool,
) -> io::Result<()> {
    let bytes = answer.bytes(is_head_only);
    let write = async {
        output.write_all(&bytes).await?;
        output.flush().await
    };
    let written = tokio::time::timeout(ANSWER_TIME, write).await;
    written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of the bytes: the method, path and host of a request, the status of a refusal, or nothing
    /// yet.
    fn read(bytes: &[u8]) -> String {
        match parse(bytes) {
            Ok(Some((length, request))) => {
                let host = header(&request, "host").unwrap_or("-");
                format!("{} {} {host} {length}", request.method(), request.uri().path())
            }
            Ok(None) => "more".into(),
            Err(answer) => answer.status.as_u16().to_string(),
        }
    }

    #[test]
    fn heads_are_read_strictly() {
        let many = "a: b\r\n".repeat(70);
        for (bytes, expected) in [
            ("GET / HTTP/1.1\r\nHost: a:1\r\n\r\nrest", "GET / a:1 29"),
            ("GET /a.js?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "GET /a.js a 54"),
            ("HEAD /../etc/passwd HTTP/1.1\r\n\r\n", "HEAD /../etc/passwd - 32"),
            ("GET http://b/c HTTP/1.1\r\nHost: b\r\n\r\n", "GET /c b 36"),
            ("", "more"),
            ("GET / HTTP/1.1\r\nHost: a", "more"),
            ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", "400"),
            ("GET / HTTP/2.0\r\n\r\n", "400"),
            ("GET  / HTTP/1.1\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: \u{0}\r\n\r\n", "400"),
            ("{\"id\":\"1\",\"cmd\":\"ping\"}\n", "400"),
            ("\u{16}\u{3}\u{1}", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", "405"),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", "413"),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 2\r\n\r\n{}", "413"),
            ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "413"),
            (&format!("GET / HTTP/1.1\r\n{many}\r\n"), "431"),
        ] {
            assert_eq!(read(bytes.as_bytes()), expected, "{bytes:?}");
        }
    }

    #[test]
    fn answers_are_whole() {
        let answer = Answer::found("text/css", b"a{}");
        let text = String::from_utf8(answer.bytes(false)).unwrap();
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Length: 3\r\n"),
            "{text}"
        );
        assert!(text.contains("nosniff") && text.ends_with("\r\n\r\na{}"), "{text}");
        assert!(!text.contains("Connection"), "{text}");
        let head = String::from_utf8(answer.bytes(true)).unwrap();
        assert!(head.contains("Content-Length: 3") && head.ends_with("\r\n\r\n"), "{head}");
        let refused = Answer::refusal(StatusCode::NOT_FOUND, "no").with("Allow", "GET").bytes(false);
        let text = String::from_utf8(refused).unwrap();
        assert!(
            text.starts_with("HTTP/1.1 404 Not Found\r\n") && text.contains("Connection: close"),
            "{text}"
        );
        assert!(text.contains("Allow: GET") && text.ends_with("\r\n\r\nno\n"), "{text}");
    }
}
