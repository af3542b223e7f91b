/** The review on the page: its progress, a mark at each move of the list, counts, ways to the mistakes, and "find the better move". */
import { el } from './dom.js';
import { moveWords } from './looks.js';
import { moveNumber } from './record.js';
import { you } from './opponents.js';
import { isAway } from './questions.js';
import { ERRORS, ESTIMATED, lossOf, markOf, Review } from './review.js';
import { later } from './value.js';
import { count, flipped, playerName, plural, viewWords } from './words.js';

/** How long a move is thought about at most: as `plyd review` does. */
const LIMIT = { time_ms: 500 };
/** How long a move that somebody tries is thought about. */
const TRIAL_MS = 1000;

/**
 * Each mark in the words of `plyd review`, with a sign for the list of moves, and in the words of a count of moves, which may be
 * [one, several]; what is not counted has none.
 */
const MARKS = {
	forced: ['the only legal move', ''], kept_win: ['kept the win', '✓', 'kept the win'],
	wins_later: ['wins later than necessary', '↻', ['wins later than necessary', 'win later than necessary']],
	kept_draw: ['kept the draw', '=', 'kept the draw'],
	best_defence: ['best defence', '◆', 'best defence'], was_lost: ['lost anyway', '·', 'in a lost position'],
	lost_sooner: ['loses sooner than necessary', '↯', ['loses sooner than necessary', 'lose sooner than necessary']],
	gave_points: ['gave points away', '−', 'gave points away'],
	threw_away: ['', '✗', 'threw it away'], best: ['about the best', '~'], good: ['good', '~', 'good'],
	inaccuracy: ['an inaccuracy', '?!', ['inaccuracy', 'inaccuracies']], mistake: ['a mistake', '?', ['mistake', 'mistakes']],
	blunder: ['a blunder', '??', ['blunder', 'blunders']],
	unknown: ['unknown', '', 'unknown'],
};
/** Errors that change only how soon the game ends. */
const TIMING = ['wins_later', 'lost_sooner'];

/** What a move is worth, as the position behind it: that is the number which the list of moves shows. */
const behind = ({ after }) => after && later(after, false);
const fromFirst = ({ player }, score) => score && (player === 'p2' ? flipped(score) : score);
const inView = (reviewed, score) => viewWords(fromFirst(reviewed, score));
/** A mark in words. @param {import('./review.js').Reviewed} reviewed */
const words = ({ mark, before }) => (mark === 'threw_away' ? `threw the ${before.proof.outcome} away`
	: `${MARKS[mark][0]}${ESTIMATED.includes(mark) ? ' by estimate' : ''}`);

/** A mark in the words of a count. */
function countWords(mark, n) {
	const counted = MARKS[mark][2];
	return Array.isArray(counted) ? plural(n, ...counted) : counted;
}

/** A mistake with the move that was best, as the list of moves says it. */
function bestWords(reviewed) {
	const name = reviewed.mark === 'threw_away' ? words(reviewed) : MARKS[reviewed.mark][0].replace(/^an? /, '');
	return `${name[0].toUpperCase()}${name.slice(1)}. Best was ${reviewed.better.move}`;
}

/** The sign that a mark has in the list of moves; an empty text if it has none. */
function signOf(mark) {
	const isEstimate = ESTIMATED.includes(mark);
	return MARKS[mark][1] && el('span', {
		'data-mark': mark, class: `review-mark${isEstimate ? ' estimate' : ''}`, title: isEstimate ? 'By estimate' : 'Proven',
	}, MARKS[mark][1]);
}

export class ReviewPanel {
	#about = el('p.reviewed', { testid: 'reviewed', role: 'status' });
	#counts = el('div.counts', { testid: 'counts' });
	#buttons = {};
	/** The mistake for which a better move is sought, the node before it, and the message about the last try. */
	#trial = null;

	/** @param {() => void} changed  to be drawn with the review  @param {() => void} found  there is more to keep */
	constructor(table, hasExact, board, moves, changed, found) {
		Object.assign(this, { table, board, moves, changed });
		this.review = new Review(table, hasExact);
		const button = (testid, title, act, label) => {
			this.#buttons[testid] = el('button', { testid, title, onclick: act }, label);
			return this.#buttons[testid];
		};
		this.root = el('section.review', { 'aria-label': 'Review' }, el('div.head', {}, this.#about,
			button('review-close', 'Close the review', () => this.close(), '✕')), el('div.row', {},
			button('mistake-before', 'Previous mistake (Shift+M)', () => this.jump(-1), '‹ Mistake'),
			button('mistake-next', 'Next mistake (M)', () => this.jump(1), 'Mistake ›'),
			button('find-better', 'Go back to before the mistake and try to find a better move', () => this.find(), 'Find better'),
			button('show-better', 'Show the better move on the board', () => this.show(), 'Show better')), this.#counts);
		this.review.addEventListener('change', () => {
			this.draw();
			found();
		});
		table.addEventListener('change', () => this.draw());
	}

	/** Shows what is known of the game. */
	open() {
		this.root.hidden = false;
		this.draw();
	}

	/** Begins, or ends what runs. */
	toggle() {
		this.root.hidden = false;
		if (this.review.progress) this.review.stop();
		else this.review.start(LIMIT);
		this.changed();
	}

	/** Whether the review of the game on the table, which is over, is open. */
	get isOfEnded() {
		return !this.root.hidden && this.review.isOver && this.review.of?.root === this.table.game.root;
	}

	close() {
		this.#endTrial();
		if (this.review.progress) this.review.stop();
		this.root.hidden = true;
		this.#counts.replaceChildren();
		this.#about.replaceChildren();
		this.moves.draw();
		this.changed();
	}

	/** What the list of moves shows of the move that led to a node. */
	markOf(node) {
		const known = this.root.hidden ? null : this.review.about(node);
		if (!known) return null;
		// The answer that is asked for is not told.
		const asked = this.isAsking && this.#trial.move.ply === known.ply;
		return { mark: known.mark, score: fromFirst(known, behind(known)), sign: MARKS[known.mark][1], isEstimate: ESTIMATED.includes(known.mark),
			title: `${words(known)}: ${inView(known, known.before)}, then ${inView(known, behind(known))}`,
			best: known.better && !asked ? { words: bestWords(known), show: () => this.#ask(this.review.about(node), true) } : null };
	}

	/** What the review found of the positions on the line that is shown, from player 1's view, by ply. */
	get scores() {
		if (this.root.hidden) return {};
		return Object.fromEntries(this.table.game.line.map((node, ply) => {
			const known = this.review.about(node);
			return [ply, known && fromFirst(known, behind(known))];
		}).filter(([, score]) => score));
	}

	/** The ply of the next mistake, or of the one before; undefined if there is none. */
	#mistake(by) {
		const here = this.#open ? this.#open.move.ply : this.table.game.cursor - 1;
		const plies = this.review.mistakes();
		return by > 0 ? plies.find((ply) => ply > here) : plies.findLast((ply) => ply < here);
	}

	/** Goes to the position of the next mistake, or the one before, and shows the better move beside the one that was played. */
	jump(by) {
		const ply = this.#mistake(by);
		if (ply === undefined) return;
		const move = this.review.moves.get(ply);
		if (move.better) this.#ask(move, true);
		else this.table.show(this.review.of.line[ply + 1]);
	}

	/** The trial while its position is on the board, else null. */
	get #open() {
		return this.#trial?.node === this.table.game.node ? this.#trial : null;
	}

	/** The move that led to the position on the board, or the one for which a better one is looked for. */
	#here() {
		return this.#open?.move ?? this.review.at(this.table.game.cursor - 1);
	}

	/** Whether the better move is asked for, so that nothing may tell it. */
	get isAsking() {
		return Boolean(this.#open && this.table.trial?.hides);
	}

	find() {
		const move = this.#here();
		if (move && ERRORS.includes(move.mark)) this.#ask(move);
	}

	/** Goes to the position before a mistake, where one looks for the better move, or sees it. */
	#ask(move, shown = false) {
		const { review, table } = this;
		this.#trial = { move, node: review.of.line[move.ply], said: 'Which move is better? Try it on the board.', shown };
		table.trial = { play: (tried) => this.#try(tried), hides: !shown };
		if (shown) this.#tell();
		if (this.#open) table.refresh();
		else table.show(this.#trial.node);
		this.draw();
	}

	/** The answer is known: nothing is hidden any more. */
	#tell() {
		const trial = this.#trial;
		const { move } = trial;
		const { better } = move;
		this.table.trial.hides = false;
		trial.shown = true;
		trial.said = `Better: ${moveWords(this.table.game.game, better.move)} (${inView(move, better.score && later(better.score, false))}). `
			+ `Played: ${move.move}, ${words(move)} (${inView(move, behind(move))}).`;
	}

	/** Judges a move that somebody tries; the game stays as it is. */
	async #try(tried) {
		const { table } = this;
		const trial = this.#trial;
		const { move } = trial;
		// Another position may come to the board meanwhile.
		const { game, position } = table;
		trial.said = `${tried}: let me see…`;
		this.draw();
		try {
			const { before } = move;
			let better = tried === move.better?.move;
			let { score } = better ? move.better : {};
			let decisive;
			if (!better) {
				const exact = this.review.hasExact(game.game);
				await table.ensureSession('review', {});
				const found = await table.connection.analyse({
					session: 'review', position, queue: true, searchmoves: [tried], info: { events: [] },
					limit: { time_ms: TRIAL_MS }, options: exact ? { exact: true } : {},
				});
				({ score } = found.lines[0]);
				({ decisive } = await table.ask(game, position, ['decisive']));
				const mark = markOf(before, score, false, lossOf(before, score, decisive));
				better = tried !== move.move && (mark === 'unknown' ? null : !ERRORS.includes(mark));
			}
			const gain = better === false && score && move.after
				&& ERRORS.includes(markOf(score, move.after, false, lossOf(score, move.after, decisive)));
			const verdict = better ? 'yes, that is better' : better === null ? 'that is not known'
				: gain ? `better than ${move.move}, but not the best` : 'no, not that one';
			if (better && trial === this.#trial && table.trial) table.trial.hides = false;
			trial.said = `${moveWords(game.game, tried)}: ${verdict} (${inView(move, score && later(score, false))}).${better ? '' : ' Try again.'}`;
		} catch (error) {
			trial.said = isAway(error) ? 'The server is away. Try the move again when it is back.' : error.message;
		}
		if (trial === this.#trial) this.draw();
	}

	show() {
		const move = this.#here();
		if (move?.better) this.#ask(move, true);
	}

	/** What is to be drawn on the board: the better line, once it is asked for. */
	get line() {
		return this.#open?.shown ? this.#open.move.better.pv : null;
	}

	/** The move that was played in the place of that line, with its sign. */
	get wrong() {
		return this.line && { move: this.#open.move.move, sign: MARKS[this.#open.move.mark][1] };
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
		if (this.#trial && (table.mode !== 'analyse' || !this.#open || !table.trial)) this.#endTrial();
		const here = this.#here();
		const sign = here && !this.#trial && !review.progress ? signOf(here.mark) : '';
		this.#about.replaceChildren(sign, sign && ' ', this.#words(here));
		this.#buttons['mistake-before'].disabled = this.#mistake(-1) === undefined;
		this.#buttons['mistake-next'].disabled = this.#mistake(1) === undefined;
		this.#buttons['find-better'].disabled = !here || !ERRORS.includes(here.mark);
		this.#buttons['show-better'].hidden = !here?.better || Boolean(this.#open?.shown);
		this.#buttons['review-close'].hidden = Boolean(review.progress);
		this.root.setAttribute('aria-busy', String(Boolean(review.progress)));
		this.#drawCounts();
		this.moves.draw();
		this.changed();
	}

	/** How often each mark was given to a side, with its sign: what the signs in the list of moves mean. */
	#drawCounts() {
		this.#counts.replaceChildren(...['p1', 'p2'].flatMap((player) => {
			// Of a move that was forced there is nothing to say, and the two kinds of good ones share a sign.
			const { best = 0, good = 0, ...others } = this.review.counts(player);
			const marks = Object.entries({ ...others, good: best + good }).filter(([mark, n]) => n && MARKS[mark][2]).sort((a, b) => b[1] - a[1]);
			if (!marks.length) return [];
			return [el('p', {}, `${this.#who(player)}: `, ...marks.flatMap(([mark, n], index) => {
				return [index ? ', ' : '', signOf(mark), ` ${n} ${countWords(mark, n)}`];
			}))];
		}), ...this.review.known.length ? [el('p', {}, this.#judgedBy())] : []);
	}

	/** How sure the marks are, and what the scores mean. */
	#judgedBy() {
		const { known } = this.review;
		const spent = `${LIMIT.time_ms / 1000} s a move`;
		const how = known.some(({ mark }) => ESTIMATED.includes(mark)) ? `Dashed marks are estimates (${spent})` : `Searched for up to ${spent}`;
		return `${how}; + is good for player 1.`;
	}

	/** A side by name; “You” and “The opponent” if the reader played one of them. */
	#who(player) {
		const mine = you(this.table.seats);
		return !mine ? playerName(player) : mine === player ? 'You' : 'The opponent';
	}

	/** The same within a sentence. */
	#by(player) {
		const who = this.#who(player);
		return who === playerName(player) ? who : who.toLowerCase();
	}

	/** How many mistakes each side made; what only took longer is no mistake, and stands in the counts. */
	#found() {
		const by = ['p1', 'p2'].map((player) => {
			const counts = this.review.counts(player);
			const mistakes = ERRORS.filter((mark) => !TIMING.includes(mark)).reduce((sum, mark) => sum + (counts[mark] ?? 0), 0);
			return `${mistakes} by ${this.#by(player)}`;
		});
		return `Mistakes found: ${by.join(', ')}.`;
	}

	#words(here) {
		const { review, table } = this;
		if (this.#trial) return this.#trial.said;
		if (review.progress) {
			const [done, all] = review.progress;
			if (table.connection.isOpen) return `Reviewing: ${done} of ${count(all, 'move')}.`;
			return done ? `The server is away. The review goes on when it is back: ${done} of ${count(all, 'move')} done.`
				: 'The server is away. The review begins when it is back.';
		}
		if (review.trouble) return review.trouble;
		if (!here) return review.known.length ? this.#found() : 'No move to review.';
		const number = moveNumber(table.game.moves, here.ply);
		const values = here.mark === 'forced' ? inView(here, here.before) : `${inView(here, here.before)} before, ${inView(here, behind(here))} after`;
		return `${number}. ${here.move} by ${this.#by(here.player)}: ${words(here)}${here.only && here.mark !== 'forced' ? ', the only move' : ''} (${values}).`;
	}
}
