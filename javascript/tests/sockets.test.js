// Tests of the client over sockets and TLS: whom it trusts, and what it says of the others. Those of TLS are
// skipped with a server that has none, unless PLYD_HAS_TLS says that it has.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Engine, ServerError, readAddress } from 'plyd';
import { folder, PLYD, serve as start } from './support.js';

const file = (name) => fileURLToPath(new URL(`../../tests/certificates/${name}`, import.meta.url));
const certificate = (name) => ['--tls-cert', file(`${name}.pem`), '--tls-key', file(`${name}.key`)];

const check = ['serve', '--check', '--tcp', '127.0.0.1:0', ...certificate('server')];
const skip = process.env.PLYD_HAS_TLS !== '1' && String(spawnSync(PLYD, check).stderr).includes('has no TLS');

/** Starts a server of TCP that ends with the test; its port. */
function serve(t, ...flags) {
	return serveBy(t, '--tcp', ...flags);
}

/** The same by one of `--tcp` and `--ws`. */
async function serveBy(t, way, ...flags) {
	return (await start(t, way, '127.0.0.1:0', ...flags)).port;
}

/** Calls a server and asks for a move. */
async function reach(address, options) {
	const engine = new Engine(address, options);
	try {
		return await engine.go({ game: 'l-game', position: {}, limit: { nodes: 100 } });
	} finally {
		await engine.close();
	}
}

/** Sends and gets lines longer than any record of TLS, and of every kind of length that frames have. */
async function long(address) {
	const engine = new Engine(address);
	const question = { game: 'sudoku', rules: { m: 4, n: 4 }, position: {}, want: ['legal'] };
	assert.equal((await engine.request('inspect', question)).legal.length, 16 ** 3);
	for (const size of [100, 1000, 500_000]) {
		const position = { start: 'x'.repeat(size) };
		await assert.rejects(engine.request('inspect', { game: 'isolation', position, want: ['legal'] }), ServerError);
	}
	await engine.close();
}

const at = (port, files = {}, host = '127.0.0.1', way = 'tls') => {
	const options = Object.entries({ ca: 'authority.pem', ...files }).map(([name, of]) => `${name}=${file(of)}`);
	return `${way}://${host}:${port}?${options.join('&')}`;
};

test('addresses are read as other clients read them', () => {
	for (const [text, address] of [
		['plyd', null],
		['/usr/bin/plyd', null],
		['tcp=h:1', { host: 'h', port: 1 }],
		['tcp://[::1]:1/', { host: '::1', port: 1 }],
		['tls=h:1', { host: 'h', port: 1, files: {} }],
		['tls://h:1/?ca=/a/b=c', { host: 'h', port: 1, files: { ca: '/a/b=c' } }],
		['tls://h:1?key=k&ca=a&cert=c', { host: 'h', port: 1, files: { key: 'k', ca: 'a', cert: 'c' } }],
		['ws=h:1', { host: 'h', port: 1, web: true }],
		['ws://[::1]:1/ws', { host: '::1', port: 1, web: true }],
		['wss://h:1/', { host: 'h', port: 1, files: {}, web: true }],
		['wss=h:1/ws?ca=/a/ws', { host: 'h', port: 1, files: { ca: '/a/ws' }, web: true }],
		['unix=/run/plyd', { path: '/run/plyd' }],
	]) {
		assert.deepEqual(readAddress(text), address, text);
	}
	for (const text of [
		'tcp=h', 'tcp=:1', 'tcp=h:x', 'tcp=h:65536', 'tcp=h:1?ca=a', 'tls=h', 'tls://h:1?cert=c', 'tls://h:1?key=k', 'tls://h:1?ca',
		'tls://h:1?ca=', 'tls://h:1?ca=a&ca=b', 'tls://h:1?verify=no', 'wss://h:1/x', 'tcp://h:1/ws', 'ws=h', 'ws=h:1?ca=a', 'unix=',
	]) {
		assert.throws(() => readAddress(text), TypeError, text);
	}
});

test('a server that runs is called over TCP, WebSocket or a Unix socket', async (t) => {
	const path = join(folder(t), 'socket');
	const port = await serve(t, '--unix', path);
	const web = await serveBy(t, '--ws');
	for (const address of [`tcp://127.0.0.1:${port}`, `unix=${path}`, `ws://127.0.0.1:${web}`, `ws=localhost:${web}/ws`]) {
		assert.equal((await reach(address)).type, 'bestmove');
	}
	await long(`ws=127.0.0.1:${web}`);
	await assert.rejects(reach(`ws=127.0.0.1:${port}`), /is WebSocket served there\?/);
	await assert.rejects(reach('tcp=127.0.0.1:1'), (error) => error.name === 'ConnectionLost' && error.cause.code === 'ECONNREFUSED');
});

test('a connection that is lost is opened again, if that is wished', async (t) => {
	const first = await start(t, '--tcp', '127.0.0.1:0');
	const address = `tcp=127.0.0.1:${first.port}`;
	const [lasting, other] = [new Engine(address, { reconnect: true }), new Engine(address)];
	t.after(() => Promise.all([lasting.close(), other.close()]));
	await Promise.all([lasting.opened(), other.opened()]);
	const once = (engine, name) => new Promise((resolve) => {
		engine.addEventListener(name, ({ detail }) => resolve(detail), { once: true });
	});
	const losses = Promise.all([once(lasting, 'lost'), once(other, 'lost')]);
	const search = lasting.analyse({ game: 'isolation', rules: { preset: '11x9' }, position: {} });
	await search.next();
	await first.kill();
	await assert.rejects(search, { name: 'ConnectionLost' });
	const [{ retryMs }, { retryMs: never }] = await losses;
	assert.ok(retryMs > 0 && never === null, `${retryMs} ${never}`);
	await assert.rejects(lasting.request('ping'), { name: 'ConnectionLost', message: 'not connected' });
	await start(t, '--tcp', `127.0.0.1:${first.port}`);
	assert.ok((await lasting.opened()).games.includes('isolation'));
	assert.equal((await lasting.request('ping')).of, 'ping');
	await assert.rejects(other.request('ping'), { name: 'ConnectionLost' });
	await assert.rejects(other.opened(), { name: 'ConnectionLost' });
});

test('a server that refuses hello rejects every request by that', async (t) => {
	const port = await serve(t, '--token-file', file('server.pem'));
	const refused = (code) => (error) => error instanceof ServerError && error.code === code;
	await assert.rejects(reach(`tcp=127.0.0.1:${port}`), refused('auth_required'));
	await assert.rejects(reach(`tcp=127.0.0.1:${port}`, { token: 'open sesame' }), refused('auth_failed'));
});

test('a server over TLS answers whoever trusts its authority', { skip }, async (t) => {
	const port = await serve(t, ...certificate('server'));
	for (const host of ['127.0.0.1', 'localhost']) {
		assert.equal((await reach(at(port, {}, host))).type, 'bestmove');
	}
	await long(at(port));
	const web = await serveBy(t, '--ws', ...certificate('server'));
	for (const host of ['127.0.0.1', 'localhost']) {
		assert.equal((await reach(at(web, {}, host, 'wss'))).type, 'bestmove');
	}
	await long(at(web, {}, '127.0.0.1', 'wss'));
});

test('a certificate that is not good is refused', { skip }, async (t) => {
	for (const [name, words] of [
		['expired', /expired/],
		['elsewhere', /does not match certificate's altnames.*127\.0\.0\.1/],
		['foreign', /\?ca=FILE/],
	]) {
		await assert.rejects(reach(at(await serve(t, ...certificate(name)))), words);
		await assert.rejects(reach(at(await serveBy(t, '--ws', ...certificate(name)), {}, '127.0.0.1', 'wss')), words);
	}
	// Without a file the authorities that Node trusts count, none of which is that of the tests.
	const port = await serve(t, ...certificate('server'));
	await assert.rejects(reach(`tls=127.0.0.1:${port}`), /\?ca=FILE/);
	for (const name of ['nowhere.pem', 'server.key']) {
		await assert.rejects(reach(at(port, { ca: name })), (error) => error.message.includes(name));
	}
});

test('a certificate is shown where it is asked for', { skip }, async (t) => {
	const port = await serve(t, ...certificate('server'), '--tls-client-ca', file('authority.pem'));
	const shown = (name) => at(port, { cert: `${name}.pem`, key: `${name}.key` });
	assert.equal((await reach(shown('client'))).type, 'bestmove');
	await assert.rejects(reach(at(port)), /\?cert=FILE&key=FILE/);
	for (const name of ['foreign-client', 'expired-client']) await assert.rejects(reach(shown(name)), /alert/);
});

test('if only one end speaks TLS, that is said', { skip }, async (t) => {
	await assert.rejects(reach(at(await serve(t))), /is TLS served there\?/);
	await assert.rejects(reach(at(await serveBy(t, '--ws'), {}, '127.0.0.1', 'wss')), /is TLS served there\?/);
	await assert.rejects(reach(`tcp=127.0.0.1:${await serve(t, ...certificate('server'))}`));
	await assert.rejects(reach(`ws=127.0.0.1:${await serveBy(t, '--ws', ...certificate('server'))}`));
	const leaves = createServer((socket) => socket.once('data', () => socket.destroy()));
	await new Promise((resolve) => leaves.listen(0, '127.0.0.1', resolve));
	t.after(() => leaves.close());
	await assert.rejects(reach(at(leaves.address().port)), /is TLS served there\?/);
});
