"""plyd as a player of the L Game: a class for programs that call players, and a text program.

As a class: put this file beside `play.py`, where `setGameMode` lists the players add
`3: plyd_player.PlydPlayer`, and let `getPlayers` take a 3. The program calls `instructionHandler(state, display)` or `getMove`.

As text: `python3 plyd_player.py` reads the opponent's moves and writes its own, a line each: `x y d`,
or `x y d x1 y1 x2 y2` to move a token as well. Before the first move a line may give the start, as
`L1 L2 T1 T2`. With `--first` it moves first; `--start "L1 L2 T1 T2"` gives the start as well.

plyd must be on the PATH, or PLYD_BIN must name it. Standard library only.
"""

import collections

TURN = 1.0  # seconds a move; no referee of this game has a clock
MARGIN = 0.05
TRIES = 5  # bad lines in a row that end the text program, as in the referees
START = "3 1 W 2 4 E 1 1 4 4"
LONG = {"N": "EW", "S": "EW", "E": "SN", "W": "SN"}  # where the long bar can lie, by the short one
STEP = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}

Move = collections.namedtuple("Move", "piece taken put", defaults=(None, None))


class PlydPlayer:
    """A player object for the course program whose states have pieces, tokens and a transformation.

    The program turns its states about to have fewer of them; undone, they show one game, whose moves
    show plyd which positions the opponent has already answered.
    """

    def __init__(self, id=0, *_):
        self.id = id
        self.link = Link("l-game")
        self.game_reset()

    def game_reset(self):
        self.start, self.played, self.left = None, [], None

    def instructionHandler(self, state, display=False):
        """Answers ('move', action), the only instruction that a program gives."""
        return "move", self.getMove(state, display)

    def getMove(self, state, display=False):
        """The action in the coordinates of `state`, or None where there is none."""
        flags = [bool(flag) for flag in state.transform]
        pieces = [turn_piece((p.x, p.y, p.d), flags, inward=False) for p in state.L_pieces]
        tokens = [turn((t.x, t.y), flags, inward=False) for t in state.token_pieces]
        board = Board(pieces, tokens, state.player)
        self.follow(board)
        move = choose(self.link, board, self.start, self.played)
        if move is None:
            return None
        self.played.append(write_move(move))
        self.left = board.play(move)
        piece = turn_piece(move.piece, flags, inward=True)
        taken, put = (
            turn(cell, flags, inward=True) if cell else (0, 0) for cell in (move.taken, move.put)
        )
        return type(state.getLegalMoves()[0])(state.player, piece, taken, put)

    def follow(self, board):
        """Adds the opponent's move to the game; another game than the one so far begins anew."""
        if self.left is not None:
            gone = [token for token in self.left.tokens if token not in board.tokens]
            come = [token for token in board.tokens if token not in self.left.tokens]
            move = Move(board.pieces[self.left.mover], *gone[:1], *come[:1])
            if move in set(self.left.moves()) and self.left.play(move) == board:
                self.played.append(write_move(move))
                return
        self.start, self.played = board.text(), []


class Board:
    """Both Ls as (x, y, short direction), both tokens, and the mover, 0 or 1."""

    def __init__(self, pieces, tokens, mover):
        self.pieces, self.tokens, self.mover = pieces, sorted(tokens), mover

    @classmethod
    def read(cls, text, mover=0):
        """Reads `L1 L2 T1 T2`, ten words; raises ValueError for anything else."""
        words = text.upper().split()
        if len(words) != 10:
            raise ValueError("a start has ten words")
        numbers = [int(word) for word in words[:2] + words[3:5] + words[6:]]
        pieces = [(*numbers[:2], words[2]), (*numbers[2:4], words[5])]
        board = cls(pieces, [tuple(numbers[4:6]), tuple(numbers[6:])], mover)
        taken = [cells(piece) for piece in pieces] + [{token} for token in board.tokens]
        if any(not inside(part) for part in taken) or len(set().union(*taken)) != 10:
            raise ValueError("no position of the L Game")
        return board

    def __eq__(self, other):
        return vars(self) == vars(other)

    def text(self):
        """The position as plyd's text."""
        tokens = " ".join(f"{x} {y}" for x, y in self.tokens)
        own, other = (" ".join(map(str, piece)) for piece in self.pieces)
        return f"{own} {tokens} {other} {self.mover + 1}"

    def moves(self):
        """The legal moves, those that move no token first."""
        other = cells(self.pieces[1 - self.mover]) | set(self.tokens)
        places = [
            piece
            for piece in ((x, y, d) for x in range(1, 5) for y in range(1, 5) for d in LONG)
            if inside(cells(piece)) and not cells(piece) & other and piece != self.pieces[self.mover]
        ]
        yield from map(Move, places)
        for piece in places:
            full = cells(piece) | other
            for taken in self.tokens:
                for put in ((x, y) for x in range(1, 5) for y in range(1, 5)):
                    if put not in full:
                        yield Move(piece, taken, put)

    def play(self, move):
        pieces, tokens = list(self.pieces), list(self.tokens)
        pieces[self.mover] = move.piece
        if move.taken:
            tokens[tokens.index(move.taken)] = move.put
        return Board(pieces, tokens, 1 - self.mover)


def cells(piece):
    """The four cells of an L: where its bars meet, the short end, and the long bar where it fits."""
    x, y, short = piece
    if short not in LONG:
        return set()
    first = LONG[short][(x if short in "NS" else y) > 2]
    (sx, sy), (lx, ly) = STEP[short], STEP[first]
    return {(x, y), (x + sx, y + sy), (x + lx, y + ly), (x + 2 * lx, y + 2 * ly)}


def turn(cell, flags, inward, span=5):
    """A cell in the coordinates that a program has turned (`inward`) or back in the board's own.

    `flags`: whether it mirrored x, mirrored y, and then swapped the two; `span` 0 is for directions.
    """
    x, y = cell
    if flags[2] and not inward:
        x, y = y, x
    x, y = span - x if flags[0] else x, span - y if flags[1] else y
    return (y, x) if flags[2] and inward else (x, y)


def turn_piece(piece, flags, inward):
    short = turn(STEP[piece[2]], flags, inward, span=0)
    return (*turn(piece[:2], flags, inward), next(d for d in STEP if STEP[d] == short))


def inside(part):
    return bool(part) and all(1 <= x <= 4 and 1 <= y <= 4 for x, y in part)


def read_move(text):
    """Reads `x y d` or `x y d x1 y1 x2 y2`; raises ValueError for anything else."""
    words = text.upper().split()
    if len(words) not in (3, 7):
        raise ValueError("a move has three or seven words")
    numbers = [int(word) for word in words[:2] + words[3:]]
    piece = (*numbers[:2], words[2])
    return Move(piece) if len(words) == 3 else Move(piece, tuple(numbers[2:4]), tuple(numbers[4:]))


def write_move(move):
    return " ".join(map(str, (*move.piece, *(move.taken or ()), *(move.put or ()))))


def choose(link, board, start, played):
    """The best legal move of the board, which `played` has led to from `start`; None: no move."""
    legal = list(board.moves())
    if not legal:
        return None
    best = next(board.moves())
    position = {"start": start, "moves": list(played)}
    texts = {write_move(move): move for move in legal}
    for best in link.moves(position, texts.get, time.monotonic() + TURN, MARGIN):
        pass  # each is better than the one before
    return best


def main(arguments):
    """Plays one game on the standard streams; exits with 1 after too many bad lines."""
    board = Board.read(START)
    if "--start" in arguments:
        board = Board.read(arguments[arguments.index("--start") + 1])
    link = Link("l-game")
    played: list = []
    start, bad, ours = board.text(), 0, "--first" in arguments

    def answer():
        nonlocal board
        move = choose(link, board, start, played)
        if move is not None:
            print(write_move(move), flush=True)
            board = board.play(move)
            played.append(write_move(move))
        return move is not None and any(True for _ in board.moves())

    if ours and not answer():
        return 0
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            if not played and len(line.split()) == 10:
                board = Board.read(line)
                start = board.text()
                continue
            move = read_move(line)
            if move not in set(board.moves()):
                raise ValueError("not a legal move")
        except ValueError as error:
            bad += 1
            print(f"{line.strip()}: {error}", file=sys.stderr)
            if bad == TRIES:
                return 1
            continue
        bad = 0
        board = board.play(move)
        played.append(write_move(move))
        if not answer():
            return 0
    return 0


# ---- link to plyd: the same lines in every adapter, see examples/referees/link.py ----

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

# An engine is asked again only if so many seconds are left: less is no time for a search and its answer.
LEAST_CLOCK = 0.01

# At most this share of a time limit is kept off it, so that a short one leaves time for a search.
SHARE = 1 / 3


class Web:
    """A socket with the frames of WebSocket (RFC 6455) under its lines."""

    def __init__(self, inner, place):
        import base64
        import hashlib

        self.inner, self.unread, key = inner, bytearray(), base64.b64encode(os.urandom(16))
        asked = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        inner.sendall(b"GET /ws HTTP/1.1\r\nHost: " + place.encode() + b"\r\n" + asked + key + b"\r\n\r\n")
        while b"\r\n\r\n" not in self.unread:
            part = inner.recv(1 << 16)
            if not part or len(self.unread) > 1 << 14:
                raise OSError("the server speaks no WebSocket")
            self.unread += part
        head, _, self.unread = self.unread.partition(b"\r\n\r\n")
        proof = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        if not head.startswith(b"HTTP/1.1 101") or base64.b64encode(proof) not in head:
            raise OSError("the server answers {!r}".format(bytes(head[:64])))

    def settimeout(self, seconds):
        self.inner.settimeout(seconds)

    def close(self):
        self.inner.close()

    def sendall(self, lines):
        self.inner.sendall(b"".join(self.frame(1, line) for line in lines.splitlines()))

    @staticmethod
    def frame(kind, payload):
        size, mask = len(payload), os.urandom(4)
        code, width = (size, 0) if size < 126 else (126, 2) if size < 1 << 16 else (127, 8)
        head = bytes([0x80 | kind, 0x80 | code]) + (size.to_bytes(width, "big") if width else b"")
        return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))

    def recv(self, most):
        """The next part of a message, with a line end at the end of the message."""
        while True:
            code = self.unread[1] if len(self.unread) > 1 else 0
            begin = {126: 4, 127: 10}.get(code, 2)
            size = code if begin == 2 else int.from_bytes(self.unread[2:begin], "big")
            if code > 127 or size > 1 << 26:
                raise OSError("no frame of a server")
            if len(self.unread) < begin + size:
                part = self.inner.recv(most)
                if not part:
                    return b""
                self.unread += part
                continue
            first, payload = self.unread[0], bytes(self.unread[begin : begin + size])
            del self.unread[: begin + size]
            if first & 15 == 9:  # a ping
                self.inner.sendall(self.frame(10, payload))
            elif first & 15 == 8:
                return b""
            elif first & 15 in (0, 1) and (payload or first & 0x80):
                return payload + (b"\n" if first & 0x80 else b"")


class Link:
    """A connection to the one plyd process of this program and of the processes that it forks.

    Or to the server at PLYD_SERVER, which is shown the token in the file PLYD_TOKEN_FILE; then none is
    started. Make the first one in the referee's own process: that starts plyd, which listens on a Unix socket.
    A process that was forked makes a connection of its own when it asks for its first move. plyd ends
    with the program that started it, however that ends, `kill -9` included: its reaper is a shell
    that waits for the end of a pipe, whose other end is here only.

    Nothing here raises: without an engine there are no moves, and a warning on stderr.
    """

    REAPER = """
        "$0" serve --unix "$1" >/dev/null 2>&1 &
        read -r _
        kill -9 $! 2>/dev/null
        rm -f "$1" "$1.warned"
        rmdir "${1%/*}"
    """
    reaper, path, listened, warned, hurried = None, None, False, False, False
    failures, tolerated = 0, 4  # in a row; past them there is no engine
    pid, parent = os.getpid(), None  # the parent of a forked process, as long as that lives

    def __init__(self, game, rules=None, options=None):
        self.opening = {"session": "s", "game": game, "rules": rules or {}, "options": options or {}}
        self.owner, self.socket, self.unread, self.searches = None, None, b"", 0
        try:
            self.connect(time.monotonic() + 10)
        except Exception as error:  # whatever it is, a game must not be lost by it
            Link.failures = Link.failures if Link.listened else Link.tolerated
            self.warn(error)

    def __getstate__(self):  # for referees that send a player to a new process, or copy it
        return {**self.__dict__, "socket": None, "path": Link.path, "pid": Link.pid}

    def __setstate__(self, state):
        path, pid = state.pop("path"), state.pop("pid")
        if Link.path is None:
            Link.path, Link.listened, Link.parent = path, path is not None, pid
        self.__dict__.update(state)

    def moves(self, position, read, deadline, margin, **fields):
        """Yields better and better moves for `position` until the search ends.

        `read` makes the referee's move of a text, or None of one that it would not take. `deadline`
        (of `time.monotonic`) is when the last move must have been used, and `margin` what plyd keeps
        off it, in seconds; less of a short time. Other `fields` go into the `go` as they are.
        """
        margin = self.kept_off(deadline - time.monotonic(), margin)
        for attempt in range(2):
            try:
                for text in self.search(position, deadline, margin, fields):
                    move = read(text)
                    if move is not None:
                        Link.failures = 0
                        yield move
                return
            except Exception as error:  # whatever it is, a game must not be lost by it
                self.close()
                Link.failures += 1
                Link.stop()  # the next attempt, or the next move, has an engine of its own
                if attempt or time.monotonic() > deadline - margin:
                    self.warn(error)
                    return

    def kept_off(self, limit, margin):
        """What to keep off a limit, in seconds: the margin, or a share of a short limit, with a warning."""
        most = max(limit, 0) * SHARE
        if margin > most > 0 and Link.is_first_warning():
            print(
                f"plyd adapter: a limit of {limit * 1000:.0f} ms is short for a margin of {margin * 1000:.0f} ms; "
                f"keeping {most * 1000:.0f} ms, so an answer may be late where other programs use the cores",
                file=sys.stderr,
            )
        return min(margin, most)

    def search(self, position, deadline, margin, fields):
        if self.owner != os.getpid() or self.socket is None:
            self.connect(deadline - margin)
        retry = True
        while retry:  # asks again, with the time that is left, where other players take all cores
            retry = yield from self.try_search(position, deadline, margin, fields)

    def try_search(self, position, deadline, margin, fields):
        """The moves of one `go`; returns whether to ask again, because the server was overloaded."""
        self.searches += 1
        name = f"g{self.searches}"
        left = int((deadline - margin - time.monotonic()) * 1000)
        clock = {"kind": "per_move", "ms": left}
        request = {"id": name, "cmd": "go", "session": "s", "position": position, "clock": clock}
        self.send({**request, **fields})
        last, ended = None, False
        try:
            while True:
                until = deadline - margin / 2
                message = self.receive(min(until, time.monotonic() + 1))
                if message is None and (time.monotonic() >= until or Link.orphaned()):
                    return False
                # A notice may name the request that it is about; it is no answer to it.
                if message is None or message.get("id") != name or message["type"] == "notice":
                    continue
                ended = message["type"] != "info"
                if message["type"] == "error":
                    pause = max(message.get("retry_ms", 100), 1) / 1000
                    last_retry = deadline - margin - LEAST_CLOCK
                    if message["code"] == "overloaded" and time.monotonic() + pause <= last_retry:
                        time.sleep(pause)
                        if time.monotonic() <= last_retry:
                            return True
                    self.warn(message["message"])
                    return False
                if message.get("move") not in (None, last):
                    last = message["move"]
                    yield last
                if ended:
                    return False
        finally:
            if not ended and self.socket is not None:
                self.send({"id": f"{name}.stop", "cmd": "stop", "target": name, "discard": True})

    def send(self, *requests):
        self.socket.settimeout(1)
        self.socket.sendall(b"".join(json.dumps(r).encode() + b"\n" for r in requests))

    def receive(self, deadline):
        """The next message, or None when `deadline` comes first."""
        while b"\n" not in self.unread:
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                part = self.socket.recv(1 << 16)
            except socket.timeout:
                return None
            if not part:
                raise OSError("plyd closed the connection")
            self.unread += part
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)

    def connect(self, deadline):
        """Connects this process, and starts plyd where it does not run (any more)."""
        self.close()
        if Link.failures >= Link.tolerated:
            raise OSError("plyd does not run")
        if Link.orphaned():
            raise OSError("the referee is gone")
        server, hello = os.environ.get("PLYD_SERVER"), {"protocol": {"min": 1, "max": 1}, "on_eof": "cancel"}
        if server:
            called = Link.call(server, max(deadline - time.monotonic(), 0.001))
            self.owner, self.socket, self.unread = os.getpid(), called, b""
            if "PLYD_TOKEN_FILE" in os.environ:
                with open(os.environ["PLYD_TOKEN_FILE"]) as file:
                    hello["token"] = file.read().strip()
        while self.socket is None:
            connection = socket.socket(socket.AF_UNIX)
            try:
                Link.start()
                connection.connect(Link.path)
                self.owner, self.socket, self.unread = os.getpid(), connection, b""
            except (FileNotFoundError, ConnectionRefusedError) as error:
                connection.close()
                if time.monotonic() > deadline:
                    raise
                if Link.listened and isinstance(error, ConnectionRefusedError):
                    Link.stop()
                time.sleep(0.002)
        Link.listened = True
        self.send({"id": "hello", "cmd": "hello", **hello}, {"id": "new", "cmd": "newgame", **self.opening})
        while True:
            message = self.receive(deadline)
            if message is None:
                raise OSError("plyd does not answer")
            if message["type"] == "error":
                raise ValueError(message["message"])
            if message.get("id") == "new":
                return

    @classmethod
    def call(cls, address, seconds):
        """A connection to tcp=, ws=, tls= or wss=HOST:PORT (or with `://`), or to unix=PATH.

        Behind an address of TLS may stand ?ca=FILE and ?cert=FILE&key=FILE, as for plyd's own commands.
        """
        way, _, place = address.replace("://", "=", 1).partition("=")
        place, _, options = place.partition("?") if way in ("tls", "wss") else (place, "", "")
        place = place.rstrip("/")
        place = place[:-3] if way in ("ws", "wss") and place.endswith("/ws") else place
        host, _, port = place.rpartition(":")
        files = dict(option.partition("=")[::2] for option in options.split("&") if option)
        if way == "unix":
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(seconds)
            connection.connect(place)
            return connection
        is_known = way in ("tcp", "ws", "tls", "wss") and set(files) <= {"ca", "cert", "key"}
        if not is_known or not host or not port.isdigit():
            raise OSError(f"PLYD_SERVER={address}: give tcp=, ws=, tls= or wss=HOST:PORT, or unix=PATH")
        connection = socket.create_connection((host.strip("[]"), int(port)), seconds)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if way in ("tls", "wss"):
                import ssl

                context = ssl.create_default_context(cafile=files.get("ca"))
                context.minimum_version = ssl.TLSVersion.TLSv1_3
                if "cert" in files:
                    context.load_cert_chain(files["cert"], files.get("key"), password="")
                connection = context.wrap_socket(connection, server_hostname=host.strip("[]"))
            return Web(connection, place) if way in ("ws", "wss") else connection
        except BaseException:
            connection.close()
            raise

    def close(self):
        if self.socket is not None and self.owner == os.getpid():
            self.socket.close()
        self.socket = None

    def warn(self, reason):
        if not Link.warned:
            print(f"plyd adapter: {reason}; playing without an engine", file=sys.stderr)
        Link.warned = True

    @classmethod
    def is_first_warning(cls):
        """Whether none of the processes that share the socket has warned of a short limit yet."""
        first, cls.hurried = not cls.hurried, True
        try:
            if first and cls.path is not None:
                os.close(os.open(cls.path + ".warned", os.O_CREAT | os.O_EXCL))
        except OSError:  # it is there, or nothing can be: once is better than always
            return False
        return first

    @classmethod
    def start(cls):
        if cls.path is not None:
            return
        program = shutil.which(os.environ.get("PLYD_BIN") or "plyd")
        if program is None:
            raise OSError("no plyd on the PATH, and PLYD_BIN names none")
        cls.path, cls.listened = os.path.join(tempfile.mkdtemp(prefix="plyd-"), "socket"), False
        cls.reaper = subprocess.Popen(
            ["/bin/sh", "-c", cls.REAPER, program, cls.path],
            stdin=subprocess.PIPE, start_new_session=True,
        )

    @classmethod
    def stop(cls):
        """Ends plyd, where this process started it; in a forked process, only forgets it."""
        if cls.reaper is not None:
            cls.reaper.stdin.close()
            cls.reaper.wait()
        cls.reaper = cls.path = None

    @classmethod
    def orphaned(cls):
        """Whether this process was forked by one that is gone: no engine may outlive the referee."""
        return cls.parent is not None and os.getppid() != cls.parent

    @classmethod
    def leave(cls):
        """In a forked process: lets go of the pipe, so that plyd ends with the one that started it."""
        cls.parent, cls.pid = cls.pid, os.getpid()  # the parent may be gone by now
        if cls.reaper is not None:
            cls.reaper.stdin.close()
            cls.reaper = None


os.register_at_fork(after_in_child=Link.leave)
atexit.register(Link.stop)
# ---- end of the link ----


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
