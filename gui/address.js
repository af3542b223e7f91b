/**
 * The page's address: it names the game (`?game=isolation`), and the browser's "back" returns to the game before. Moves are no
 * pages, so that "back" does not take back.
 */
/** Each game that was on the table since the page was loaded, by its entry in the browser's history. */
const games = new Map();
let entry = 0;
let shown = '';

/** The game that the page was asked for; the address follows the table from then on. */
let wanted = new URLSearchParams(location.search).get('game');

/** @returns {string|null} the game that the address asks for, once */
export function takeWanted() {
	const game = wanted;
	wanted = null;
	return game;
}

/** Makes the address that of the game on the table; another game is another entry of the browser's history. */
export function showAddress({ game }) {
	const key = game.id;
	if (key !== shown) {
		const address = `?game=${encodeURIComponent(game.game)}`;
		if (shown) {
			entry += 1;
			history.pushState(entry, '', address);
		} else {
			history.replaceState(entry, '', address);
		}
		shown = key;
	}
	games.set(entry, game);
}

/** @param {(game: import('./record.js').Game) => void} put  takes a game to which one returned */
export function onReturn(put) {
	window.addEventListener('popstate', (event) => {
		const game = games.get(event.state);
		// Entries of before the page was loaded are not known any more.
		if (!game) return;
		entry = event.state;
		shown = game.id;
		put(game);
	});
}
