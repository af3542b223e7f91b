/**
 * The board on the page: what of the table's state is drawn on it, and the input of the game that stands on it. It knows the
 * page's elements for the board, its prompt and its tools.
 */
import { BoardView } from './board.js';
import { cellsOf, change, touched } from './changes.js';
import { el, byId } from './dom.js';
import { Drawing, colourOf } from './drawing.js';
import { cellInput } from './input.js';
import { layersOverlay, withoutHidden } from './layers.js';
import { lookOf, moveWords } from './looks.js';
import { you } from './opponents.js';
import { isMoving, isPremoving } from './preferences.js';
import { carryOut, Premoves } from './premoves.js';
import { isLive } from './tree.js';
import { boardWords, playerName } from './words.js';

/** The animations, loaded in the background: the first board needs none. */
let motion = null;
import('./motion.js').then((module) => { motion = module; });

/** Plies of a line that are drawn on the board. */
const DRAWN_PLIES = 3;

export class BoardPanel {
	/** @type {import('./input.js').Input|null} */
	input = null;
	#inputKey = null;
	#drawn = null;
	#scene = null;
	/** How the board came to its position; it is shown once. */
	#motion = null;
	#dragged = false;
	/** The hint after which something was entered: the prompt is that of the entry again. */
	#heeded = null;
	#premoves = new Premoves();
	#lineKey = '';
	#line = [];

	/**
	 * @param {() => void} inputChanged  what can be chosen has changed
	 * @param {(motion: import('./motion.js').Motion) => void} stepped  the game went one ply forward, with what this moved
	 */
	constructor(table, inputChanged, stepped = () => {}) {
		this.stepped = stepped;
		this.table = table;
		this.inputChanged = inputChanged;
		/** Whether the main line is drawn on the board. */
		this.showLine = true;
		/** What other parts of the page draw on the board; each returns what it adds to the overlay. @type {Array<() => object|null>} */
		this.layers = [];
		const own = new Drawing();
		this.layers.push(() => own.overlay(table.node));
		this.layers.push(() => this.#premoves.overlay());
		const hand = this.#withPremoves(handOf(() => this.input, (cell) => this.#owns(cell)));
		this.board = new BoardView(byId('board'), {
			...hand,
			drag: (...cells) => {
				this.#dragged = true;
				hand.drag(...cells);
			},
			press: () => { if (own.clear()) this.repaint(); },
			draw: (from, to, event) => {
				if (!table.node || this.cancelPremoves()) return;
				own.toggle(table.node, from, to, colourOf(event));
				this.repaint();
			},
		});
	}

	/** A hand that keeps what it does while the opponent thinks. */
	#withPremoves(hand) {
		const kept = (name) => (...args) => {
			if (this.#mayPremove) this.#premove(name, args);
			else hand[name](...args);
		};
		return {
			...hand, cell: kept('cell'), side: kept('side'), drag: kept('drag'), swipe: kept('swipe'),
			dragOver: (...cells) => !this.#mayPremove && hand.dragOver(...cells),
			canDrag: (cell) => !this.#mayPremove && hand.canDrag(cell),
			// Letters go to the page first, some of which it uses itself. Arrows would only move the focus.
			key: (event) => (this.#mayPremove ? this.#premoveKey(event, /^Arrow/) : hand.key(event)),
			swipes: () => this.#swipes,
		};
	}

	/** Whether a swipe is a move, also while there is no input. */
	get #swipes() {
		const { game } = this.table;
		return Boolean(this.input ? this.input.swipe : game && lookOf(game.game).slide);
	}

	/** Whether a player waits for an engine, and may enter the next move. */
	get #mayPremove() {
		const { table } = this;
		return Boolean(isPremoving() && table.node && table.mode === 'play' && you(table.seats) && !table.outcome && !table.trial
			&& !table.paused && !table.yours && table.connection.isOpen && isLive(table.game));
	}

	#premove(name, args) {
		const { table } = this;
		this.#premoves.add(table.game, you(table.seats), { name, args });
		this.#paint();
	}

	/** @param {RegExp} of  the keys that may be kept; arrow keys only where they move what is on the board */
	#premoveKey({ key, shiftKey }, of) {
		if (key === 'Escape') return this.cancelPremoves();
		if (!of.test(key) || (/^Arrow/.test(key) && !this.#swipes)) return false;
		this.#premove('key', [{ key, shiftKey }]);
		return true;
	}

	/** A key that the page does not use itself. @returns {boolean} whether the game does */
	key(event) {
		if (this.#mayPremove) return this.#premoveKey(event, /^([^ ]|Arrow\w+)$/);
		return this.input?.key?.(event) ?? false;
	}

	/** @returns {boolean} whether there were premoves */
	cancelPremoves() {
		const had = this.#premoves.cancel();
		if (had) this.#paint();
		return had;
	}

	/** Plays what was entered while the opponent thought. Without a move at the end, the choice begins anew. */
	#playPremoves(node) {
		const { table } = this;
		const entries = this.#premoves.take(table.game, node.to_move);
		if (!entries.length || this.#inputKey !== node || !isLive(table.game) || table.mode !== 'play') return;
		const { game } = table;
		if (!carryOut(entries, this.input, () => table.game !== game)) this.#makeInput(node);
		this.#paint();
		this.inputChanged();
	}

	#owns(cell) {
		const { node } = this.table;
		return (node?.board.pieces ?? []).some((piece) => (piece.owner ?? node.to_move) === node.to_move
			&& cellsOf(piece).some((part) => part.join() === cell.join()));
	}

	/** The legal moves that fit what is chosen so far. */
	left() {
		return this.input?.left?.() ?? this.table.node?.legal ?? [];
	}

	/** Draws what the table shows. */
	draw() {
		const { table } = this;
		const { node } = table;
		if (!node) return;
		this.#renewInput();
		const { game } = table;
		const look = lookOf(game.game);
		const { slide } = look;
		const isNew = node !== this.#drawn?.node;
		if (isNew) {
			// A step of one ply is animated, a jump is not.
			const steps = this.#drawn?.id === game.id ? game.cursor - this.#drawn.cursor : 0;
			this.#motion = this.#between(this.#drawn?.node, node, steps, slide?.(game.moves[game.cursor - 1]));
			this.#drawn = { node, id: game.id, cursor: game.cursor };
		}
		// If everything slides, the changed cells show nothing.
		const before = slide ? null : table.before?.board;
		const last = before ? touched(lastChange(before, node.board)) : new Set();
		this.#scene = { board: node.board, view: table.view, last, look };
		this.#paint();
		if (isNew) {
			byId('in-words').replaceChildren(...boardWords(node.board).map((line) => el('p', {}, line)));
		}
	}

	/** What to animate after one step; null after a jump, and before the first board is drawn. */
	#between(before, after, steps, slide) {
		const dragged = this.#dragged;
		this.#dragged = false;
		if (!motion || !before || Math.abs(steps) !== 1) return null;
		// A slide is not animated backwards.
		if (steps < 0 && lookOf(this.table.game.game).slide) return null;
		const found = motion.motionBetween(before.board, after.board, steps > 0 ? slide : undefined);
		if (steps > 0) this.stepped(found);
		// A piece that was dragged is in its place already.
		if (dragged) found.travels.clear();
		return found;
	}

	#paint() {
		// While another game's position is awaited, the board stays as it is.
		if (!this.#scene || !this.table.node) return;
		const overlay = this.input?.overlay() ?? {};
		const found = this.#motion;
		// It is shown once, however often its position is painted.
		this.#motion = null;
		const move = found && isMoving() ? (stage) => motion.show(found, stage) : undefined;
		const board = withoutHidden(this.table.game.game, this.#scene.board);
		this.board.draw({ ...this.#scene, board, overlay: this.#withLayers(this.#withLine(overlay)), move });
		byId('table').style.setProperty('--ratio', this.board.ratio);
		const { classList } = byId('board');
		classList.toggle('quiet', Boolean(overlay.quiet));
		classList.toggle('swipes', this.#swipes);
		this.#paintTools();
	}

	/** Draws the board again, with what other parts of the page add to it. */
	repaint() {
		this.#paint();
	}

	#withLayers(overlay) {
		const { game, node } = this.table;
		const added = [layersOverlay(game.game, node.board), ...this.layers.map((layer) => layer())].filter(Boolean);
		if (!added.length) return overlay;
		return {
			...overlay,
			valued: new Set(added.flatMap(({ valued }) => [...(valued ?? [])])),
			under: added.flatMap(({ under }) => under ?? []),
			above: added.flatMap(({ above }) => above ?? []),
		};
	}

	/** What a click does if it does not play on. */
	#aside() {
		const { table } = this;
		if (table.trial) return ' It is judged, not played.';
		return table.mode === 'analyse' && table.game.node.next.length ? ' Another move begins a variation.' : '';
	}

	#paintTools() {
		const { table } = this;
		const { node } = table;
		let prompt = '';
		if (node && !table.outcome) {
			const { hint } = table;
			if (!this.#premoves.isEmpty) prompt = `${this.#premoves.words(node.board.grid)} Escape or a right click cancels.`;
			else if (hint?.line && hint !== this.#heeded) prompt = `Hint: ${moveWords(table.game.game, hint.line.move)}.`;
			else if (this.input) prompt = this.input.prompt() + this.#aside();
			else if (node.to_move === 'chance') prompt = 'Drawing at random…';
			else if (table.paused) prompt = 'Paused.';
			else if (table.thinking) prompt = `${playerName(node.to_move)} is thinking…`;
		}
		byId('prompt').textContent = prompt;
		byId('prompt').title = prompt;
		const host = byId('tools');
		const tools = this.#premoves.isEmpty ? this.input?.tools?.() ?? []
			: [{ label: 'Cancel premove', testid: 'premove-cancel', act: () => this.cancelPremoves() }];
		const focused = host.contains(document.activeElement) ? document.activeElement.textContent : null;
		host.replaceChildren(...tools.map((tool) => el('button', {
			title: tool.title, class: tool.className, onclick: tool.act, 'data-move': tool.move,
			testid: tool.testid, 'aria-label': tool.title && tool.label.length < 3 ? tool.title : null,
		}, tool.label)));
		if (focused) {
			const again = [...host.children].find((button) => button.textContent === focused) ?? host.firstElementChild;
			if (again) again.focus();
			else this.board.focus();
		}
	}

	/** Makes a new input for a new position; what was chosen is dropped with the old one. */
	#renewInput() {
		const { table } = this;
		const { node } = table;
		const key = table.yours && table.connection.isOpen ? node : null;
		if (!key && !this.#mayPremove) this.#premoves.cancel();
		if (key === this.#inputKey) return;
		this.#inputKey = key;
		this.input = null;
		if (key) {
			this.#makeInput(node);
			// Once the turn has begun, and its clock with it.
			queueMicrotask(() => this.#playPremoves(node));
		}
		this.inputChanged();
	}

	#makeInput(node) {
		const { table } = this;
		this.input = inputOf(table.game.game, {
			board: node.board,
			legal: node.legal,
			mover: node.to_move,
			view: () => table.view,
			play: (move) => table.play(move),
			changed: () => {
				if (this.#inputKey !== node) return;
				this.#heeded = table.hint;
				this.#paint();
				this.inputChanged();
			},
			preview: async (move) => (await table.changesAlong([move]))[0].change,
		});
	}

	/**
	 * Draws a line of moves over the board; an empty one takes it away.
	 * @param {string[]} plies  @param {{move: string, sign: string}|null} wrong  the move that was played in its place
	 */
	async showPv(plies, wrong = null) {
		const { table } = this;
		const line = this.showLine ? plies.slice(0, DRAWN_PLIES) : [];
		const key = line.length ? JSON.stringify([table.position, line, wrong]) : '';
		if (key === this.#lineKey) return;
		this.#lineKey = key;
		const lines = line.length ? [line, ...wrong ? [[wrong.move]] : []] : [];
		const found = await Promise.all(lines.map((one) => table.changesAlong(one).catch(() => [])));
		// Another line may have been asked for meanwhile.
		if (key !== this.#lineKey) return;
		this.#line = [...numbered(found[0] ?? []), ...(found[1] ?? []).map((step) => ({ ...step, number: wrong.sign, owner: 'wrong' }))];
		this.#paint();
	}

	#withLine(overlay) {
		if (!this.#line.length) return overlay;
		const slide = lookOf(this.table.game.game).slide;
		const out = {
			...overlay,
			ghosts: [...(overlay.ghosts ?? [])],
			sides: [...(overlay.sides ?? [])],
			arrows: [],
			slides: [],
		};
		const wrong = this.#line.some(({ owner }) => owner);
		for (const { move, player, change: does, number, owner } of this.#line) {
			const sign = wrong && number === 1 ? '✓' : number;
			const side = slide?.(move);
			if (side) {
				// Arrows of several slides could not be distinguished, so only the first move has one.
				if (number === 1 || owner) out.slides.push({ side, number: sign, owner: owner ?? player });
				continue;
			}
			// Of two pieces in one cell neither could be read.
			const taken = new Set(owner ? out.ghosts.map(({ piece }) => piece.cell.join()) : []);
			const shown = does.came.filter(({ piece, cell }) => piece !== 'blocked' && !taken.has(cell.join()));
			// Large pieces would hide each other, and what follows the better move the one that was played.
			if (!owner && number > 1 && (wrong || shown.some((piece) => piece.also?.length))) continue;
			shown.forEach((piece, index) => {
				// One number a move: at its wall, or else at its first piece.
				out.ghosts.push({ piece, className: 'line', number: index || does.walls.length ? undefined : sign, owner });
			});
			for (const piece of shown) {
				const from = does.left.find((gone) => gone.piece === piece.piece && gone.owner === piece.owner);
				if (from && !piece.also?.length) out.arrows.push({ from: from.cell, to: piece.cell, owner: owner ?? player });
			}
			for (const wall of does.walls) out.sides.push({ ...wall, move: null, number: sign, owner });
		}
		return out;
	}
}

/** The moves of a line with their numbers, which chance has none of. */
const numbered = (line) => line.filter(({ player }) => player !== 'chance').map((step, index) => ({ ...step, number: index + 1 }));

/** What the last move changed, without the cell that it blocked by leaving. */
function lastChange(before, after) {
	const all = change(before, after);
	return { ...all, came: all.came.filter((piece) => piece.piece !== 'blocked') };
}

/** How a move of a game is entered: as its look says, or as in any game. @param {import('./input.js').Context} context */
export const inputOf = (game, context) => tried(lookOf(game).input, context) ?? cellInput(context);

/**
 * What a hand does on a board, given to the input that stands on it now.
 * @param {() => import('./input.js').Input|null} input  @param {(cell: number[]) => boolean} owns  whether the mover may lift what is there
 */
export function handOf(input, owns) {
	const to = (name) => (...args) => input()?.[name]?.(...args);
	return {
		cell: to('cell'),
		side: to('side'),
		hover: to('hover'),
		drag: to('drag'),
		dragOver: (from, cell) => {
			if (!input()?.dragOver || !owns(from)) return false;
			input().dragOver(from, cell);
			return true;
		},
		swipe: to('swipe'),
		key: (event) => input()?.key?.(event) ?? false,
		canDrag: (cell) => Boolean(input()?.drag) && owns(cell),
		swipes: () => Boolean(input()?.swipe),
	};
}

/** A game's own input; null if it has none, or if it cannot handle the board. */
function tried(make, context) {
	try {
		return make?.(context) ?? null;
	} catch (error) {
		console.warn('this game’s own input failed, so the generic one is used:', error);
		return null;
	}
}
