/** A `go` that is sent again, within the same clock, if the server is overloaded. */
import { ServerError } from './errors.js';

/** @typedef {import('./client.js').Fields<'go'>} GoFields */

/** When to ask again if the server does not say. */
const USUAL_RETRY_MS = 100;
/** What the clock must leave then: less is no time for the request, a search and its answer. */
const LEAST_CLOCK_MS = 10;

/**
 * The time that the clock leaves for the move, in ms; without end if there is no such clock.
 * @param {GoFields} fields
 */
function allowedMs({ clock, elapsed_ms: elapsed = 0 }) {
	switch (clock?.kind) {
		case 'per_move': return clock.ms - elapsed;
		case 'increment': return clock.me_ms - elapsed;
		case 'delay': return clock.me_ms + clock.delay_ms - elapsed;
		case 'bank': return clock.turn_ms + clock.bank_ms - elapsed;
		default: return Infinity;
	}
}

export class Retry {
	#began = performance.now();
	#fields;

	/** @param {GoFields} fields */
	constructor(fields) {
		this.#fields = fields;
	}

	/**
	 * How long to wait before the search is asked for again, in ms; null if the error stands.
	 * @param {unknown} error
	 */
	pauseAfter(error) {
		if (!(error instanceof ServerError) || error.code !== 'overloaded') return null;
		if ((this.#fields.mode ?? 'move') !== 'move') return null;
		const pause = Math.max(error.retryMs ?? USUAL_RETRY_MS, 1);
		return this.#hasTime(pause) ? pause : null;
	}

	/** The same search with the time that is spent; null if the pause lasted longer and leaves too little. */
	again() {
		if (!this.#hasTime(0)) return null;
		return { ...this.#fields, elapsed_ms: (this.#fields.elapsed_ms ?? 0) + Math.ceil(this.#spent()) };
	}

	#spent() {
		return performance.now() - this.#began;
	}

	/** @param {number} later */
	#hasTime(later) {
		return this.#spent() + later + LEAST_CLOCK_MS <= allowedMs(this.#fields);
	}
}
