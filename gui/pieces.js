/**
 * How pieces look that no game draws itself, in a cell of 100 by 100 units. The kinds are the protocol's words; a kind that
 * is not known here is a disc with its label, or with the number of its owner.
 */
import { svg } from './dom.js';

/** Units of a cell. */
export const UNIT = 100;

/** The class that colours what somebody owns. */
export const ownerClass = (owner) => (owner ? `of-${owner}` : 'of-none');

/** What is written on a piece. */
function inscription(piece) {
	if (piece.label !== undefined) return piece.label;
	return piece.owner ? piece.owner.slice(1) : '';
}

/** Text in the middle of a place, smaller where it is long. */
export function caption(text, x, y, className = 'caption') {
	const size = text.length <= 1 ? 52 : text.length === 2 ? 44 : Math.max(12, 100 / text.length);
	return svg('text', { x, y, class: className, 'font-size': size }, text);
}

/**
 * The shape of a piece.
 * @param {Array<[number, number]>} places  the middle of each of its cells, in units, the first cell first
 */
export function pieceShape(piece, places) {
	const [x, y] = places[0];
	const group = svg('g', { class: `piece kind-${piece.piece} ${ownerClass(piece.owner)}` });
	if (places.length > 1) {
		group.append(covering(places));
		if (inscription(piece)) group.append(caption(inscription(piece), x, y));
	} else if (piece.piece === 'blocked') {
		group.append(svg('rect.body', { x: x - 50, y: y - 50, width: 100, height: 100 }));
		group.append(svg('path.cross', { d: `M${x - 18} ${y - 18}l36 36m0 -36l-36 36` }));
	} else if (piece.piece === 'tile') {
		group.append(svg('rect.body', { x: x - 43, y: y - 43, width: 86, height: 86, rx: 14 }));
		group.append(caption(inscription(piece), x, y));
	} else if (piece.piece === 'value') {
		if (piece.owner) group.append(svg('rect.body', { x: x - 42, y: y - 42, width: 84, height: 84, rx: 12 }));
		group.append(caption(inscription(piece), x, y));
	} else {
		group.append(svg('circle.body', { cx: x, cy: y, r: 34 }));
		if (inscription(piece)) group.append(caption(inscription(piece), x, y));
	}
	return group;
}

/** One outline around several cells: squares, and bridges between neighbours. */
function covering(places) {
	const body = svg('g.body', {});
	const inset = 9;
	const side = UNIT - 2 * inset;
	for (const [x, y] of places) {
		body.append(svg('rect', { x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 20 }));
		for (const [u, v] of places) {
			if (u === x + UNIT && v === y) body.append(svg('rect', { x, y: y - side / 2, width: UNIT, height: side }));
			if (v === y + UNIT && u === x) body.append(svg('rect', { x: x - side / 2, y, width: side, height: UNIT }));
		}
	}
	return body;
}
