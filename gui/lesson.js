/**
 * How a game is played: the steps that its folder brings, each played on a small board by the server's rules. It knows no
 * rules and no game; one that brings no steps has no lesson.
 *
 * @typedef {{title: string, text: string, task: string, rules: object, start?: string, solutions: string[]}} Step
 */
import { BoardView } from './board.js';
import { handOf, inputOf } from './board-panel.js';
import { cellsOf, change, drawn } from './changes.js';
import { byId, el, prose } from './dom.js';
import { isForBrowser } from './input.js';
import { loadLook, lookOf, moveWords } from './looks.js';
import { motionBetween, show } from './motion.js';
import { isMoving } from './preferences.js';
import { isAway } from './questions.js';
import { PLAIN } from './symmetry.js';
import { outcomeWords } from './words.js';

const WANT = ['to_move', 'outcome', 'legal', 'chance', 'board'];
/** Where the lesson covers the page, and is not beside the board. */
const COVERS = '(orientation: portrait), (max-height: 560px)';

export class Lesson {
	#dialog = byId('lesson');
	/** The game whose lesson is open. */
	#shown = '';
	#about = null;
	#at = 0;
	#node = null;
	#motion = null;
	#input = null;
	/** Whether the move of this step is a solution, or any move is; null until one is made. */
	#right = null;
	/** The move that was made in this step. */
	#made = '';
	#parts = {};
	#host = el('div.board-host', {});
	#board = new BoardView(this.#host, handOf(() => this.#input, (cell) => this.#owns(cell)));

	/** @param {(game: object, position: object, want: string[]) => Promise<object>} ask  @param {(game: string) => void} closed */
	constructor(ask, closed) {
		this.ask = ask;
		this.closed = closed;
		const board = this.#host.firstElementChild;
		board.dataset.testid = 'lesson-board';
		board.setAttribute('aria-label', 'Board of the lesson');
		this.#dialog.addEventListener('close', () => this.#ended());
		// Wherever the focus is: the lesson's board is the only one that can be played on.
		document.addEventListener('keydown', (event) => this.#key(event), true);
	}

	#key(event) {
		if (!this.isOpen || isForBrowser(event)) return;
		const { target } = event;
		const isHere = this.#dialog.contains(target);
		// What is typed elsewhere, as in a dialog above, is not for the lesson.
		if (!isHere && (target.closest('input, select, textarea, dialog, [popover]') || document.querySelector('dialog:modal'))) return;
		// Keys that the page would take for the game. The page never gets them; in the lesson, those that its game does not use act as usual.
		const isGame = /^(.|Arrow\w+|Home|End)$/.test(event.key) && event.key !== ' ';
		if (event.key === 'Escape') this.close();
		else if (!isGame || (!(this.#input?.key?.(event) ?? false) && isHere)) return;
		event.preventDefault();
		event.stopPropagation();
	}

	get isOpen() {
		return this.#dialog.open;
	}

	get game() {
		return this.#about?.name;
	}

	close() {
		this.#dialog.close();
		// The event comes later, when another lesson may be open.
		this.#ended();
	}

	#ended() {
		if (!this.#shown || this.#dialog.open) return;
		const game = this.#shown;
		this.#shown = '';
		this.#cover(false);
		this.#dialog.replaceChildren();
		this.closed(game);
	}

	/** Opens the lesson of a game. @param {object} about  what the server said of it */
	async open(about, byItself = false) {
		this.#about = about;
		this.#shown = about.name;
		this.#build();
		if (!this.#dialog.open) {
			if (matchMedia(COVERS).matches) this.#dialog.showModal();
			else this.#dialog.show();
			this.#cover(true);
			// It opened by itself, so Enter must not press one of its buttons.
			if (byItself && !this.#dialog.matches(':modal')) document.activeElement.blur();
		}
		await loadLook(about.name);
		await this.#go(0);
	}

	#build() {
		const parts = {
			title: el('h2', { id: 'lesson-title' }),
			// All steps' texts in one place, of which one is seen: so the board has one size in all steps.
			texts: el('div.texts', {}, ...this.#about.lesson.map(({ text, task }) => el('div', {}, el('p', {}, ...prose(text)), el('p.task', {}, ...prose(task))))),
			tools: el('div.tools', { role: 'toolbar', 'aria-label': 'This step’s move' }),
			said: el('p.said', { role: 'status', testid: 'lesson-said' }),
			back: el('button', { testid: 'lesson-back', onclick: () => this.#go(this.#at - 1) }, 'Back'),
			again: el('button', { testid: 'lesson-again', onclick: () => this.#go(this.#at) }, 'Try again'),
			reveal: el('button', { testid: 'lesson-show', onclick: () => this.#play(this.#step.solutions[0]) }, 'Show me'),
			next: el('button', { testid: 'lesson-next', onclick: () => this.#next() }),
		};
		this.#parts = parts;
		this.#dialog.replaceChildren(
			el('div.row', {}, parts.title,
				el('button.plain', { 'aria-label': 'Close', testid: 'lesson-close', onclick: () => this.close() }, '✕')),
			parts.texts, this.#host, parts.tools, parts.said,
			el('div.row.end', {}, parts.back, parts.again, parts.reveal, parts.next));
	}

	/** Makes the board and all that lies below the lesson inert: no clicks, not read by screen readers. */
	#cover(covers) {
		const deck = this.#dialog.parentElement;
		for (const part of [...deck.children, ...document.querySelectorAll('.board-row, .more')]) {
			if (part !== this.#dialog && !part.classList.contains('strip')) part.inert = covers;
		}
	}

	get #step() {
		return this.#about.lesson[this.#at];
	}

	#owns(cell) {
		return (this.#node?.board.pieces ?? []).some((piece) => (piece.owner ?? this.#node.to_move) === this.#node.to_move
			&& cellsOf(piece).some((part) => part.join() === cell.join()));
	}

	#next() {
		if (this.#at + 1 < this.#about.lesson.length) this.#go(this.#at + 1);
		else this.close();
	}

	/** Begins a step; the current one begins anew. */
	async #go(at) {
		// “Back” may be pressed twice before the first step is there.
		this.#at = Math.max(0, at);
		this.#right = null;
		this.#node = null;
		await this.#reach([], null);
	}

	/** What the server says of the step's position after some moves. */
	#inspect(moves) {
		const { rules, start } = this.#step;
		return this.ask({ game: this.#about.name, rules }, start === undefined ? { moves } : { start, moves }, WANT);
	}

	/** Shows the position after some moves of this step. @param {string|null} move  the one just made */
	async #reach(moves, move) {
		const step = this.#step;
		this.#input = null;
		try {
			const node = await this.#inspect(moves);
			if (this.#step !== step) return;
			const side = move && lookOf(this.#about.name).slide?.(move);
			this.#motion = this.#node && moves.length ? motionBetween(this.#node.board, node.board, side) : null;
			this.#node = node;
			if (!moves.length) this.#input = this.#inputFor(node);
			this.#draw();
			if (node.to_move === 'chance') await this.#reach([...moves, drawn(node.chance, Math.random())], null);
		} catch (error) {
			if (this.#step !== step) return;
			const { again, said } = this.#parts;
			this.#drawStep();
			again.hidden = false;
			said.textContent = isAway(error) ? 'The server is away. Try again when it is back.' : error.message;
		}
	}

	#inputFor(node) {
		const context = {
			board: node.board,
			legal: node.legal,
			mover: node.to_move,
			view: () => PLAIN,
			play: (move) => this.#play(move),
			changed: () => { if (this.#node === node) this.#draw(); },
			preview: async (move) => change(node.board, (await this.#inspect([move])).board),
		};
		return inputOf(this.#about.name, context);
	}

	#play(move) {
		const { solutions } = this.#step;
		this.#right = !solutions.length || solutions.includes(move);
		this.#made = move;
		this.#reach([move], move);
	}

	/** What is said of the move that was made. Where any move will do, none is right: it is named. */
	#verdict() {
		if (!this.#right) return 'That move is legal, but it is not what is asked for.';
		return this.#step.solutions.length ? 'Right.' : `You played ${moveWords(this.#about.name, this.#made)}.`;
	}

	#draw() {
		const { by } = this.#about;
		const { tools, said, next } = this.#parts;
		const host = this.#host;
		const node = this.#node;
		const found = this.#motion;
		this.#motion = null;
		const overlay = this.#input?.overlay() ?? {};
		this.#board.draw({
			board: node.board, view: PLAIN, last: new Set(), look: lookOf(this.#about.name), overlay,
			move: found && isMoving() ? (stage) => show(found, stage) : undefined,
		});
		host.classList.toggle('quiet', Boolean(overlay.quiet));
		host.classList.toggle('swipes', Boolean(this.#input?.swipe));
		host.style.setProperty('--ratio', this.#board.ratio);
		const focused = tools.contains(document.activeElement) ? document.activeElement.textContent : null;
		tools.replaceChildren(...(this.#input?.tools?.() ?? []).map((tool) => el('button', {
			title: tool.title, class: tool.className, onclick: tool.act, 'data-move': tool.move,
			'aria-label': tool.title && tool.label.length < 3 ? tool.title : null,
		}, tool.label)));
		if (focused) [...tools.children].find((button) => button.textContent === focused)?.focus();
		said.textContent = this.#right === null ? '' : `${this.#verdict()}${node.outcome ? ` ${outcomeWords(node.outcome, by)}` : ''}`;
		said.classList.toggle('wrong', this.#right === false);
		this.#drawStep();
		if (this.#right && !this.#dialog.contains(document.activeElement)) next.focus();
	}

	/** All but the board and what is done on it, so also without the server. */
	#drawStep() {
		const { lesson } = this.#about;
		const { title, texts, back, again, reveal, next } = this.#parts;
		title.textContent = `How to play, ${this.#at + 1} of ${lesson.length}: ${this.#step.title}`;
		[...texts.children].forEach((step, at) => step.classList.toggle('shown', at === this.#at));
		const isLast = this.#at + 1 === lesson.length;
		back.disabled = this.#at === 0;
		again.hidden = this.#right === null;
		reveal.hidden = this.#right !== null || !this.#step.solutions.length;
		next.textContent = isLast ? 'To the game' : this.#right ? 'Next' : 'Skip';
		next.classList.toggle('primary', Boolean(this.#right));
	}
}
