// A client of the plyd protocol for Node, without dependencies: one server that it starts or calls, any number of requests.

import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import * as net from "node:net";
import { createInterface } from "node:readline";
import { Duplex } from "node:stream";
import * as tls from "node:tls";

/** The server refused a request; `code` is one of the specification's words. */
export class ServerError extends Error {
  constructor(message) {
    super(`${message.code}: ${message.message}`);
    this.code = message.code;
    this.pointer = message.pointer;
    this.retryMs = message.retry_ms;
  }
}

/** When to ask an overloaded server again, where it does not say. */
const USUAL_RETRY_MS = 100;
/** What the clock must leave then: less is no time for the request, a search and its answer. */
const LEAST_CLOCK_MS = 10;

/** The time that the clock of a `go` leaves for the move, in ms; without end where it has none. */
function allowedMs({ clock, elapsed_ms = 0 }) {
  switch (clock?.kind) {
    case "per_move": return clock.ms - elapsed_ms;
    case "increment": return clock.me_ms - elapsed_ms;
    case "delay": return clock.me_ms + clock.delay_ms - elapsed_ms;
    case "bank": return clock.turn_ms + clock.bank_ms - elapsed_ms;
    default: return Infinity;
  }
}

/**
 * Reads `tcp://HOST:PORT`, `ws://HOST:PORT`, `tls://HOST:PORT`, `wss://HOST:PORT` (each also with `=` for the `://`) or
 * `unix=PATH`; null for anything else, which is a program. Behind an address of TLS may stand `?ca=FILE` (the authorities to trust, PEM; those that Node trusts without)
 * and `?cert=FILE&key=FILE` (what to show a server that wants a certificate).
 */
export function readAddress(text) {
  const [start, way] = /^(tcp|tls|wss?)(?:=|:\/\/)|^unix=/.exec(text) ?? [];
  if (start === undefined) return null;
  const rest = text.slice(start.length);
  if (!way && rest) return { path: rest };
  const [isWeb, isSecure] = [way?.startsWith("ws"), way === "tls" || way === "wss"];
  const [place, ...options] = isSecure ? rest.split(/\?(.*)/s, 2) : [rest];
  const [, host, port, path] = /^(\[[^\s/\]]+\]|[^\s/]+):(\d{1,5})((?:\/ws)?\/?)$/.exec(place) ?? [];
  if (!way || !host || port > 65535 || (path.length > 1 && !isWeb)) {
    const written = "tcp://HOST:PORT, ws://HOST:PORT, tls://HOST:PORT, wss://HOST:PORT or unix=PATH";
    throw new TypeError(`no address of this client: ${text}; give ${written}`);
  }
  const files = {};
  for (const option of options.join().split("&").filter(Boolean)) {
    const [, name, file] = /^([^=]*)=?(.*)$/s.exec(option);
    if (!["ca", "cert", "key"].includes(name)) {
      throw new TypeError(`\`${name}\`: give ?ca=FILE, ?cert=FILE&key=FILE or all three`);
    }
    if (!file || name in files) throw new TypeError(`\`${name}\`: give one file, as in ${name}=FILE`);
    files[name] = file;
  }
  if ("cert" in files !== "key" in files) {
    throw new TypeError("a certificate and its key go together: cert=FILE&key=FILE");
  }
  const at = { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  return { ...at, ...(isSecure && { files }), ...(isWeb && { web: true }) };
}

/** A stream of lines to an address; throws for a file that cannot be used. */
function call({ web, ...at }) {
  const socket = connect(at);
  return web ? new WebSocketLines(socket, at.host.includes(":") ? `[${at.host}]:${at.port}` : `${at.host}:${at.port}`) : socket;
}

/** A socket to an address. */
function connect({ files, ...at }) {
  if (!files) return net.connect({ ...at, noDelay: true });
  const pem = (name, what) => {
    const text = files[name] && readFileSync(files[name], "utf8");
    if (text === undefined || text.includes(`${what}-----`)) return text;
    throw new Error(`${files[name]}: there is no ${what.toLowerCase()} in it (PEM)`);
  };
  const [ca, cert, key] = [pem("ca", "CERTIFICATE"), pem("cert", "CERTIFICATE"), pem("key", "PRIVATE KEY")];
  const socket = tls.connect({ ...at, ca, cert, key, minVersion: "TLSv1.3", rejectUnauthorized: true });
  return socket.setNoDelay();
}

/** Kinds of frames of WebSocket (RFC 6455, 5.2), and the longest that is taken from a server. */
const [CONTINUATION, TEXT, CLOSE, PING, PONG] = [0, 1, 8, 9, 10];
const LONGEST = 1 << 26;

/** A frame as a client sends it. */
function frame(kind, payload) {
  const size = payload.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 1 << 16 ? 4 : 10);
  head[0] = 0x80 | kind;
  head[1] = 0x80 | (size < 126 ? size : size < 1 << 16 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ mask[at & 3])]);
}

/** Lines over a WebSocket: each that is written becomes a message, and each message a line. */
class WebSocketLines extends Duplex {
  #socket;
  /** Its end of the opening, until the server has answered. */
  #opening;
  /** What has come and is no whole frame yet, in the pieces in which it came. */
  #pieces = [];
  /** The parts of a message that is not whole yet. */
  #parts = [];
  #size = 0;

  constructor(socket, host) {
    super({ decodeStrings: true });
    this.#socket = socket;
    const key = randomBytes(16).toString("base64");
    this.#opening = { key, opened: null };
    const ask = () =>
      socket.write(
        `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      );
    socket.on(socket instanceof tls.TLSSocket ? "secureConnect" : "connect", ask);
    socket.on("data", (data) => {
      try {
        this.#take(data);
      } catch (error) {
        this.destroy(error);
      }
    });
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => {
      if (this.#opening) return this.destroy(new Error("it closes instead of opening a WebSocket; is WebSocket served there?"));
      this.push(null);
      this.end();
    });
  }

  /** What is written before the server has answered waits. */
  _write(line, _encoding, done) {
    const send = () => this.#socket.write(frame(TEXT, line.at(-1) === 10 ? line.subarray(0, -1) : line), done);
    if (this.#opening) this.#opening.opened = send;
    else send();
  }

  _final(done) {
    if (this.#socket.writableEnded || this.#socket.destroyed) return done();
    this.#socket.end(this.#opening ? undefined : frame(CLOSE, Buffer.from([3, 232])), () => done());
  }

  _read() {
    this.#socket.resume();
  }

  _destroy(error, done) {
    this.#socket.destroy();
    done(error);
  }

  #take(data) {
    this.#pieces.push(data);
    if (this.#opening && !this.#answered()) return;
    for (let found; (found = this.#next()); ) this.#heed(...found);
  }

  /** Whether the answer to the request for a WebSocket is there. */
  #answered() {
    const read = Buffer.concat(this.#pieces);
    const end = read.indexOf("\r\n\r\n");
    if (end < 0 && read.length < 1 << 14) return false;
    const [status, ...fields] = read.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
    if (!status.startsWith("HTTP/1.1 101")) {
      const said = JSON.stringify((status || read.toString("latin1")).slice(0, 64));
      throw new Error(`it answers ${said}; is WebSocket served there?`);
    }
    const { key, opened } = this.#opening;
    const proof = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    const accepts = (field) => /^sec-websocket-accept:\s*(\S*)\s*$/i.exec(field)?.[1] === proof;
    if (!fields.some(accepts)) throw new Error("it does not accept the key that it was sent");
    this.#opening = null;
    this.#pieces = [read.subarray(end + 4)];
    opened?.();
    return true;
  }

  /** The next frame that is whole: its kind, whether it ends its message, and what is in it. */
  #next() {
    const have = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (have < 2) return null;
    if (this.#pieces[0].length < Math.min(have, 10)) this.#pieces = [Buffer.concat(this.#pieces)];
    const [head] = this.#pieces;
    const [kind, isControl, isFinal] = [head[0] & 15, Boolean(head[0] & 8), Boolean(head[0] & 0x80)];
    let [size, begin] = [head[1], 2];
    if (head[0] & 0x70 || size & 0x80 || ![CONTINUATION, TEXT, CLOSE, PING, PONG].includes(kind)) {
      throw new Error("the server sends what is no frame of text");
    }
    if (isControl && (size > 125 || !isFinal)) throw new Error("the server sends a control frame that is long or in parts");
    if (size > 125) {
      begin = size === 126 ? 4 : 10;
      if (have < begin) return null;
      size = size === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
      if (size > LONGEST) throw new Error("the server sends a message that is too long");
    }
    if (have < begin + size) return null;
    const read = Buffer.concat(this.#pieces);
    this.#pieces = [read.subarray(begin + size)];
    return [kind, isFinal, read.subarray(begin, begin + size)];
  }

  #heed(kind, isFinal, payload) {
    const isWritable = !this.#socket.writableEnded;
    if (kind === PING) return isWritable && this.#socket.write(frame(PONG, payload));
    if (kind === CLOSE) return isWritable && this.#socket.end(frame(CLOSE, payload.subarray(0, 2)));
    if (kind === PONG) return;
    if ((kind === CONTINUATION) !== this.#parts.length > 0) throw new Error("the server mixes parts of messages up");
    this.#parts.push(payload);
    this.#size += payload.length;
    if (payload.includes(10) || this.#size > LONGEST) throw new Error("the server sends a message that is no line");
    if (!isFinal) return;
    if (!this.push(Buffer.concat([...this.#parts, Buffer.from("\n")]))) this.#socket.pause();
    [this.#parts, this.#size] = [[], 0];
  }
}

/** What to do about errors of TLS: by their code and their text, as the text alone has what OpenSSL says. */
const ADVICE = [
  [/UNABLE_TO_(GET_ISSUER|VERIFY)|SELF_SIGNED/, "name its authority's certificate behind the address, ?ca=FILE"],
  [/CERTIFICATE_REQUIRED|certificate required/, "the server wants a certificate of ours: ?cert=FILE&key=FILE"],
  [/wrong version|packet length|record layer failure|before secure TLS connection/, "is TLS served there?"],
];

/** An error of a socket, with what to do about it. */
function advised(error) {
  const [, hint] = ADVICE.find(([pattern]) => pattern.test(`${error.code} ${error.message}`)) ?? [];
  if (hint) error.message = `${error.message.trim()}; ${hint}`;
  return error;
}

/** A server and the pipes or the socket to it. `close` ends it; requests without an answer are rejected when it ends. */
export class Engine {
  #input;
  #kill;
  #waiting = new Map();
  /** The searches that nobody stopped, with their sessions: an overloaded server is asked for their moves again. */
  #repeatable = new Map();
  #requests = 0;
  #gone = null;
  #ended;

  /**
   * Starts a program: PLYD_BIN, or `plyd` on the PATH. Or calls a server at an address that `readAddress` takes, and shows
   * it the `token` if there is one.
   */
  constructor(where = process.env.PLYD_BIN ?? "plyd", { token } = {}) {
    const address = readAddress(where);
    const peer = address ? call(address) : spawn(where, { stdio: ["pipe", "pipe", "inherit"] });
    const [input, output] = address ? [peer, peer] : [peer.stdin, peer.stdout];
    this.#input = input;
    this.#kill = () => (address ? peer.destroy() : peer.kill());
    this.#ended = new Promise((resolve) => {
      peer.on("error", (error) => resolve(this.#lose(advised(error))));
      peer.on("close", () => resolve(this.#lose(new Error("the server ended"))));
    });
    input.on("error", (error) => this.#lose(error));
    // The reader repeats errors of its input, which are heard above.
    createInterface({ input: output }).on("line", (line) => this.#receive(line)).on("error", () => {});
    if (address) {
      const hello = { protocol: { min: 1, max: 1 }, client: { name: "plyd-javascript" }, on_eof: "cancel", token };
      this.request("hello", hello).catch((error) => this.#lose(error));
    }
  }

  /** Sends a request and resolves to its final message; `news` is called with each `info` before it. */
  request(cmd, fields = {}, news = () => {}) {
    if (cmd === "stop") {
      for (const [id, session] of this.#repeatable) {
        const isMeant = fields.all || fields.target === id || (session && fields.session === session);
        if (isMeant) this.#repeatable.delete(id);
      }
    }
    return this.#send(String(++this.#requests), cmd, fields, news);
  }

  #send(id, cmd, fields, news) {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      this.#waiting.set(id, { resolve, reject, news });
      this.#input.write(`${JSON.stringify({ id, cmd, ...fields })}\n`);
    });
  }

  /**
   * Searches: a `go` that is sent again, within the same clock, while the server is overloaded, unless it is stopped
   * meanwhile. What it returns has the `id` of the search, the target of a `stop`.
   */
  go(fields, news = () => {}) {
    const id = String(++this.#requests);
    const answer = this.#search(id, fields, news).finally(() => this.#repeatable.delete(id));
    return Object.assign(answer, { id });
  }

  async #search(id, fields, news) {
    const began = performance.now();
    this.#repeatable.set(id, fields.session);
    for (let again = fields; ;) {
      try {
        return await this.#send(id, "go", again, news);
      } catch (error) {
        const pause = Math.max(error.retryMs ?? USUAL_RETRY_MS, 1);
        const isMove = (fields.mode ?? "move") === "move";
        const spent = () => performance.now() - began;
        const hasTime = (later) => spent() + later + LEAST_CLOCK_MS <= allowedMs(fields);
        if (error.code !== "overloaded" || !isMove || !hasTime(pause)) throw error;
        if (this.#repeatable.has(id)) await new Promise((resolve) => setTimeout(resolve, pause));
        // The pause may have lasted longer.
        if (!this.#repeatable.has(id) || !hasTime(0)) throw error;
        again = { ...fields, elapsed_ms: (fields.elapsed_ms ?? 0) + Math.ceil(spent()) };
      }
    }
  }

  /** Ends the server, or the connection to it, and resolves when it has ended. */
  close() {
    this.#input.end();
    return this.#ended;
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch (error) {
      this.#kill();
      return this.#lose(error);
    }
    const waiting = this.#waiting.get(message.id);
    // A notice may name the request that it is about; it is no answer to it.
    if (!waiting || message.type === "notice") return;
    if (message.type === "info") return waiting.news(message);
    this.#waiting.delete(message.id);
    if (message.type === "error") waiting.reject(new ServerError(message));
    else waiting.resolve(message);
  }

  #lose(error) {
    this.#gone ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
  }
}
