/** The client for browsers, and for whatever else has their `WebSocket`. */
import { Client } from './client.js';
import { ConnectionLost } from './errors.js';

export * from './errors.js';
export { Search } from './search.js';

/** @typedef {import('./client.js').ClientOptions} ClientOptions */

/**
 * A server over WebSocket.
 *
 * ```js
 * const engine = new Engine('ws://127.0.0.1:7118/ws');
 * const best = await engine.go({ game: 'isolation', position: {}, clock: { kind: 'per_move', ms: 100 } });
 * ```
 */
export class Engine extends Client {
	/**
	 * @param {string | URL} url  `ws://` or `wss://`
	 * @param {ClientOptions} [options]
	 */
	constructor(url, options) {
		super((listener) => dial(url, listener), options);
	}
}

/**
 * @param {string | URL} url
 * @param {import('./client.js').Listener} listener
 * @returns {import('./client.js').Transport}
 */
function dial(url, listener) {
	const socket = new WebSocket(url);
	/** @type {string[]} */
	const early = [];
	socket.onopen = () => { for (const line of early) socket.send(line); };
	socket.onmessage = ({ data }) => listener.line(data);
	socket.onclose = ({ reason }) => listener.closed(reason ? new ConnectionLost(reason) : undefined);
	return {
		send(line) {
			if (socket.readyState === WebSocket.CONNECTING) early.push(line);
			else socket.send(line);
		},
		end: () => socket.close(),
		destroy: () => socket.close(),
	};
}
