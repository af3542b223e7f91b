/** The list of legal moves, with its search, and the list of what was played. */
import { el, byId } from './dom.js';
import { moveWords } from './looks.js';
import { isChance, moveNumber } from './record.js';
import { viewWords } from './words.js';

/** More than these are not listed at once. */
const LISTED = 120;
/** Of the plies played so many are listed before and after the cursor. */
const NEAR = 300;

export class MovesPanel {
	#search = el('input', {
		type: 'search', placeholder: 'Search, Enter plays', 'aria-label': 'Search the legal moves', testid: 'move-search',
		autocomplete: 'off', spellcheck: 'false',
	});
	#list = el('div.moves', { role: 'group', 'aria-label': 'Legal moves' });
	#more = el('p.help', {});
	#history = '';
	/** What a review says of the move of a ply. @type {(ply: number) => object|null} */
	markAt = () => null;
	#back = document.querySelector('[data-testid="bring-back"]');

	/** @param {() => string[]|undefined} left  what the choice on the board leaves */
	constructor(table, left) {
		this.table = table;
		this.left = left;
		byId('legal').append(this.#search, this.#list, this.#more);
		this.#search.addEventListener('input', () => this.draw());
		this.#search.addEventListener('keydown', (event) => {
			if (event.key !== 'Enter') return;
			const moves = this.#found();
			const text = this.#search.value.trim();
			const move = moves.find((one) => one === text) ?? (moves.length === 1 ? moves[0] : null);
			if (!move) return;
			this.#play(move);
			// The keys of the page work again.
			this.#search.blur();
		});
		this.#list.addEventListener('click', (event) => {
			const move = event.target.closest('[data-move]')?.dataset.move;
			if (move) this.#play(move);
		});
		byId('history').addEventListener('click', (event) => {
			const ply = event.target.closest('[data-ply]')?.dataset.ply;
			if (ply !== undefined) table.goTo(Number(ply));
		});
	}

	/** Opens the list and goes to its search. */
	focus() {
		this.#search.closest('details').open = true;
		this.#search.focus();
	}

	#play(move) {
		this.#search.value = '';
		this.table.play(move);
	}

	#words(move) {
		return moveWords(this.table.game.game, move);
	}

	#found() {
		const legal = (this.table.yours && this.left()) || this.table.node?.legal || [];
		const words = this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
		return legal.filter((move) => {
			const text = `${move} ${this.#words(move)}`.toLowerCase();
			return words.every((word) => text.includes(word));
		});
	}

	draw() {
		const { table } = this;
		const moves = this.#found();
		this.#list.replaceChildren(...moves.slice(0, LISTED).map((move) => el('button', {
			'data-move': move, disabled: !table.yours, title: this.#words(move),
		}, move)));
		const total = table.node?.legal.length ?? 0;
		const hidden = moves.length - LISTED;
		this.#more.textContent = hidden > 0 ? `and ${hidden} more: search to see them` : `${moves.length} of ${total}`;
		this.drawHistory();
	}

	/** Draws what was played, with the scores that are known. */
	drawHistory() {
		const { game } = this.table;
		if (!game) return;
		const earlier = game.earlier?.at(-1);
		this.#back.hidden = !earlier;
		if (earlier) this.#back.textContent = `Bring back ${earlier.moves.length} plies`;
		const host = byId('history');
		const marks = this.table.mode === 'analyse' ? game.moves.map((_, ply) => this.markAt(ply)) : [];
		const key = JSON.stringify([marks, game.moves, game.scores, game.moves.length > NEAR && game.cursor]);
		if (key !== this.#history) {
			this.#history = key;
			const entry = (ply, text, className) => el('li', { class: className }, el('button.plain', { 'data-ply': ply }, ...text));
			// Of a very long game the part around the cursor is listed.
			const from = Math.max(0, game.cursor - NEAR);
			let number = moveNumber(game.moves, from - 1);
			host.replaceChildren(entry(0, ['Start']), ...game.moves.slice(from, game.cursor + NEAR).map((move, index) => {
				const at = from + index;
				if (isChance(move)) return entry(at + 1, [move], 'chance');
				number += 1;
				// What the position after the move is worth: the same number that its analysis shows.
				const score = game.scores[at + 1];
				return entry(at + 1, [
					el('span.number', {}, `${number}.`), ` ${move}`,
					marks[at]?.sign ? el('span', {
						'data-mark': marks[at].mark, class: `review-mark${marks[at].isEstimate ? ' estimate' : ''}`, title: marks[at].title,
					}, marks[at].sign) : '',
					score ? el('span.score', { title: 'Score after the move, from player 1’s view' }, viewWords(score)) : '',
				]);
			}));
		}
		for (const button of host.querySelectorAll('[data-ply]')) {
			const here = Number(button.dataset.ply) === game.cursor;
			if (here && button.getAttribute('aria-current') !== 'step') {
				button.setAttribute('aria-current', 'step');
				// Only the list scrolls: the page must not jump at each move.
				const { offsetTop, offsetHeight, offsetLeft, offsetWidth } = button.parentElement;
				host.scrollTop = offsetTop - host.offsetTop - host.clientHeight / 2 + offsetHeight;
				host.scrollLeft = offsetLeft - host.offsetLeft - host.clientWidth / 2 + offsetWidth;
			} else if (!here) {
				button.removeAttribute('aria-current');
			}
		}
	}
}

