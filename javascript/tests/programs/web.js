// Plays by the runtime's own WebSocket at the URL that it is given.
import { Engine } from 'plyd/web';
import { GAMES, playGame } from '../games.js';

const engine = new Engine(process.argv[2]);
for (const [game, rules] of Object.entries(GAMES)) {
	const { outcome } = await playGame(engine, game, rules);
	console.log(`${game}: ${outcome.by}`);
}
for await (const { event } of engine.analyse({ game: 'isolation', rules: { preset: '11x9' }, position: {} })) {
	console.log(event);
	break;
}
console.log(`searches: ${(await engine.request('status')).searches}`);
await engine.close();
