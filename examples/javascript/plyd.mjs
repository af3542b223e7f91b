// A client of the plyd protocol for Node, without dependencies: one server that it starts or calls, any number of requests.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import * as net from "node:net";
import { createInterface } from "node:readline";
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
 * Reads `tcp://HOST:PORT`, `tls://HOST:PORT` (each also with `=` for the `://`) or `unix=PATH`; null for anything else, which is
 * a program. Behind an address of TLS may stand `?ca=FILE` (the authorities to trust, PEM; those that Node trusts without)
 * and `?cert=FILE&key=FILE` (what to show a server that wants a certificate).
 */
export function readAddress(text) {
  const [start, way] = /^(tcp|tls|wss?)(?:=|:\/\/)|^unix=/.exec(text) ?? [];
  if (start === undefined) return null;
  const rest = text.slice(start.length);
  if (!way && rest) return { path: rest };
  const [place, ...options] = way === "tls" ? rest.split(/\?(.*)/s, 2) : [rest];
  const [, host, port] = /^(\[[^\s/\]]+\]|[^\s/]+):(\d{1,5})\/?$/.exec(place) ?? [];
  if (!way || way.startsWith("ws") || !host || port > 65535) {
    throw new TypeError(`no address of this client: ${text}; give tcp://HOST:PORT, tls://HOST:PORT or unix=PATH`);
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
  return way === "tls" ? { ...at, files } : at;
}

/** A socket to an address; throws for a file that cannot be used. */
function call({ files, ...at }) {
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
        if (error.code !== "overloaded" || !isMove || spent() + pause >= allowedMs(fields)) throw error;
        if (this.#repeatable.has(id)) await new Promise((resolve) => setTimeout(resolve, pause));
        if (!this.#repeatable.has(id)) throw error;
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
    if (!waiting) return;
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
