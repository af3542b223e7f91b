// Tests of the client, by Node's own runner: `node --test examples/javascript/`.

import assert from "node:assert/strict";
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

test("a refused request rejects with the server's code", async () => {
  const engine = new Engine();
  const go = { game: "isolation", position: { moves: ["z9"] }, limit: { nodes: 1 } };
  await assert.rejects(engine.request("go", go), (error) => {
    return error instanceof ServerError && error.code === "illegal_move" && error.pointer === "/position/moves/0";
  });
  await engine.close();
});

test("a server that ends rejects what waits and what comes later", async () => {
  const engine = new Engine("false");
  await assert.rejects(engine.request("ping"));
  await assert.rejects(engine.request("ping"));
});

test("a server that is not there rejects", async () => {
  await assert.rejects(new Engine("/nonexistent/plyd").request("ping"));
});
