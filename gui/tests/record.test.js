import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	BadRecord, forfeitOutcome, fresh, isLive, kept, line, linesOf, lookAt, makeMain, moveNumber, played, positionOf, promote, read,
	restored, showing, sibling, taken, withoutNode,
} from '../record.js';

const RECORD = { record: 1, game: 'isolation', rules: { width: 7 }, start: '. 1', moves: ['a1', 'b3', 'c2'], result: null };

/** The tree as a text: what was played instead of a move in brackets behind it. */
function shape(node) {
	const [first, ...others] = node.next;
	if (!first) return '';
	return [first.move, ...others.map((one) => `(${[one.move, shape(one)].filter(Boolean).join(' ')})`), shape(first)].filter(Boolean).join(' ');
}

/** a b c d; instead of b: x y, and instead of y: z; instead of c: w */
function branched() {
	let game = fresh('isolation', { width: 7 }, '. 1', ['a', 'b', 'c', 'd']);
	for (const [ply, moves] of [[1, ['x', 'y']], [2, ['z']]]) game = moves.reduce(played, lookAt(game, ply));
	game = showing(game, game.root.next[0].next[0]);
	return played(game, 'w');
}

test('what is saved is what is loaded', () => {
	const game = fresh('isolation', { width: 7 }, '. 1', RECORD.moves);
	game.line[1].score = { bound: 'exact', eval: 500 };
	const [back] = read(line(RECORD, game, ['Human', 'Engine']));
	assert.deepEqual(back.moves, RECORD.moves);
	assert.deepEqual(back.rules, RECORD.rules);
	assert.equal(back.start, '. 1');
	assert.equal(back.cursor, 3);
	assert.deepEqual(back.scores, { 1: { bound: 'exact', eval: 500 } });
	assert.deepEqual(back.players, ['me', 'default'], 'names that earlier versions wrote are those of today');
});

test('variations with what is known of them are saved and loaded, however deep the game', () => {
	const game = branched();
	assert.equal(shape(game.root), 'a b (x y (z)) c (w) d');
	game.node.comment = 'a "quiet" one';
	game.node.clock = [100, 200];
	game.root.next[0].next[1].score = { bound: 'exact', eval: 3 };
	const text = line(null, game, ['', '']);
	assert.deepEqual(JSON.parse(text).moves, ['a', 'b', 'c', 'd'], 'the main line is where it is in every record');
	const [back] = read(text);
	assert.equal(shape(back.root), shape(game.root));
	const there = showing(back, back.root.next[0].next[0].next[1]);
	assert.deepEqual([there.moves, there.node.comment, there.clocks], [['a', 'b', 'w'], 'a "quiet" one', { 3: [100, 200] }]);
	assert.deepEqual(back.root.next[0].next[1].score, { bound: 'exact', eval: 3 });
	const long = fresh('g', {}, 's', Array.from({ length: 20_000 }, (_, ply) => `m${ply}`));
	assert.equal(read(line(null, long, ['', '']))[0].moves.length, 20_000);
});

test('what the browser keeps is the tree and where one looks', () => {
	const game = lookAt(branched(), 2);
	const back = taken(JSON.parse(JSON.stringify(kept(game))));
	assert.deepEqual([back.id, back.moves, back.cursor, shape(back.root)], [game.id, game.moves, 2, shape(game.root)]);
	assert.equal(isLive(taken(kept(showing(game, game.root)))), false);
	assert.throws(() => taken({ game: 'x' }));
});

test('a review is kept with its game, also in a variation, but no file has it', () => {
	const game = branched();
	const review = { ply: 0, move: 'a', player: 'p1', mark: 'blunder', before: { bound: 'exact', eval: 1 }, after: { bound: 'exact', eval: -9 } };
	game.line[1].review = review;
	game.line[1].next[1].review = { ...review, ply: 1, move: 'x' };
	const back = taken(JSON.parse(JSON.stringify(kept(game))));
	assert.deepEqual([back.line[1].review, back.line[1].next[1].review.move], [review, 'x']);
	assert.ok(!line(null, game, ['', '']).includes('blunder'));
	assert.equal(read(JSON.stringify(kept(game)))[0].line[1].review, undefined);
	assert.equal(taken({ ...kept(game), reviews: { 1: 'blunder' } }).line[1].review, undefined);
});

test('variations are gone through, promoted, deleted and put back', () => {
	let game = branched();
	assert.equal(sibling(game.node, -1).move, 'c');
	assert.equal(sibling(game.node, 1), null);
	game = promote(game);
	assert.equal(shape(game.root), 'a b (x y (z)) w (c d)');
	assert.equal(shape(promote(game).root), shape(game.root), 'the main line leaves none');
	game = showing(game, game.root.next[0].next[1].next[1]);
	assert.equal(shape(promote(game).root), 'a b (x z (y)) w (c d)');
	assert.equal(shape(makeMain(game).root), 'a x (b w (c d)) z (y)');
	game = withoutNode(lookAt(game, 2));
	assert.deepEqual([shape(game.root), game.cursor], ['a b w (c d)', 1]);
	const again = restored(game);
	assert.deepEqual([shape(again.root), again.node.move], ['a x (b w (c d)) z (y)', 'x']);
	assert.equal(restored(again), again);
	// A move elsewhere than on the board: only a line that has it ends before it.
	const aside = withoutNode(again, again.root.next[0].next[1]);
	assert.deepEqual([shape(aside.root), aside.line === again.line, aside.cursor], ['a x z (y)', true, 2]);
	assert.equal(shape(restored(aside).root), 'a x (b w (c d)) z (y)');
	assert.equal(withoutNode(again, branched().node), again, 'a node of another tree');
	const behind = withoutNode(lookAt(again, 1), again.line[2]);
	assert.deepEqual([behind.moves.slice(0, 2), behind.cursor], [['a', 'b'], 1]);
	restored(behind);
	// What was played anew meanwhile takes what was deleted in.
	const anew = played(lookAt(withoutNode(again), 1), 'x');
	assert.equal(shape(restored(anew).root), 'a b (x z (y)) w (c d)');
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

test('an opening is as long as the game at most; what is nonsense is left out', () => {
	const openingOf = (opening) => read(JSON.stringify({ ...RECORD, opening, answers: [] }))[0].opening;
	assert.deepEqual([0, 3].map(openingOf), [0, 3]);
	assert.deepEqual([-1, 4, 1.5, '2', null].map(openingOf), Array(5).fill(undefined));
	const answers = [{ player: 'p1', score: { bound: 'exact', eval: 100 } }];
	assert.deepEqual(read(JSON.stringify({ ...RECORD, opening: -1, answers }))[0].scores, { 0: answers[0].score });
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
	for (const [variations, message] of [
		[{}, /`variations` must be a list/],
		[[7], /variation 1: it must be an object/],
		[[{ of: 1, ply: 0, moves: ['x'] }], /variation 1: `of`/],
		[[{ of: 0, ply: 1, moves: ['x'] }, { of: 0, ply: 4, moves: ['x'] }], /variation 2: `ply` must be from 0 to 3/],
		[[{ of: 0, ply: 1, moves: [] }], /variation 1: `moves`/],
	]) assert.throws(() => read(JSON.stringify({ ...RECORD, variations })), message);
	// What a page wrote for itself may be nonsense, and is then left out.
	assert.deepEqual(read(JSON.stringify({ ...RECORD, scores: { 1: 7, 2: null }, players: [null] }))[0].scores, {});
});

test('another move at the cursor is a branch; the same one goes forward', () => {
	let game = ['a', 'b', 'c'].reduce(played, fresh('g', {}, 's'));
	game.line.forEach((node, ply) => { node.score = ply + 1; });
	game = lookAt(game, 1);
	assert.ok(!isLive(game));
	assert.deepEqual(positionOf(game), { start: 's', moves: ['a'] });
	const same = played(game, 'b');
	assert.deepEqual([same.moves, same.cursor], [['a', 'b', 'c'], 2]);
	const other = played(game, 'x');
	assert.deepEqual([other.moves, other.cursor, other.scores], [['a', 'x'], 2, { 0: 1, 1: 2 }]);
	assert.ok(isLive(other));
	assert.equal(linesOf(game.root).length, 2);
	assert.equal(lookAt(game, 99).cursor, 3);
	assert.equal(lookAt(game, -1).cursor, 0);
});

test('chance plies are no moves', () => {
	assert.equal(moveNumber(['U', '~a1', 'D', '~b1'], 2), 2);
});

test('a flag or a resignation ends the game where it is, and nowhere else, also when it was kept or saved', () => {
	for (const [field, by] of [['flag', 'late'], ['resigned', 'resignation']]) {
		const game = fresh('isolation', {}, '. 1', ['a1', 'b2']);
		game.node[field] = 'p1';
		const [loaded] = read(line(undefined, game, ['Human', 'Engine']));
		for (const one of [game, taken(kept(game)), loaded]) {
			assert.deepEqual(forfeitOutcome(one), { winner: 'p2', by });
			assert.equal(forfeitOutcome(lookAt(one, 1)), null);
			assert.equal(forfeitOutcome(played(lookAt(one, 1), 'c3')), null);
		}
		game.node[field] = 'nobody';
		assert.equal(forfeitOutcome(taken(kept(game))), null);
	}
});

test('a loss on time and a resignation are saved as `plyd play` and the arena write them', () => {
	const saved = (field, record) => {
		const game = fresh('isolation', {}, '. 1', RECORD.moves);
		game.node[field] = 'p2';
		return JSON.parse(line(record, lookAt(game, 1), ['Human', 'Engine']));
	};
	for (const record of [undefined, RECORD]) {
		const { result, forfeit } = saved('flag', record);
		assert.deepEqual([result, forfeit], [{ winner: 'p1', by: 'late' }, { player: 'p2', kind: 'late', message: 'the time was up' }]);
		const resigned = saved('resigned', record);
		assert.deepEqual([resigned.result, 'forfeit' in resigned], [{ winner: 'p1', by: 'resignation' }, false]);
	}
	const stuck = { winner: 'p2', by: 'stuck' };
	const over = saved('flag', { ...RECORD, result: stuck });
	assert.deepEqual([over.result, over.forfeit], [stuck, undefined], 'the rules come first');
	// Only the end of the main line is the end of the game.
	const game = branched();
	game.node.flag = 'p1';
	assert.equal(JSON.parse(line(RECORD, game, ['', ''])).result, null);
});

test('how a game ended is loaded, kept by the browser and saved again, and so are the names of its players', () => {
	const players = [{ index: 1, name: 'cmd=./bot,name=ann' }, { index: 0, name: 'Bob' }];
	const late = { winner: 'p2', by: 'late' };
	const crash = { player: 'p1', kind: 'crash', message: 'it ended' };
	const cases = [
		[{ winner: 'p1', by: 'resignation' }, undefined, { winner: 'p1', by: 'resignation' }],
		[late, { player: 'p1', kind: 'late', message: '12ms after its 100ms' }, late],
		[late, undefined, late],
		[{ winner: 'p2', by: 'time' }, undefined, { winner: 'p2', by: 'time' }],
		[{ winner: 'p2', by: 'crash' }, crash, { winner: 'p2', by: 'crash' }],
		// A referee’s draw ends no game for those who look at it, nor does an end that the rules know.
		[{ winner: null, by: 'max_moves' }, undefined, null],
		[{ winner: 'p1', by: 'stuck' }, undefined, null],
		[null, undefined, null],
	];
	for (const [result, forfeit, outcome] of cases) {
		const [loaded] = read(JSON.stringify({ ...RECORD, result, forfeit, players }));
		const back = taken(JSON.parse(JSON.stringify(kept(loaded))));
		for (const game of [loaded, back]) {
			assert.deepEqual(forfeitOutcome(game), outcome);
			const again = JSON.parse(line(RECORD, lookAt(game, 0), game.players));
			assert.deepEqual([again.result, again.forfeit], [result, forfeit]);
			assert.deepEqual(again.players.map(({ name }) => name), ['cmd=./bot,name=ann', 'Bob']);
			assert.equal(JSON.parse(line(RECORD, played(game, 'x'), game.players)).result, null, 'it went on');
		}
	}
	// As earlier versions of the page saved it.
	for (const [old, outcome] of [[{ flags: { 3: 'p1' } }, late], [{ resigned: { 3: 'p2' } }, { winner: 'p1', by: 'resignation' }]]) {
		assert.deepEqual(forfeitOutcome(read(JSON.stringify({ ...RECORD, ...old }))[0]), outcome);
	}
	const [alone] = read(JSON.stringify({ ...RECORD, forfeit: crash }));
	assert.deepEqual(forfeitOutcome(alone), { winner: 'p2', by: 'crash' });
	for (const wrong of [{ result: 'p1' }, { result: { winner: 'p3', by: 'late' } }, { result: { winner: null, by: 'late' } },
		{ forfeit: { player: 'both', kind: 'late' } }, { forfeit: 7 }, { players: [{ name: 'x' }, {}] }]) {
		const [game] = read(JSON.stringify({ ...RECORD, ...wrong }));
		assert.deepEqual([forfeitOutcome(game), game.players], [null, undefined]);
	}
	assert.equal(taken({ ...kept(alone), ends: { 3: { result: late, forfeit: 7 } } }).node.ended, undefined);
});

test('the page’s own record is one that it reads', () => {
	const game = lookAt(fresh('isolation', { width: 7 }, '. 1', ['a1']), 0);
	const [back] = read(line(undefined, game, ['Human', 'Engine']));
	assert.deepEqual([back.game, back.rules, back.start, back.moves], [game.game, game.rules, game.start, game.moves]);
});
