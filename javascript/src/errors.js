/** The errors of this package. Whatever else it throws is a `TypeError` about an argument. */

/** The server refused a request. */
export class ServerError extends Error {
	name = 'ServerError';

	/** @param {import('../protocol/messages.js').ErrorMessage} message */
	constructor(message) {
		super(message.message ?? message.code);
		/** Why, in one of the specification's words. */
		this.code = message.code;
		/** The field at fault, a JSON pointer; empty where it is none. */
		this.pointer = message.pointer ?? '';
		/** When to try again, in ms, if the server says. */
		this.retryMs = message.retry_ms;
		/** How the game ended, with the code `game_over`. */
		this.outcome = message.outcome;
	}
}

/**
 * The connection ended before the answer came, or there is none; `cause` is what ended it, if that is known.
 */
export class ConnectionLost extends Error {
	name = 'ConnectionLost';
}

/** The server sent what is no message; the connection to it is closed. */
export class ProtocolError extends Error {
	name = 'ProtocolError';
}
