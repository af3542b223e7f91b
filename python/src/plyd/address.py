"""Where a server is, and where the engine's program is."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_default_scheme, get_path, get_preferred_scheme
from typing import ClassVar

from .errors import PlydError
from .secure import Files


@dataclass(frozen=True)
class Address:
    """Where a server is: `host:port`, with WebSocket, TLS, both or neither, the path of a Unix socket, or a program."""

    host: str = ""
    port: int = 0
    tls: Files | None = None
    web: bool = False
    path: str | None = None
    program: tuple[str, ...] = ()

    WRITTEN: ClassVar[str] = "tcp://HOST:PORT, ws://HOST:PORT, tls://HOST:PORT, wss://HOST:PORT or unix=PATH"
    """How addresses are written; each also with `=` for the `://`."""

    @classmethod
    def read(cls, address: str | None, program: str | Sequence[str] | None) -> Address:
        """Reads an address as `WRITTEN`, `host:port` or a path (with a `/`); without one, the program to start.

        Behind one of TLS may stand what `Files.read` takes: `tls://host:port?ca=FILE&cert=FILE&key=FILE`.
        """
        if address is None:
            if isinstance(program, str):
                return cls(program=(program,))
            return cls(program=tuple(program) if program else (find_program(),))
        found = re.match(r"(tcp|tls|ws|wss)(?:=|://)|unix=", address)
        if found is None and "/" in address:
            return cls(path=address)
        way, place = (found[1], address[found.end() :]) if found else ("tcp", address)
        if way is None:
            if not place:
                raise ValueError("give the path of a socket")
            return cls(path=place)
        options, web = "", way in ("ws", "wss")
        if way in ("tls", "wss"):
            place, _, options = place.partition("?")
        place = place.rstrip("/")
        if web and place.endswith("/ws"):
            place = place[:-3]
        host, _, port = place.rpartition(":")
        if not host or re.search(r"[\s/]", host) or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
            raise ValueError(f"neither host:port nor a path: {address!r}; give {cls.WRITTEN}")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        tls = Files.read(options) if way in ("tls", "wss") else None
        return cls(host=host, port=int(port), tls=tls, web=web)


def find_program() -> str:
    """The engine's program: PLYD_BIN, else the one that was installed with this package, else `plyd` on the PATH."""
    named = os.environ.get("PLYD_BIN")
    if named:
        if shutil.which(named) is None:
            raise PlydError(f"PLYD_BIN names no program: {named}")
        return named
    name = "plyd.exe" if sys.platform == "win32" else "plyd"
    for folder in folders():
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    found = shutil.which("plyd")
    if found is None:
        raise PlydError(
            "the engine is missing: no `plyd` beside this Python or on the PATH. In a clone of the repository"
            " `cargo install --locked --path .` installs it; or set PLYD_BIN to the program"
        )
    return found


def folders() -> Iterator[Path]:
    """Where an installer may have put the program: beside the interpreter, of the user, or of `pip --target`."""
    package = Path(__file__).resolve().parent
    schemes = [get_default_scheme(), get_preferred_scheme("user")]
    for scheme in schemes:
        # An engine that belongs to another copy of this package may be another version.
        if package.parent in (Path(get_path(part, scheme)).resolve() for part in ("purelib", "platlib")):
            yield Path(get_path("scripts", scheme))
    yield package.parent / ("Scripts" if sys.platform == "win32" else "bin")
