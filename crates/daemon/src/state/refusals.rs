//! What is refused, and who learns of it: clients of the errors of their requests, and the log of everything.
//!
//! The log has a line for each kind of refusal as far as its quota goes, so that nobody fills a disk with
//! them. What operators should see is a warning: failed logins, requests beyond a client's role, and limits
//! that are reached. What clients do wrong has the level `info`. A line holds no more of what a peer wrote
//! than names: the id of the request, the client, the origin of a page.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::{ErrorClass, ErrorCode};

use super::State;
use super::request_error::RequestError;
use crate::ids::ConnId;
use crate::log::{Quota, bounded, targets};
use crate::spans::short;

/// The time in which each kind has one line, once its burst is over.
const PAUSE: Duration = Duration::from_secs(10);

/// Lines about errors, by their code.
static ERRORS: [Quota; ErrorCode::ALL.len()] = [const { Quota::new(20, PAUSE) }; ErrorCode::ALL.len()];
/// Lines about peers that are turned away, by the refusal.
static REFUSALS: [Quota; Refusal::ALL.len()] = [const { Quota::new(5, PAUSE) }; Refusal::ALL.len()];

/// The names of all codes.
static CODES: LazyLock<Vec<String>> =
    LazyLock::new(|| ErrorCode::ALL.iter().map(ToString::to_string).collect());

/// Why a peer is turned away, or cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It sent too many bad lines before `hello`.
    BadLines,
    /// It shows no certificate, but clients must.
    CertificateMissing,
    /// It shows a certificate that is not accepted.
    CertificateRefused,
    /// Its address has too many connections.
    ConnectionsPerAddress,
    /// It speaks another protocol.
    ForeignProtocol,
    /// It broke off the handshake of TLS, perhaps because it does not trust our certificate.
    HandshakeBroken,
    /// Its handshake of TLS is too long.
    HandshakeBytes,
    /// Its handshake of TLS cannot be understood.
    HandshakeMalformed,
    /// Its handshake of TLS took too long.
    HandshakeMs,
    /// It made room for another peer that shakes hands.
    Handshakes,
    /// Its `hello` did not come in time.
    HelloMs,
    /// It was idle for too long.
    IdleMs,
    /// It is a page of a foreign origin.
    Origin,
    /// It speaks plain text where TLS is served.
    PlainOnTls,
    /// It broke the rules of WebSocket.
    ProtocolViolation,
    /// It does not answer signs of life.
    Silent,
    /// It does not read, or too slowly.
    SlowReader,
    /// It made room for another peer that has not said `hello` either.
    Strangers,
    /// It speaks TLS where plain text is served.
    TlsOnPlain,
    /// It made room for another peer at a port that browsers reach.
    Visitors,
}

impl Refusal {
    /// All of them, by their names.
    pub(crate) const ALL: [Self; 20] = [
        Self::BadLines,
        Self::CertificateMissing,
        Self::CertificateRefused,
        Self::ConnectionsPerAddress,
        Self::ForeignProtocol,
        Self::HandshakeBroken,
        Self::HandshakeBytes,
        Self::HandshakeMalformed,
        Self::HandshakeMs,
        Self::Handshakes,
        Self::HelloMs,
        Self::IdleMs,
        Self::Origin,
        Self::PlainOnTls,
        Self::ProtocolViolation,
        Self::Silent,
        Self::SlowReader,
        Self::Strangers,
        Self::TlsOnPlain,
        Self::Visitors,
    ];

    /// Its name; that of the limit, if one is reached.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BadLines => "bad_lines",
            Self::CertificateMissing => "certificate_missing",
            Self::CertificateRefused => "certificate_refused",
            Self::ConnectionsPerAddress => "connections_per_address",
            Self::ForeignProtocol => "foreign_protocol",
            Self::HandshakeBroken => "handshake_broken",
            Self::HandshakeBytes => "handshake_bytes",
            Self::HandshakeMalformed => "handshake_malformed",
            Self::HandshakeMs => "handshake_ms",
            Self::Handshakes => "handshakes",
            Self::HelloMs => "hello_ms",
            Self::IdleMs => "idle_ms",
            Self::Origin => "origin",
            Self::PlainOnTls => "plain_on_tls",
            Self::ProtocolViolation => "protocol_violation",
            Self::Silent => "silent",
            Self::SlowReader => "slow_reader",
            Self::Strangers => "strangers",
            Self::TlsOnPlain => "tls_on_plain",
            Self::Visitors => "visitors",
        }
    }

    /// What the log says of it.
    fn said(self) -> &'static str {
        match self {
            Self::CertificateMissing => "refused: no client certificate",
            Self::CertificateRefused => "refused: a client certificate that is not accepted",
            Self::HandshakeBroken => "refused: the peer broke the handshake off",
            Self::HandshakeBytes => "refused: a handshake that is too long",
            Self::HandshakeMalformed => "refused: a handshake that cannot be understood",
            Self::HandshakeMs => "refused: a handshake that took too long",
            Self::Handshakes => "refused: another peer came before this one had shaken hands",
            Self::Origin => "page refused",
            Self::PlainOnTls => {
                "refused: plain text where TLS is served: call it as tls://HOST:PORT or wss://HOST:PORT"
            }
            Self::TlsOnPlain => {
                "refused: TLS where plain text is served: call it without TLS, or start plyd with --tls-cert and \
                 --tls-key"
            }
            _ => "connection refused",
        }
    }

    /// Whether an operator should know: somebody tries what is not allowed, keeps others out, or is not
    /// configured for TLS as the daemon is.
    fn is_serious(self) -> bool {
        !matches!(
            self,
            Self::ForeignProtocol
                | Self::HandshakeMs
                | Self::HelloMs
                | Self::IdleMs
                | Self::ProtocolViolation
                | Self::Silent
                | Self::Visitors
        )
    }
}

/// The name of a code on the wire.
pub(crate) fn name_of(code: ErrorCode) -> &'static str {
    CODES.get(code as usize).map_or("", String::as_str)
}

/// Whether an error is a warning to the operator: a request that the client may not make, or a limit that is
/// reached. Whoever shows no token is refused as expected, and may be no more than `plyd health`.
fn is_serious(code: ErrorCode) -> bool {
    match code {
        ErrorCode::Forbidden | ErrorCode::TooManyConnections => true,
        ErrorCode::ShuttingDown => false,
        code => code.class() == ErrorClass::Resources,
    }
}

impl State {
    /// Notes that a connection is turned away.
    pub(crate) fn note_refusal(&mut self, id: ConnId, refusal: Refusal) {
        self.tally.refused(refusal);
        let span = self.span(id);
        let (reason, said) = (refusal.name(), refusal.said());
        let quota = &REFUSALS[refusal as usize];
        if refusal.is_serious() {
            bounded!(quota, WARN, target: targets::REFUSALS, parent: &span, reason, "{said}");
        } else {
            bounded!(quota, INFO, target: targets::REFUSALS, parent: &span, reason, "{said}");
        }
    }

    /// Notes that a peer is turned away before it is a connection.
    pub(crate) fn note_peer(&mut self, peer: SocketAddr, refusal: Refusal, detail: Option<&str>) {
        self.tally.refused(refusal);
        let (reason, said) = (refusal.name(), refusal.said());
        let quota = &REFUSALS[refusal as usize];
        if refusal.is_serious() {
            bounded!(quota, WARN, target: targets::REFUSALS, reason, %peer, detail, "{said}");
        } else {
            bounded!(quota, INFO, target: targets::REFUSALS, reason, %peer, detail, "{said}");
        }
    }

    /// Notes that a page is turned away, which has no connection yet.
    pub(crate) fn note_foreign_page(&mut self, origin: &str, host: &str) {
        self.tally.refused(Refusal::Origin);
        let (reason, origin, host) = (Refusal::Origin.name(), short(origin), short(host));
        let said = Refusal::Origin.said();
        bounded!(
            REFUSALS[Refusal::Origin as usize], WARN, target: targets::REFUSALS, reason, origin, host,
            "{said}"
        );
    }

    /// Queues an `error`.
    pub(super) fn send_error(
        &mut self,
        conn: ConnId,
        id: Option<&str>,
        line: u64,
        refusal: RequestError,
        now_ns: u64,
    ) {
        let fatal = refusal.code.fatal();
        self.send_error_message(conn, id, line, refusal, None, fatal, now_ns);
    }

    /// Queues a `duplicate_id`.
    pub(super) fn send_duplicate(&mut self, conn: ConnId, name: String, line: u64, now_ns: u64) {
        let refusal =
            RequestError::new(ErrorCode::DuplicateId, "a request of this id is in flight").at("/id");
        self.send_error_message(conn, None, line, refusal, Some(name), false, now_ns);
    }

    /// Queues an `error` after which the connection closes, whatever its code.
    pub(super) fn send_fatal(&mut self, conn: ConnId, line: u64, refusal: RequestError, now_ns: u64) {
        self.send_error_message(conn, None, line, refusal, None, true, now_ns);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of the message, private to its three forms")]
    fn send_error_message(
        &mut self,
        conn: ConnId,
        id: Option<&str>,
        line: u64,
        refusal: RequestError,
        reference: Option<String>,
        fatal: bool,
        now_ns: u64,
    ) {
        let code = refusal.code;
        log_error(id, line, code);
        let message = self.error(id, line, refusal, reference, fatal);
        if fatal {
            if code == ErrorCode::AuthFailed {
                return self.answer_late(conn, message.to_body(), now_ns);
            }
            // What is in flight is answered first.
            self.drain(conn, Some(message.to_body()), wire::OnEof::Stop, now_ns);
        } else {
            self.send_message(conn, &message, now_ns);
        }
    }

    /// Counts an `error`, and makes its message.
    pub(super) fn error(
        &mut self,
        id: Option<&str>,
        line: u64,
        refusal: RequestError,
        reference: Option<String>,
        fatal: bool,
    ) -> wire::Message {
        self.counters.errors += 1;
        self.tally.failed(refusal.code);
        wire::Message::Error(Box::new(refusal.into_message(id, line, reference, fatal)))
    }
}

/// Logs the error of a request, within its span or that of its connection.
fn log_error(id: Option<&str>, line: u64, error: ErrorCode) {
    let (quota, code) = (&ERRORS[error as usize], name_of(error));
    match error {
        // Wrong tokens have lines of their own; and what a client asked to be cancelled is no failure.
        ErrorCode::AuthFailed => {}
        ErrorCode::Cancelled => tracing::debug!(target: targets::REFUSALS, code, id, line, "request refused"),
        ErrorCode::Internal => {
            bounded!(quota, ERROR, target: targets::REFUSALS, code, id, line, "request failed")
        }
        error if is_serious(error) => {
            bounded!(quota, WARN, target: targets::REFUSALS, code, id, line, "request refused")
        }
        _ => bounded!(quota, INFO, target: targets::REFUSALS, code, id, line, "request refused"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_place_and_its_name() {
        for (index, code) in ErrorCode::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, index, "{code:?}");
            assert!(!name_of(code).is_empty(), "{code:?}");
        }
        for (index, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index, "{refusal:?}");
        }
        assert_eq!(name_of(ErrorCode::TooManyRequests), "too_many_requests");
        assert!(Refusal::ALL.map(Refusal::name).is_sorted());
    }
}
