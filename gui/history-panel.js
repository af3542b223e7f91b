/**
 * The moves played, as a tree in a column: the main line, and after each of its moves the variations on it. Also what one can do
 * with a node of the tree: show it, comment on it, promote its variation, delete it.
 */
import { confirmed } from './ask.js';
import { el, byId } from './dom.js';
import { isChance, moveNumber, nodesFrom, pathTo, sibling, variationOf } from './record.js';
import { count, viewWords } from './words.js';

/** How many plies of a line are listed before and after the cursor. */
const NEAR = 300;
const button = (name) => document.querySelector(`[data-testid="${name}"]`);

export class HistoryPanel {
	#host = byId('history');
	#tools = byId('node-tools');
	#comment = button('comment');
	/** The nodes that are listed; buttons name them by index. */
	#nodes = [];
	#key = '';
	/** The node that the open tools are about: the game may go on behind them. */
	#opened = null;
	/** What a review says of the move that led to a node. @type {(node: import('./tree.js').Node) => object|null} */
	markOf = () => null;

	constructor(table) {
		this.table = table;
		this.#host.addEventListener('click', (event) => {
			const node = event.target.closest('[data-node]')?.dataset.node;
			if (node !== undefined) table.show(this.#nodes[node]);
		});
		this.#host.addEventListener('keydown', (event) => {
			if (!this.key(event.key)) return;
			event.preventDefault();
			// Later the focus follows by itself, once the server has described the position.
			this.#host.querySelector('[aria-current]')?.focus();
		});
		this.#comment.addEventListener('input', () => table.comment(this.#node, this.#comment.value));
		button('promote').addEventListener('click', () => table.promote(this.#node));
		button('undelete').addEventListener('click', () => table.undelete());
		button('delete-node').addEventListener('click', () => this.#delete());
		this.#tools.addEventListener('beforetoggle', (event) => {
			this.#opened = event.newState === 'open' ? table.game?.node : null;
			if (table.game) this.#drawTools();
		});
	}

	/** Left and right go a ply back and forward, up and down to another move in the place of this one. */
	key(key) {
		const { table } = this;
		const { game } = table;
		if (!game) return false;
		if (key === 'ArrowLeft' || key === 'ArrowRight') {
			table.goTo(game.cursor + (key === 'ArrowLeft' ? -1 : 1));
			return true;
		}
		const other = { ArrowUp: -1, ArrowDown: 1 }[key];
		const node = other && sibling(game.node, other);
		if (node) table.show(node);
		return Boolean(node);
	}

	/** What the tools are about: what was on the board when they were opened, else what is there now. */
	get #node() {
		return this.#opened ?? this.table.game.node;
	}

	async #delete() {
		const node = this.#node;
		const rest = nodesFrom(node).length - 1;
		const after = rest ? ` and the ${count(rest, 'move')} after it` : '';
		this.#tools.hidePopover();
		if (await confirmed(`Delete ${node.move}${after}?`, 'Delete')) this.table.deleteNode(node);
	}

	draw() {
		const { game } = this.table;
		if (!game) return;
		const focused = this.#host.contains(document.activeElement) ? document.activeElement : null;
		const focusedNode = this.#nodes[focused?.dataset.node];
		// If the entry of the last position had the focus, the entry of the new one gets it.
		const next = focused?.hasAttribute('aria-current') ? game.node : focusedNode;
		const isLong = game.moves.length > NEAR;
		// The key holds all that is drawn of a node: the list is drawn again only if something changed.
		const nodes = nodesFrom(game.root).map(({ move, score, comment, next }) => [move, score, comment, next.length]);
		const marks = this.table.mode === 'analyse' ? nodesFrom(game.root).map((node) => this.markOf(node)) : [];
		const key = JSON.stringify([game.id, nodes, marks, game.moves, isLong && game.cursor]);
		if (key !== this.#key) {
			this.#key = key;
			this.#nodes = [];
			this.#host.replaceChildren(...this.#start(game), ...this.#flow(game.root.next[0], 0, 0));
		}
		this.#mark();
		if (next && (next !== focusedNode || !focused.isConnected)) this.#focus(next);
		this.#drawTools();
	}

	/** Focuses the entry of a node, or of the one on the board if that is not listed. The list has scrolled by itself. */
	#focus(node) {
		const entry = this.#host.querySelector(`[data-node="${this.#nodes.indexOf(node)}"]`)
			?? this.#host.querySelector('[aria-current]');
		entry?.focus({ preventScroll: true });
	}

	#start(game) {
		return [this.#entry(game.root, 0, ['Start']), ...said(game.root)];
	}

	/** The list entries of a node and of all that follows it, with what was played instead. */
	#flow(head, before, numberBefore) {
		const { cursor } = this.table.game;
		const entries = [];
		let ply = before;
		let number = numberBefore;
		for (let node = head; node; [node] = node.next) {
			const others = node === node.parent.next[0] ? node.parent.next.slice(1) : [];
			ply += 1;
			const shown = Math.abs(ply - cursor) <= NEAR;
			if (shown) {
				const mark = this.table.mode === 'analyse' ? this.markOf(node) : null;
				entries.push(this.#move(node, ply, number, mark), ...bestOf(mark), ...said(node));
				for (const other of others) {
					entries.push(el('li.variation', {}, el('ol', {}, ...this.#flow(other, ply - 1, number))));
				}
			}
			if (!isChance(node.move)) number += 1;
		}
		return entries;
	}

	#move(node, ply, before, mark) {
		if (isChance(node.move)) return this.#entry(node, ply, [node.move], 'chance');
		// What a review found stays, whatever a search finds later.
		const score = mark?.score ?? node.score;
		return this.#entry(node, ply, [
			el('span.number', {}, `${before + 1}.`), ` ${node.move}`,
			mark?.sign ? el('span', {
				'data-mark': mark.mark, class: `review-mark${mark.isEstimate ? ' estimate' : ''}`, title: mark.title,
			}, mark.sign) : '',
			// The value of the position after the move: the same number that its analysis shows.
			score ? el('span.score', { title: 'Score after the move, from player 1’s view' }, viewWords(score)) : '',
		]);
	}

	#entry(node, ply, text, className) {
		this.#nodes.push(node);
		const onLine = this.table.game.line[ply] === node;
		return el('li', { class: className }, el(onLine ? 'button.plain' : 'button.plain.aside', {
			'data-node': this.#nodes.length - 1, 'data-ply': onLine ? ply : null,
		}, ...text));
	}

	#mark() {
		const { game } = this.table;
		for (const entry of this.#host.querySelectorAll('[data-node]')) {
			const here = this.#nodes[entry.dataset.node] === game.node;
			if (here && entry.getAttribute('aria-current') !== 'step') {
				entry.setAttribute('aria-current', 'step');
				// Only the list scrolls: the page must not jump at each move.
				const [box, list] = [entry.getBoundingClientRect(), this.#host.getBoundingClientRect()];
				this.#host.scrollTop += box.top - list.top - this.#host.clientHeight / 2 + box.height / 2;
				this.#host.scrollLeft += box.left - list.left - this.#host.clientWidth / 2 + box.width / 2;
			} else if (!here) {
				entry.removeAttribute('aria-current');
			}
		}
	}

	#drawTools() {
		const node = this.#node;
		const moves = pathTo(node).slice(1).map(({ move }) => move);
		const words = !node.parent ? 'the start'
			: isChance(node.move) ? node.move : `${moveNumber(moves, moves.length - 1)}. ${node.move}`;
		byId('node-title').textContent = `Comment on ${words}`;
		// A comment that is being typed is not overwritten.
		if (this.#comment.value.trim() !== (node.comment ?? '').trim()) this.#comment.value = node.comment ?? '';
		button('promote').disabled = !variationOf(node);
		button('delete-node').disabled = !node.parent;
		button('undelete').hidden = !this.table.game.deleted;
	}
}

/** The better move behind a mistake, as entries of the list; a click shows it. */
const bestOf = (mark) => (mark?.best ? [el('li.best', {}, el('button.plain', {
	testid: 'best', title: 'Show it on the board', onclick: mark.best.show,
}, `${mark.best.words}.`))] : []);

/** The comment on a node, as entries of the list. */
const said = ({ comment }) => (comment ? [el('li.comment', {}, comment)] : []);
