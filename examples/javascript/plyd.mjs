// A client of the plyd protocol for Node, without dependencies: one server that it starts, any number of requests.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

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

/** A server and the pipes to it. `close` ends it; requests without an answer are rejected when it ends. */
export class Engine {
  #process;
  #waiting = new Map();
  /** The searches that nobody stopped, with their sessions: an overloaded server is asked for their moves again. */
  #repeatable = new Map();
  #requests = 0;
  #gone = null;
  #ended;

  /** Starts `program`: PLYD_BIN, or `plyd` on the PATH. */
  constructor(program = process.env.PLYD_BIN ?? "plyd") {
    this.#process = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = new Promise((resolve) => {
      this.#process.on("error", (error) => resolve(this.#lose(error)));
      this.#process.on("close", () => resolve(this.#lose(new Error("the server ended"))));
    });
    this.#process.stdin.on("error", (error) => this.#lose(error));
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#receive(line));
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
      this.#process.stdin.write(`${JSON.stringify({ id, cmd, ...fields })}\n`);
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

  /** Ends the server and resolves when it has ended. */
  close() {
    this.#process.stdin.end();
    return this.#ended;
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch (error) {
      this.#process.kill();
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
