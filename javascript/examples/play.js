// Plays one game of Knight Isolation on 7x7 and prints its moves: `node javascript/examples/play.js`.
import { Engine } from 'plyd';

const engine = new Engine();
const session = 'game';
await engine.request('newgame', { session, game: 'isolation' });
const moves = [];
for (;;) {
	const position = { moves };
	const { outcome } = await engine.request('inspect', { session, position });
	if (outcome) {
		console.log(`${outcome.winner} wins after ${moves.length} moves, by: ${outcome.by}`);
		break;
	}
	const search = engine.go({ session, position, clock: { kind: 'per_move', ms: 50 } });
	let better = 0;
	for await (const info of search) if (info.event === 'best') better += 1;
	const best = await search;
	moves.push(best.move);
	console.log(`${moves.length}. ${best.move} (${best.reason}, improved ${better} times)`);
}
await engine.close();
