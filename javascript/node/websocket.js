/**
 * Lines over WebSocket on a socket of Node: unlike the global `WebSocket`, which Node has from version 22 on,
 * with the certificates of an address.
 */
import { createHash, randomBytes } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { ConnectionLost } from '../src/errors.js';
import { CLOSE, FrameReader, PING, PONG, TEXT, frame } from './frames.js';
import { guarded, lost } from './sockets.js';

/** The longest answer to the request for a WebSocket. */
const LONGEST_HEAD = 1 << 14;
/** How long a server may leave the socket open when both sides have said that they close. */
const CLOSING_MS = 2000;
const NORMAL = Buffer.from([3, 232]);

/** @typedef {import('node:net').Socket} Socket */

/** One connection; it is a `Transport`. */
export class WebSocketLines {
	#socket;
	#listener;
	#key = randomBytes(16).toString('base64');
	/**
	 * What is sent before the server has answered waits; null afterwards.
	 * @type {string[] | null}
	 */
	#early = [];
	/**
	 * What has come of the server's answer.
	 * @type {Buffer}
	 */
	#head = Buffer.alloc(0);
	#frames = new FrameReader((kind, payload) => this.#heed(kind, payload));

	/**
	 * @param {Socket} socket
	 * @param {string} host  with the port, as in `Host`
	 * @param {import('../src/client.js').Listener} listener
	 */
	constructor(socket, host, listener) {
		this.#socket = socket;
		this.#listener = listener;
		socket.on(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => socket.write(
			`GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
				+ `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${this.#key}\r\n\r\n`,
		));
		socket.on('data', guarded(socket, (data) => this.#receive(data)));
		socket.on('error', (error) => listener.closed(lost(error)));
		socket.on('close', () => listener.closed(
			this.#early ? new ConnectionLost('it closes instead of opening a WebSocket; is WebSocket served there?') : undefined,
		));
	}

	/** @param {string} line */
	send(line) {
		if (this.#early) this.#early.push(line);
		else if (!this.#socket.writableEnded) this.#socket.write(frame(TEXT, Buffer.from(line)));
	}

	end() {
		if (this.#early) this.#socket.end();
		else this.#leave(NORMAL);
	}

	destroy() {
		this.#socket.destroy();
	}

	/** @param {Buffer} status */
	#leave(status) {
		if (!this.#socket.writableEnded) this.#socket.end(frame(CLOSE, status));
	}

	/** @param {Buffer} data */
	#receive(data) {
		if (!this.#early) {
			this.#frames.push(data);
			return;
		}
		this.#head = Buffer.concat([this.#head, data]);
		const end = this.#head.indexOf('\r\n\r\n');
		if (end < 0 && this.#head.length < LONGEST_HEAD) return;
		this.#accept(this.#head.toString('latin1', 0, Math.max(end, 0)));
		const early = this.#early;
		this.#early = null;
		for (const line of early) this.send(line);
		this.#frames.push(this.#head.subarray(end + 4));
	}

	/**
	 * Reads the answer to the request for a WebSocket.
	 * @param {string} head
	 */
	#accept(head) {
		const [status, ...fields] = head.split('\r\n');
		if (!status?.startsWith('HTTP/1.1 101')) {
			const said = JSON.stringify((status || this.#head.toString('latin1')).slice(0, 64));
			throw new ConnectionLost(`it answers ${said}; is WebSocket served there?`);
		}
		const proof = createHash('sha1').update(`${this.#key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
		if (!fields.some((field) => /^sec-websocket-accept:\s*(\S*)\s*$/i.exec(field)?.[1] === proof)) {
			throw new ConnectionLost('it does not accept the key that it was sent');
		}
	}

	/**
	 * @param {number} kind
	 * @param {Buffer} payload
	 */
	#heed(kind, payload) {
		if (kind === TEXT) this.#listener.line(payload.toString());
		else if (kind === CLOSE) {
			this.#leave(payload.subarray(0, 2));
			// Nothing can be asked any more, so who waits learns it even if the server keeps the socket.
			setTimeout(() => this.#socket.destroy(), CLOSING_MS).unref();
		} else if (kind === PING && !this.#socket.writableEnded) this.#socket.write(frame(PONG, payload));
	}
}
