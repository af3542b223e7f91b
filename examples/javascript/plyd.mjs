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
    const id = String(++this.#requests);
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      this.#waiting.set(id, { resolve, reject, news });
      this.#process.stdin.write(`${JSON.stringify({ id, cmd, ...fields })}\n`);
    });
  }

  /** Searches: a `go` that is sent again, within the same clock, while the server is overloaded. */
  async go(fields, news = () => {}) {
    const began = performance.now();
    for (let again = fields; ;) {
      try {
        return await this.request("go", again, news);
      } catch (error) {
        const pause = Math.max(error.retryMs ?? USUAL_RETRY_MS, 1);
        const isMove = (fields.mode ?? "move") === "move";
        const spent = () => performance.now() - began;
        if (error.code !== "overloaded" || !isMove || spent() + pause >= allowedMs(fields)) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
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
