// Tests of the client for browsers: with Node's own WebSocket, and with one that does as it is told.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Engine } from 'plyd/web';
import { serve } from './support.js';

/** Node has it from version 22 on, and version 20 by a flag. */
const FLAG = '--experimental-websocket';
const flags = 'WebSocket' in globalThis ? [] : [FLAG];
const skip = flags.length && !process.allowedNodeEnvironmentFlags.has(FLAG) ? 'this Node has no WebSocket' : false;

test("Node's WebSocket does", { skip }, async (t) => {
	const { port } = await serve(t, '--ws', '127.0.0.1:0');
	const program = fileURLToPath(new URL('programs/web.js', import.meta.url));
	const child = spawn(process.execPath, [...flags, program, `ws://127.0.0.1:${port}/ws`], { stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = new Promise((resolve) => { child.on('close', resolve); });
	let said = '';
	for await (const data of child.stdout) said += data;
	assert.equal(await ended, 0);
	assert.match(said, /^isolation: .*\ncolosseum: .*\nsudoku: .*\nijk: .*\nl-game: .*\nbest\nsearches: 0\n$/);
});

/** Puts a WebSocket and timers that the test moves in the place of the real ones. */
function stage(t) {
	const sockets = [];
	const timers = [];
	class Socket {
		static CONNECTING = 0;
		readyState = 0;
		sent = [];

		constructor(url) {
			this.url = url;
			sockets.push(this);
		}

		send(line) {
			this.sent.push(JSON.parse(line));
		}

		close() {
			this.readyState = 3;
		}

		/** The server is there, and greets. */
		async open() {
			this.readyState = 1;
			this.onopen();
			await this.say({ type: 'result', of: 'hello', id: this.sent[0].id });
		}

		async say(message) {
			this.onmessage({ data: typeof message === 'string' ? message : JSON.stringify(message) });
			await new Promise((resolve) => { setImmediate(resolve); });
		}
	}
	const real = globalThis.WebSocket;
	globalThis.WebSocket = Socket;
	t.after(() => { globalThis.WebSocket = real; });
	for (const name of ['setTimeout', 'setInterval']) {
		t.mock.method(globalThis, name, (then, ms) => {
			const timer = { then, ms };
			timers.push(timer);
			return timer;
		});
	}
	for (const name of ['clearTimeout', 'clearInterval']) {
		t.mock.method(globalThis, name, (timer) => {
			if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
		});
	}
	/** Lets the one timer of about so many ms come due. */
	const pass = (least, most = least) => {
		const due = timers.filter(({ ms }) => ms >= least && ms <= most);
		assert.equal(due.length, 1, JSON.stringify(timers));
		if (due[0].ms < 15_000) timers.splice(timers.indexOf(due[0]), 1);
		due[0].then();
	};
	return { sockets, timers, pass };
}

test('what is sent early waits for the socket, behind hello', async (t) => {
	const { sockets } = stage(t);
	const engine = new Engine('ws://localhost/ws', { token: 'open sesame', client: { name: 'a page' } });
	const ping = engine.request('ping');
	const [socket] = sockets;
	assert.deepEqual(socket.sent, []);
	await socket.open();
	assert.deepEqual(socket.sent.map(({ cmd }) => cmd), ['hello', 'ping']);
	assert.deepEqual([socket.sent[0].token, socket.sent[0].client.name], ['open sesame', 'a page']);
	await socket.say({ type: 'result', of: 'ping', id: socket.sent[1].id });
	assert.equal((await ping).of, 'ping');
});

test('a connection is tried again, later each time, and sooner once it was there', async (t) => {
	const { sockets, pass } = stage(t);
	const engine = new Engine('ws://localhost/ws', { reconnect: true });
	const losses = [];
	engine.addEventListener('lost', ({ detail }) => losses.push(detail));
	for (const base of [250, 500, 1000, 2000, 4000, 8000, 8000]) {
		sockets.at(-1).onclose({ reason: 'no' });
		await assert.rejects(engine.request('ping'), { name: 'ConnectionLost', message: 'not connected' });
		assert.equal(losses.at(-1).reason, 'no');
		pass(0.8 * base - 1, 1.2 * base + 1);
	}
	await sockets.at(-1).open();
	assert.ok(engine.isOpen);
	const ping = engine.request('ping');
	sockets.at(-1).onclose({ reason: '' });
	await assert.rejects(ping, { name: 'ConnectionLost', message: 'the connection is lost' });
	assert.deepEqual([engine.isOpen, engine.hello, losses.at(-1).reason], [false, null, '']);
	// Somebody does not want to wait.
	const before = sockets.length;
	engine.connect();
	engine.connect();
	assert.equal(sockets.length, before + 1);
	await sockets.at(-1).open();
	assert.ok(engine.isOpen);
});

test('a server that falls silent is noticed where its connection follows one that was lost with a ping in flight', async (t) => {
	const { sockets, pass } = stage(t);
	const engine = new Engine('ws://localhost/ws', { reconnect: true });
	let losses = 0;
	engine.addEventListener('lost', () => {
		losses += 1;
		if (losses === 1) engine.connect();
	});
	await sockets[0].open();
	pass(15_000);
	sockets[0].onclose({ reason: '' });
	await new Promise((resolve) => { setImmediate(resolve); });
	assert.deepEqual([losses, sockets.length], [1, 2]);
	pass(10_000);
	assert.deepEqual([losses, sockets[1].readyState], [2, 3]);
});

test('a server that falls silent is noticed, at the start and later', async (t) => {
	const { sockets, timers, pass } = stage(t);
	const engine = new Engine('ws://localhost/ws', { reconnect: true });
	const reasons = [];
	engine.addEventListener('lost', ({ detail }) => reasons.push(detail.reason));
	pass(10_000);
	assert.deepEqual([reasons, sockets[0].readyState], [['the server does not answer'], 3]);
	engine.connect();
	await sockets[1].open();
	// A ping that is answered, and one that is not.
	pass(15_000);
	await sockets[1].say({ type: 'result', of: 'ping', id: sockets[1].sent.at(-1).id });
	assert.ok(!timers.some(({ ms }) => ms === 10_000));
	pass(15_000);
	pass(10_000);
	assert.deepEqual([reasons.length, sockets[1].readyState, engine.isOpen], [2, 3, false]);
	// What the old socket says now is nobody's.
	await sockets[1].say('nonsense');
	assert.equal(reasons.length, 2);
});

test('a server that says why it leaves, or talks nonsense, is quoted', async (t) => {
	const { sockets } = stage(t);
	const engine = new Engine('ws://localhost/ws');
	await sockets[0].open();
	await sockets[0].say({ type: 'error', id: null, line: 0, code: 'timed_out', message: 'it was idle', fatal: true });
	sockets[0].onclose({ reason: '' });
	await assert.rejects(engine.request('ping'), (error) => error.message === 'it was idle' && error.cause.code === 'timed_out');
	const other = new Engine('ws://localhost/ws');
	await sockets[1].open();
	await sockets[1].say('<html>');
	await assert.rejects(other.request('ping'), { name: 'ProtocolError', message: /<html>/ });
	assert.equal(sockets[1].readyState, 3);
});
