// A bot for every game: it plays any legal move. `node bot.mjs`

import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, cmd, x_legal: legal } = JSON.parse(line);
  const answer =
    cmd === "go"
      ? { id, type: "bestmove", move: legal[Math.floor(Math.random() * legal.length)] }
      : { id, type: "error", code: "unknown_cmd" };
  console.log(JSON.stringify(answer));
}
