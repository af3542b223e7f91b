/**
 * Reviews the game on the table: what each move kept and what it gave away. It searches through the protocol and judges by the
 * rules of `plyd review` (docs/review.md), from the end of the game to its beginning, so that what is proven of
 * a position is a proof of the move that led to it. It knows nothing of the page. Events: `change`.
 *
 * @typedef {import('./value.js').Score} Score
 * @typedef {{ply: number, move: string, player: 'p1'|'p2', mark: string, proven: boolean, only: boolean, before?: Score,
 *   after?: Score, loss?: number, better?: object, depth?: number}} Reviewed  `ply` from 0; scores from the view of the one who moves
 */
import { ConnectionLost } from './plyd/errors.js';
import { isAway } from './questions.js';
import { forfeitOutcome, nodesFrom, pathTo, positionOf, toEnd } from './record.js';
import { atLeast, earlier, isExact, later, likelihood, ofAnyMove, ofEnd, ofLost, proofOf, resultOf, surer } from './value.js';

/** The part of a loss that counts when only one of the two scores is proven, because estimates are rarely near certainty. */
const MIXED = 0.5;
/** How many times the limit is spent on a second look at a move that seems to have lost the game. */
const DOUBT = 8;
/** The loss of winning likelihood from which an estimated move gets each mark. */
const STEPS = [[0.15, 'blunder'], [0.1, 'mistake'], [0.05, 'inaccuracy']];

export const PROVEN = ['kept_win', 'wins_later', 'kept_draw', 'best_defence', 'was_lost', 'lost_sooner', 'gave_points', 'threw_away'];
export const ERRORS = ['wins_later', 'lost_sooner', 'gave_points', 'threw_away', 'inaccuracy', 'mistake', 'blunder'];
/** Those that a move has by the loss in an evaluation. */
export const ESTIMATED = ['best', 'good', 'inaccuracy', 'mistake', 'blunder'];
const MARKS = [...PROVEN, ...ESTIMATED, 'forced', 'unknown'];

/** The mark of a move that was not the only legal one. */
export function markOf(before, after, isBest, loss) {
	const [from, to] = [proofOf(before), proofOf(after)];
	if (from && to) return markByProof(from, to);
	// That a proven result is gone takes a proof, too.
	if (loss === null || (from && loss >= STEPS.at(-1)[0])) return 'unknown';
	return STEPS.find(([least]) => loss >= least)?.[1] ?? (isBest ? 'best' : 'good');
}

function markByProof(from, to) {
	if (resultOf(to) < resultOf(from)) return 'threw_away';
	const margins = from.margin !== undefined && to.margin !== undefined;
	const distances = from.plies !== undefined && to.plies !== undefined;
	if (margins && to.margin < from.margin) return 'gave_points';
	if (from.outcome === 'win') return distances && to.plies > from.plies ? 'wins_later' : 'kept_win';
	if (from.outcome === 'draw') return 'kept_draw';
	if (distances && to.plies < from.plies) return 'lost_sooner';
	return distances || margins ? 'best_defence' : 'was_lost';
}

/** What was lost of the likelihood of winning, as far as it counts; null if that is not known. */
export function lossOf(before, after, decisive) {
	const [could, does] = [likelihood(before, decisive), likelihood(after, decisive)];
	if (could === null || does === null) return null;
	return Math.max(0, could - does) * (Boolean(proofOf(before)) !== Boolean(proofOf(after)) ? MIXED : 1);
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export class Review extends EventTarget {
	#run = 0;
	#search = null;

	/** @param {(game: string) => boolean} hasExact */
	constructor(table, hasExact) {
		super();
		Object.assign(this, { table, hasExact });
		/** @type {Map<number, Reviewed>} */
		this.moves = new Map();
		/** While it runs: [moves done, moves]. */
		this.progress = null;
		this.trouble = '';
		/** The game that was reviewed; marks are for it alone. */
		this.of = null;
		/** Whether that game has come to its end. */
		this.isOver = false;
		table.addEventListener('change', () => {
			// Showing a variation of the same game does not stop the review.
			if (this.progress && table.game?.root !== this.of.root) this.stop();
			this.#recall();
		});
		this.#recall();
	}

	/** What is known of the move that was played at a ply of the line that is shown. */
	at(ply) {
		return this.about(this.table.game.line[ply + 1]);
	}

	/** What is known of the move that led to a node, whether it is on the line that is shown or not. */
	about(node) {
		// What is kept may be of another version.
		return MARKS.includes(node?.review?.mark) ? node.review : undefined;
	}

	/** Turns to the game on the table, if an earlier review of it was kept. */
	#recall() {
		const { game } = this.table;
		if (!game || game.root === this.of?.root) return;
		const last = nodesFrom(game.root).findLast((node) => this.about(node));
		if (!last) return;
		const line = toEnd(pathTo(last));
		this.#begin(game.with({ line, cursor: line.length - 1 }));
		const { of } = this;
		this.table.isOver(of).then((isOver) => {
			if (of !== this.of) return;
			this.isOver = isOver;
			this.#emit();
		}).catch(() => {});
	}

	/** What is known of the moves that are still in the tree of the game on the table, in order. @returns {Reviewed[]} */
	get known() {
		if (!this.of || this.table.game?.root !== this.of.root) return [];
		const gone = this.of.line.findIndex((node) => node.parent && !node.parent.next.includes(node));
		return [...this.moves.values()].filter(({ ply }) => gone < 0 || ply + 1 < gone).sort((a, b) => a.ply - b.ply);
	}

	/** Ends the review; what was found stays. */
	stop() {
		this.#run += 1;
		this.progress = null;
		this.#search?.stop({ discard: true }).catch(() => {});
		this.#search = null;
		this.#emit();
	}

	/**
	 * Reviews the whole game. What an earlier review of it found stays until more is known; while the server is away, it waits.
	 * @param {{time_ms?: number, nodes?: number}} limit  for each move
	 */
	async start(limit) {
		const { connection, game } = this.table;
		this.stop();
		const run = this.#run;
		this.#begin(game);
		this.trouble = '';
		const chosen = game.moves.slice(game.opening ?? 0).filter((move) => !move.startsWith('~')).length;
		/** The plies that this review has judged. */
		const done = new Set();
		this.progress = [0, chosen];
		this.#emit();
		while (run === this.#run) {
			try {
				if (!connection.isOpen) await connection.opened();
				if (run !== this.#run) return;
				await this.#judgeAll(game, run, limit, done);
				break;
			} catch (error) {
				if (run !== this.#run) return;
				if (!isAway(error)) {
					this.trouble = error.message;
					break;
				}
				// It goes on where it was, once the server is back. One that ends says so before it is gone.
				if (connection.isOpen) await new Promise((resolve) => { connection.addEventListener('lost', resolve, { once: true }); });
				if (run === this.#run) this.#emit();
			}
		}
		if (run === this.#run) this.stop();
	}

	/** Turns to a game, with what is known of the moves of its line. */
	#begin(game) {
		const moves = new Map();
		for (const [ply, node] of game.line.slice(1).entries()) {
			const known = this.about(node);
			if (known) moves.set(ply, known);
		}
		if (game.root !== this.of?.root) this.isOver = false;
		this.of = game;
		this.moves = moves;
	}

	/** Judges all moves that are not done yet, the last first. */
	async #judgeAll(game, run, limit, done) {
		const { table } = this;
		const opening = game.opening ?? 0;
		if (!table.connection.hello?.features.includes('decisive')) throw new Error('This server does not say what an advantage is worth.');
		await table.ensureSession('review', {});
		const { decisive } = await table.ask(game, positionOf(game, 0), ['decisive']);
		const judge = new Judge(this.#asker(game, run, limit), decisive, this.hasExact(game.game));
		const end = await table.inspect(game.moves.length, game);
		this.isOver = Boolean(end.outcome ?? forfeitOutcome(game));
		let behind = end.outcome && { player: 'p1', score: ofEnd(end.outcome, 'p1') };
		for (let ply = game.moves.length - 1; ply >= opening && run === this.#run; ply -= 1) {
			const { to_move: player, legal, outcome } = await table.inspect(ply, game);
			if (run !== this.#run) return;
			if (outcome || player === 'chance') {
				behind = null;
				continue;
			}
			let judged = this.moves.get(ply);
			// Of what is proven to the ply there is no more to know.
			if (!done.has(ply) && !(judged && isExact(judged.before) && isExact(judged.after))) {
				const value = behind ? earlier(behind.score, behind.player !== player) : undefined;
				const found = await judge.judge(ply, legal, game.moves[ply], value);
				if (run !== this.#run) return;
				judged = surest({ ply, move: game.moves[ply], player, ...found }, judged);
				this.moves.set(ply, judged);
				game.line[ply + 1].review = judged;
			}
			behind = judged.before && { player, score: judged.before };
			if (done.has(ply)) continue;
			done.add(ply);
			table.note(ply, player, judged.before, game);
			this.progress = [done.size, this.progress[1]];
			this.#emit();
		}
		if (run !== this.#run) return;
		carryOn(this.moves, decisive);
		for (const { ply, player, before } of this.moves.values()) table.note(ply, player, before, game);
	}

	/** Searches one position; the engine is idle once the review is stopped. */
	#asker(game, run, limit) {
		const { connection } = this.table;
		return async (ply, parts, { exact = false, ...more } = {}) => {
			if (run !== this.#run) throw new ConnectionLost('the review was stopped');
			const part = Object.fromEntries(Object.entries(limit).map(([name, most]) => [name, Math.max(1, Math.floor(most / parts))]));
			const { depth, ...fields } = more;
			this.#search = connection.analyse({
				session: 'review', position: positionOf(game, ply), queue: true, info: { events: [] },
				limit: depth ? { ...part, depth } : part, options: exact ? { exact: true } : {}, ...fields,
			});
			const { lines, reason } = await this.#search;
			// It was cut short.
			if (reason === 'shutdown') throw new ConnectionLost('the server ends');
			return lines[0];
		};
	}

	/** How often each mark was given to a side. @returns {Record<string, number>} */
	counts(player) {
		const out = {};
		for (const { player: whose, mark } of this.known) if (whose === player) out[mark] = (out[mark] ?? 0) + 1;
		return out;
	}

	/** The plies of the moves behind which there was a better one, in order. */
	mistakes() {
		return this.known.filter(({ mark }) => ERRORS.includes(mark)).map(({ ply }) => ply);
	}

	#emit() {
		this.dispatchEvent(new CustomEvent('change'));
	}
}

/** How much is proven of a move: its position's value and its own, to the ply or the point, or at all. */
const proven = ({ before, after }) => [before, after].reduce((sum, score) => sum + (isExact(score) ? 3 : proofOf(score) ? 2 : 0), 0);

/**
 * Of two judgements of a move the one that knows more: more is proven, or it was searched deeper. The earlier one stays if they
 * know the same, so that a game which is reviewed again gets no other marks for that.
 * @param {Reviewed} found  @param {Reviewed} [earlier]
 */
function surest(found, earlier) {
	if (!earlier) return found;
	const more = proven(found) - proven(earlier) || (found.depth ?? 0) - (earlier.depth ?? 0);
	return more > 0 ? found : earlier;
}

/**
 * Carries proofs forward: each move of a lost position loses, and the position after a move has the value that is proven of the
 * move. It stops at chance, and no move becomes an error by it.
 * @param {Map<number, Reviewed>} moves  by ply
 */
export function carryOn(moves, decisive) {
	for (const ply of [...moves.keys()].sort((a, b) => a - b)) {
		const move = moves.get(ply);
		const last = moves.get(ply - 1);
		const here = proofOf(last?.after) ? later(last.after, last.player !== move.player) : null;
		const before = !proofOf(move.before) && here ? here : move.before;
		const inferred = move.mark === 'forced' ? proofOf(before) && before : ofAnyMove(before);
		const after = !proofOf(move.after) && inferred ? inferred : move.after;
		if (!before || !after || (before === move.before && after === move.after)) continue;
		const loss = lossOf(before, after, decisive);
		const mark = move.mark === 'forced' ? 'forced' : markOf(before, after, move.mark === 'best', loss);
		const isError = ERRORS.includes(mark);
		if ((isError || mark === 'unknown') && !ERRORS.includes(move.mark)) continue;
		Object.assign(move, { before, after, mark, proven: PROVEN.includes(mark) });
		if (move.loss !== undefined) move.loss = loss ?? undefined;
		if (!isError) move.better = undefined;
	}
}

/** Judges moves, as `crates/core/src/review` does. */
class Judge {
	/** @param {(ply: number, parts: number, more?: object) => Promise<object>} best  the best line of a position, by a part */
	constructor(best, decisive, hasExact) {
		Object.assign(this, { best, decisive, hasExact });
	}

	/** @param {Score} [behind]  the move's value, if that of the position after it is known */
	async judge(ply, legal, move, behind) {
		const others = legal.filter((other) => other !== move);
		if (!others.length) {
			const value = behind ?? (await this.best(ply, 2, { exact: this.hasExact })).score;
			return { mark: 'forced', proven: false, only: true, before: value, after: value };
		}
		let { line, after } = await this.#compare(ply, move, others, behind);
		let before = atLeast(line.score, after);
		const kept = await this.#kept(ply, move, before, after);
		if (kept) {
			after = kept;
			before = atLeast(line.score, after);
		}
		const surely = await this.#doubted(ply, others, before, after);
		if (surely) {
			before = ofLost(after, surely.score) ?? surely.score;
			line = surely;
		}
		const loss = before && after ? lossOf(before, after, this.decisive) : null;
		const isBest = line.move === move || same(before, after);
		const mark = before && after ? markOf(before, after, isBest, loss) : 'unknown';
		const only = line.move === move && await this.#isOnly(ply, others, after);
		const better = ERRORS.includes(mark) && line.move !== move ? line : undefined;
		return { mark, proven: PROVEN.includes(mark), only, before, after, loss: loss ?? undefined, better, depth: line.depth };
	}

	/** The best line of a position, and the value of the move that was played. */
	async #compare(ply, move, others, behind) {
		const exact = this.hasExact;
		const found = await this.best(ply, 2, { exact });
		const proven = proofOf(behind) ? behind : undefined;
		if (found.move === move) {
			const isRefuted = !proofOf(found.score) && proven && proofOf(proven).outcome !== 'win';
			if (!isRefuted) return { line: found, after: surer(found.score, proven) };
			// The search prefers a move that the rest of the game proves to be no win: what is the best other move?
			return { line: await this.best(ply, 4, { exact, searchmoves: others }), after: proven };
		}
		if (proven) return { line: found, after: proven };
		// To the same depth as the best move, because evaluations swing with the side to move.
		const alone = await this.best(ply, 4, { exact, searchmoves: [move], depth: found.depth || undefined });
		return { line: found, after: alone.score };
	}

	/**
	 * Takes a second look if the position's result is proven, and by estimate the move lost some of it. Returns the move's score
	 * if that look proves it, else null.
	 */
	async #kept(ply, move, before, after) {
		if (!proofOf(before) || !after || proofOf(after)) return null;
		if (markOf(before, after, false, lossOf(before, after, this.decisive)) !== 'unknown') return null;
		const { score } = await this.best(ply, 1 / DOUBT, { searchmoves: [move] });
		return proofOf(score) ? score : null;
	}

	/**
	 * Takes a second look if a move is proven to lose but its position was only estimated. Returns the best other move if that
	 * look proves its value, else null.
	 */
	async #doubted(ply, others, before, after) {
		if (proofOf(after)?.outcome !== 'loss' || !before || proofOf(before)) return null;
		if (!ERRORS.includes(markOf(before, after, false, lossOf(before, after, this.decisive)))) return null;
		const line = await this.best(ply, 1 / DOUBT, { searchmoves: others });
		return proofOf(line.score) ? line : null;
	}

	/** Whether each of the other moves is proven to have a worse result than a move of this value. */
	async #isOnly(ply, others, value) {
		const kept = proofOf(value);
		if (!kept || kept.outcome === 'loss') return false;
		const other = proofOf((await this.best(ply, 4, { searchmoves: others })).score);
		return Boolean(other && resultOf(other) < resultOf(kept));
	}
}
