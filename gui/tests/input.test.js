import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellInput, isForBrowser } from '../input.js';

const GRID = { rows: 2, cols: 2, row_labels: ['2', '1'], col_labels: ['a', 'b'] };

/** What a person is asked to do where these moves are legal. */
function prompt(legal) {
	const input = cellInput({ board: { grid: GRID }, legal, play() {}, changed() {}, preview: async () => ({ came: [], left: [], walls: [] }) });
	return input.prompt();
}

test('a pass that is forced is looked for in the list', () => {
	assert.equal(prompt(['pass']), 'There is only one move: choose it under “Legal moves”.');
	for (const legal of [['a1'], ['a1', 'b2'], ['a1', 'pass']]) {
		assert.equal(prompt(legal), 'Choose a marked cell.', legal);
	}
});

test('brackets that a keyboard has with Alt or AltGr are for the page, other keys with them for the browser', () => {
	const press = (key, ...held) => isForBrowser({ key, ...Object.fromEntries(held.map((name) => [name, true])) });
	assert.deepEqual([press('['), press('[', 'altKey'), press(']', 'altKey', 'ctrlKey'), press('h')].map(Boolean), [false, false, false, false]);
	assert.deepEqual([press('h', 'altKey'), press('h', 'ctrlKey'), press('[', 'metaKey'), press(']', 'ctrlKey')], [true, true, true, true]);
});
