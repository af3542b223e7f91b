// Tests of the client's frames of WebSocket: as servers send them, and as they should not.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Engine } from 'plyd';

/** A frame of a server. */
function sent(first, payload = '', size = Buffer.byteLength(payload)) {
	const head = Buffer.alloc(size < 126 ? 2 : size < 1 << 16 ? 4 : 10);
	head[0] = first;
	head[1] = size < 126 ? size : size < 1 << 16 ? 126 : 127;
	if (head.length === 4) head.writeUInt16BE(size, 2);
	if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
	return Buffer.concat([head, Buffer.from(payload)]);
}

/** What stands in frames of a client: first byte and payload of each. */
function opened(data) {
	const found = [];
	while (data.length) {
		assert.ok(data[1] & 0x80, 'a client masks');
		let [size, begin] = [data[1] & 0x7f, 2];
		if (size > 125) [size, begin] = size === 126 ? [data.readUInt16BE(2), 4] : [Number(data.readBigUInt64BE(2)), 10];
		const [mask, payload] = [data.subarray(begin, begin + 4), data.subarray(begin + 4, begin + 4 + size)];
		found.push([data[0], payload.map((byte, at) => byte ^ mask[at & 3]).toString()]);
		data = data.subarray(begin + 4 + size);
	}
	return found;
}

function accepted(request) {
	const [, key] = /Sec-WebSocket-Key: (\S+)/.exec(request);
	const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
	return Buffer.from(`HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: ${proof}\r\n\r\n`);
}

/**
 * Serves one client with `opening` of its request and then these bytes, `most` at a time; address and what
 * came.
 */
async function serve(t, bytes, { opening = accepted, most = Infinity, allowHalfOpen = false } = {}) {
	const received = [];
	const listener = createServer({ allowHalfOpen }, (socket) => {
		t.after(() => socket.destroy());
		socket.on('error', () => {});
		socket.once('data', async (request) => {
			socket.on('data', (data) => received.push(data));
			const all = Buffer.concat([opening(request.toString()), bytes]);
			for (let at = 0; at < all.length && !socket.destroyed; at += most) {
				await new Promise((resolve) => socket.write(all.subarray(at, at + most), resolve));
				if (most < Infinity) await new Promise((resolve) => setImmediate(resolve));
			}
		});
	});
	listener.listen(0, '127.0.0.1');
	await once(listener, 'listening');
	t.after(() => listener.close());
	return { address: `ws=127.0.0.1:${listener.address().port}`, received };
}

const HELLO = JSON.stringify({ seq: 1, t_us: 1, type: 'result', id: '1', of: 'hello' });
const pong = (pad) => JSON.stringify({ seq: 2, t_us: 2, type: 'result', id: '2', of: 'ping', pad });

test('lines are found however their frames come', async (t) => {
	const line = Buffer.from(pong('x'.repeat(70_000)));
	const frames = [
		sent(0x81, HELLO), sent(0x01, ''), sent(0x89, 'there?'), sent(0x00, line.subarray(0, 200)),
		sent(0x8a, 'unasked'), sent(0x80, line.subarray(200)), sent(0x88, '\x03\x68'),
	];
	for (const most of [1000, Infinity]) {
		const { address, received } = await serve(t, Buffer.concat(frames), { most });
		const engine = new Engine(address);
		assert.equal((await engine.request('ping')).pad.length, 70_000);
		await engine.close();
		const found = opened(Buffer.concat(received));
		assert.ok(found.some(([first, text]) => first === 0x8a && text === 'there?'), String(found));
		assert.equal(found.at(-1)[0], 0x88);
	}
});

test('a server that closes the WebSocket and keeps the socket is lost', { timeout: 60_000 }, async (t) => {
	const bytes = Buffer.concat([sent(0x81, HELLO), sent(0x88, Buffer.from([3, 0xe9]))]);
	const { address } = await serve(t, bytes, { allowHalfOpen: true });
	const engine = new Engine(address);
	const lost = once(engine, 'lost');
	const asked = [engine.request('ping')];
	await engine.opened();
	asked.push(engine.request('ping'));
	for (const answer of asked) await assert.rejects(answer, { name: 'ConnectionLost' });
	await lost;
	assert.ok(!engine.isOpen);
});

test('frames that break the rules end the connection', async (t) => {
	for (const [name, bytes, words] of [
		['masked', Buffer.from([0x81, 0x82, 0, 0, 0, 0, 65, 65]), /no frame of text/],
		['binary', sent(0x82, 'a'), /no frame of text/],
		['unknown', sent(0x8b), /no frame of text/],
		['compressed', sent(0xc1, 'a'), /no frame of text/],
		['long ping', sent(0x89, 'a'.repeat(126)), /control frame/],
		['ping in parts', sent(0x09, 'a'), /control frame/],
		['end without begin', sent(0x80, 'a'), /mixes parts/],
		['two begins', Buffer.concat([sent(0x01, 'a'), sent(0x81, 'b')]), /mixes parts/],
		['line end', sent(0x81, 'a\nb'), /no line/],
		['too long', sent(0x81, '', 2 ** 40), /too long/],
		['no JSON', sent(0x81, 'a'), /JSON/],
	]) {
		const { address } = await serve(t, bytes);
		await assert.rejects(new Engine(address).request('ping'), words, name);
	}
});

test('a server that opens no WebSocket is not taken for one', async (t) => {
	for (const [answer, words] of [
		['HTTP/1.1 403 Forbidden\r\n\r\n', /403 Forbidden.*is WebSocket served there/],
		['HTTP/1.1 101 x\r\nSec-WebSocket-Accept: x\r\n\r\n', /the key/],
		[`HTTP/1.1 101 x\r\n${'a: b\r\n'.repeat(10_000)}`, /is WebSocket served there/],
		['x'.repeat(20_000), /is WebSocket served there/],
	]) {
		const { address } = await serve(t, Buffer.alloc(0), { opening: () => Buffer.from(answer) });
		await assert.rejects(new Engine(address).request('ping'), words);
	}
});
