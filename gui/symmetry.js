/**
 * The eight symmetric views of a board. A view knows no game and no pixels: it maps cells `[row, column]` and sides of a
 * grid to where they are drawn, and back.
 *
 * A view transposes first, then mirrors what came of it: so each of the eight has one value, and two views with equal
 * fields are equal.
 *
 * @typedef {{transpose: boolean, rows: boolean, cols: boolean}} View  `rows`: upside down, `cols`: left to right
 * @typedef {[number, number]} Cell
 * @typedef {'up'|'right'|'down'|'left'} Side
 */

/** @type {View} */
export const PLAIN = { transpose: false, rows: false, cols: false };

/** What can be done to a view, by name, with a label and a sign for its button. */
export const TURNS = [
	{ name: 'x', label: 'Mirror left to right', sign: '⇆' },
	{ name: 'y', label: 'Mirror top to bottom', sign: '⇅' },
	{ name: 'transpose', label: 'Mirror along the diagonal', sign: '⤡' },
	{ name: 'cw', label: 'Turn clockwise', sign: '↻' },
	{ name: 'ccw', label: 'Turn counter-clockwise', sign: '↺' },
];

/**
 * The view after a further turn of what is seen.
 * @param {string} name  one of TURNS
 */
export function turned(view, name) {
	switch (name) {
		case 'x': return { ...view, cols: !view.cols };
		case 'y': return { ...view, rows: !view.rows };
		case 'transpose': return { transpose: !view.transpose, rows: view.cols, cols: view.rows };
		// A turn by a quarter is a mirror along the diagonal and one across.
		case 'cw': return turned(turned(view, 'transpose'), 'x');
		case 'ccw': return turned(turned(view, 'transpose'), 'y');
		default: return view;
	}
}

/** Rows and columns as they are drawn. */
export function size(view, grid) {
	return view.transpose ? { rows: grid.cols, cols: grid.rows } : { rows: grid.rows, cols: grid.cols };
}

/** Where a cell is drawn. */
export function toView(view, grid, [row, col]) {
	const seen = size(view, grid);
	const [r, c] = view.transpose ? [col, row] : [row, col];
	return [view.rows ? seen.rows - 1 - r : r, view.cols ? seen.cols - 1 - c : c];
}

/** Which cell is drawn there. */
export function fromView(view, grid, [row, col]) {
	const seen = size(view, grid);
	const r = view.rows ? seen.rows - 1 - row : row;
	const c = view.cols ? seen.cols - 1 - col : col;
	return view.transpose ? [c, r] : [r, c];
}

/** @type {Record<Side, Cell>} */
export const STEP = { up: [-1, 0], right: [0, 1], down: [1, 0], left: [0, -1] };

function sideOf([row, col]) {
	if (row) return row < 0 ? 'up' : 'down';
	return col < 0 ? 'left' : 'right';
}

/** On which side of a cell its side is drawn. */
export function sideToView(view, side) {
	const [r, c] = view.transpose ? [...STEP[side]].reverse() : STEP[side];
	return sideOf([view.rows ? -r : r, view.cols ? -c : c]);
}

/** Which side of a cell is drawn there. */
export const sideFromView = (view, side) => Object.keys(STEP).find((one) => sideToView(view, one) === side);
