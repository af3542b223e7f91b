import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Clock } from '../clock.js';

test('time for the game runs for the one who moves, and the increment comes after', () => {
	const clock = new Clock({ kind: 'increment', base_ms: 10_000, inc_ms: 500 });
	clock.start('p1', 0);
	assert.equal(clock.shown('p1', 3000), 7000);
	assert.equal(clock.shown('p2', 3000), 10_000);
	clock.press(4000);
	assert.deepEqual(clock.left, [6500, 10_000]);
	clock.start('p2', 5000);
	assert.deepEqual(clock.goFields('p2', 6000).clock, { kind: 'increment', me_ms: 9000, opp_ms: 6500, inc_ms: 500 });
	// A pause costs what ran, and adds nothing; a second one nothing at all.
	clock.pause(7000);
	clock.pause(9000);
	assert.deepEqual(clock.left, [6500, 8000]);
	assert.ok(clock.isSpent);
	clock.reset([6500, 8000]);
	assert.ok(!clock.isSpent);
	clock.reset();
	assert.deepEqual(clock.left, [10_000, 10_000]);
});

test('each kind of clock is what a go takes', () => {
	const fields = (config) => new Clock(config).goFields('p1', 0);
	assert.deepEqual(fields({ kind: 'per_move', ms: 100 }), { clock: { kind: 'per_move', ms: 100 } });
	assert.deepEqual(fields({ kind: 'anytime' }), { clock: { kind: 'anytime' } });
	assert.deepEqual(fields({ kind: 'none' }), { clock: { kind: 'none' } });
	assert.deepEqual(fields({ kind: 'depth', depth: 4 }), { limit: { depth: 4 } });
	assert.deepEqual(fields({ kind: 'nodes', nodes: 9 }), { limit: { nodes: 9 } });
});
