// Tests of the client, by Node's own runner: `node --test examples/javascript/`.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Engine, ServerError } from "./plyd.mjs";

test("many requests at once, each with its own answer", async () => {
  const engine = new Engine();
  const rules = { width: 5, height: 5 };
  const go = { game: "isolation", rules, position: {}, limit: { nodes: 200 } };
  const answers = await Promise.all([...Array(8)].map(() => engine.request("go", go)));
  assert.ok(answers.every((answer) => answer.type === "bestmove"));
  await engine.close();
});

test("a warning about a request is no answer to it", async () => {
  const engine = new Engine();
  const go = { game: "isolation", position: {}, rules: { preset: "11x9" }, clock: { kind: "per_move", ms: 0 } };
  const answer = await engine.request("go", go);
  assert.deepEqual([answer.type, answer.lines[0].depth], ["bestmove", 0]);
  await engine.close();
});

test("a refused request rejects with the server's code", async () => {
  const engine = new Engine();
  const go = { game: "isolation", position: { moves: ["z9"] }, limit: { nodes: 1 } };
  await assert.rejects(engine.request("go", go), (error) => {
    return error instanceof ServerError && error.code === "illegal_move" && error.pointer === "/position/moves/0";
  });
  await engine.close();
});

/** A program that answers the first `refusals` searches by `overloaded`, and then by the time that is spent as the move. */
function busy(refusals, retryMs = 20) {
  const directory = mkdtempSync(join(tmpdir(), "plyd-test-"));
  const program = join(directory, "server");
  writeFileSync(program, `#!/usr/bin/env node
    let left = ${refusals};
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, cmd, elapsed_ms } = JSON.parse(line);
      const error = { type: "error", id, code: "overloaded", message: "busy", retry_ms: ${retryMs}, fatal: false };
      const best = { type: "bestmove", id, move: String(elapsed_ms) };
      const answer = cmd !== "go" ? { type: "result", id, of: cmd } : left-- > 0 ? error : best;
      console.log(JSON.stringify({ seq: 1, t_us: 1, ...answer }));
    });
  `);
  chmodSync(program, 0o755);
  return { program, remove: () => rmSync(directory, { recursive: true }) };
}

test("an overloaded server is asked again within the clock", async () => {
  for (const [refusals, ms, refused] of [[2, 5000, false], [Infinity, 100, true], [1, 10, true]]) {
    const { program, remove } = busy(refusals);
    const engine = new Engine(program);
    const answer = engine.go({ game: "isolation", position: {}, clock: { kind: "per_move", ms } });
    if (refused) await assert.rejects(answer, (error) => error.code === "overloaded" && error.retryMs === 20);
    else assert.ok(Number((await answer).move) >= 40);
    await engine.close();
    remove();
  }
});

test("an overloaded server is asked again only if the clock leaves 10 ms then", async (t) => {
  // The time stands still but for the pauses, which last `late` ms too long.
  for (const [ms, late, isAsked] of [[30, 0, true], [29, 0, false], [35, 5, true], [35, 6, false]]) {
    let now = 0;
    const { program, remove } = busy(1);
    const engine = new Engine(program);
    t.after(() => engine.close().then(remove));
    await engine.request("ping");
    t.mock.method(performance, "now", () => now);
    const sleep = (then, pause) => { now += pause + late; setImmediate(then); };
    t.mock.method(globalThis, "setTimeout", sleep);
    const answer = engine.go({ game: "isolation", position: {}, clock: { kind: "per_move", ms } });
    if (isAsked) assert.equal((await answer).move, String(20 + late), `${ms} ms`);
    else await assert.rejects(answer, (error) => error.code === "overloaded", `${ms} ms`);
    t.mock.restoreAll();
  }
});

test("a search that is stopped is not asked for again", async (t) => {
  const rows = [({ id }) => ({ target: id }), () => ({ all: true }), () => ({ session: "s" })];
  for (const isLater of [false, true]) {
    for (const fields of rows) {
      const { program, remove } = busy(1, 500);
      const engine = new Engine(program);
      t.after(() => engine.close().then(remove));
      const go = engine.go({ session: "s", position: {}, clock: { kind: "per_move", ms: 5000 } });
      const refused = assert.rejects(go, (error) => error.code === "overloaded");
      // Before its refusal is read, or during the pause: the answer to `ping` comes behind the refusal.
      if (isLater) await engine.request("ping");
      await engine.request("stop", fields(go));
      await refused;
    }
  }
});

test("a server that ends rejects what waits and what comes later", async () => {
  const engine = new Engine("false");
  await assert.rejects(engine.request("ping"));
  await assert.rejects(engine.request("ping"));
});

test("a server that is not there rejects", async () => {
  await assert.rejects(new Engine("/nonexistent/plyd").request("ping"));
});
