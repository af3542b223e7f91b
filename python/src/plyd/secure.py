"""TLS: what stands behind the address of a server, and a connection over it that blocks."""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from dataclasses import dataclass

READ_BYTES = 1 << 16

WRITTEN = "?ca=FILE, ?cert=FILE&key=FILE or all three"
"""How the part behind `host:port` is written."""

CLOSES = "it closes during the handshake of TLS; is TLS served there?"

UNKNOWN_AUTHORITY = {2, 18, 19, 20, 21}
"""OpenSSL's numbers of certificates that nobody who is trusted has signed."""

ADVICE = {
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server wants a certificate of ours: ?cert=FILE&key=FILE",
    "PACKET_LENGTH_TOO_LONG": "is TLS served there?",
    "RECORD_LAYER_FAILURE": "is TLS served there?",
    "WRONG_VERSION_NUMBER": "is TLS served there?",
}
"""What to do, by OpenSSL's reason."""


@dataclass(frozen=True)
class Files:
    """Whom to trust, and what to show a server that wants a certificate: files (PEM)."""

    ca: str | None = None
    """The authorities that are trusted; those of this system if None."""
    cert: str | None = None
    key: str | None = None

    @classmethod
    def read(cls, options: str) -> Files:
        """Reads `ca=FILE&cert=FILE&key=FILE`, or some of these."""
        found: dict[str, str] = {}
        for option in filter(None, options.split("&")):
            name, _, file = option.partition("=")
            if name not in ("ca", "cert", "key"):
                raise ValueError(f"`{name}`: give {WRITTEN}")
            if not file or name in found:
                raise ValueError(f"`{name}`: give one file, as in {name}=FILE")
            found[name] = file
        if ("cert" in found) != ("key" in found):
            raise ValueError("a certificate and its key go together: cert=FILE&key=FILE")
        return cls(**found)

    def context(self) -> ssl.SSLContext:
        """TLS 1.3 to a server whose certificate is good and for its host.

        Made for each connection, as the files may be renewed. Raises `OSError` for one that is of no use.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        try:
            of = self.ca
            if self.ca is None:
                context.load_default_certs()
            else:
                context.load_verify_locations(self.ca)
            if self.cert is not None:
                of = f"{self.cert}, {self.key}"
                # With a password, so that nobody is asked for one.
                context.load_cert_chain(self.cert, self.key, password="")
        except OSError as error:
            raise OSError(f"{of}: {error}") from error
        return context


def advice(error: Exception) -> str:
    """What went wrong, and what to do about it."""
    hint = None
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in UNKNOWN_AUTHORITY:
            hint = "name its authority's certificate behind the address, ?ca=FILE"
    elif isinstance(error, ssl.SSLError):
        hint = ADVICE.get(error.reason or "")
    return f"{error}; {hint}" if hint else str(error)


class SecureSocket(io.RawIOBase):
    """A socket under TLS, which one thread may read while others write.

    An `SSLSocket` must not be used so: it holds its session while it waits. Here the session is held as long
    as it takes to open or to seal bytes, and the threads wait at the socket.
    """

    def __init__(self, plain: socket.socket, context: ssl.SSLContext, host: str, timeout: float) -> None:
        self._plain, self._lock = plain, threading.Lock()
        self._sealed, self._unsent = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(self._sealed, self._unsent, server_hostname=host)
        self._sending = threading.Lock()
        # What the peer said was wrong: from then on the session only says that it is closed.
        self._alert: ssl.SSLError | None = None
        self._shake_hands(time.monotonic() + timeout)

    def _shake_hands(self, deadline: float) -> None:
        while True:
            try:
                self._session.do_handshake()
            except ssl.SSLWantReadError:
                self._plain.sendall(self._unsent.read())
            except ssl.SSLError:
                self._plain.sendall(self._unsent.read())  # the alert says to the server what is wrong
                raise
            else:
                self._plain.sendall(self._unsent.read())
                return
            self._plain.settimeout(max(deadline - time.monotonic(), 0.001))
            if not self._receive():
                raise ConnectionError(CLOSES)

    def _receive(self) -> bool:
        """Waits for bytes of the peer; False at their end."""
        sealed = self._plain.recv(READ_BYTES)
        with self._lock:
            if sealed:
                self._sealed.write(sealed)
            else:
                self._sealed.write_eof()
        return bool(sealed)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while True:
            with self._lock:
                try:
                    return int(self._session.read(len(buffer), buffer))
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLZeroReturnError:
                    return 0
                except ssl.SSLError as alert:
                    self._alert = alert
                    raise
            self._receive()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        # Records leave in the order in which they are sealed, and nobody who reads waits for that.
        with self._sending:
            self._plain.sendall(self._seal(data))
        return len(data)

    def _seal(self, data: bytes) -> bytes:
        with self._lock:
            try:
                self._session.write(data)
            except ssl.SSLError as error:
                raise self._alert or error from None
            return self._unsent.read()

    def receive(self, most: int) -> bytes:
        """The next bytes; none at the end."""
        return self.read(most) or b""

    def send(self, data: bytes, flags: int) -> None:
        """Sends bytes with these flags of a socket; what it does not take is lost."""
        self._plain.send(self._seal(data), flags)

    def settimeout(self, seconds: float | None) -> None:
        self._plain.settimeout(seconds)

    def shutdown(self, how: int) -> None:
        """Says that this was all, and ends both directions."""
        with self._lock:
            try:
                self._session.unwrap()
            except ssl.SSLError:
                pass  # the peer has not said so yet
            sealed = self._unsent.read()
        try:
            self._plain.send(sealed, socket.MSG_DONTWAIT)
        except OSError:
            pass  # it reads nothing any more
        self._plain.shutdown(how)

    def close(self) -> None:
        self._plain.close()
        super().close()
