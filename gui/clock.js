/**
 * The clocks of a game: what each side has left, and the clock that a `go` carries. It reads no clock itself: callers pass the
 * time, so that a lost connection or a closed page costs nobody time.
 *
 * @typedef {{kind: 'per_move', ms: number} | {kind: 'increment', base_ms: number, inc_ms: number} | {kind: 'anytime'}
 *   | {kind: 'none'} | {kind: 'depth', depth: number} | {kind: 'nodes', nodes: number}} Config
 */
import { other } from './words.js';

/** The kinds by name, with what the fields mean; `unit` converts the number shown to the field's own unit. */
export const KINDS = [
	{
		kind: 'per_move',
		label: 'Fixed time per move',
		fields: [{ name: 'ms', label: 'Seconds per move', unit: 1000, min: 0.01, value: 1000 }],
	},
	{
		kind: 'increment',
		label: 'Game clock',
		fields: [
			{ name: 'base_ms', label: 'Minutes', unit: 60_000, min: 0.05, value: 180_000 },
			{ name: 'inc_ms', label: 'Seconds added per move', unit: 1000, min: 0, value: 2000 },
		],
	},
	{ kind: 'anytime', label: 'Until “Move now”', fields: [] },
	{ kind: 'none', label: 'Until the result is proven, or “Move now”', fields: [] },
	{ kind: 'depth', label: 'Fixed depth', fields: [{ name: 'depth', label: 'Plies', unit: 1, min: 1, value: 6 }] },
	{ kind: 'nodes', label: 'Fixed number of nodes', fields: [{ name: 'nodes', label: 'Nodes', unit: 1, min: 1, value: 10_000 }] },
];

/** @type {Config} */
export const DEFAULT = { kind: 'per_move', ms: 1000 };

export class Clock {
	constructor(config = DEFAULT) {
		this.config = config;
		this.reset();
	}

	/** Whether there is a time for the game to be shown. */
	get counts() {
		return this.config.kind === 'increment';
	}

	/** @param {[number, number]} [left]  what each has left, in ms; absent: the base */
	reset(left) {
		const base = this.config.kind === 'increment' ? this.config.base_ms : 0;
		this.left = left ? [...left] : [base, base];
		this.began = [...this.left];
		this.running = null;
		this.since = 0;
	}

	/** Whether time was spent since `reset`. */
	get isSpent() {
		return this.counts && this.left.some((ms, index) => ms !== this.began[index]);
	}

	start(player, now) {
		if (this.running === player) return;
		this.running = player;
		this.since = now;
	}

	/** Stops the clock without a move: the time that ran is spent. */
	pause(now) {
		if (this.running) this.left = [this.shown('p1', now), this.shown('p2', now)];
		this.running = null;
	}

	/** The one whose clock runs has moved. */
	press(now) {
		const player = this.running;
		this.pause(now);
		if (player) this.add(player);
	}

	/** Gives a player what a move brings. */
	add(player) {
		if (this.counts) this.left[player === 'p1' ? 0 : 1] += this.config.inc_ms;
	}

	/** What a player has left. */
	shown(player, now) {
		const left = this.left[player === 'p1' ? 0 : 1];
		return this.running === player && this.counts ? left - (now - this.since) : left;
	}

	/** The fields of a `go` of that player. */
	goFields(player, now) {
		const { config } = this;
		switch (config.kind) {
			case 'increment': {
				const ms = (who) => Math.floor(this.shown(who, now));
				return { clock: { kind: 'increment', me_ms: ms(player), opp_ms: ms(other(player)), inc_ms: config.inc_ms } };
			}
			case 'per_move': return { clock: { kind: 'per_move', ms: config.ms } };
			case 'anytime': return { clock: { kind: 'anytime' } };
			case 'depth': return { limit: { depth: config.depth } };
			case 'nodes': return { limit: { nodes: config.nodes } };
			default: return { clock: { kind: 'none' } };
		}
	}
}
