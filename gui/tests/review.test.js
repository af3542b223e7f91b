// What a review makes of proofs: they hold for what follows, and a loss is proven before a move is blamed for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLost } from '../plyd/errors.js';
import { fresh } from '../record.js';
import { carryOn, Review } from '../review.js';
import { Table } from '../table.js';

const even = { bound: 'exact', eval: 0 };
const lost = (most) => ({ bound: 'exact', proof: { outcome: 'loss', plies_max: most } });
const won = (most) => ({ bound: 'exact', proof: { outcome: 'win', plies_max: most } });

test('a proven loss holds for all that follows, but not over chance, and makes no error', () => {
	const move = (ply, before, after, mark) => [ply, { ply, move: 'a', player: ply % 2 ? 'p2' : 'p1', mark, before, after, loss: 0.2 }];
	const moves = new Map([
		move(0, lost(10), even, 'good'), move(1, even, { bound: 'exact', eval: -1 }, 'good'),
		move(3, won(7), won(7), 'kept_win'), move(4, even, even, 'blunder'), move(7, even, even, 'blunder'),
	]);
	carryOn(moves, 3000);
	assert.deepEqual([...moves.values()].map(({ mark }) => mark), ['was_lost', 'good', 'kept_win', 'was_lost', 'blunder']);
	assert.deepEqual(moves.get(0).after, lost(10));
	assert.deepEqual([moves.get(4).before.proof, moves.get(4).after.proof], [lost(6).proof, lost(6).proof]);
});

/** A server under which one move was played, whose searches answer by the moves that they may look at. */
class Server extends EventTarget {
	isOpen = true;
	hello = { features: ['decisive'] };
	searched = [];
	waiting = [];

	constructor(answers) {
		super();
		this.answers = answers;
	}

	async request(command) {
		if (!this.isOpen) throw new ConnectionLost('not connected');
		return command === 'newgame' ? {} : { outcome: null, to_move: 'p1', legal: ['a', 'b'], board: {}, decisive: 3000 };
	}

	/** The connection is lost, or there again. */
	turn(isOpen) {
		this.isOpen = isOpen;
		this.hello = isOpen ? { features: ['decisive'] } : null;
		if (!isOpen) this.dispatchEvent(new Event('lost'));
		else for (const resolve of this.waiting.splice(0)) resolve();
	}

	opened() {
		return new Promise((resolve) => { this.waiting.push(resolve); });
	}

	analyse({ searchmoves, limit }) {
		this.searched.push([searchmoves?.join() ?? '', limit.time_ms]);
		const line = this.answers[searchmoves?.join() ?? ''];
		return Object.assign(Promise.resolve({ lines: [line] }), { stop: async () => {} });
	}
}

async function reviewed(answers) {
	const server = new Server(answers);
	const table = new Table(server, null, async () => {});
	table.game = fresh('game', {}, undefined, ['a']);
	const review = new Review(table, () => false);
	await review.start({ time_ms: 400 });
	assert.equal(review.trouble, '');
	return { server, review, move: review.moves.get(0) };
}

test('a move that seems to lose is no blunder where a longer search proves that all lose', async () => {
	const seen = { '': { move: 'b', score: even, depth: 3 }, a: { move: 'a', score: lost(44) } };
	const { server, move } = await reviewed({ ...seen, b: { move: 'b', score: lost(48) } });
	assert.equal(move.mark, 'was_lost');
	assert.deepEqual([move.before, move.better], [lost(48), undefined]);
	assert.deepEqual(server.searched.at(-1), ['b', 3200]);
	// Where it proves nothing, the estimate stands; where it proves a win, that was thrown away.
	const { move: unsure } = await reviewed({ ...seen, b: { move: 'b', score: even } });
	assert.equal(unsure.mark, 'blunder');
	const { move: threw } = await reviewed({ ...seen, b: { move: 'b', score: won(5) } });
	assert.deepEqual([threw.mark, threw.better.move], ['threw_away', 'b']);
});

test('a proven win is not thrown away by an estimate: a longer search decides, or nobody', async () => {
	const seen = { '': { move: 'b', score: won(47), depth: 3 } };
	const { server, move } = await reviewed({ ...seen, a: { move: 'a', score: even } });
	assert.deepEqual([move.mark, move.better], ['unknown', undefined]);
	assert.deepEqual(server.searched.filter(([moves]) => moves === 'a'), [['a', 100], ['a', 3200]]);
	const answers = { ...seen };
	let looks = 0;
	// What is not proven at first is proven by the longer search.
	Object.defineProperty(answers, 'a', { get: () => ({ move: 'a', score: (looks += 1) > 1 ? won(49) : even }) });
	const { move: kept } = await reviewed(answers);
	assert.equal(kept.mark, 'kept_win');
});

test('a second review knows no less than the first', async () => {
	const seen = { '': { move: 'b', score: even, depth: 3 }, a: { move: 'a', score: lost(44) }, b: { move: 'b', score: won(5) } };
	const { server, review } = await reviewed(seen);
	const before = { ...review.moves.get(0) };
	assert.equal(before.mark, 'threw_away');
	// A busy server proves nothing this time.
	server.answers = { '': { move: 'a', score: even, depth: 1 }, b: { move: 'b', score: even, depth: 1 } };
	await review.start({ time_ms: 400 });
	assert.deepEqual({ ...review.moves.get(0) }, before);
});

test('of two estimates the deeper one counts, and the earlier one if they are as deep', async () => {
	const at = (depth, worth) => ({ '': { move: 'b', score: { bound: 'exact', eval: 3000 }, depth }, a: { move: 'a', score: { bound: 'exact', eval: worth } } });
	const { server, review, move } = await reviewed(at(5, -3000));
	assert.equal(move.mark, 'blunder');
	for (const [depth, mark] of [[4, 'blunder'], [5, 'blunder'], [6, 'good']]) {
		server.answers = at(depth, 2990);
		await review.start({ time_ms: 400 });
		assert.equal(review.moves.get(0).mark, mark, `depth ${depth}`);
	}
});

test('a review without a server keeps what is known, waits, and begins once the server is back', async () => {
	const { server, review } = await reviewed({ '': { move: 'b', score: won(5), depth: 3 }, a: { move: 'a', score: lost(4) } });
	server.turn(false);
	const count = server.searched.length;
	const under = review.start({ time_ms: 400 });
	assert.deepEqual([review.moves.get(0).mark, review.trouble, review.progress], ['threw_away', '', [0, 1]]);
	server.turn(true);
	await under;
	assert.deepEqual([review.moves.get(0).mark, review.trouble, review.progress], ['threw_away', '', null]);
	assert.ok(server.searched.length > count);
	// Whoever stops it waits for nothing.
	server.turn(false);
	const stopped = review.start({ time_ms: 400 });
	review.stop();
	assert.equal(review.progress, null);
	server.turn(true);
	await stopped;
	assert.equal(review.progress, null);
});

test('a review that was kept is known again, but for marks that this version has not', async () => {
	const server = new Server({});
	const table = new Table(server, null, async () => {});
	const game = fresh('game', {}, undefined, ['a', 'b']);
	const kept = { ply: 0, move: 'a', player: 'p1', mark: 'blunder', before: even, after: lost(3), better: { move: 'b' } };
	Object.assign(game.line[1], { review: kept });
	Object.assign(game.line[2], { review: { ...kept, ply: 1, mark: 'brilliant' } });
	const review = new Review(table, () => false);
	assert.deepEqual(review.known, []);
	table.put(game);
	await new Promise((resolve) => { table.addEventListener('change', resolve, { once: true }); });
	assert.deepEqual([review.known, review.mistakes(), review.counts('p1')], [[kept], [0], { blunder: 1 }]);
	assert.equal(review.at(1), undefined);
	assert.deepEqual(server.searched, [], 'without a search');
	table.put(fresh('game', {}, undefined, ['a']));
	assert.deepEqual(review.known, []);
});
