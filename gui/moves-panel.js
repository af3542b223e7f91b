/** The list of legal moves, with its search. */
import { el, byId } from './dom.js';
import { moveWords } from './looks.js';

/** The most moves that are listed at once. */
const LISTED = 120;

export class MovesPanel {
	#search = el('input', {
		type: 'search', placeholder: 'Search, Enter plays', 'aria-label': 'Search the legal moves', testid: 'move-search',
		autocomplete: 'off', spellcheck: 'false',
	});
	#list = el('div.moves', { role: 'group', 'aria-label': 'Legal moves' });
	#more = el('p.help', {});

	/** @param {() => string[]|undefined} left  the moves that fit what is chosen on the board */
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
	}
}
