/**
 * The protocol's client: one WebSocket, a number for each request and a map of those that wait. It knows nothing of games
 * or of the page. It opens by itself and again after each loss, later each time; what was under way then fails with
 * `ConnectionLost`, and the caller asks again after the next `open`.
 *
 * Events: `open` (detail: the result of `hello`), `lost` (detail: {retryMs, reason}), `notice` (detail: the message).
 */

/** An `error` message of the server. */
export class ServerError extends Error {
	constructor(message) {
		super(message.message);
		this.code = message.code;
		this.pointer = message.pointer ?? '';
		this.retryMs = message.retry_ms;
		this.outcome = message.outcome;
	}
}

/** The connection ended before the answer came. */
export class ConnectionLost extends Error {}

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 8000;
/** A peer that is gone without a word is noticed by a ping that has no answer for this long. */
const PING_EVERY_MS = 15_000;
const TIMEOUT_MS = 10_000;
const SILENT = 'the server does not answer';

/** When to ask an overloaded server again, where it does not say. */
const USUAL_RETRY_MS = 100;
/** What the clock must leave then: less is no time for the request, a search and its answer. */
const LEAST_CLOCK_MS = 10;

/** The time that the clock of a `go` leaves for the move, in ms; without end where it has none. */
function allowedMs({ clock, elapsed_ms: elapsed = 0 }) {
	switch (clock?.kind) {
		case 'per_move': return clock.ms - elapsed;
		case 'increment': return clock.me_ms - elapsed;
		case 'delay': return clock.me_ms + clock.delay_ms - elapsed;
		case 'bank': return clock.turn_ms + clock.bank_ms - elapsed;
		default: return Infinity;
	}
}

export class Connection extends EventTarget {
	/** @type {Map<string, {resolve: Function, reject: Function, onInfo?: Function}>} */
	#pending = new Map();
	/** The searches that nobody stopped: an overloaded server is asked for their moves again. */
	#repeatable = new Set();
	#socket = null;
	#count = 0;
	#retryMs = FIRST_RETRY_MS;
	#retryTimer = 0;
	#pingTimer = 0;
	/** The result of `hello` while the connection is open, else null. */
	hello = null;

	constructor(url) {
		super();
		this.url = url;
	}

	get isOpen() {
		return this.hello !== null;
	}

	/** Opens the connection now, unless one is open or opening. */
	connect() {
		if (this.#socket) return;
		clearTimeout(this.#retryTimer);
		const socket = new WebSocket(this.url);
		this.#socket = socket;
		socket.onopen = () => this.#greet(socket);
		socket.onmessage = (event) => this.#receive(event.data);
		socket.onclose = (event) => this.#closed(socket, event.reason);
		setTimeout(() => { if (!this.isOpen) this.#closed(socket, SILENT); }, TIMEOUT_MS);
	}

	/**
	 * Sends a request and waits for its final message.
	 * @param {(info: object) => void} [onInfo]  for the `info` of a `go`
	 */
	request(cmd, fields = {}, onInfo) {
		if (cmd === 'stop') this.#repeatable.delete(fields.target);
		this.#count += 1;
		return this.#send(`q${this.#count}`, cmd, fields, onInfo);
	}

	/**
	 * Sends a `go`, and sends it again, within the same clock, while the server is overloaded, unless it is stopped meanwhile.
	 * The answer keeps the `id` of the first.
	 */
	go(fields, onInfo) {
		const began = performance.now();
		const spent = () => performance.now() - began;
		const hasTime = (later) => spent() + later + LEAST_CLOCK_MS <= allowedMs(fields);
		const first = this.request('go', fields, onInfo);
		const { id } = first;
		this.#repeatable.add(id);
		const retry = async (error) => {
			const pause = Math.max(error.retryMs ?? USUAL_RETRY_MS, 1);
			const isMove = (fields.mode ?? 'move') === 'move';
			if (error.code !== 'overloaded' || !isMove || !hasTime(pause)) throw error;
			if (this.#repeatable.has(id)) await new Promise((resolve) => { setTimeout(resolve, pause); });
			// The pause may have lasted longer.
			if (!this.#repeatable.has(id) || !hasTime(0)) throw error;
			const elapsed_ms = (fields.elapsed_ms ?? 0) + Math.ceil(spent());
			return this.#send(id, 'go', { ...fields, elapsed_ms }, onInfo).catch(retry);
		};
		return Object.assign(first.catch(retry).finally(() => this.#repeatable.delete(id)), { id });
	}

	#send(id, cmd, fields, onInfo) {
		const answer = new Promise((resolve, reject) => {
			if (!this.isOpen && cmd !== 'hello') {
				reject(new ConnectionLost('not connected'));
				return;
			}
			this.#pending.set(id, { resolve, reject, onInfo });
			this.#socket.send(JSON.stringify({ id, cmd, ...fields }));
		});
		return Object.assign(answer, { id });
	}

	async #greet(socket) {
		try {
			const client = { name: 'plyd-gui', version: '1' };
			const hello = await this.request('hello', { protocol: { min: 1, max: 1 }, client, on_eof: 'cancel' });
			this.hello = hello;
			this.#retryMs = FIRST_RETRY_MS;
			this.#pingTimer = setInterval(() => this.#ping(socket), PING_EVERY_MS);
			this.dispatchEvent(new CustomEvent('open', { detail: hello }));
		} catch (error) {
			socket.close();
			if (error instanceof ServerError) this.#closed(socket, error.message);
		}
	}

	async #ping(socket) {
		const timer = setTimeout(() => this.#closed(socket, SILENT), TIMEOUT_MS);
		await this.request('ping').catch(() => {});
		clearTimeout(timer);
	}

	#receive(data) {
		const message = JSON.parse(data);
		if (message.type === 'notice') {
			this.dispatchEvent(new CustomEvent('notice', { detail: message }));
			return;
		}
		const id = message.id ?? message.ref;
		const waiting = this.#pending.get(id);
		if (!waiting) return;
		if (message.type === 'info') {
			waiting.onInfo?.(message);
			return;
		}
		this.#pending.delete(id);
		if (message.type === 'error') waiting.reject(new ServerError(message));
		else waiting.resolve(message);
	}

	#closed(socket, reason) {
		if (socket !== this.#socket) return;
		this.#socket = null;
		this.hello = null;
		clearInterval(this.#pingTimer);
		socket.close();
		const waiting = [...this.#pending.values()];
		this.#pending.clear();
		for (const { reject } of waiting) reject(new ConnectionLost(reason || 'the connection is lost'));
		// A little chance in the delay, so that many pages do not return in one instant.
		const retryMs = Math.round(this.#retryMs * (0.8 + 0.4 * Math.random()));
		this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
		this.#retryTimer = setTimeout(() => this.connect(), retryMs);
		this.dispatchEvent(new CustomEvent('lost', { detail: { retryMs, reason } }));
	}
}
