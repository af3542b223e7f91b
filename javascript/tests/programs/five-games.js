// Plays a game of each by the package that is installed beside it.
import { Engine } from 'plyd';
import { GAMES, playGame } from './games.js';

const engine = new Engine();
for (const [game, rules] of Object.entries(GAMES)) {
	const { outcome, moves } = await playGame(engine, game, rules);
	console.log(`${game}: ${outcome.winner ?? 'nobody'} wins after ${moves.length} plies, by: ${outcome.by}`);
}
await engine.close();
