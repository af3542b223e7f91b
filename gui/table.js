/**
 * The table at which a game is played: the game itself, who plays which side, and what happens next. It asks the server
 * everything about rules and knows nothing of the page, which listens to its events: `change` (draw anew), `thinking` (a
 * search reported something), `played` (detail: {ply, move, player}), `ended` (by the clock or a resignation, so without a move),
 * `trouble` (detail: an Error).
 *
 * Everything asynchronous belongs to one *turn*: whatever changes the position begins a new turn, and answers for an old one are
 * dropped. So after a lost connection it is enough to begin a new turn.
 */
import { drawn } from './changes.js';
import { Clock, DEFAULT } from './clock.js';
import { ConnectionLost } from './plyd/errors.js';
import * as record from './record.js';
import { against, FIRST_LEVEL, you } from './opponents.js';
import { Questions, WANT } from './questions.js';
import { PLAIN } from './symmetry.js';
import { surer } from './value.js';
import { flipped, recordName } from './words.js';

/** The least time before an engine's or a chance move is shown, so that one sees the move before it. */
const PACE_MS = 350;
const HINT_MS = 1000;

/** @typedef {{kind: 'human'|'engine', options: object}} Seat */

export class Table extends EventTarget {
	/** @type {Questions} */
	#questions;
	#turn = 0;
	#timer = 0;

	/**
	 * @param {object|null} saved  as `saved` gave it
	 * @param {(game: string) => Promise<void>} prepare  what is awaited before a position of the game is shown
	 */
	constructor(connection, saved, prepare) {
		super();
		this.connection = connection;
		this.#questions = new Questions(connection);
		this.prepare = prepare;
		/** @type {import('./tree.js').Game|null} */
		this.game = saved?.game ?? null;
		/** @type {Record<'p1'|'p2', Seat>} */
		this.seats = saved?.seats ?? against(FIRST_LEVEL);
		this.view = saved?.view ?? PLAIN;
		/** `play` shows nothing that an engine found; `analyse` shows all of it. @type {'play'|'analyse'} */
		this.mode = saved?.mode ?? 'play';
		this.clock = new Clock(saved?.clock ?? DEFAULT);
		this.paused = saved?.paused ?? false;
		/** What the server says of the position on the board, and of the one before the last move. */
		this.node = null;
		this.before = null;
		/** Whether `node` and `before` are those of this position: after each change they are requested anew. */
		this.settled = false;
		/** The search that decides the move, if one runs. */
		this.thinking = null;
		/** Takes moves that are tried, not played; while it `hides`, no value is shown. @type {{play: (move: string) => void, hides: boolean}|null} */
		this.trial = null;
		/** A hint for this position. */
		this.hint = null;
		if (this.game) this.clock.reset(this.game.node.clock);
		connection.addEventListener('lost', () => this.#lost());
	}

	/** The part of the table that the browser keeps. */
	get saved() {
		const { game, seats, view, mode, paused } = this;
		return { game, seats, view, mode, paused, clock: this.clock.config };
	}

	get position() {
		return record.positionOf(this.game);
	}

	get mover() {
		return this.node && !this.outcome ? this.node.to_move : null;
	}

	/** How the game ended at the position on the board, by its rules, the clock or a resignation; null while it goes on. */
	get outcome() {
		return this.node?.outcome ?? (this.game && record.forfeitOutcome(this.game));
	}

	/** Whether a person may move now. */
	get yours() {
		return Boolean(this.settled && !this.outcome && (this.trial || this.seats[this.node.to_move]?.kind === 'human'));
	}

	// The game

	/**
	 * Asks the server for a new game and puts it on the table.
	 * @param {{seats?: Record<'p1'|'p2', Seat>, ply?: number, paused?: boolean}} how  who plays, the ply to
	 *   show, and whether the game starts paused
	 * @throws {import('./plyd/errors.js').ServerError} where rules or position are wrong
	 */
	async begin(game, rules, position = {}, { seats = this.seats, ply, paused = false } = {}) {
		const [node] = await Promise.all([this.ask({ game, rules }, position, [...WANT, 'record']), this.prepare(game)]);
		const { rules: inForce, start, moves } = node.record;
		this.seats = seats;
		this.paused = paused;
		const begun = record.fresh(game, inForce, start, moves);
		if (ply === undefined) this.put(begun, node);
		else this.put(record.lookAt(begun, ply));
	}

	/** Puts a game on the table that the server has checked; `node` is what it said of the position. */
	put(game, node) {
		this.#seat(game.game);
		this.game = game;
		this.#questions.begin(game, node);
		this.node = null;
		this.before = null;
		this.hint = null;
		this.trial = null;
		this.clock.reset(game.node.clock);
		this.refresh();
	}

	/** Replaces this table by one that was kept; paused if it does not show the end of its line. */
	restore(saved) {
		// The seats were kept with this game: `put` must not take them for those of the game before.
		this.game = saved.game;
		this.seats = saved.seats;
		this.clock = new Clock(saved.clock);
		this.paused = !record.isLive(saved.game) || saved.paused;
		this.put(saved.game);
		this.setView(saved.view);
	}

	/** Resets what belongs to one game alone, the view and the engines' options, when another game comes to the table. */
	#seat(game) {
		if (this.game?.game === game) return;
		this.view = PLAIN;
		// The seats before may be those of a game to which one returns, so they stay as they are.
		const common = ({ kind, options: { level, threads } }) => ({
			kind, options: Object.fromEntries(Object.entries({ level, threads }).filter(([, value]) => value !== undefined)),
		});
		this.seats = { p1: common(this.seats.p1), p2: common(this.seats.p2) };
	}

	/**
	 * The game as a line of a file. Without a server it lacks a result by the rules, which its moves hold anyway.
	 * The players are those who play now; a game that was loaded has its own until somebody plays on.
	 */
	async toLine() {
		const { game } = this;
		const { start, moves } = record.ownRecord(game);
		const answer = await this.ask(game, { start, moves }, ['record']).catch((error) => {
			if (error instanceof ConnectionLost) return {};
			throw error;
		});
		return record.line(answer.record, game, game.players ?? [this.seats.p1, this.seats.p2].map(recordName));
	}

	/** Asks about a position under the rules of a game. */
	ask(game, position, want) {
		return this.#questions.ask(game, position, want);
	}

	/** What the server says of the position after so many plies of a game. */
	inspect(ply, game = this.game) {
		return this.inspectAt(record.positionOf(game, ply), game);
	}

	/** The same for any position under the rules of a game. */
	inspectAt(position, game = this.game) {
		return this.#questions.about(position, game);
	}

	/** Whether a game has come to its end, wherever one looks at it. */
	async isOver(game) {
		return Boolean(record.forfeitOutcome(game) ?? (await this.inspect(game.moves.length, game)).outcome);
	}

	/**
	 * What each ply of a line changes on the board.
	 * @param {string[]} line  plies from the position on the board
	 */
	changesAlong(line) {
		return this.#questions.changesAlong(this.position, line, this.game);
	}

	// Turns

	/** Begins a new turn: asks about the position, then lets chance or an engine go on. */
	async refresh() {
		this.#turn += 1;
		const turn = this.#turn;
		clearTimeout(this.#timer);
		this.#stopThinking();
		// A hint that is still searched belongs to the turn that ends here.
		if (this.hint && !this.hint.line) this.hint = null;
		this.settled = false;
		if (!this.game) return;
		try {
			const { cursor, game } = this.game;
			const from = this.#lastMoveAt(cursor);
			const [node, before] = await Promise.all([
				this.inspect(cursor), from === null ? null : this.inspect(from), this.prepare(game),
			]);
			if (turn !== this.#turn) return;
			this.node = node;
			this.before = before;
			this.settled = true;
			this.#emit('change');
			// A listener may have begun another turn.
			if (turn === this.#turn) this.#goOn(turn);
		} catch (error) {
			if (turn === this.#turn) this.#trouble(error);
		}
	}

	/** The ply before the last move; the chance plies after a move count as part of it. */
	#lastMoveAt(cursor) {
		let ply = cursor - 1;
		while (ply > 0 && record.isChance(this.game.moves[ply])) ply -= 1;
		return ply >= 0 ? ply : null;
	}

	#goOn(turn) {
		const { node } = this;
		const now = performance.now();
		if (this.outcome || !record.isLive(this.game) || this.paused || !this.connection.isOpen) {
			this.clock.pause(now);
			return;
		}
		if (node.to_move === 'chance') {
			this.#timer = setTimeout(() => this.#advance(drawn(node.chance, random())), PACE_MS);
			return;
		}
		if (this.seats[node.to_move].kind === 'engine') {
			this.#think(turn, node.to_move, now);
		} else {
			this.#startClock(node.to_move, now);
		}
	}

	/** Starts a player's clock; the game ends when the time is up. */
	#startClock(player, now) {
		this.clock.start(player, now);
		if (this.clock.counts) this.#timer = setTimeout(() => this.#lookAtFlag(player), this.clock.shown(player, now));
	}

	#lookAtFlag(player) {
		const now = performance.now();
		const left = this.clock.shown(player, now);
		if (left > 0) {
			this.#timer = setTimeout(() => this.#lookAtFlag(player), left);
			return;
		}
		this.clock.pause(now);
		this.#end({ flag: player });
	}

	/** The game ends where it is. @param {{flag: 'p1'|'p2'}|{resigned: 'p1'|'p2'}} how  who loses */
	#end(how) {
		Object.assign(record.reopen(this.game.node), how, { clock: [...this.clock.left] });
		this.game = this.game.with({ players: undefined });
		this.refresh();
		this.#emit('ended');
	}

	async #think(turn, player, shownAt) {
		try {
			await this.ensureSession(player, this.seats[player].options);
			if (turn !== this.#turn) return;
			this.#startClock(player, performance.now());
			const { cursor } = this.game;
			const search = this.connection.go({
				session: player,
				position: this.position,
				...this.clock.goFields(player, performance.now()),
				info: { events: ['best', 'progress'], min_interval_ms: 120 },
			});
			this.thinking = { search, player, lines: [], stats: null };
			this.#emit('thinking');
			for await (const { lines, stats } of search) {
				if (turn !== this.#turn) return;
				this.thinking = { ...this.thinking, lines, stats };
				this.#emit('thinking');
			}
			const best = await search;
			if (turn !== this.#turn) return;
			clearTimeout(this.#timer);
			// Until the move is shown one can still look back; then it was not made.
			this.clock.pause(performance.now());
			this.thinking = null;
			this.note(cursor, player, best.lines[0]?.score);
			const wait = Math.max(0, PACE_MS - (performance.now() - shownAt));
			this.#timer = setTimeout(() => {
				this.clock.add(player);
				this.#advance(best.move);
			}, wait);
		} catch (error) {
			if (turn !== this.#turn) return;
			this.thinking = null;
			this.clock.pause(performance.now());
			this.#trouble(error);
		}
	}

	/** Remembers what a search found of a position on the line that a game shows. */
	note(ply, player, score, game = this.game) {
		const node = score && game.line[ply];
		// An earlier proof is not replaced by a score that says less.
		if (node) node.score = surer(player === 'p2' ? flipped(score) : score, node.score);
	}

	#stopThinking() {
		const { thinking } = this;
		this.thinking = null;
		if (thinking && this.connection.isOpen) thinking.search.stop({ discard: true }).catch(() => {});
	}

	#advance(move) {
		const player = this.node.to_move;
		// In mode play a new move becomes the main line and ends there, even one that was played before; in an analysis it is a variation.
		const from = this.mode === 'play' ? record.cut(this.game) : this.game;
		const prolongs = from.node === record.toEnd([from.root]).at(-1);
		this.game = record.played(from, move);
		if (this.mode === 'play') this.game = record.makeMain(this.game);
		// It is no longer the game of those who played it in a file.
		if (this.mode === 'play' || prolongs) this.game = this.game.with({ players: undefined });
		this.game.node.clock = [...this.clock.left];
		// Where the game goes on, an earlier end of it by the clock or a resignation no longer counts.
		if (record.isLive(from)) record.reopen(this.game.node);
		this.hint = null;
		this.dispatchEvent(new CustomEvent('played', { detail: { ply: this.game.cursor - 1, move, player } }));
		this.refresh();
	}

	/** A person moves. @param {string} move  a legal one */
	play(move) {
		if (!this.yours || !this.node.legal.includes(move)) return;
		if (this.trial) {
			this.trial.play(move);
			return;
		}
		this.clock.press(performance.now());
		this.#advance(move);
	}

	/** Whether a game against an engine runs, which the person can resign. */
	get mayResign() {
		const { game, node } = this;
		return Boolean(node && this.mode === 'play' && you(this.seats) && !this.outcome && !this.trial && game.moves.length && record.isLive(game));
	}

	/** The person gives up against an engine: the game ends where it is. */
	resign() {
		if (!this.mayResign) return;
		this.clock.pause(performance.now());
		this.#end({ resigned: you(this.seats) });
	}

	/** Plays a move for whoever is to move, to look at what follows: the game pauses, so no engine answers. @param {string} move */
	explore(move) {
		if (!this.settled || this.outcome || !this.node.legal.includes(move)) return;
		this.paused = true;
		this.#leave();
		this.#stopThinking();
		this.#advance(move);
	}

	/** Plays plies of a line for whoever is to move: from the position on the board on they are a variation. @param {string[]} line */
	walk(line) {
		if (!this.settled || this.outcome || this.trial || !line.length) return;
		this.paused = true;
		this.#stopThinking();
		this.#look(line.reduce(record.played, this.game));
	}

	// What one may ask for

	/** Looks at the position after so many plies; what was played stays. */
	goTo(ply) {
		this.#look(record.lookAt(this.game, ply));
	}

	/** Looks at a node of the game's tree. */
	show(node) {
		this.#look(record.showing(this.game, node));
	}

	/** Stops the clock. What is left is kept with the position, so that a look at others gives no time back. */
	#leave() {
		this.clock.pause(performance.now());
		if (this.clock.isSpent) this.game.node.clock = [...this.clock.left];
	}

	#look(game) {
		const { node, line, deleted } = this.game;
		if (game.node === node && game.line === line) {
			this.game = game;
			if (game.deleted !== deleted) this.#emit('change');
			return;
		}
		this.#leave();
		this.game = game;
		this.clock.reset(game.node.clock);
		this.hint = null;
		this.refresh();
	}

	/** Back to the last position in which a person was to move; with engines alone, one move back. */
	takeBack() {
		return this.#seek(-1);
	}

	/** Forward to the next position in which a person is to move. */
	redo() {
		return this.#seek(1);
	}

	async #seek(by) {
		const { moves } = this.game;
		const people = Object.values(this.seats).some((seat) => seat.kind === 'human');
		let ply = this.game.cursor + by;
		try {
			for (; ply > 0 && ply < moves.length; ply += by) {
				const { to_move: mover } = await this.inspect(ply);
				if (people ? this.seats[mover]?.kind === 'human' : mover !== 'chance') break;
			}
			this.goTo(ply);
		} catch (error) {
			this.#trouble(error);
		}
	}

	/** Plays on from the position on the board; what came after it stays in the tree. Moves are no longer tried, but played. */
	playOn() {
		this.paused = false;
		this.trial = null;
		this.game = record.cut(this.game);
		this.refresh();
	}

	/** Promotes the variation that a node is in: it becomes the main continuation where it begins. */
	promote(node) {
		this.game = record.promote(this.game, node);
		this.#emit('change');
	}

	/** Deletes a move and all that follows it. If it was on the line that is shown, the game pauses. */
	deleteNode(node) {
		const game = record.withoutNode(this.game, node);
		if (game.line !== this.game.line) this.paused = true;
		this.#look(game);
	}

	/** Puts back what was deleted last. */
	undelete() {
		this.#look(record.restored(this.game));
	}

	/** Sets the comment on a node; an empty text removes it. */
	comment(node, text) {
		node.comment = text.trim() ? text : undefined;
		this.#emit('change');
	}

	setMode(mode) {
		this.mode = mode;
		this.#emit('change');
	}

	pause(paused) {
		this.paused = paused;
		this.refresh();
	}

	/** Ends the engine's thinking; it plays the best it has. */
	moveNow() {
		if (this.thinking) this.thinking.search.stop().catch((error) => this.#trouble(error));
	}

	/** Who plays a side from now on. */
	setSeat(player, seat) {
		this.seats = { ...this.seats, [player]: seat };
		this.refresh();
	}

	swapSides() {
		this.seats = { p1: this.seats.p2, p2: this.seats.p1 };
		this.refresh();
	}

	setClock(config) {
		this.clock = new Clock(config);
		for (const node of this.game ? record.nodesFrom(this.game.root) : []) {
			node.clock = undefined;
			if (node.flag) record.reopen(node);
		}
		this.refresh();
	}

	setView(view) {
		this.view = view;
		this.#emit('change');
	}

	/** Asks a full-strength engine what it would play. */
	async askHint() {
		const turn = this.#turn;
		if (!this.settled || this.outcome || this.node.to_move === 'chance') return;
		const { cursor } = this.game;
		const player = this.node.to_move;
		this.hint = { line: null };
		this.#emit('change');
		try {
			await this.ensureSession('hint', {});
			const best = await this.connection.go({
				session: 'hint', position: this.position, clock: { kind: 'per_move', ms: HINT_MS }, queue: true,
			});
			if (turn !== this.#turn) return;
			this.note(cursor, player, best.lines[0]?.score);
			this.hint = { line: best.lines[0] };
		} catch (error) {
			if (turn !== this.#turn) return;
			this.hint = null;
			this.#trouble(error);
		}
		this.#emit('change');
	}

	/** Opens a session of the server for this game, unless it is open with these options. */
	ensureSession(session, options) {
		return this.#questions.ensureSession(session, options, this.game);
	}

	#lost() {
		this.#turn += 1;
		clearTimeout(this.#timer);
		this.clock.pause(performance.now());
		this.#questions.forgetSessions();
		this.thinking = null;
		if (this.hint && !this.hint.line) this.hint = null;
		this.#emit('change');
	}

	#trouble(error) {
		// The next connection begins a new turn; the connection itself reports the loss.
		if (!(error instanceof ConnectionLost)) {
			if (error.code === 'session_unknown') this.#questions.forgetSessions();
			this.dispatchEvent(new CustomEvent('trouble', { detail: error }));
		}
		this.#emit('change');
	}

	#emit(name) {
		this.dispatchEvent(new CustomEvent(name));
	}
}

/** A number from 0 to less than 1, from the browser's cryptographic source. */
function random() {
	return crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
}
