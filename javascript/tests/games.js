// A whole game of each, by whatever engine there is: Node's, a browser's, or that of a package that was just
// installed.

/** Rules under which a game is short. */
export const GAMES = {
	isolation: { width: 5, height: 5 },
	colosseum: { size: 6, seed: '7' },
	sudoku: { m: 2, n: 2 },
	ijk: { preset: 'v2-4x4', mode: 'nondet', max_plies: 24 },
	'l-game': { max_plies: 10 },
};

/**
 * Plays a game of the engine against itself to its end. It uses nothing around it, so that a browser can be
 * sent it.
 */
export async function playGame(engine, game, rules) {
	const moves = [];
	await engine.request('newgame', { session: game, game, rules });
	for (;;) {
		const position = { moves };
		const { outcome, to_move: mover, chance } = await engine.request('inspect', {
			session: game, position, want: ['to_move', 'outcome', 'chance'],
		});
		if (outcome) return { outcome, moves };
		if (mover === 'chance') moves.push(chance[moves.length % chance.length].move);
		else moves.push((await engine.go({ session: game, position, limit: { nodes: 200 } })).move);
	}
}
