// Plays one game of Knight Isolation on 7x7 and prints its moves: `node play.mjs`.

import { Engine } from "./plyd.mjs";

const engine = new Engine();
const session = "game";
await engine.request("newgame", { session, game: "isolation" });
const moves = [];
for (;;) {
  const { outcome } = await engine.request("inspect", { session, position: { moves } });
  if (outcome) {
    console.log(`${outcome.winner} wins after ${moves.length} moves, by: ${outcome.by}`);
    break;
  }
  let better = 0;
  const clock = { kind: "per_move", ms: 50 };
  const best = await engine.go({ session, position: { moves }, clock }, () => better++);
  moves.push(best.move);
  console.log(`${moves.length}. ${best.move} (${best.reason}, improved ${better} times)`);
}
await engine.close();
