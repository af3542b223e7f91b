/**
 * One's own arrows and circles on a position, drawn by the right button as on lichess: from cell to cell an arrow, on one cell
 * a circle, once more to take it away. They belong to no game and are never sent or kept.
 *
 * @typedef {import('./symmetry.js').Cell} Cell
 */
import { svg } from './dom.js';
import { arrow } from './board.js';

/** The colour by the keys that are held. @param {MouseEvent} event */
export function colourOf({ shiftKey, ctrlKey, altKey }) {
	const warns = shiftKey || ctrlKey;
	if (altKey) return warns ? 'yellow' : 'blue';
	return warns ? 'red' : 'green';
}

export class Drawing {
	/** The position that it was drawn on. */
	#on = null;
	/** By the cells: from, to and colour. @type {Map<string, {from: Cell, to: Cell, colour: string}>} */
	#shapes = new Map();

	/** Draws an arrow or a circle, or takes away the same one. @param {object} position  @param {Cell} from  @param {Cell} to */
	toggle(position, from, to, colour) {
		if (position !== this.#on) this.clear();
		this.#on = position;
		const key = `${from} ${to}`;
		if (this.#shapes.get(key)?.colour === colour) this.#shapes.delete(key);
		else this.#shapes.set(key, { from, to, colour });
	}

	/** Takes all away. @returns {boolean} whether there was something */
	clear() {
		const had = this.#shapes.size > 0;
		this.#shapes.clear();
		return had;
	}

	/** What is drawn on a position; on another one than before, nothing is left of it. */
	overlay(position) {
		if (position !== this.#on) this.clear();
		if (!this.#shapes.size) return null;
		return { above: [({ middle }) => [...this.#shapes.values()].map(({ from, to, colour }) => {
			const [x, y] = middle(from);
			const shape = from.join() === to.join() ? svg('circle', { cx: x, cy: y, r: 44 }) : arrow([x, y], middle(to));
			shape.classList.add('own', colour);
			return shape;
		})] };
	}
}
