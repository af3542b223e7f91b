import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Connection } from '../connection.js';

// The page's long timers, such as that of its pings, must not keep the test alive.
for (const name of ['setTimeout', 'setInterval']) {
	const real = globalThis[name];
	globalThis[name] = (then, ms) => {
		const timer = real(then, ms);
		if (ms > 5000) timer.unref();
		return timer;
	};
}

/** A server that greets, and to a `go` answers what `answer` makes of it and of the number of those before. */
function serve(answer) {
	const asked = [];
	globalThis.WebSocket = class {
		constructor() { queueMicrotask(() => this.onopen()); }

		send(text) {
			const request = JSON.parse(text);
			const { id, cmd } = request;
			let message = { type: 'result', of: cmd };
			if (cmd === 'go') {
				message = answer(request, asked.length);
				asked.push(request);
			}
			queueMicrotask(() => this.onmessage({ data: JSON.stringify({ id, ...message }) }));
		}

		close() {}
	};
	return asked;
}

async function connected() {
	const connection = new Connection('ws://localhost/ws');
	const open = new Promise((resolve) => { connection.addEventListener('open', resolve); });
	connection.connect();
	await open;
	return connection;
}

const full = { type: 'error', code: 'overloaded', message: 'busy', retry_ms: 20 };
const perMove = (ms) => ({ clock: { kind: 'per_move', ms } });

test('an overloaded server is asked again within the clock', async () => {
	const asked = serve((request, before) => (before < 2 ? full : { type: 'bestmove', move: 'a1' }));
	const connection = await connected();
	const request = connection.go(perMove(5000));
	assert.equal((await request).move, 'a1');
	assert.deepEqual(asked.map(({ id }) => id), Array(3).fill(request.id));
	assert.ok(asked[1].elapsed_ms >= 20 && asked[2].elapsed_ms >= 40, JSON.stringify(asked));
});

test('an overloaded server is asked again only if the clock leaves 10 ms then', async (t) => {
	// The time stands still but for the pauses, which last `late` ms too long.
	for (const [ms, late, expected] of [[30, 0, [0, 20]], [29, 0, [0]], [35, 5, [0, 25]], [35, 6, [0]]]) {
		let now = 0;
		const asked = serve((request, before) => (before < 1 ? full : { type: 'bestmove', move: 'a1' }));
		const connection = await connected();
		t.mock.method(performance, 'now', () => now);
		t.mock.method(globalThis, 'setTimeout', (then, pause) => { now += pause + late; queueMicrotask(then); });
		const request = connection.go(perMove(ms));
		if (expected.length === 1) await assert.rejects(request, { code: 'overloaded' }, `${ms} ms`);
		else await request;
		assert.deepEqual(asked.map(({ elapsed_ms = 0 }) => elapsed_ms), expected, `${ms} ms`);
		t.mock.restoreAll();
	}
});

test('nobody is asked again once the clock is over, nor for an analysis, nor after a stop', async () => {
	for (const [fields, most] of [[perMove(50), 3], [perMove(-1), 1], [{ mode: 'analyse' }, 1]]) {
		const asked = serve(() => full);
		const connection = await connected();
		await assert.rejects(connection.go(fields), { code: 'overloaded', retryMs: 20 });
		assert.ok(asked.length <= most, `${asked.length} of ${most}`);
	}
	// The stop comes while the refusal is on its way, or during the pause.
	for (const later of [(then) => then(), (then) => setTimeout(then, 1)]) {
		const asked = serve(() => ({ ...full, retry_ms: 500 }));
		const connection = await connected();
		const request = connection.go(perMove(5000));
		const refused = assert.rejects(request, { code: 'overloaded' });
		later(() => connection.request('stop', { target: request.id }));
		await refused;
		assert.equal(asked.length, 1);
	}
});
