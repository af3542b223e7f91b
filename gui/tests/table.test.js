// The table and those who search for it, with a server that answers when the test says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analysis } from '../analysis.js';
import { ConnectionLost } from '../plyd/errors.js';
import { fresh, lookAt, played, read } from '../record.js';
import { Review } from '../review.js';
import { Table } from '../table.js';

/** All that is under way without the server comes to its end. */
const settle = () => new Promise((resolve) => { setImmediate(resolve); });

/** A search that says what it found once the test says it. */
class Search {
	constructor() {
		this.best = new Promise((resolve) => { this.end = resolve; });
	}

	then(...args) {
		return this.best.then(...args);
	}

	async* [Symbol.asyncIterator]() {}

	async stop() {}
}

/** What a server says of any position: players take turns, and each move is one of three. */
const NODE = { outcome: null, legal: ['a', 'b', 'x'], board: {}, decisive: 3000 };
const mover = ({ moves }) => ['p1', 'p2'][moves.length % 2];

class Server extends EventTarget {
	isOpen = true;
	hello = { features: ['decisive'] };
	/** Whether answers to `inspect` are held back, and those that wait. */
	holds = false;
	#held = [];
	searches = [];

	constructor(moves = mover) {
		super();
		this.mover = moves;
	}

	request(command, { position, want }) {
		if (command === 'newgame') return Promise.resolve({});
		if (want?.includes('record')) return Promise.resolve({ record: { record: 1, ...position, result: null } });
		const answer = { ...NODE, to_move: this.mover(position), chance: [{ move: '~a', ppm: 1_000_000 }] };
		return this.holds ? new Promise((resolve) => { this.#held.push(() => resolve(answer)); }) : Promise.resolve(answer);
	}

	analyse({ position }) {
		const search = Object.assign(new Search(), { position });
		this.searches.push(search);
		return search;
	}

	go(fields) {
		return this.analyse(fields);
	}

	/** Answers all that was asked for. */
	answer() {
		this.holds = false;
		for (const held of this.#held.splice(0)) held();
	}
}

const people = () => ({ p1: { kind: 'human', options: {} }, p2: { kind: 'human', options: {} } });
const found = (value) => ({ lines: [{ move: 'a', score: { bound: 'exact', eval: value } }], stats: {}, reason: 'limit' });

async function seated(server, game, mode = 'analyse') {
	const table = new Table(server, { game, seats: people(), mode }, async () => {});
	table.refresh();
	await settle();
	return table;
}

/** a b, on the board; instead of b: x */
function branched() {
	const game = played(fresh('g', {}, 's', ['a']), 'x');
	return played(lookAt(game, 1), 'b');
}

test('a game that was kept has its players’ options, whatever game was on the table', async () => {
	const table = await seated(new Server(), fresh('g', {}, 's'), 'play');
	const options = { player: 'mcts', eval: 'quick', level: 4 };
	const seats = { p1: { kind: 'human', options: {} }, p2: { kind: 'engine', options: { ...options } } };
	table.restore({ game: fresh('h', {}, 's'), seats, view: { transpose: true, rows: false, cols: false } });
	assert.deepEqual(table.seats.p2.options, options);
	assert.ok(table.view.transpose);
	table.put(fresh('g', {}, 's'));
	assert.deepEqual(table.seats.p2.options, { level: 4 }, 'another game has options of its own');
	assert.deepEqual(seats.p2.options, options, 'and the game before keeps its own');
});

test('what an analysis found belongs to the position that was searched', async () => {
	for (const leave of ['sibling', 'game']) {
		const server = new Server();
		const table = await seated(server, branched());
		const searched = table.game;
		const analysis = new Analysis(table, () => false);
		analysis.turn(true);
		await settle();
		server.holds = true;
		if (leave === 'sibling') table.show(searched.line[1].next[0]);
		else table.put(fresh('g', {}, 's', ['a', 'b', 'b']));
		server.searches[0].end(found(500));
		await settle();
		assert.deepEqual(table.game.scores, {}, leave);
		assert.deepEqual(searched.scores, { 2: { bound: 'exact', eval: 500 } }, leave);
	}
});

test('a review goes on while one looks at a variation, and ends with its game', async () => {
	const server = new Server();
	const game = branched();
	const table = await seated(server, game);
	const review = new Review(table, () => false);
	review.start({ time_ms: 1 });
	await settle();
	table.show(game.line[1].next[0]);
	await settle();
	assert.deepEqual(table.game.moves, ['a', 'x']);
	assert.deepEqual(review.progress, [0, 2]);
	assert.equal(review.at(1), undefined);
	// The last move: the best of all, then the one that was played.
	server.searches[0].end({ ...found(300), lines: [{ ...found(300).lines[0], move: 'x' }] });
	await settle();
	server.searches[1].end(found(100));
	await settle();
	assert.deepEqual(review.progress, [1, 2]);
	assert.equal(game.line[1].score.eval, -300, 'from the view of player 1');
	assert.equal(review.at(1), undefined, 'the variation was not reviewed');
	table.show(game.node);
	assert.equal(review.at(1).move, 'b');

	// Another game, of which the server has not said anything yet.
	server.holds = true;
	table.put(fresh('g', {}, 's'));
	server.searches[2].end(found(200));
	await settle();
	assert.deepEqual([review.trouble, table.game.scores], ['', {}]);
	server.answer();
	await settle();
	assert.equal(review.progress, null);
});

test('answers about positions are of the game that was asked about', async () => {
	const server = new Server();
	const table = await seated(server, branched());
	const game = fresh('h', { width: 3 }, 's', ['a']);
	const asked = [];
	server.request = async (_, fields) => { asked.push([fields.game, fields.rules, fields.position.moves]); return NODE; };
	await table.inspect(1, game);
	await table.inspect(1, game);
	assert.deepEqual(asked, [['h', { width: 3 }, ['a']]]);
});

test('a turn that a listener has ended starts nothing', async (t) => {
	const timers = new Map();
	t.mock.method(globalThis, 'setTimeout', (act) => timers.set(timers.size + 1, act).size);
	t.mock.method(globalThis, 'clearTimeout', (timer) => timers.set(timer, null));
	const waiting = () => [...timers.values()].filter(Boolean).length;
	const table = new Table(new Server(() => 'chance'), { game: fresh('g', {}, 's'), seats: people() }, async () => {});
	table.addEventListener('change', () => table.refresh(), { once: true });
	table.refresh();
	await settle();
	assert.equal(waiting(), 1, 'it is chance’s turn once');
	table.pause(true);
	await settle();
	assert.equal(waiting(), 0);
});

test('an analysis of the whole game waits while the server is away, goes on where it was, and ends when told', async () => {
	const server = new Server();
	const table = await seated(server, fresh('g', {}, 's', ['a', 'b']));
	const analysis = new Analysis(table, () => false);
	analysis.wholeGame(1);
	await settle();
	server.searches[0].end(found(100));
	await settle();
	assert.deepEqual(analysis.progress, [1, 3]);
	let back = () => {};
	server.opened = () => new Promise((resolve) => { back = resolve; });
	server.isOpen = false;
	server.dispatchEvent(new Event('lost'));
	server.searches[1].end(Promise.reject(new ConnectionLost('gone')));
	await settle();
	assert.deepEqual(analysis.progress, [1, 3]);
	server.isOpen = true;
	back();
	await settle();
	server.searches[2].end(found(200));
	await settle();
	assert.deepEqual([analysis.progress, table.game.scores[1].eval], [[2, 3], -200]);
	analysis.endSweep();
	server.searches[3].end(found(300));
	await settle();
	assert.equal(analysis.progress, null);
});

test('a game goes on when a move elsewhere is deleted, and pauses when one of its own is', async () => {
	const table = await seated(new Server(), branched());
	const [aside, main] = table.game.line[1].next;
	let changes = 0;
	table.addEventListener('change', () => { changes += 1; });
	table.deleteNode(aside);
	assert.deepEqual([table.game.moves, table.game.cursor, table.paused, changes], [['a', 'b'], 2, false, 1]);
	table.undelete();
	await settle();
	assert.deepEqual(table.game.moves, ['a', 'x']);
	table.show(main);
	table.deleteNode(table.game.line[1]);
	await settle();
	assert.deepEqual([table.game.moves, table.game.cursor, table.paused], [[], 0, true]);
});

/** A game of a person, player 1, against an engine, in which each has made the move `a`. */
async function answered(t) {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const server = new Server();
	const seats = { ...people(), p2: { kind: 'engine', options: {} } };
	const table = new Table(server, { game: fresh('g', {}, 's'), seats, mode: 'play' }, async () => {});
	const answers = async () => {
		server.searches.at(-1).end({ move: 'a', lines: [] });
		await settle();
		t.mock.timers.tick(1000);
		await settle();
	};
	table.refresh();
	await settle();
	table.play('a');
	await settle();
	await answers();
	assert.deepEqual(table.game.moves, ['a', 'a']);
	return { server, table, answers };
}

test('the move that was taken back can be played again, and the engine answers it again', async (t) => {
	const { server, table, answers } = await answered(t);
	await table.takeBack();
	await settle();
	table.play('a');
	await settle();
	assert.equal(server.searches.length, 2, 'the engine was asked again');
	await answers();
	assert.deepEqual([table.game.moves, table.game.cursor, table.mover], [['a', 'a'], 2, 'p1']);
});

test('where somebody resigned the game goes on if it comes there again', async (t) => {
	const { table, answers } = await answered(t);
	let ended = 0;
	table.addEventListener('ended', () => { ended += 1; });
	table.resign();
	await settle();
	assert.deepEqual([table.outcome, ended], [{ winner: 'p2', by: 'resignation' }, 1]);
	await table.takeBack();
	await settle();
	table.play('a');
	await settle();
	await answers();
	assert.deepEqual([table.game.moves, table.outcome, table.yours], [['a', 'a'], null, true]);
});

test('where a time was up the game goes on if it comes there again; to look at it changes nothing', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	const clock = { kind: 'increment', base_ms: 60, inc_ms: 0 };
	const table = new Table(new Server(), { game: fresh('g', {}, 's'), seats: people(), mode: 'play', clock }, async () => {});
	table.refresh();
	await settle();
	table.play('a');
	await settle();
	now = 100;
	t.mock.timers.tick(100);
	await settle();
	const lost = { winner: 'p1', by: 'late' };
	assert.deepEqual(table.outcome, lost);
	table.goTo(0);
	await settle();
	table.setMode('analyse');
	table.play('a');
	await settle();
	assert.deepEqual(table.outcome, lost);
	table.setMode('play');
	await table.takeBack();
	await settle();
	table.play('a');
	await settle();
	assert.deepEqual([table.outcome, table.clock.left, table.yours], [null, [60, 60], true]);
});

/** A game between two players with one minute each, and what both have left. */
async function timed(t, second = { kind: 'human', options: {} }) {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	let now = 0;
	t.mock.method(performance, 'now', () => now);
	const server = new Server();
	const clock = { kind: 'increment', base_ms: 60_000, inc_ms: 2000 };
	const seats = { ...people(), p2: second };
	const table = new Table(server, { game: fresh('g', {}, 's'), seats, mode: 'play', clock }, async () => {});
	const pass = async (ms) => {
		now += ms;
		t.mock.timers.tick(ms);
		await settle();
	};
	const left = () => ['p1', 'p2'].map((player) => table.clock.shown(player, now));
	table.refresh();
	await settle();
	return { server, table, pass, left };
}

test('looking back gives no time back, however often, and also from a pause; to take a move back does', async (t) => {
	const { table, pass, left } = await timed(t);
	await pass(5000);
	assert.deepEqual(left(), [55_000, 60_000]);
	table.play('a');
	await settle();
	await pass(10_000);
	table.goTo(0);
	await settle();
	assert.deepEqual(left(), [60_000, 60_000], 'the clocks of that position');
	await pass(1000);
	table.goTo(Infinity);
	await settle();
	assert.deepEqual(left(), [57_000, 50_000]);
	await pass(10_000);
	table.pause(true);
	await settle();
	table.goTo(0);
	table.goTo(Infinity);
	table.pause(false);
	await settle();
	assert.deepEqual(left(), [57_000, 40_000]);
	await pass(1000);
	// A move that is only tried in an analysis costs nothing, but brings nothing either.
	table.setMode('analyse');
	table.explore('x');
	await settle();
	table.goTo(1);
	await settle();
	assert.deepEqual(left(), [57_000, 39_000]);
	assert.deepEqual(table.game.clocks, { 1: [57_000, 39_000], 2: [57_000, 39_000] });
	table.setMode('play');
	await table.takeBack();
	await settle();
	assert.deepEqual(left(), [60_000, 60_000]);
});

test('a position without a clock gets none by being looked at', async (t) => {
	const { table } = await timed(t);
	table.put(fresh('g', {}, 's', ['a', 'b']));
	for (const ply of [0, 1, 2]) table.goTo(ply);
	await settle();
	assert.deepEqual(table.game.clocks, {});
});

test('an engine’s move that was found but not yet shown brings its increment once, when it is made', async (t) => {
	const { server, table, pass, left } = await timed(t, { kind: 'engine', options: {} });
	table.play('a');
	await settle();
	const answers = async () => {
		server.searches.at(-1).end({ move: 'b', lines: [] });
		await settle();
	};
	await pass(100);
	await answers();
	assert.deepEqual(left(), [62_000, 59_900]);
	table.goTo(0);
	table.goTo(Infinity);
	await settle();
	assert.deepEqual(left(), [62_000, 59_900]);
	await pass(100);
	await answers();
	await pass(1000);
	assert.deepEqual([table.game.moves, table.game.clocks[2]], [['a', 'b'], [62_000, 61_800]]);
});

test('a loaded game is saved with its players and its end, until somebody plays on here', async () => {
	const record = {
		record: 1, game: 'g', rules: {}, start: 's', moves: ['a', 'b'], result: { winner: 'p2', by: 'resignation' },
		players: [{ name: 'ann' }, { name: 'bob' }],
	};
	const table = await seated(new Server(), read(JSON.stringify(record))[0], 'analyse');
	const saved = async () => {
		const { players, result } = JSON.parse(await table.toLine());
		return [players.map(({ name }) => name), result];
	};
	assert.deepEqual(table.outcome, record.result);
	assert.equal(await table.isOver(table.game), true);
	table.goTo(1);
	await settle();
	table.play('x');
	await settle();
	assert.deepEqual(await saved(), [['ann', 'bob'], record.result], 'what is tried in an analysis is not the game');
	table.goTo(1);
	table.setMode('play');
	await settle();
	table.play('x');
	await settle();
	assert.deepEqual(await saved(), [['me', 'me'], null]);
	assert.deepEqual(table.game.root.next[0].next[1].ended, { result: record.result }, 'the end stays with its moves');
});

test('a game that was decided by a referee, not by its rules, can be played on', async () => {
	const record = { record: 1, game: 'g', rules: {}, start: 's', moves: ['a'], result: { winner: null, by: 'max_moves' } };
	const table = await seated(new Server(), read(JSON.stringify(record))[0], 'play');
	assert.equal(table.outcome, null);
	table.seats = { ...people(), p2: { kind: 'engine', options: { level: 2 } } };
	table.resign();
	await settle();
	const { result, forfeit, players } = JSON.parse(await table.toLine());
	assert.deepEqual([result, forfeit], [{ winner: 'p2', by: 'resignation' }, undefined]);
	assert.deepEqual(players, [{ index: 0, name: 'me' }, { index: 1, name: 'default,level=2' }]);
});

test('a move that is tried behind the end of a loaded game is not one of its players', async () => {
	const record = { record: 1, game: 'g', rules: {}, start: 's', moves: ['a'], result: null, players: [{ name: 'ann' }, { name: 'bob' }] };
	const table = await seated(new Server(), read(JSON.stringify(record))[0], 'analyse');
	const names = async () => JSON.parse(await table.toLine()).players.map(({ name }) => name);
	assert.deepEqual(await names(), ['ann', 'bob']);
	table.explore('x');
	await settle();
	assert.deepEqual([table.game.moves, await names()], [['a', 'x'], ['me', 'me']]);
});

test('a hint that is still searched ends with its turn', async () => {
	const server = new Server();
	const table = await seated(server, fresh('g', {}, 's'), 'play');
	table.askHint();
	await settle();
	assert.deepEqual(table.hint, { line: null });
	table.pause(true);
	await settle();
	server.searches[0].end(found(100));
	await settle();
	assert.equal(table.hint, null);
});
