import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	BadRecord, broughtBack, flagOutcome, fresh, isLive, line, lookAt, moveNumber, ownRecord, played, positionOf, read,
} from '../record.js';

const RECORD = { record: 1, game: 'isolation', rules: { width: 7 }, start: '. 1', moves: ['a1', 'b3', 'c2'], result: null };

test('what is saved is what is loaded', () => {
	const game = { ...fresh('isolation', { width: 7 }, '. 1'), moves: RECORD.moves, cursor: 1 };
	game.scores = { 1: { bound: 'exact', eval: 500 } };
	const [back] = read(line(RECORD, game, ['Human', 'Engine']));
	assert.deepEqual(back.moves, RECORD.moves);
	assert.deepEqual(back.rules, RECORD.rules);
	assert.equal(back.start, '. 1');
	assert.equal(back.cursor, 3);
	assert.deepEqual(back.scores, game.scores);
	assert.deepEqual(back.players, ['Human', 'Engine']);
});

test('scores of the arena belong to the position that was searched, from the view of player 1', () => {
	const answers = [
		{ player: 'p2', score: { bound: 'lower', eval: 100 } },
		{ player: 'p1', score: { bound: 'exact', proof: { outcome: 'win', plies: 3 } } },
		{ player: 'p2' },
	];
	const moves = ['U', '~c4', 'D', '~a1', 'L', '~b2', 'R'];
	const [game] = read(JSON.stringify({ ...RECORD, moves, opening: 2, answers }));
	assert.deepEqual(game.scores, {
		2: { bound: 'upper', eval: -100 },
		4: { bound: 'exact', proof: { outcome: 'win', plies: 3 } },
	});
});

test('a file holds one game or one a line', () => {
	assert.equal(read(JSON.stringify(RECORD, null, 2)).length, 1);
	assert.equal(read(`${JSON.stringify(RECORD)}\n\n${JSON.stringify(RECORD)}\n`).length, 2);
});

test('the fault of a file is reported with its line', () => {
	const good = JSON.stringify(RECORD);
	const cases = [
		['', /no game/],
		['no json', /not JSON/],
		[`${good}\n{`, /line 2: this is not JSON/],
		['[]', /JSON object/],
		['null', /JSON object/],
		[JSON.stringify({ ...RECORD, record: 2 }), /`record` must be 1/],
		[JSON.stringify({ ...RECORD, game: 7 }), /`game`/],
		[JSON.stringify({ ...RECORD, rules: [] }), /`rules`/],
		[JSON.stringify({ ...RECORD, start: undefined }), /`start`/],
		[JSON.stringify({ ...RECORD, moves: ['a1', 2] }), /`moves`/],
		[`${good}\n${JSON.stringify({ ...RECORD, moves: 'a1' })}`, /line 2: `moves`/],
	];
	for (const [text, message] of cases) {
		assert.throws(() => read(text), (error) => error instanceof BadRecord && message.test(error.message), text);
	}
	// What a page wrote for itself may be nonsense, and is then left out.
	assert.deepEqual(read(JSON.stringify({ ...RECORD, scores: { 1: 7, 2: null }, players: [null] }))[0].scores, {});
});

test('another move at the cursor forgets what came after it; the same one goes forward', () => {
	let game = ['a', 'b', 'c'].reduce(played, fresh('g', {}, 's'));
	game.scores = { 0: 1, 1: 2, 2: 3 };
	game = lookAt(game, 1);
	assert.ok(!isLive(game));
	assert.deepEqual(positionOf(game), { start: 's', moves: ['a'] });
	const same = played(game, 'b');
	assert.deepEqual([same.moves, same.cursor], [['a', 'b', 'c'], 2]);
	const other = played(game, 'x');
	assert.deepEqual([other.moves, other.cursor, other.scores], [['a', 'x'], 2, { 0: 1, 1: 2 }]);
	assert.equal(lookAt(game, 99).cursor, 3);
	assert.equal(lookAt(game, -1).cursor, 0);
});

test('chance plies are no moves', () => {
	assert.equal(moveNumber(['U', '~a1', 'D', '~b1'], 2), 2);
});

test('a move in the past keeps what it takes the place of, and both can be had in turn', () => {
	const first = { ...fresh('isolation', {}, '. 1'), moves: ['a1', 'b2', 'c3', 'd4'], cursor: 4, scores: { 3: { bound: 'exact', eval: 7 } } };
	const second = played(lookAt(first, 2), 'e5');
	assert.deepEqual(second.moves, ['a1', 'b2', 'e5']);
	assert.deepEqual(second.scores, {});
	const back = broughtBack(second);
	assert.deepEqual(back.moves, first.moves);
	assert.deepEqual(back.scores, first.scores);
	assert.deepEqual(broughtBack(back).moves, second.moves);
	// What was played again took nothing's place.
	assert.equal(played(lookAt(first, 2), 'c3').earlier, undefined);
	assert.equal(broughtBack(first), first);
});

test('a flag ends the game where it fell, and nowhere else', () => {
	const game = { ...fresh('isolation', {}, '. 1'), moves: ['a1', 'b2'], cursor: 2, flag: { ply: 2, player: 'p1' } };
	assert.deepEqual(flagOutcome(game), { winner: 'p2', by: 'time' });
	assert.equal(flagOutcome(lookAt(game, 1)), null);
	assert.equal(played(lookAt(game, 1), 'c3').flag, undefined);
});

test('the page’s own record is one that it reads', () => {
	const game = { ...fresh('isolation', { width: 7 }, '. 1'), moves: ['a1'], cursor: 0 };
	const [back] = read(line(ownRecord(game), game, ['Human', 'Engine']));
	assert.deepEqual([back.game, back.rules, back.start, back.moves], [game.game, game.rules, game.start, game.moves]);
});
