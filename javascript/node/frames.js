/** Frames of WebSocket (RFC 6455, 5.2), as a client sends and reads them. Knows no socket. */
import { randomBytes } from 'node:crypto';
import { ProtocolError } from '../src/errors.js';
import { LONGEST } from './lines.js';

const CONTINUATION = 0;
export const [TEXT, CLOSE, PING, PONG] = [1, 8, 9, 10];
const KINDS = [CONTINUATION, TEXT, CLOSE, PING, PONG];

/**
 * A frame as a client sends it.
 * @param {number} kind
 * @param {Buffer} payload
 */
export function frame(kind, payload) {
	const size = payload.length;
	const head = Buffer.alloc(size < 126 ? 2 : size < 1 << 16 ? 4 : 10);
	head[0] = 0x80 | kind;
	head[1] = 0x80 | (size < 126 ? size : size < 1 << 16 ? 126 : 127);
	if (head.length === 4) head.writeUInt16BE(size, 2);
	if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
	const mask = randomBytes(4);
	const masked = Buffer.alloc(size);
	for (let at = 0; at < size; at += 1) masked[at] = /** @type {number} */ (payload[at]) ^ /** @type {number} */ (mask[at & 3]);
	return Buffer.concat([head, mask, masked]);
}

/** Messages and control frames from the pieces in which a server's bytes come. */
export class FrameReader {
	/**
	 * What has come and is no whole frame yet.
	 * @type {Buffer[]}
	 */
	#pieces = [];
	/**
	 * The parts of a message that is not whole yet.
	 * @type {Buffer[]}
	 */
	#parts = [];
	#size = 0;
	#take;

	/** @param {(kind: number, payload: Buffer) => void} take  gets whole messages as `TEXT` */
	constructor(take) {
		this.#take = take;
	}

	/**
	 * @param {Buffer} piece
	 * @throws {ProtocolError} for a frame against the rules
	 */
	push(piece) {
		this.#pieces.push(piece);
		for (let found = this.#next(); found; found = this.#next()) {
			if (found.kind === TEXT || found.kind === CONTINUATION) this.#join(found);
			else this.#take(found.kind, found.payload);
		}
	}

	/** The next frame that is whole. */
	#next() {
		const have = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
		if (have < 2) return null;
		let [head] = /** @type {[Buffer]} */ (this.#pieces);
		if (head.length < Math.min(have, 10)) {
			head = Buffer.concat(this.#pieces);
			this.#pieces = [head];
		}
		const [first, second] = [head.readUInt8(0), head.readUInt8(1)];
		const [kind, isFinal] = [first & 15, Boolean(first & 0x80)];
		if (first & 0x70 || second & 0x80 || !KINDS.includes(kind)) {
			throw new ProtocolError('the server sends what is no frame of text');
		}
		if (kind >= CLOSE && (second > 125 || !isFinal)) {
			throw new ProtocolError('the server sends a control frame that is long or in parts');
		}
		const begin = second < 126 ? 2 : second === 126 ? 4 : 10;
		if (have < begin) return null;
		const size = second < 126 ? second : second === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
		if (size > LONGEST) throw new ProtocolError('the server sends a message that is too long');
		if (have < begin + size) return null;
		const whole = Buffer.concat(this.#pieces);
		this.#pieces = [whole.subarray(begin + size)];
		return { kind, isFinal, payload: whole.subarray(begin, begin + size) };
	}

	/** @param {{ kind: number, isFinal: boolean, payload: Buffer }} frame */
	#join({ kind, isFinal, payload }) {
		if ((kind === CONTINUATION) !== this.#parts.length > 0) {
			throw new ProtocolError('the server mixes parts of messages up');
		}
		this.#parts.push(payload);
		this.#size += payload.length;
		if (this.#size > LONGEST) throw new ProtocolError('the server sends a message that is too long');
		if (!isFinal) return;
		const message = Buffer.concat(this.#parts);
		[this.#parts, this.#size] = [[], 0];
		if (message.includes(10)) throw new ProtocolError('the server sends a message that is no line');
		this.#take(TEXT, message);
	}
}
