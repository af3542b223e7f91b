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

/** One outline around several cells: squares, and bridges between neighbours. As one path, so that no seams are seen. */
function covering(places) {
	const inset = 9;
	const side = UNIT - 2 * inset;
	const parts = places.flatMap(([x, y]) => [
		rounded(x - side / 2, y - side / 2, side, side, 20),
		...places.flatMap(([u, v]) => {
			if (u === x + UNIT && v === y) return [rounded(x, y - side / 2, UNIT, side, 0)];
			return v === y + UNIT && u === x ? [rounded(x - side / 2, y, side, UNIT, 0)] : [];
		}),
	]);
	return svg('path.body', { d: parts.join('') });
}

/** A rectangle as a part of a path. */
function rounded(x, y, width, height, r) {
	const [w, h] = [width - 2 * r, height - 2 * r];
	const corner = (dx, dy) => (r ? `a${r} ${r} 0 0 1 ${dx} ${dy}` : '');
	return `M${x + r} ${y}h${w}${corner(r, r)}v${h}${corner(-r, r)}h${-w}${corner(-r, -r)}v${-h}${corner(r, -r)}z`;
}
