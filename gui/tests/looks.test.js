import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The looks of plyd's games and of a new one, by folder; from texts as the server has them, from which no import leads anywhere. */
const folders = [['../../crates/games/', 'src/'], ['../../src/cli/new_game/template/', '']].map(([path, below]) => [new URL(path, import.meta.url), below]);
const files = folders.flatMap(([folder, below]) => readdirSync(folder).map((name) => [name, new URL(`${name}/${below}look.js`, folder)]))
	.filter(([, file]) => existsSync(file));
const looks = Object.fromEntries(await Promise.all(files.map(async ([name, file]) => [
	name, await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, 'utf8'))}`),
])));
const { parts: lParts } = looks['l-game'];
const { parts: wallParts } = looks.colosseum;

const cells = (move) => lParts(move).cells.map((cell) => cell.join()).sort().join(' ');

test('a look is what the page expects', () => {
	assert.ok(files.length > 0);
	for (const [name, look] of Object.entries(looks)) {
		const parts = Object.entries(look.default({}));
		assert.ok(parts.length > 0, name);
		for (const [part, does] of parts) {
			// The rules of a first game; everything else is a function.
			const type = part === 'first' ? 'object' : 'function';
			assert.ok(['input', 'piece', 'mark', 'words', 'slide', 'entry', 'first'].includes(part), `${name}: ${part}`);
			assert.equal(typeof does, type, `${name}: ${part}`);
		}
	}
});

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

test('a new game drops discs into columns', () => {
	const played = [];
	const board = { grid: { rows: 6, cols: 7 }, pieces: [{ cell: [5, 3] }, { cell: [4, 3] }, { cell: [5, 0] }] };
	const input = looks.my_game.default({}).input({ board, legal: ['1', '4', '7'], play: (move) => played.push(move) });
	assert.deepEqual([...input.overlay().targets], [['4,0', '1'], ['3,3', '4'], ['5,6', '7']]);
	const empty = looks.my_game.default({}).input({ board: { grid: board.grid }, legal: ['1'], play() {} });
	assert.deepEqual([...empty.overlay().targets], [['5,0', '1']]);
	input.cell([0, 3]);
	assert.equal(input.cell([5, 1]), false);
	assert.equal(input.key({ key: '7' }), true);
	assert.equal(input.key({ key: 'Enter' }), false);
	assert.deepEqual(played, ['4', '7']);
});
