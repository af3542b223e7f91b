import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, choices, drawn, movesThrough, namedCells, touched } from '../changes.js';

const token = (row, col, owner = 'p1') => ({ cell: [row, col], piece: 'token', owner });

test('a change lists what came and what left', () => {
	const before = { pieces: [token(0, 0), token(2, 2, 'p2')] };
	const after = { pieces: [token(1, 2), token(2, 2, 'p2')], walls: [{ cell: [1, 1], side: 'right' }] };
	const found = change(before, after);
	assert.deepEqual(found.came, [token(1, 2)]);
	assert.deepEqual(found.left, [token(0, 0)]);
	assert.deepEqual([...touched(found)].sort(), ['0,0', '1,1', '1,2']);
	const same = { pieces: [{ cell: [0, 0], also: [[0, 1], [1, 0]], piece: 'l' }] };
	const listed = { pieces: [{ cell: [1, 0], also: [[0, 0], [0, 1]], piece: 'l' }] };
	assert.deepEqual(change(same, listed).came, []);
});

test('cells are chosen until one move is left', () => {
	const cells = new Map([
		['keep', new Set(['0,0', '0,1'])],
		['move', new Set(['0,0', '0,1', '3,3'])],
		['other', new Set(['2,2'])],
	]);
	assert.deepEqual(movesThrough(cells, ['0,0']), ['keep', 'move']);
	assert.deepEqual(movesThrough(cells, ['0,0', '3,3']), ['move']);
	assert.deepEqual(movesThrough(cells, ['0,0', '2,2']), []);
	assert.deepEqual([...choices(cells, ['0,0'])].sort(), ['0,1', '3,3']);
	assert.deepEqual([...choices(cells, [])].sort(), ['0,0', '0,1', '2,2', '3,3']);
});

test('texts name cells only where they can mean one thing', () => {
	const letters = { row_labels: ['1', '2'], col_labels: ['a', 'b'] };
	assert.deepEqual(namedCells(['b1', '~a2'], letters), new Map([['b1', new Set(['0,1'])], ['~a2', new Set(['1,0'])]]));
	assert.equal(namedCells(['b1', 'U'], letters), null);
	assert.equal(namedCells(['11'], { row_labels: ['1', '2'], col_labels: ['1', '2'] }), null);
	assert.equal(namedCells(['a1'], { row_labels: [], col_labels: [] }), null);
});

test('chance draws by weight', () => {
	const outcomes = [{ move: '~a1', ppm: 900_000 }, { move: '~b1', ppm: 0 }, { move: '~c1', ppm: 100_000 }];
	const counts = {};
	for (let at = 0; at < 1000; at += 1) {
		const move = drawn(outcomes, at / 1000);
		counts[move] = (counts[move] ?? 0) + 1;
	}
	assert.deepEqual(counts, { '~a1': 900, '~c1': 100 });
	assert.equal(drawn(outcomes, 1), '~c1');
});
