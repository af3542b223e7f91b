/** The client for Node: it starts a program, or calls a server over a socket. */
import { Client } from '../src/client.js';
import { readAddress } from './address.js';
import { start } from './program.js';
import { connect, credentials, linesOver } from './sockets.js';
import { WebSocketLines } from './websocket.js';

export * from '../src/errors.js';
export { Search } from '../src/search.js';
export { readAddress };

/** @typedef {import('../src/client.js').ClientOptions} ClientOptions */

/**
 * A server, started or called.
 *
 * ```js
 * const engine = new Engine();
 * const best = await engine.go({ game: 'isolation', position: {}, clock: { kind: 'per_move', ms: 100 } });
 * await engine.close();
 * ```
 */
export class Engine extends Client {
	/**
	 * @param {string | string[]} [where]  an address as `readAddress` takes it; or a program, with its
	 *     parameters in an array. Without it the program that PLYD_BIN names, or `plyd` on the PATH.
	 * @param {ClientOptions} [options]
	 * @throws for an address that is none, and for its files
	 */
	constructor(where = process.env.PLYD_BIN ?? 'plyd', options = {}) {
		super(dialOf(where), options);
	}
}

/**
 * @param {string | string[]} where
 * @returns {import('../src/client.js').Dial}
 */
function dialOf(where) {
	const address = typeof where === 'string' ? readAddress(where) : null;
	if (!address) return (listener) => start([where].flat(), listener);
	const secure = credentials(address);
	if (address.host === undefined || !address.web) return (listener) => linesOver(connect(address, secure), listener);
	const { host, port } = address;
	const name = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
	return (listener) => new WebSocketLines(connect(address, secure), name, listener);
}
