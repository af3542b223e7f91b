// Tests of the client with a program: `node --test javascript/tests/*.test.js`. PLYD_BIN names the engine.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConnectionLost, Engine, ProtocolError } from 'plyd';
import { GAMES, playGame } from './games.js';
import { answering, folder, PLYD, program } from './support.js';

/** An engine that is closed with the test. */
function open(t, ...where) {
	const engine = new Engine(...where);
	t.after(() => engine.close());
	return engine;
}

/** A position that no search is done with soon. */
const OPEN_ENDED = { game: 'isolation', rules: { preset: '11x9' }, position: {} };
const full = (retryMs = 20) => `{ type: 'error', code: 'overloaded', message: 'busy', retry_ms: ${retryMs}, fatal: false }`;
const isOverloaded = { name: 'ServerError', code: 'overloaded' };

for (const [game, rules] of Object.entries(GAMES)) {
	test(`a whole game of ${game}`, async (t) => {
		const { outcome, moves } = await playGame(open(t), game, rules);
		assert.equal(typeof outcome.by, 'string');
		assert.ok(moves.length >= 2, moves.join());
	});
}

test('many requests at once, each with its own answer', async (t) => {
	const engine = open(t);
	const go = { game: 'isolation', rules: { width: 5, height: 5 }, position: {}, limit: { nodes: 200 } };
	const answers = await Promise.all(Array.from({ length: 8 }, () => engine.request('go', go)));
	assert.ok(answers.every(({ type }) => type === 'bestmove'));
	assert.equal(new Set(answers.map(({ id }) => id)).size, 8);
});

test('a connection that is being opened again is waited for', async (t) => {
	const engine = open(t, [PLYD, 'serve', '--threads', '1']);
	const lost = new Promise((resolve) => { engine.addEventListener('lost', resolve); });
	await engine.request('quit');
	await lost;
	await assert.rejects(engine.opened(), { name: 'ConnectionLost' });
	engine.connect();
	assert.equal((await engine.opened()).of, 'hello');
	// It fails if that attempt fails.
	const gone = open(t, program(t, 'process.exit(3)'));
	await assert.rejects(gone.opened(), { name: 'ConnectionLost' });
	gone.connect();
	await assert.rejects(gone.opened(), { name: 'ConnectionLost' });
});

test('what the server says of itself is there once it is open', async (t) => {
	const engine = open(t, [PLYD, 'serve', '--threads', '1']);
	assert.equal(engine.isOpen, false);
	const hello = await engine.opened();
	assert.ok(engine.isOpen && hello.games.includes('isolation'));
	assert.equal(engine.hello, hello);
	assert.equal(hello.limits.threads, 1);
});

test('a text comes back as it was, whatever separates lines elsewhere', async (t) => {
	const echo = 'a\u2028b\u2029c\r\u0085\u{1f600}';
	assert.equal((await open(t).request('ping', { echo })).echo, echo);
});

test('a warning about a request is no answer to it, but an event', async (t) => {
	const engine = open(t, answering(t, `
		console.log(JSON.stringify({ seq: 1, t_us: 1, type: 'notice', kind: 'warning', id: request.id, message: 'careful' }));
		return { type: 'bestmove', move: 'a1' };
	`));
	const notices = [];
	engine.addEventListener('notice', ({ detail }) => notices.push(detail.message));
	assert.equal((await engine.go({ game: 'isolation', position: {}, limit: { nodes: 1 } })).move, 'a1');
	assert.deepEqual(notices, ['careful']);
});

test('a refused request rejects with the code and the field', async (t) => {
	const engine = open(t);
	const go = { game: 'isolation', position: { moves: ['z9'] }, limit: { nodes: 1 } };
	const refused = { name: 'ServerError', code: 'illegal_move', pointer: '/position/moves/0' };
	await assert.rejects(engine.go(go), refused);
	await assert.rejects(engine.request('go', go), refused);
});

test('a line that the server cannot read is the error of its request', async (t) => {
	const engine = open(t);
	const [lone, long, fine] = await Promise.allSettled([
		engine.request('ping', { echo: '\ud800' }),
		engine.request('inspect', { game: 'isolation', position: { start: 'x'.repeat(1 << 20) } }),
		engine.request('ping', { echo: 'there?' }),
	]);
	assert.deepEqual([lone.reason.code, long.reason.code, fine.value.echo], ['bad_json', 'line_too_long', 'there?']);
});

test('a search is iterated over, and ends with its best move', async (t) => {
	const engine = open(t);
	const search = engine.go({ ...OPEN_ENDED, limit: { depth: 6 }, info: { events: ['started', 'best', 'progress'] } });
	const events = [];
	for await (const info of search) {
		assert.equal(info.id, search.id);
		events.push(info.event);
	}
	assert.equal(events[0], 'started');
	assert.ok(events.includes('progress'), events.join());
	const best = await search;
	assert.equal(best.reason, 'limit');
	// Who comes too late hears that it is over.
	assert.deepEqual(await search.next(), { done: true, value: best });
});

test('leaving the loop stops the search', async (t) => {
	const engine = open(t);
	const search = engine.analyse(OPEN_ENDED);
	for await (const info of search) {
		assert.ok(info.lines.length);
		assert.equal((await engine.request('status')).searches, 1);
		break;
	}
	assert.equal((await engine.request('status')).searches, 0);
	assert.equal((await search).reason, 'stopped');
});

test('stop ends a search, with its best move or without', async (t) => {
	const engine = open(t);
	for (const discard of [false, true]) {
		const search = engine.go({ ...OPEN_ENDED, clock: { kind: 'none' } });
		await search.next();
		assert.deepEqual((await search.stop({ discard })).targets, [search.id]);
		if (discard) await assert.rejects(search, { name: 'ServerError', code: 'cancelled' });
		else assert.equal((await search).reason, 'stopped');
		assert.equal((await engine.request('status')).searches, 0);
		assert.equal((await search.stop()).effect, 'already_finished');
	}
});

test('a search that fails fails its loop, however busy that is', async (t) => {
	const engine = open(t);
	const search = engine.analyse(OPEN_ENDED);
	await assert.rejects(async () => {
		for await (const _ of search) {
			await search.stop({ discard: true });
			// An error that nobody awaits yet would end the process in this turn of its loop.
			await new Promise((resolve) => { setImmediate(resolve); });
		}
	}, { code: 'cancelled' });
});

test('who iterates slowly gets the newest of each event', async (t) => {
	const engine = open(t, answering(t, `
		const info = (event, depth, skipped) => console.log(
			JSON.stringify({ seq: 1, t_us: 1, id: request.id, type: 'info', event, skipped, stats: { depth } }));
		for (let depth = 1; depth <= 100; depth += 1) { info('best', depth); info('progress', depth, 2); }
		return { type: 'bestmove', move: 'a1' };
	`));
	const search = engine.analyse(OPEN_ENDED);
	await search;
	const waiting = [];
	for await (const { event, skipped, stats } of search) waiting.push([event, stats.depth, skipped]);
	assert.deepEqual(waiting, [['best', 100, 99], ['progress', 100, 299]]);
});

test('an overloaded server is asked again within the clock', async (t) => {
	for (const [refusals, ms, isRefused] of [[2, 5000, false], [Infinity, 100, true], [1, 10, true]]) {
		const engine = open(t, answering(t, `
			answer.before = (answer.before ?? 0) + 1;
			return answer.before <= ${refusals} ? ${full()} : { type: 'bestmove', move: String(request.elapsed_ms) };
		`));
		const answer = engine.go({ game: 'isolation', position: {}, clock: { kind: 'per_move', ms } });
		if (isRefused) await assert.rejects(answer, { ...isOverloaded, retryMs: 20 });
		else assert.ok(Number((await answer).move) >= 40);
	}
});

test('an overloaded server is asked again only if the clock leaves 10 ms then', async (t) => {
	// The time stands still but for the pauses, which last `late` ms too long.
	for (const [ms, late, isAsked] of [[30, 0, true], [29, 0, false], [35, 5, true], [35, 6, false]]) {
		let now = 0;
		const engine = open(t, answering(t, `
			answer.before = (answer.before ?? 0) + 1;
			return answer.before <= 1 ? ${full()} : { type: 'bestmove', move: String(request.elapsed_ms) };
		`));
		await engine.request('ping');
		t.mock.method(performance, 'now', () => now);
		t.mock.method(globalThis, 'setTimeout', (then, pause) => { now += pause + late; setImmediate(then); });
		const answer = engine.go({ game: 'isolation', position: {}, clock: { kind: 'per_move', ms } });
		if (isAsked) assert.equal((await answer).move, String(20 + late), `${ms} ms`);
		else await assert.rejects(answer, isOverloaded, `${ms} ms`);
		t.mock.restoreAll();
	}
});

test('an analysis is not asked for again, nor is a search that is stopped', async (t) => {
	const refusing = () => open(t, answering(t, `return ${full(500)};`));
	await assert.rejects(refusing().analyse(OPEN_ENDED), isOverloaded);
	const ways = [(search) => ({ target: search.id }), () => ({ all: true }), () => ({ session: 's' })];
	for (const isLater of [false, true]) {
		for (const fields of ways) {
			const engine = refusing();
			const search = engine.go({ session: 's', position: {}, clock: { kind: 'per_move', ms: 5000 } });
			const refused = assert.rejects(search, isOverloaded);
			// Before its refusal is read, or during the pause: the answer to `ping` comes behind the refusal.
			if (isLater) await engine.request('ping');
			await engine.request('stop', fields(search));
			await refused;
		}
	}
});

test('a bot that knows no more than `go` plays', async (t) => {
	const engine = open(t, program(t, `
		require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
			const { id, cmd } = JSON.parse(line);
			const best = { id, type: 'bestmove', move: 'f5' };
			console.log(JSON.stringify(cmd === 'go' ? best : { id, type: 'error', code: 'unknown_cmd' }));
		});
	`));
	assert.equal(await engine.opened(), null);
	assert.equal((await engine.go({ ...OPEN_ENDED, limit: { nodes: 1 } })).move, 'f5');
});

test('a server that talks nonsense is left', async (t) => {
	for (const said of ['"nonsense"', '"[]"', '"null"', '"7"', '"{\\"type\\":1}"', '"a".repeat(1 << 20)']) {
		// It says it for as long as it is let, and ignores its end.
		const engine = open(t, program(t, `
			process.on('SIGTERM', () => {});
			const line = ${said}, end = line.length < 100 ? '\\n' : '';
			(function say() { process.stdout.write(line + end, say); })();
		`));
		await assert.rejects(engine.request('ping'), ProtocolError, said);
		await assert.rejects(engine.opened(), ProtocolError, said);
	}
});

test('answers that nobody asked for change nothing', async (t) => {
	const engine = open(t, answering(t, `
		for (const id of ['0', '99', null, 7, {}]) {
			for (const type of ['bestmove', 'info', 'result', 'error', 'later']) {
				console.log(JSON.stringify({ seq: 1, t_us: 1, id, type, line: 0, of: 'go', code: 'internal', message: '' }));
			}
		}
		return { type: 'bestmove', move: 'a1' };
	`));
	assert.equal((await engine.go({ ...OPEN_ENDED, limit: { nodes: 1 } })).move, 'a1');
});

test('a server that is killed rejects what waits and what comes later', async (t) => {
	const pid = `${folder(t)}/pid`;
	const engine = open(t, program(t, `echo $$ > ${pid}; exec "${PLYD}"`, '/bin/sh'));
	const losses = [];
	engine.addEventListener('lost', ({ detail }) => losses.push(detail));
	const search = engine.analyse(OPEN_ENDED);
	await search.next();
	const asked = search.next();
	process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
	const isKilled = { name: 'ConnectionLost', message: /by SIGKILL/ };
	await assert.rejects(async () => { for (let at = await asked; !at.done;) at = await search.next(); }, isKilled);
	await assert.rejects(search, isKilled);
	await assert.rejects(engine.request('ping'), isKilled);
	assert.deepEqual(losses.map(({ retryMs }) => retryMs), [null]);
	assert.deepEqual(await search.return(), { done: true, value: undefined });
});

test('a server that ends rejects, and so does one that is not there', async (t) => {
	await assert.rejects(open(t, 'false').request('ping'), { name: 'ConnectionLost', message: /exit code 1/ });
	const absent = open(t, '/nonexistent/plyd');
	await assert.rejects(absent.request('ping'), (error) => error instanceof ConnectionLost && error.cause.code === 'ENOENT');
	await assert.rejects(absent.opened(), ConnectionLost);
});

test('an engine that is closed takes no more requests, and its program has ended', async (t) => {
	const ended = `${folder(t)}/ended`;
	const engine = open(t, program(t, `"${PLYD}"; echo $? > ${ended}`, '/bin/sh'));
	let losses = 0;
	engine.addEventListener('lost', () => { losses += 1; });
	const search = engine.analyse(OPEN_ENDED);
	await search.next();
	const cancelled = assert.rejects(search, { code: 'cancelled' });
	await Promise.all([engine.close(), engine.close()]);
	await cancelled;
	assert.ok(existsSync(ended));
	assert.equal(readFileSync(ended, 'utf8'), '0\n');
	await assert.rejects(engine.request('ping'), { name: 'ConnectionLost' });
	await assert.rejects(engine.opened(), ConnectionLost);
	await engine.close();
	assert.equal(losses, 0);
});

test('a program that does not end is killed when it is closed', async (t) => {
	const pid = `${folder(t)}/pid`;
	const engine = open(t, program(t, `
		require('node:fs').writeFileSync('${pid}', String(process.pid));
		process.on('SIGTERM', () => {});
		setInterval(() => {}, 1000);
		require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
			console.log(JSON.stringify({ type: 'result', of: 'hello', id: JSON.parse(line).id }));
		});
	`));
	await engine.opened();
	t.mock.method(globalThis, 'setTimeout', (then) => setImmediate(then));
	await engine.close();
	t.mock.restoreAll();
	const isThere = () => {
		try {
			return process.kill(Number(readFileSync(pid, 'utf8')), 0);
		} catch {
			return false;
		}
	};
	while (isThere()) await new Promise((resolve) => { setTimeout(resolve, 5); });
});
