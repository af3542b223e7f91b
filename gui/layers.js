/**
 * The layers of the server's boards: which are shown, kept in the browser by game, and how they are drawn. It knows no game: a
 * layer hides kinds of the board's marks, or brings marks of its own, which lie below the pieces.
 */
import { el, svg } from './dom.js';
import { UNIT, caption, ownerClass } from './pieces.js';

const KEY = 'plyd.layers';

/** @type {Record<string, boolean>} what somebody chose, by `game.layer` */
let chosen = {};
try {
	chosen = JSON.parse(localStorage.getItem(KEY)) ?? {};
} catch {
	// What cannot be read counts as never chosen.
}

const isShown = (game, { name, usual }) => chosen[`${game}.${name}`] ?? usual;

/** The board without the marks that belong to hidden layers. */
export function withoutHidden(game, board) {
	const hidden = new Set((board.layers ?? []).filter((layer) => !isShown(game, layer)).flatMap(({ kinds }) => kinds ?? []));
	return hidden.size ? { ...board, marks: (board.marks ?? []).filter(({ mark }) => !hidden.has(mark)) } : board;
}

/** What is drawn below the lines of the board. @returns {{under: Function}|null} */
export function layersOverlay(game, board) {
	const marks = (board.layers ?? []).filter((layer) => isShown(game, layer)).flatMap((layer) => layer.marks ?? []);
	if (!marks.length) return null;
	return {
		under: ({ middle }) => marks.map(({ cell, mark, owner, label }) => {
			const [x, y] = middle(cell);
			const ground = svg('rect', { x: x - UNIT / 2, y: y - UNIT / 2, width: UNIT, height: UNIT });
			// Words stand at the upper edge, where they cover least of what is in the cell.
			const isShort = (label ?? '').length <= 3;
			const text = label ? caption(label, x, isShort ? y : y - 38) : null;
			text?.setAttribute('font-size', isShort ? 30 : 18);
			return svg('g', { class: `layer ${ownerClass(owner)}`, 'data-layer-mark': mark }, ground, text);
		}),
	};
}

/** Switches for the layers of a board. @param {() => void} changed  what is shown has changed */
export function layerSwitches(game, board, changed) {
	return (board.layers ?? []).map((layer) => {
		const box = el('input', { type: 'checkbox', testid: `layer-${layer.name}`, checked: isShown(game, layer) });
		box.addEventListener('change', () => {
			chosen[`${game}.${layer.name}`] = box.checked;
			try {
				localStorage.setItem(KEY, JSON.stringify(chosen));
			} catch {
				// Full or forbidden: it holds until the page is closed.
			}
			changed();
		});
		return el('label.inline', {}, box, ` ${layer.label}`);
	});
}
