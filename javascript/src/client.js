/**
 * The protocol's client: a number for each request, a map of those that wait, and a connection that may be
 * opened again. It knows nothing of games, nor how lines travel: a `Dial` does.
 */
import { ConnectionLost, ProtocolError, ServerError } from './errors.js';
import { Retry } from './retry.js';
import { Search } from './search.js';

/**
 * @typedef {import('../protocol/requests.js').Request} Request
 * @typedef {import('../protocol/messages.js').Message} Message
 * @typedef {import('../protocol/messages.js').HelloResult} HelloResult
 * @typedef {import('../protocol/messages.js').BestMove} BestMove
 * @typedef {import('../protocol/messages.js').Info} Info
 * @typedef {import('../protocol/messages.js').Notice} Notice
 */

/** @typedef {Request['cmd']} Command */

/**
 * What is sent with a command.
 * @template {Command} C
 * @typedef {Omit<Extract<Request, { cmd: C }>, 'id' | 'cmd'>} Fields
 */

/**
 * What a command is answered by.
 * @template {Command} C
 * @typedef {C extends 'go' ? BestMove : Extract<Message, { type: 'result', of: C }>} Answer
 */

/**
 * One attempt to reach a server, which goes on as a connection.
 * @typedef {object} Transport
 * @property {(line: string) => void} send  what is sent too early waits
 * @property {() => void} end  says that no more requests come
 * @property {() => void} destroy  leaves at once
 */

/**
 * Who listens to a transport.
 * @typedef {object} Listener
 * @property {(line: unknown) => void} line
 * @property {(error?: Error) => void} closed
 */

/** @typedef {(listener: Listener) => Transport} Dial */

/**
 * @typedef {object} ClientOptions
 * @property {string} [token]  for a server that wants one
 * @property {{ name: string, version?: string }} [client]  how this program calls itself in the server's log
 * @property {string[]} [require]  features without which this program cannot work
 * @property {boolean} [reconnect]  whether a lost connection is opened again, and a silent server is noticed
 */

/**
 * The events: the connection is `open`, by the answer to `hello`; it is `lost`, and opened again after
 * `retryMs` unless that is null; the server sent a `notice`.
 * @typedef {object} Events
 * @property {HelloResult | null} open
 * @property {{ error: Error, reason: string, retryMs: number | null }} lost
 * @property {Notice} notice
 */

/**
 * @template T
 */
export class ClientEvent extends Event {
	/**
	 * @param {keyof Events} type
	 * @param {T} detail
	 */
	constructor(type, detail) {
		super(type);
		this.detail = detail;
	}
}

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 8000;
/** A peer that is gone without a word is noticed by a ping that has no answer for this long. */
const PING_EVERY_MS = 15_000;
const TIMEOUT_MS = 10_000;
const SILENT = 'the server does not answer';
const CLOSED = 'the connection is closed';

/**
 * A request without its answer, and the line in which it was sent.
 * @typedef {object} Pending
 * @property {number} line
 * @property {(message: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {(info: Info) => void} [take]
 */

/**
 * One server. Requests that are made while the connection opens wait for it. When it is lost, they fail, and
 * so do later ones, until it is open again.
 */
export class Client extends EventTarget {
	#dial;
	#greeting;
	#reconnects;
	/** @type {Transport | null} */
	#transport = null;
	/** @type {Map<string, Pending>} */
	#pending = new Map();
	/**
	 * The searches that nobody stopped, with their sessions: an overloaded server is asked for their moves
	 * again.
	 * @type {Map<string, string | undefined>}
	 */
	#repeatable = new Map();
	/**
	 * What requests fail with now.
	 * @type {Error | null}
	 */
	#refusal = null;
	/**
	 * Why the server is about to close the connection.
	 * @type {ServerError | null}
	 */
	#fatal = null;
	/**
	 * Those that wait for an open connection.
	 * @type {{ resolve: (hello: HelloResult | null) => void, reject: (error: Error) => void }[]}
	 */
	#openings = [];
	#isOpen = false;
	#isClosed = false;
	/** @type {Promise<void> | undefined} */
	#closing;
	/** @type {() => void} */
	#ended = () => {};
	#requests = 0;
	#lines = 0;
	#retryMs = FIRST_RETRY_MS;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	#retryTimer;
	/** @type {ReturnType<typeof setInterval> | undefined} */
	#pingTimer;
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	#silenceTimer;

	/**
	 * @param {Dial} dial
	 * @param {ClientOptions} [options]
	 */
	constructor(dial, { token, client = { name: 'plyd-javascript' }, require, reconnect = false } = {}) {
		super();
		this.#dial = dial;
		this.#greeting = { protocol: { min: 1, max: 1 }, client, on_eof: 'cancel', token, require };
		this.#reconnects = reconnect;
		/**
		 * What the server said of itself while the connection is open, else null; null, too, for a bot without
		 * `hello`.
		 * @type {HelloResult | null}
		 */
		this.hello = null;
		this.connect();
	}

	get isOpen() {
		return this.#isOpen;
	}

	/** Opens the connection now, unless one is open or opening. */
	connect() {
		if (this.#transport || this.#isClosed) return;
		clearTimeout(this.#retryTimer);
		/** @type {Transport} */
		const transport = this.#dial({
			line: (line) => this.#receive(transport, line),
			closed: (error) => this.#lose(transport, error),
		});
		this.#transport = transport;
		this.#lines = 0;
		this.#fatal = null;
		this.#greet(transport);
		if (this.#reconnects) this.#expect(transport);
	}

	/**
	 * Waits until the connection is open; fails if it cannot be and is not tried again.
	 * @returns {Promise<HelloResult | null>} what the server said of itself
	 */
	opened() {
		return new Promise((resolve, reject) => {
			if (this.#isOpen) resolve(this.hello);
			else if (this.#refusal && (this.#isClosed || !(this.#reconnects || this.#transport))) reject(this.#refusal);
			else this.#openings.push({ resolve, reject });
		});
	}

	/**
	 * Sends a request and waits for its answer.
	 * @template {Command} C
	 * @param {C} cmd
	 * @param {{} extends Fields<C> ? [fields?: Fields<C>] : [fields: Fields<C>]} fields
	 * @returns {Promise<Answer<C>>}
	 */
	request(cmd, ...[fields]) {
		if (cmd === 'stop') this.#giveUp(/** @type {Fields<'stop'>} */ (fields ?? {}));
		return this.#send(this.#nextId(), cmd, fields);
	}

	/**
	 * Searches. While the server is overloaded a search for a move is asked for again, within its clock, unless
	 * it is stopped.
	 * @param {Fields<'go'>} fields
	 */
	go(fields) {
		const id = this.#nextId();
		return new Search(
			id, (take) => this.#search(id, fields, take), (how) => this.request('stop', { target: id, ...how }),
		);
	}

	/**
	 * Searches a position for somebody who watches, until it is stopped, limited or proven.
	 * @param {Omit<Fields<'go'>, 'mode'>} fields
	 */
	analyse(fields) {
		return this.go({ info: { events: ['best', 'progress'] }, ...fields, mode: 'analyse' });
	}

	/** Ends the connection for good, and a server that was started for it; resolves when it has ended. */
	close() {
		this.#closing ??= this.#leave();
		return this.#closing;
	}

	async #leave() {
		this.#isClosed = true;
		clearTimeout(this.#retryTimer);
		this.#refusal ??= new ConnectionLost(CLOSED);
		for (const { reject } of this.#openings.splice(0)) reject(this.#refusal);
		const transport = this.#transport;
		if (!transport) return;
		const ended = new Promise((/** @type {(value?: undefined) => void} */ resolve) => { this.#ended = resolve; });
		transport.end();
		const timer = setTimeout(() => this.#lose(transport, new ConnectionLost(SILENT)), TIMEOUT_MS);
		await ended;
		clearTimeout(timer);
	}

	/**
	 * @template {keyof Events} E
	 * @param {E} type
	 * @param {((event: ClientEvent<Events[E]>) => void) | { handleEvent(event: Event): void } | null} listener
	 * @param {boolean | { once?: boolean, signal?: AbortSignal }} [options]
	 * @override
	 */
	addEventListener(type, listener, options) {
		super.addEventListener(type, /** @type {any} */ (listener), options);
	}

	/**
	 * @template {keyof Events} E
	 * @param {E} type
	 * @param {Events[E]} detail
	 */
	#emit(type, detail) {
		this.dispatchEvent(new ClientEvent(type, detail));
	}

	// Requests

	#nextId() {
		this.#requests += 1;
		return String(this.#requests);
	}

	/**
	 * @param {string} id
	 * @param {Command} cmd
	 * @param {object} [fields]
	 * @param {(info: Info) => void} [take]
	 * @returns {Promise<any>}
	 */
	async #send(id, cmd, fields, take) {
		if (this.#refusal) throw this.#refusal;
		return this.#write(id, cmd, fields, take);
	}

	/**
	 * @param {string} id
	 * @param {Command} cmd
	 * @param {object} [fields]
	 * @param {(info: Info) => void} [take]
	 * @returns {Promise<any>}
	 */
	#write(id, cmd, fields, take) {
		return new Promise((resolve, reject) => {
			const line = JSON.stringify({ id, cmd, ...fields });
			this.#lines += 1;
			this.#pending.set(id, { line: this.#lines, resolve, reject, take });
			this.#transport?.send(line);
		});
	}

	/**
	 * @param {string} id
	 * @param {Fields<'go'>} fields
	 * @param {(info: Info) => void} take
	 * @returns {Promise<BestMove>}
	 */
	async #search(id, fields, take) {
		const retry = new Retry(fields);
		this.#repeatable.set(id, fields.session);
		try {
			for (let again = fields; ;) {
				try {
					return await this.#send(id, 'go', again, take);
				} catch (error) {
					const pause = retry.pauseAfter(error);
					if (pause === null || !this.#repeatable.has(id)) throw error;
					await new Promise((resolve) => { setTimeout(resolve, pause); });
					const next = this.#repeatable.has(id) ? retry.again() : null;
					if (!next) throw error;
					again = next;
				}
			}
		} finally {
			this.#repeatable.delete(id);
		}
	}

	/**
	 * Searches that are stopped are not asked for again.
	 * @param {Fields<'stop'>} fields
	 */
	#giveUp({ all, target, session }) {
		for (const [id, of] of this.#repeatable) {
			if (all || target === id || (session && session === of)) this.#repeatable.delete(id);
		}
	}

	// The connection

	/** @param {Transport} transport */
	async #greet(transport) {
		/** @type {HelloResult | null} */
		let hello = null;
		try {
			hello = await this.#write(this.#nextId(), 'hello', this.#greeting);
		} catch (error) {
			// A bot may know no `hello`, and plays all the same.
			if (!(error instanceof ServerError && error.code === 'unknown_cmd')) {
				this.#lose(transport, /** @type {Error} */ (error));
				return;
			}
		}
		if (transport !== this.#transport || this.#isClosed) return;
		this.hello = hello;
		this.#isOpen = true;
		this.#refusal = null;
		this.#retryMs = FIRST_RETRY_MS;
		clearTimeout(this.#silenceTimer);
		if (this.#reconnects) this.#pingTimer = setInterval(() => this.#ping(transport), PING_EVERY_MS);
		for (const { resolve } of this.#openings.splice(0)) resolve(hello);
		this.#emit('open', hello);
	}

	/** @param {Transport} transport */
	#ping(transport) {
		this.#expect(transport);
		// The ping of a connection that is lost fails, but the timer is then that of the next one.
		const answered = () => {
			if (transport === this.#transport) clearTimeout(this.#silenceTimer);
		};
		this.#send(this.#nextId(), 'ping').then(answered, answered);
	}

	/**
	 * Leaves a server that does not answer in time.
	 * @param {Transport} transport
	 */
	#expect(transport) {
		this.#silenceTimer = setTimeout(() => this.#lose(transport, new ConnectionLost(SILENT)), TIMEOUT_MS);
	}

	/**
	 * @param {Transport} transport
	 * @param {unknown} line
	 */
	#receive(transport, line) {
		if (transport !== this.#transport) return;
		const message = typeof line === 'string' ? read(line) : null;
		if (!message) {
			this.#lose(transport, new ProtocolError(`no JSON message from the server: ${String(line).slice(0, 64)}`));
			return;
		}
		if (message.type === 'notice') {
			this.#emit('notice', message);
			return;
		}
		const id = message.id ?? this.#asked(message.line);
		const pending = this.#pending.get(id);
		if (message.type === 'info') {
			pending?.take?.(message);
			return;
		}
		this.#pending.delete(id);
		if (message.type !== 'error') {
			pending?.resolve(message);
			return;
		}
		const error = new ServerError(message);
		if (message.fatal) this.#fatal = error;
		pending?.reject(error);
	}

	/**
	 * The id of the request in a line that the server could not read.
	 * @param {number} line
	 */
	#asked(line) {
		for (const [id, pending] of this.#pending) if (pending.line === line) return id;
		return '';
	}

	/**
	 * @param {Transport} transport
	 * @param {Error} [why]
	 */
	#lose(transport, why) {
		if (transport !== this.#transport) return;
		this.#transport = null;
		this.#isOpen = false;
		this.hello = null;
		clearInterval(this.#pingTimer);
		clearTimeout(this.#silenceTimer);
		transport.destroy();
		const isExpected = this.#isClosed && !why;
		const reason = (why ?? this.#fatal)?.message ?? (isExpected ? CLOSED : '');
		const error = why ?? new ConnectionLost(reason || 'the connection is lost', { cause: this.#fatal });
		// A little chance in the delay, so that many pages do not return in one instant.
		const retryMs = this.#reconnects && !this.#isClosed ? Math.round(this.#retryMs * (0.8 + 0.4 * Math.random())) : null;
		this.#refusal = retryMs === null ? error : new ConnectionLost('not connected', { cause: error });
		const waiting = [...this.#pending.values()];
		this.#pending.clear();
		for (const { reject } of waiting) reject(error);
		if (retryMs === null) {
			for (const { reject } of this.#openings.splice(0)) reject(error);
		} else {
			this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
			this.#retryTimer = setTimeout(() => this.connect(), retryMs);
		}
		this.#ended();
		if (!this.#isClosed) this.#emit('lost', { error, reason, retryMs });
	}
}

/**
 * A line as a message; null for anything else.
 * @param {string} line
 */
function read(line) {
	try {
		const message = JSON.parse(line);
		return typeof message?.type === 'string' ? message : null;
	} catch {
		return null;
	}
}
