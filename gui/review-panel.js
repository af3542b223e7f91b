/** The review on the page: its progress, a mark at each move of the list, counts, ways to the mistakes, and "find the better move". */
import { el } from './dom.js';
import { moveWords } from './looks.js';
import { moveNumber } from './record.js';
import { ERRORS, lossOf, markOf, Review } from './review.js';
import { count, flipped, playerName, viewWords } from './words.js';

/** How long a move is thought about at most: as `plyd review` does. */
const LIMIT = { time_ms: 500 };
/** How long a move that somebody tries is thought about. */
const TRIAL_MS = 1000;

/** Each mark in words, with a sign for the list of moves. */
const MARKS = {
	forced: ['the only legal move', ''], kept_win: ['kept the win', '✓'], wins_later: ['wins later than it might', '↻'],
	kept_draw: ['kept the draw', '='], best_defence: ['best defence', '◆'], was_lost: ['lost anyway', '·'],
	lost_sooner: ['loses sooner than it need', '↯'], gave_points: ['gave points away', '−'], threw_away: ['threw it away', '✗'],
	best: ['about the best', '~'], good: ['good', '~'], inaccuracy: ['an inaccuracy', '?!'], mistake: ['a mistake', '?'],
	blunder: ['a blunder', '??'], unknown: ['unknown', ''],
};
const ESTIMATED = ['best', 'good', 'inaccuracy', 'mistake', 'blunder'];

const inView = ({ player }, score) => viewWords(score && (player === 'p2' ? flipped(score) : score));
const words = ({ mark }) => `${ESTIMATED.includes(mark) ? 'by estimate ' : ''}${MARKS[mark][0]}`;

export class ReviewPanel {
	#about = el('p.reviewed', { testid: 'reviewed', role: 'status' });
	#counts = el('p.counts', { testid: 'counts' });
	#buttons = {};
	/** The mistake for which a better move is looked for, the node before it, and what was said of the last try. */
	#trial = null;

	constructor(table, hasExact, board, moves, changed) {
		Object.assign(this, { table, board, moves, changed });
		this.review = new Review(table, hasExact);
		const button = (testid, title, act, label) => {
			this.#buttons[testid] = el('button', { testid, title, onclick: act }, label);
			return this.#buttons[testid];
		};
		this.root = el('section.review', { 'aria-label': 'Review' }, this.#about, el('div.row', {},
			button('mistake-before', 'The mistake before (key M with Shift)', () => this.jump(-1), '‹ Mistake'),
			button('mistake-next', 'The next mistake (key M)', () => this.jump(1), 'Mistake ›'),
			button('find-better', 'Back to before the mistake, to try it better', () => this.find(), 'Find the better move'),
			button('show-better', 'The better move, on the board', () => this.show(), 'Show it'),
			button('review-close', 'Hide the review', () => this.close(), '✕')), this.#counts);
		this.review.addEventListener('change', () => this.draw());
		table.addEventListener('change', () => this.draw());
	}

	/** Begins, or ends what runs. */
	toggle() {
		this.root.hidden = false;
		if (this.review.progress) this.review.stop();
		else this.review.start(LIMIT);
		this.changed();
	}

	close() {
		this.#endTrial();
		if (this.review.progress) this.review.stop();
		this.root.hidden = true;
		this.changed();
	}

	/** What the list of moves shows of a ply. */
	markAt(ply) {
		const known = this.root.hidden ? null : this.review.at(ply);
		return known && { mark: known.mark, sign: MARKS[known.mark][1], isEstimate: ESTIMATED.includes(known.mark),
			title: `${words(known)}: ${inView(known, known.before)}, then ${inView(known, known.after)}` };
	}

	/** Goes to the position after the next mistake, or the one before. */
	jump(by) {
		const { table, review } = this;
		const { cursor } = table.game;
		const plies = review.mistakes();
		const ply = by > 0 ? plies.find((one) => one + 1 > cursor) : plies.findLast((one) => one + 1 < cursor);
		if (ply !== undefined) table.goTo(ply + 1);
	}

	/** The trial while its position is on the board; it ends once that is noticed to be another one. */
	get #open() {
		return this.#trial?.node === this.table.game.node ? this.#trial : null;
	}

	/** The move that led to the position on the board, or the one for which a better one is looked for. */
	#here() {
		return this.#open?.move ?? this.review.at(this.table.game.cursor - 1);
	}

	find() {
		const { table } = this;
		const move = this.#here();
		if (!move || !ERRORS.includes(move.mark)) return;
		this.#trial = { move, node: table.game.line[move.ply], said: 'Which move is better? Try it on the board.' };
		table.trial = (tried) => this.#try(tried);
		if (this.#open) table.refresh();
		else table.goTo(move.ply);
		this.draw();
	}

	/** Judges a move that somebody tries; the game stays as it is. */
	async #try(tried) {
		const { table } = this;
		const trial = this.#trial;
		const { move } = trial;
		// While one waits, another position may come to the board.
		const { game, position } = table;
		trial.said = `${tried}: let me see…`;
		this.draw();
		try {
			const { before } = move;
			let better = tried === move.better?.move;
			let { score } = better ? move.better : {};
			if (!better) {
				const exact = this.review.hasExact(game.game);
				await table.ensureSession('review', {});
				const found = await table.connection.analyse({
					session: 'review', position, queue: true, searchmoves: [tried], info: { events: [] },
					limit: { time_ms: TRIAL_MS }, options: exact ? { exact: true } : {},
				});
				({ score } = found.lines[0]);
				const { decisive } = await table.ask(game, position, ['decisive']);
				const mark = markOf(before, score, false, lossOf(before, score, decisive));
				better = tried !== move.move && (mark === 'unknown' ? null : !ERRORS.includes(mark));
			}
			const verdict = better ? 'yes, that is better' : better === null ? 'that is not known' : 'no, not that one';
			trial.said = `${moveWords(game.game, tried)}: ${verdict} (${inView(move, score)}).${better ? '' : ' Try again.'}`;
		} catch (error) {
			trial.said = error.message;
		}
		if (trial === this.#trial) this.draw();
	}

	show() {
		const move = this.#here();
		if (!move?.better) return;
		if (!this.#open) this.find();
		this.#trial.said = `Better: ${moveWords(this.table.game.game, move.better.move)} (${inView(move, move.better.score)}).`;
		this.#trial.shown = true;
		this.draw();
	}

	/** What is to be drawn on the board: the better line, once it is asked for. */
	get line() {
		return this.#open?.shown ? this.#open.move.better.pv : null;
	}

	#endTrial() {
		if (!this.#trial) return;
		this.#trial = null;
		this.table.trial = null;
		this.table.refresh();
	}

	draw() {
		const { review, table } = this;
		if (this.root.hidden || !table.game) return;
		if (this.#trial && (table.mode !== 'analyse' || !this.#open)) this.#endTrial();
		const here = this.#here();
		this.#about.textContent = this.#words(here);
		const plies = review.mistakes();
		const { cursor } = table.game;
		this.#buttons['mistake-before'].disabled = !plies.some((ply) => ply + 1 < cursor);
		this.#buttons['mistake-next'].disabled = !plies.some((ply) => ply + 1 > cursor);
		this.#buttons['find-better'].disabled = !here || !ERRORS.includes(here.mark);
		this.#buttons['show-better'].hidden = !here?.better;
		this.#counts.textContent = ['p1', 'p2'].map((player) => {
			const marks = Object.entries(review.counts(player)).sort((a, b) => b[1] - a[1]);
			return marks.length ? `${playerName(player)}: ${marks.map(([mark, n]) => `${n} ${words({ mark })}`).join(', ')}.` : '';
		}).filter(Boolean).join(' ');
		this.moves.draw();
		this.changed();
	}

	#words(here) {
		const { review, table } = this;
		if (this.#trial) return this.#trial.said;
		if (review.progress) return `Reviewing: ${review.progress[0]} of ${count(review.progress[1], 'move')}.`;
		if (review.trouble) return review.trouble;
		if (!here) return review.moves.size ? `${count(review.mistakes().length, 'mistake')} found. Go to a move to read about it.` : 'No move to review.';
		const number = moveNumber(table.game.moves, here.ply);
		const values = here.mark === 'forced' ? inView(here, here.before) : `${inView(here, here.before)} before, ${inView(here, here.after)} after`;
		return `${number}. ${here.move}: ${words(here)}${here.only && here.mark !== 'forced' ? ', the only move' : ''} (${values}).`;
	}
}
