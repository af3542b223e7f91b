/**
 * The explorer of openings: what the server's book of solved positions says of the position on the board, as a list from which
 * one plays, and for the board as a value of each move. It knows no rules and no game.
 */
import { el } from './dom.js';
import { ConnectionLost } from './plyd/errors.js';
import { proofOf } from './value.js';
import { count, flipped, playerName, plural, viewWords } from './words.js';

const KEY = 'plyd.explorer';
/** The sign on a move that has no number to show. */
const SIGNS = { win: '✓', draw: '=', loss: '✗' };

export class Explorer {
	/** The position that was asked about; what the book says of it. */
	#node = null;
	#page = null;
	/** What the list shows. */
	#listed = null;

	/** @param {() => void} changed  the book has answered, or the explorer is on or off */
	constructor(table, changed) {
		this.table = table;
		this.changed = changed;
		this.on = wasOn();
		/** The move over which the pointer or the focus is. @type {string|null} */
		this.hovered = null;
		const box = el('input', { type: 'checkbox', testid: 'explorer', checked: this.on });
		box.addEventListener('change', () => this.turn(box.checked));
		this.switch = el('label.inline', { title: 'What the book of solved openings says of each move', hidden: true }, box, ' openings');
		this.words = el('p', { testid: 'book-says' });
		this.list = el('ul.lines', { 'aria-label': 'Book moves' });
		this.root = el('section.review', { 'aria-label': 'Openings', testid: 'book', hidden: true }, this.words, this.list);
		const hover = (event) => this.#hover(event.target.closest?.('[data-move]')?.dataset.move ?? null);
		for (const name of ['pointerover', 'focusin']) this.list.addEventListener(name, hover);
		for (const name of ['pointerleave', 'focusout']) this.list.addEventListener(name, () => this.#hover(null));
		this.list.addEventListener('click', (event) => {
			const move = event.target.closest('[data-move]')?.dataset.move;
			if (move) table.explore(move);
		});
	}

	/** What the book says of the position on the board, if the explorer is on. */
	get page() {
		return this.on && this.#node === this.table.node ? this.#page : null;
	}

	/** The same in a sentence, for a place of its own where there is no choice to list. */
	get said() {
		return this.page && saidOf(this.page, this.table.node.to_move);
	}

	/** What the numbers on the board mean, in words. */
	get legend() {
		const { moves } = this.page;
		const has = (is) => moves.some(({ score, replies }) => is(proofOf(score), replies));
		const numbers = [
			has(({ plies }) => plies !== undefined) && 'plies to the end',
			has(({ plies, margin }) => plies === undefined && margin !== undefined) && '+ and −: points won and lost by',
			has(({ outcome, plies, margin }, replies) => outcome === 'loss' && replies && (plies ?? margin) === undefined) && 'replies that win',
		].filter(Boolean);
		return numbers.length ? ` (number: ${numbers.join(', or ')})` : '';
	}

	turn(on) {
		this.on = on;
		try {
			localStorage.setItem(KEY, on ? 'on' : 'off');
		} catch {
			// Full or forbidden: it holds until the page is closed.
		}
		this.changed();
	}

	#hover(move) {
		if (move === this.hovered) return;
		this.hovered = move;
		this.changed();
	}

	/** Asks about the position on the board, once. */
	async follow() {
		const { table } = this;
		const { node, game, position } = table;
		const can = table.mode === 'analyse' && table.settled && table.connection.isOpen;
		if (!can || node === this.#node) return;
		this.#node = node;
		this.#page = null;
		this.hovered = null;
		let book = null;
		try {
			({ book } = await table.ask(game, position, ['book']));
		} catch (error) {
			// After a lost connection ask again; a server's refusal is final.
			if (error instanceof ConnectionLost && node === this.#node) this.#node = null;
		}
		if (node !== this.#node) return;
		this.#page = book ?? null;
		// Once a game was in the book, the switch stays.
		this.switch.hidden = !book && this.switch.dataset.of !== game.id;
		if (book) this.switch.dataset.of = game.id;
		this.changed();
	}

	/** @returns {Map<string, import('./values.js').Grade>} of each move that the book judges */
	grades() {
		const out = new Map();
		// Nothing is given away to somebody who looks for a better move.
		if (this.table.mode !== 'analyse' || this.table.trial?.hides) return out;
		for (const judged of this.page?.moves ?? []) {
			const grade = gradeOf(judged, this.table.node.to_move);
			for (const move of [judged.move, ...judged.alike ?? []]) out.set(move, grade);
		}
		return out;
	}

	/** @param {boolean} isShown  whether nothing else stands in its place */
	draw(isShown) {
		const { page, table } = this;
		this.root.hidden = !isShown || !page;
		if (this.root.hidden || page === this.#listed) return;
		this.#listed = page;
		this.words.textContent = this.said;
		this.list.replaceChildren(...page.moves.map((judged) => {
			const { move, alike = [] } = judged;
			const grade = gradeOf(judged, table.node.to_move);
			const also = alike.length ? ` ×${alike.length + 1}` : '';
			return el('li', {}, el('button.plain', {
				'data-move': move, 'data-value': grade.kind, title: `${[move, ...alike].join(' ')}: ${grade.words}; click to play ${move}`,
			}, el('span.score', {}, `${move}${also}`), el('span.pv', {}, resultOf(judged))));
		}));
	}
}

function wasOn() {
	try {
		return localStorage.getItem(KEY) !== 'off';
	} catch {
		return true;
	}
}

const ofFirst = (score, player) => viewWords(player === 'p2' ? flipped(score) : score);

/** @returns {import('./values.js').Grade} */
function gradeOf({ score, replies, reply }, player) {
	const { outcome, plies, margin } = proofOf(score);
	const text = plies ?? margin ?? (outcome === 'loss' && replies ? replies.wins : SIGNS[outcome]);
	return { kind: outcome, text: String(text), words: `${ofFirst(score, player)}, ${resultOf({ score, replies, reply })}` };
}

/** What a move does, in words. */
function resultOf({ score, replies, reply }) {
	const { outcome } = proofOf(score);
	const all = replies && replies.wins + replies.draws + replies.losses;
	if (outcome === 'loss' && replies) return `loses: ${replies.wins} of ${count(all, 'reply')} ${plural(replies.wins, 'wins', 'win')}`;
	if (outcome === 'draw' && replies) return `draws: ${replies.draws} of ${count(all, 'reply')} ${plural(replies.draws, 'holds', 'hold')}`;
	const does = { win: 'wins', draw: 'draws', loss: 'loses' }[outcome];
	return outcome === 'win' || !reply ? does : `${does} after ${reply}`;
}

/** What is proven of the position, and how many moves keep it. */
function saidOf({ score, moves }, player) {
	const proof = proofOf(score);
	const best = moves.filter((judged) => proofOf(judged.score).outcome === proof.outcome);
	const kept = best.reduce((sum, { alike = [] }) => sum + 1 + alike.length, 0);
	const all = moves.reduce((sum, { alike = [] }) => sum + 1 + alike.length, 0);
	const of = `${playerName(player)} to move: ${ofFirst(score, player)}.`;
	if (proof.outcome === 'loss') return `${of} Every move loses${moves.length ? '; the first ones leave the fewest winning replies' : ''}.`;
	if (!best.length) return of;
	const does = proof.outcome === 'win' ? 'win' : 'draw';
	// Of some positions the book names one move alone.
	return all > 1 ? `${of} ${kept} of ${all} moves ${plural(kept, `${does}s`, does)}.` : `${of} By the book ${best[0].move} ${does}s.`;
}
