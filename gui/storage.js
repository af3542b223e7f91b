/**
 * What a tab remembers through a reload: its table. Each tab has its own, so that two never play into one game. A browser
 * that refuses storage plays on without.
 */
const KEY = 'plyd.table.1';

/** @returns {object|null} what was kept, if it is whole */
export function restore() {
	try {
		const saved = JSON.parse(sessionStorage.getItem(KEY));
		const game = saved?.game;
		const whole = game && typeof game.game === 'string' && Array.isArray(game.moves) && saved.seats?.p1 && saved.seats?.p2;
		return whole ? saved : null;
	} catch {
		return null;
	}
}

export function keep(saved) {
	try {
		sessionStorage.setItem(KEY, JSON.stringify(saved));
	} catch {
		// Full or forbidden: the game is in the page all the same.
	}
}
