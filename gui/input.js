/**
 * How a move is entered on a board of any game: one chooses cells until one move is left. A game with an input of its own
 * returns an object of this shape.
 *
 * @typedef {object} Context  what an input is given for one position
 * @property {object} board  the protocol's board
 * @property {string[]} legal
 * @property {'p1'|'p2'} mover
 * @property {() => import('./symmetry.js').View} view
 * @property {(move: string) => void} play
 * @property {() => void} changed  to be called when what is shown changed
 * @property {(move: string) => Promise<import('./changes.js').Change>} preview  what a move would do
 *
 * @typedef {object} Input
 * @property {() => import('./board.js').Overlay} overlay
 * @property {() => string} prompt  what to do now
 * @property {(cell: [number, number], pointer: string) => void} cell
 * @property {(cell: [number, number], side: string) => void} [side]
 * @property {(cell: [number, number]|null) => void} [hover]
 * @property {(from: [number, number], to: [number, number]) => void} [drag]
 * @property {(from: [number, number], over: [number, number]) => void} [dragOver]  a piece that is held comes over a cell;
 *   without it the piece itself follows the pointer
 * @property {(side: string) => void} [swipe]
 * @property {(event: KeyboardEvent) => boolean} [key]
 * @property {() => Array<{label: string, title?: string, act: () => void, move?: string, testid?: string,
 *   className?: string, pressed?: boolean}>} [tools]  buttons beside the board
 * @property {() => string[]} [left]  the moves that fit what is chosen so far
 */
import { choices, movesThrough, namedCells, touched } from './changes.js';

/** How many previews are requested at once, far below the server's limit of requests in flight. */
const AT_ONCE = 24;
/** With more moves than this no previews are requested; moves are then entered in the list. */
const MOST_PREVIEWS = 600;

export function cellInput({ board, legal, play, changed, preview }) {
	let cells = namedCells(legal, board.grid);
	let chosen = [];
	let done = false;
	if (!cells) {
		cells = new Map();
		if (legal.length <= MOST_PREVIEWS) load();
	}

	async function load() {
		for (let at = 0; at < legal.length && !done; at += AT_ONCE) {
			const some = legal.slice(at, at + AT_ONCE);
			const changes = await Promise.all(some.map((move) => preview(move).catch(() => null)));
			changes.forEach((found, index) => {
				if (found) cells.set(some[index], touched(found));
			});
			changed();
		}
	}

	function choose(key) {
		if (chosen.includes(key)) {
			const exact = movesThrough(cells, chosen).find((move) => cells.get(move).size === chosen.length);
			chosen = exact ? chosen : chosen.filter((cell) => cell !== key);
			if (exact) finish(exact);
			changed();
			return;
		}
		const next = [...chosen, key];
		const moves = movesThrough(cells, next);
		// A cell that fits no move with the chosen ones starts a new choice.
		if (moves.length === 0) chosen = movesThrough(cells, [key]).length ? [key] : [];
		else chosen = next;
		const left = movesThrough(cells, chosen);
		if (chosen.length && left.length === 1) finish(left[0]);
		changed();
	}

	function finish(move) {
		done = true;
		play(move);
	}

	return {
		overlay() {
			const targets = new Map();
			for (const key of choices(cells, chosen)) {
				const left = movesThrough(cells, [...chosen, key]);
				targets.set(key, left.length === 1 ? left[0] : null);
			}
			return { targets, selected: new Set(chosen) };
		},
		prompt() {
			if (chosen.length) return 'Choose another cell, or a move under “Legal moves”.';
			// A pass that is forced touches no cell.
			const only = legal.length === 1 && !cells.get(legal[0])?.size;
			return only ? 'There is only one move: choose it under “Legal moves”.' : 'Choose a marked cell.';
		},
		cell: (cell) => choose(cell.join()),
		drag(from, to) {
			// Where only the destination is named, the origin says nothing.
			if (movesThrough(cells, [from.join()]).length && !chosen.length) choose(from.join());
			if (!done) choose(to.join());
		},
		key(event) {
			if (event.key !== 'Escape' || !chosen.length) return false;
			chosen = [];
			changed();
			return true;
		},
		left: () => (chosen.length ? movesThrough(cells, chosen) : legal),
	};
}

/** Whether a key is pressed for the browser or the system. Many keyboards have [ and ] only with Alt or AltGr. */
export const isForBrowser = ({ key, ctrlKey, metaKey, altKey }) => metaKey || (altKey ? !'[]'.includes(key) : ctrlKey);
