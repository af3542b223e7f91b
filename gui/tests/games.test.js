import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parts as lParts } from '../games/l-game.js';
import { parts as wallParts } from '../games/colosseum.js';

const cells = (move) => lParts(move).cells.map((cell) => cell.join()).sort().join(' ');

test('an L lies where the protocol says', () => {
	// The start of the game: L1 `3 1 W`, L2 `2 4 E`; cells as row and column from 0.
	assert.equal(cells('3 1 W'), '0,1 0,2 1,2 2,2');
	assert.equal(cells('2 4 E'), '1,1 2,1 3,1 3,2');
	// All 48 placements are different and on the board.
	const all = new Set();
	for (let x = 1; x <= 4; x += 1) {
		for (let y = 1; y <= 4; y += 1) {
			for (const [direction, fits] of [['N', y > 1], ['S', y < 4], ['W', x > 1], ['E', x < 4]]) {
				if (!fits) continue;
				const found = lParts(`${x} ${y} ${direction}`).cells;
				assert.ok(found.flat().every((at) => at >= 0 && at < 4));
				all.add(found.map((cell) => cell.join()).sort().join(' '));
			}
		}
	}
	assert.equal(all.size, 48);
});

test('tokens of a move are named by their cells', () => {
	const { from, to, place } = lParts('4 1 W 1 1 2 1 4 4 3 4');
	assert.deepEqual([place, from, to], ['4 1 W', ['0,0', '3,3'], ['0,1', '3,2']]);
});

test('a walk and a wall', () => {
	assert.deepEqual(wallParts('3bu'), { cell: [3, 11], side: 'up' });
	assert.equal(wallParts('nonsense'), null);
});
