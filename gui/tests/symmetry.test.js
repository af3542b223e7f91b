import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLAIN, TURNS, fromView, sideFromView, sideToView, size, STEP, toView, turned } from '../symmetry.js';

const GRID = { rows: 3, cols: 5 };
const VIEWS = [false, true].flatMap((transpose) => [false, true].flatMap((rows) => [false, true].map((cols) => ({ transpose, rows, cols }))));
const after = (...names) => names.reduce(turned, PLAIN);

test('each view maps the cells one to one, and back', () => {
	for (const view of VIEWS) {
		const seen = size(view, GRID);
		const places = new Set();
		for (let row = 0; row < GRID.rows; row += 1) {
			for (let col = 0; col < GRID.cols; col += 1) {
				const [r, c] = toView(view, GRID, [row, col]);
				assert.ok(r >= 0 && c >= 0 && r < seen.rows && c < seen.cols);
				assert.deepEqual(fromView(view, GRID, [r, c]), [row, col]);
				places.add(`${r},${c}`);
			}
		}
		assert.equal(places.size, 15);
	}
});

test('the turns are the symmetries that they are named after', () => {
	assert.deepEqual(after('cw', 'cw', 'cw', 'cw'), PLAIN);
	assert.deepEqual(after('cw', 'ccw'), PLAIN);
	assert.deepEqual(after('cw', 'cw'), after('x', 'y'));
	for (const name of ['x', 'y', 'transpose']) assert.deepEqual(after(name, name), PLAIN);
	// The corner at the top left goes to the top right by a turn clockwise.
	assert.deepEqual(toView(after('cw'), GRID, [0, 0]), [0, 2]);
	assert.deepEqual(toView(after('ccw'), GRID, [0, 0]), [4, 0]);
	assert.deepEqual(toView(after('x'), GRID, [0, 0]), [0, 4]);
	assert.deepEqual(toView(after('y'), GRID, [0, 0]), [2, 0]);
});

test('each turn acts on what is seen, whatever the view was before', () => {
	for (const view of VIEWS) {
		for (const { name } of TURNS) {
			const seen = size(view, GRID);
			const place = toView(view, GRID, [0, 1]);
			assert.deepEqual(toView(turned(view, name), GRID, [0, 1]), toView(after(name), seen, place));
		}
	}
});

test('a side goes with its cell', () => {
	for (const view of VIEWS) {
		for (const [side, [row, col]] of Object.entries(STEP)) {
			const [r, c] = toView(view, GRID, [1, 2]);
			const [r2, c2] = toView(view, GRID, [1 + row, 2 + col]);
			assert.deepEqual(STEP[sideToView(view, side)], [r2 - r, c2 - c]);
			assert.equal(sideFromView(view, sideToView(view, side)), side);
		}
	}
});
