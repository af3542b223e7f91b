/**
 * Premoves, as on lichess: what a player enters while the opponent thinks. The page knows no rules, so it keeps the *inputs*,
 * cells and keys, and gives them to the game's own input once it is the player's turn. What has no effect then is dropped, with
 * all that follows it.
 *
 * @typedef {{name: 'cell'|'side'|'drag'|'swipe'|'key', args: Array<unknown>}} Entry  a call of an `Input`
 */
import { svg } from './dom.js';
import { cellName } from './words.js';

/** Keys that are read on the page as what they do there. */
const SHOWN = { ArrowUp: '↑', ArrowRight: '→', ArrowDown: '↓', ArrowLeft: '←', up: '↑', right: '→', down: '↓', left: '←' };

export class Premoves {
	/** @type {Entry[]} */
	#entries = [];
	/** For which turn they are: the game, its player, and the plies before it. */
	#turn = null;

	get isEmpty() {
		return !this.#entries.length;
	}

	/** Keeps an entry for the player's next turn. @param {import('./tree.js').Game} game  @param {Entry} entry */
	add({ id, cursor }, player, entry) {
		this.#turn ??= { id, cursor, player };
		this.#entries.push(entry);
	}

	/** Drops all. @returns {boolean} whether there was something */
	cancel() {
		const had = !this.isEmpty;
		this.#entries = [];
		this.#turn = null;
		return had;
	}

	/** Takes what was kept for this turn; of another turn nothing is left. @returns {Entry[]} */
	take({ id, cursor }, player) {
		const turn = this.#turn;
		const entries = turn && turn.id === id && turn.player === player && cursor > turn.cursor ? this.#entries : [];
		this.cancel();
		return entries;
	}

	/** The cells that were chosen, in a dashed frame. */
	overlay() {
		const cells = this.#entries.flatMap(({ args }) => args.filter(Array.isArray));
		if (!cells.length) return null;
		return { above: [({ middle }) => cells.map((cell) => {
			const [x, y] = middle(cell);
			return svg('rect.ring.premove', { x: x - 46, y: y - 46, width: 92, height: 92, rx: 8, 'data-premove': cell.join() });
		})] };
	}

	/** What is kept, in words. */
	words(grid) {
		const parts = this.#entries.map(({ name, args }) => {
			if (name === 'key') return SHOWN[args[0].key] ?? args[0].key.toUpperCase();
			return args.filter((arg) => Array.isArray(arg) || name !== 'cell')
				.map((arg) => (Array.isArray(arg) ? cellName(grid, arg) : SHOWN[arg])).join(' ');
		});
		return `Premove: ${parts.join(', ')}.`;
	}
}

/** What an input shows, as a text that differs if it differs. */
const seen = (input) => JSON.stringify([input.overlay(), input.prompt()], (_, value) => (
	value instanceof Map || value instanceof Set ? [...value] : value));

/**
 * Gives entries to an input, one after the other, up to the first that has no effect.
 * @param {Entry[]} entries  @param {() => boolean} isOver  whether a move was played
 * @returns {boolean} whether all had one
 */
export function carryOut(entries, input, isOver) {
	for (const { name, args } of entries) {
		if (isOver()) break;
		const before = seen(input);
		const used = input[name]?.(...args);
		if (!isOver() && used !== true && seen(input) === before) return false;
	}
	return true;
}
