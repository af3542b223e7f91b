import assert from 'node:assert/strict';
import { test } from 'node:test';
import { motionBetween } from '../motion.js';

const tile = (row, col, label) => ({ cell: [row, col], piece: 'tile', owner: label < 'a' ? 'p1' : 'p2', label });
const board = (...pieces) => ({ grid: { rows: 4, cols: 4 }, pieces });
const merges = (motion) => motion.merges.map(({ piece, to }) => `${piece.cell} to ${to}`).sort();

test('tiles that are sent to one side keep their order, and equal ones merge', () => {
	const before = board(tile(0, 0, 'A'), tile(0, 2, 'a'), tile(0, 3, 'B'), tile(2, 3, 'C'));
	const after = board(tile(0, 0, 'B'), tile(0, 1, 'B'), tile(2, 0, 'C'), tile(3, 3, 'a'));
	const motion = motionBetween(before, after, 'left');
	assert.deepEqual(merges(motion), ['0,0 to 0,0', '0,2 to 0,0']);
	assert.deepEqual([...motion.travels.values()], [[[0, 3]], [[2, 3]]]);
	assert.equal(motion.came.size, 1, 'the new tile');
	assert.ok(motion.isStrong);
});

test('the same to the right, down and up', () => {
	for (const [side, from, to] of [['right', [1, 0], [1, 3]], ['down', [0, 2], [3, 2]], ['up', [3, 1], [0, 1]]]) {
		const motion = motionBetween(board(tile(...from, 'a')), board(tile(...to, 'a')), side);
		assert.deepEqual([...motion.travels.values()], [[from]], side);
		assert.ok(!motion.isStrong);
	}
});

test('a piece travels from where it stood; what it leaves behind and what is new do not', () => {
	const token = (cell) => ({ cell, piece: 'token', owner: 'p1' });
	const before = board(token([0, 0]));
	const after = { ...board(token([2, 1]), { cell: [0, 0], piece: 'blocked' }, { cell: [3, 3], piece: 'value', label: '4' }), walls: [{ cell: [2, 1], side: 'up' }] };
	const motion = motionBetween(before, after);
	assert.deepEqual([...motion.travels.values()], [[[0, 0]]]);
	assert.equal(motion.came.size, 1);
	assert.deepEqual(motion.walls, [{ cell: [2, 1], side: 'up' }]);
	assert.ok(motion.isStrong, 'a wall was built');
});
