//! Other protocols on a port that speaks JSON lines, known by the beginning of a line.
//!
//! A web page can make a browser send an HTTP request to any port, with a body of its choice. So HTTP must be
//! known before a line of that body is read, whatever its method: a line before `hello` that could be the
//! first one of a request, or one of its headers, is taken for HTTP.

/// The name of the protocol that encrypts others.
pub(super) const TLS: &str = "TLS";

/// The protocol that a peer speaks instead, by the beginning of a line or the whole of it.
pub(super) fn protocol(line: &[u8]) -> Option<&'static str> {
    if line.starts_with(&[0x16, 0x03]) {
        return Some(TLS);
    }
    (is_request_line(line) || is_header(line)).then_some("HTTP")
}

/// The message about a bad line if HTTP is harmless, because no browser can write there; none if it is no
/// request. A line such as `go: x` counts as a header only where it must.
pub(super) fn request_message(line: &[u8]) -> Option<String> {
    is_request_line(line).then(|| message("HTTP"))
}

/// The answer to a peer that speaks another protocol.
pub(super) fn message(protocol: &str) -> String {
    format!(
        "this is {protocol}, but here each line is a JSON object, such as {{\"id\":\"1\",\"cmd\":\"ping\"}}"
    )
}

/// Whether a line is a method and a target that a browser or a proxy can name: a path, `*`, a URL, or
/// anything with a version behind it.
fn is_request_line(line: &[u8]) -> bool {
    let (method, rest) = token(line);
    let rest_trimmed = rest.trim_ascii_start();
    if method.is_empty() || rest_trimmed.len() == rest.len() {
        return false;
    }
    let contains = |wanted: &[u8]| rest.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted));
    matches!(rest_trimmed.first(), Some(b'/' | b'*')) || contains(b"://") || contains(b" http/")
}

/// Whether a line is a header field: a name, a colon, and a character that cannot be part of a name.
fn is_header(line: &[u8]) -> bool {
    let (name, rest) = token(line);
    !name.is_empty() && rest.first() == Some(&b':')
}

/// The token (RFC 9110, 5.6.2) at the beginning of a line, white space before it skipped, and what follows.
fn token(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii_start();
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    line.split_at(line.iter().position(|byte| !belongs(byte)).unwrap_or(line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_known_whatever_their_method_and_target() {
        for line in [
            "GET / HTTP/1.1\r\n",
            "GET /",
            "PROPFIND /x HTTP/1.1",
            "propfind /",
            "patch * HTTP/1.0",
            "M-SEARCH * HTTP/1.1",
            "X!#$%&'*+-.^_`|~9 /",
            "GET  \t /two",
            " \r GET /",
            "GET http://localhost:7117/ HTTP/1.1",
            "GET HTTPS://localhost",
            "CONNECT localhost:7117 HTTP/1.1",
            "PRI * HTTP/2.0",
            "a b http/9",
            "Host: localhost",
            "content-length:2",
        ] {
            assert_eq!(protocol(line.as_bytes()), Some("HTTP"), "{line:?}");
        }
        assert_eq!(protocol(b"\x16\x03\x01"), Some("TLS"));
        assert!(request_message(b"GET / HTTP/1.1\r").is_some_and(|text| text.contains("HTTP")));
        assert_eq!(request_message(b"go: x"), None);
    }

    #[test]
    fn bad_lines_are_no_requests() {
        for line in [
            "",
            "\r\n",
            "{",
            r#"{"id":"1","cmd":"ping","echo":"GET / HTTP/1.1"}"#,
            r#"["GET / HTTP/1.1"]"#,
            r#""GET / HTTP/1.1""#,
            "null",
            "not json",
            "-1 2 3",
            "GET",
            "GET ",
            "\u{feff}{}",
            "\0\0",
        ] {
            assert_eq!(protocol(line.as_bytes()), None, "{line:?}");
        }
    }
}
