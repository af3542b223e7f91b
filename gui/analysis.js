/**
 * Analysis of the position on the board, for as long as it is there, and of a whole game. It knows nothing of the page.
 * Events: `change`.
 */
import { ConnectionLost } from './plyd/errors.js';
import { isAway } from './questions.js';
import { positionOf } from './record.js';

/** How long until the next try after another search took this one's place, or the server was overloaded. */
const AGAIN_MS = 1500;
/** The most lines when all legal moves are asked for. */
const MOST_LINES = 500;

export class Analysis extends EventTarget {
	/** Identifies what is searched; '' if nothing is, null if that must be determined again. */
	#key = '';
	#timer = 0;
	#running = null;
	#sweep = 0;

	/** @param {(game: string) => boolean} hasExact  whether players of the game have the option `exact` */
	constructor(table, hasExact) {
		super();
		this.table = table;
		this.hasExact = hasExact;
		this.on = false;
		/** Lines that are asked for. */
		this.multipv = 3;
		/** Whether all legal moves are asked for. */
		this.all = false;
		this.resting = false;
		/** What is known of this position: the lines, who is to move, why the search ended. */
		this.lines = [];
		this.stats = null;
		this.player = null;
		this.reason = '';
		/** While a whole game is analysed: [plies done, plies]. */
		this.progress = null;
		table.addEventListener('change', () => this.#follow());
		table.connection.addEventListener('lost', () => { this.#key = null; this.#running = null; });
	}

	turn(on) {
		this.on = on;
		this.#key = null;
		this.#follow();
	}

	ask(lines) {
		this.multipv = lines;
		this.#key = null;
		this.#follow();
	}

	/** Rests while a review needs the engine, or goes on. */
	rest(resting) {
		if (resting === this.resting) return;
		this.resting = resting;
		this.#follow();
	}

	askAll(all) {
		this.all = all;
		this.#key = null;
		this.#follow();
	}

	/** Starts, changes or ends the search as the table demands. */
	#follow() {
		const { table } = this;
		const { node } = table;
		const can = this.on && table.mode === 'analyse' && !this.progress && !this.resting && table.settled && !table.outcome && node.to_move !== 'chance'
			&& table.connection.isOpen;
		const key = can ? JSON.stringify([table.game.game, table.game.rules, table.position, this.multipv, this.all]) : '';
		if (key === this.#key) return;
		this.#key = key;
		clearTimeout(this.#timer);
		this.lines = [];
		this.stats = null;
		this.reason = '';
		this.player = can ? node.to_move : null;
		if (can) this.#search(key);
		else this.#stop();
		this.#emit();
	}

	#stop() {
		const search = this.#running;
		this.#running = null;
		if (search && this.table.connection.isOpen) search.stop({ discard: true }).catch(() => {});
	}

	async #search(key) {
		const { table, player } = this;
		// The table may have moved on to another game or line: results belong to what was searched.
		const { game } = table;
		const { cursor } = game;
		const lines = this.all ? Math.max(1, Math.min(MOST_LINES, table.node.legal.length)) : this.multipv;
		const position = positionOf(game);
		const take = (message) => {
			if (key !== this.#key) return;
			this.lines = message.lines;
			this.stats = message.stats;
			table.note(cursor, player, message.lines[0]?.score, game);
			this.#emit();
		};
		try {
			await table.ensureSession('analysis', {});
			if (key !== this.#key) return;
			const search = table.connection.analyse({
				session: 'analysis', position, multipv: lines, queue: true,
				options: this.all && this.hasExact(game.game) ? { exact: true } : {},
				info: { events: ['best', 'progress'], min_interval_ms: 150 },
			});
			this.#running = search;
			for await (const info of search) take(info);
			const best = await search;
			take(best);
			if (key !== this.#key) return;
			this.reason = best.reason;
			this.#emit();
			if (best.reason === 'superseded') this.#again();
		} catch (error) {
			if (key !== this.#key || error instanceof ConnectionLost || error.code === 'cancelled') return;
			this.reason = error.message;
			this.#emit();
			if (error.code === 'overloaded') this.#again();
		}
	}

	#again() {
		this.#timer = setTimeout(() => {
			this.#key = null;
			this.#follow();
		}, AGAIN_MS);
	}

	/**
	 * Searches each position of the game for some time, the last first, to complete its graph.
	 * @param {number} ms  for each position
	 */
	async wholeGame(ms) {
		const { table } = this;
		const { connection, game } = table;
		this.#sweep += 1;
		const sweep = this.#sweep;
		const total = game.moves.length + 1;
		this.progress = [0, total];
		this.#follow();
		let ply = game.moves.length;
		// Another game may be on the table by now.
		while (ply >= 0 && sweep === this.#sweep && table.game.root === game.root) {
			try {
				if (!connection.isOpen) {
					await connection.opened();
					continue;
				}
				await table.ensureSession('analysis', {});
				const node = await table.inspect(ply, game);
				if (!node.outcome && node.to_move !== 'chance') {
					const best = await connection.go({
						session: 'analysis', position: positionOf(game, ply), clock: { kind: 'per_move', ms }, queue: true,
					});
					if (best.reason === 'shutdown') throw new ConnectionLost('the server ends');
					table.note(ply, node.to_move, best.lines[0]?.score, game);
				}
				if (sweep !== this.#sweep) return;
				this.progress = [total - ply, total];
				ply -= 1;
				this.#emit();
			} catch (error) {
				if (!isAway(error)) {
					this.reason = error.message;
					break;
				}
				// It goes on where it was, once the server is back. One that ends says so before it is gone.
				if (connection.isOpen) await new Promise((resolve) => { connection.addEventListener('lost', resolve, { once: true }); });
			}
		}
		if (sweep === this.#sweep) this.endSweep();
	}

	endSweep() {
		this.#sweep += 1;
		this.progress = null;
		this.#follow();
		this.#emit();
	}

	#emit() {
		this.dispatchEvent(new CustomEvent('change'));
	}
}
