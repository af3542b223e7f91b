/** Lines from the pieces in which a stream of bytes comes. */
import { ProtocolError } from '../src/errors.js';

/** The longest line or message that is taken from a server, in bytes; descriptions with schemas are long. */
export const LONGEST = 1 << 26;

export class LineReader {
	/** @type {Buffer[]} */
	#pieces = [];
	#size = 0;
	#take;

	/** @param {(line: string) => void} take */
	constructor(take) {
		this.#take = take;
	}

	/**
	 * @param {Buffer} piece
	 * @throws {ProtocolError} if a line is too long
	 */
	push(piece) {
		let from = 0;
		for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
			this.#keep(piece.subarray(from, end));
			const line = Buffer.concat(this.#pieces).toString();
			[this.#pieces, this.#size, from] = [[], 0, end + 1];
			this.#take(line);
		}
		if (from < piece.length) this.#keep(piece.subarray(from));
	}

	/** @param {Buffer} piece */
	#keep(piece) {
		this.#size += piece.length;
		if (this.#size > LONGEST) throw new ProtocolError('the server sends a line that is too long');
		this.#pieces.push(piece);
	}
}
