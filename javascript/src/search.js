/**
 * A search that runs. It knows no connection: what it reports is handed to it, and its stop is somebody
 * else's.
 */

/**
 * @typedef {import('../protocol/messages.js').BestMove} BestMove
 * @typedef {import('../protocol/messages.js').Info} Info
 * @typedef {import('../protocol/messages.js').StopResult} StopResult
 */

/**
 * A running search: `await` it for the best move, iterate over it for what it reports meanwhile. Leaving the
 * loop stops it, and waits until it has stopped; the best move can be had all the same.
 *
 * Who iterates slowly gets the newest: at most one `info` of each event waits, and `skipped` counts those
 * that it replaced.
 * @implements {PromiseLike<BestMove>}
 * @implements {AsyncIterableIterator<Info, BestMove | undefined>}
 */
export class Search {
	/** @type {Info[]} */
	#waiting = [];
	/** @type {(() => void)[]} */
	#readers = [];
	#isOver = false;
	#isRead = false;
	/** @type {Promise<BestMove>} */
	#best;
	#stop;

	/**
	 * @param {string} id
	 * @param {(take: (info: Info) => void) => Promise<BestMove>} run  begins it
	 * @param {(fields: {discard?: boolean}) => Promise<StopResult>} stop
	 */
	constructor(id, run, stop) {
		/** Its name on this connection, the `target` of an `update`. */
		this.id = id;
		this.#stop = stop;
		this.#best = run((info) => this.#take(info)).finally(() => {
			this.#isOver = true;
			this.#wake();
		});
	}

	/**
	 * Ends it early: it answers the best move so far or, with `discard`, fails with the code `cancelled`.
	 * @param {{discard?: boolean}} [fields]
	 */
	stop(fields = {}) {
		return this.#stop(fields);
	}

	/**
	 * @template [T=BestMove]
	 * @template [E=never]
	 * @param {((best: BestMove) => T | PromiseLike<T>) | null} [resolved]
	 * @param {((error: any) => E | PromiseLike<E>) | null} [rejected]
	 * @returns {Promise<T | E>}
	 */
	then(resolved, rejected) {
		return this.#best.then(resolved, rejected);
	}

	/**
	 * @template [E=never]
	 * @param {((error: any) => E | PromiseLike<E>) | null} [rejected]
	 * @returns {Promise<BestMove | E>}
	 */
	catch(rejected) {
		return this.#best.catch(rejected);
	}

	/** @param {(() => void) | null} [then] */
	finally(then) {
		return this.#best.finally(then);
	}

	[Symbol.asyncIterator]() {
		return this;
	}

	/**
	 * The next report; at the end the best move.
	 * @returns {Promise<IteratorResult<Info, BestMove | undefined>>}
	 */
	async next() {
		this.#read();
		while (!this.#waiting.length && !this.#isOver) {
			await new Promise((/** @type {(value?: undefined) => void} */ resolve) => { this.#readers.push(resolve); });
		}
		const value = this.#waiting.shift();
		return value ? { done: false, value } : { done: true, value: await this.#best };
	}

	/**
	 * Ends the iteration and the search; resolves when it has ended.
	 * @returns {Promise<IteratorResult<Info, BestMove | undefined>>}
	 */
	async return() {
		this.#read();
		// Whatever keeps the stop from being sent ends the search as well.
		if (!this.#isOver) await this.#stop({}).catch(() => {});
		await this.#best.catch(() => {});
		return { done: true, value: undefined };
	}

	/** Who iterates hears of a failure by that: it is not unhandled if it comes while the loop is busy. */
	#read() {
		if (!this.#isRead) this.#best.catch(() => {});
		this.#isRead = true;
	}

	/** @param {Info} info */
	#take(info) {
		const at = this.#waiting.findIndex(({ event }) => event === info.event);
		const [old] = at < 0 ? [] : this.#waiting.splice(at, 1);
		this.#waiting.push(old ? { ...info, skipped: (info.skipped ?? 0) + (old.skipped ?? 0) + 1 } : info);
		this.#wake();
	}

	#wake() {
		for (const wake of this.#readers.splice(0)) wake();
	}
}
