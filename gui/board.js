/**
 * The board as SVG, drawn from the protocol's primitives in any of the eight views, and what a hand does on it: choosing
 * cells and sides, dragging, hovering, keys. It knows no rules; an *overlay* lists what can be chosen.
 *
 * @typedef {import('./symmetry.js').Cell} Cell
 * @typedef {object} Overlay
 * @property {Map<string, string|null>} [targets]  cells to choose, by `row,col`, with the move that the choice plays at once
 * @property {Set<string>} [selected]  cells that are chosen
 * @property {Set<string>} [hidden]  keys of pieces that are lifted off the board
 * @property {Array<{piece: object, className?: string, number?: number|string, owner?: string}>} [ghosts]  pieces that are only previewed
 * @property {Array<{cell: Cell, side: string, move: string|null, number?: number|string, owner?: string}>} [sides]  walls to choose, or that are only previewed
 * @property {Array<{from: Cell, to: Cell, owner?: string}>} [arrows]
 * @property {Array<{side: string, number: number, owner?: string}>} [slides]  directions in which everything slides
 * @property {Array<(places: Places) => SVGElement[]>} [under] [above]  what others draw, below the lines and above all
 * @property {Set<string>} [valued]  cells that show a value instead of the dot of a target
 * @typedef {object} Places  where things are drawn: the middle of a cell, a line on its side, a side of the board as it is seen
 *
 * A *hand* receives what happens: an `Input` of input.js, with `canDrag(cell)` and `swipes()`. `press()` is the left button
 * anywhere on the board, and `draw(from, to, event)` the right one, from cell to cell.
 */
import { svg } from './dom.js';
import { cellAt, cellsOf, pieceKey } from './changes.js';
import { UNIT, caption, ownerClass, pieceShape } from './pieces.js';
import { fromView, sideFromView, sideToView, size, STEP, toView } from './symmetry.js';
import { cellName, contents } from './words.js';

const EDGE = 6;
/** Pixels that a pointer moves before it drags. */
const DRAG_PX = 8;
const ARROWS = { ArrowUp: 'up', ArrowRight: 'right', ArrowDown: 'down', ArrowLeft: 'left' };

export class BoardView {
	#root = svg('svg.board', { role: 'grid', 'aria-label': 'Board', testid: 'board' });
	#cells = svg('g.cells', {});
	#under = svg('g.under', { 'aria-hidden': 'true' });
	#lines = svg('g.lines', { 'aria-hidden': 'true' });
	#pieces = svg('g.pieces', { 'aria-hidden': 'true' });
	/** Over the pieces, some of which fill their cells. */
	#frame = svg('rect.frame', { 'aria-hidden': 'true' });
	#above = svg('g.above', { 'aria-hidden': 'true' });
	#shape = '';
	#focus = [0, 0];
	#press = null;
	/** The cell where the right button went down. */
	#drawn = null;
	#scene = null;
	#painted = '';

	constructor(host, hand) {
		this.hand = hand;
		this.#root.append(this.#cells, this.#under, this.#lines, this.#pieces, this.#frame, this.#above);
		host.append(this.#root);
		const root = this.#root;
		root.addEventListener('click', (event) => this.#click(event));
		root.addEventListener('keydown', (event) => this.#key(event));
		root.addEventListener('pointerdown', (event) => this.#down(event));
		root.addEventListener('pointermove', (event) => this.#move(event));
		root.addEventListener('pointerleave', () => this.hand.hover(null));
		root.addEventListener('focusin', (event) => this.#focused(event.target));
		// Where the right button draws, it opens no menu.
		root.addEventListener('contextmenu', (event) => { if (hand.draw) event.preventDefault(); });
		window.addEventListener('pointerup', (event) => this.#up(event));
		window.addEventListener('pointercancel', () => this.#letGo());
	}

	/**
	 * Draws everything.
	 * @param {object} scene.board  the protocol's board
	 * @param {Set<string>} scene.last  cells of the last move
	 * @param {(stage: object) => void} [scene.move]  animates the last move; gets the `stage` of `show` in motion.js
	 * @param {{piece?: Function, mark?: Function}} [scene.look]  a game's own drawing
	 */
	draw(scene) {
		this.#scene = scene;
		const { board, view } = scene;
		const shape = JSON.stringify([board.grid, view]);
		if (shape !== this.#shape) {
			this.#shape = shape;
			this.#layOut(board.grid, view);
		}
		this.#paintCells();
		this.#paintPieces();
		this.#paintAbove();
	}

	/** Its width divided by its height, as it is seen. */
	get ratio() {
		const { width, height } = this.#root.viewBox.baseVal;
		return height ? width / height : 1;
	}

	/** Puts the keyboard's focus on the board. */
	focus() {
		this.#cellAt(this.#focus)?.focus();
	}

	/** The middle of a cell as it is drawn. */
	#middle(cell) {
		const [row, col] = toView(this.#scene.view, this.#scene.board.grid, cell);
		return [(col + 0.5) * UNIT, (row + 0.5) * UNIT];
	}

	/** @returns {Places} */
	#places() {
		const { view, board } = this.#scene;
		return {
			middle: (cell) => this.#middle(cell),
			wall: (cell, side, attributes) => this.#wall(cell, side, attributes),
			seen: (side) => sideToView(view, side),
			size: size(view, board.grid),
		};
	}

	#cellAt(cell) {
		return this.#cells.querySelector(`[data-cell="${cell.join()}"]`);
	}

	/** What only the size and the view decide: cells, lines, labels. */
	#layOut(grid, view) {
		const seen = size(view, grid);
		const width = seen.cols * UNIT;
		const height = seen.rows * UNIT;
		// Left and above is room for the labels, which are equally large on boards of any size.
		const margin = Math.round(14 + 3.4 * Math.max(seen.rows, seen.cols));
		this.#root.setAttribute('viewBox', `${-margin} ${-margin} ${width + margin + EDGE} ${height + margin + EDGE}`);
		this.#root.setAttribute('aria-rowcount', seen.rows);
		this.#root.setAttribute('aria-colcount', seen.cols);
		const [r, c] = this.#focus;
		if (r >= grid.rows || c >= grid.cols) this.#focus = fromView(view, grid, [0, 0]);
		const hadFocus = this.#cells.contains(document.activeElement);
		this.#cells.replaceChildren();
		for (let row = 0; row < seen.rows; row += 1) {
			const line = svg('g', { role: 'row' });
			for (let col = 0; col < seen.cols; col += 1) {
				const cell = fromView(view, grid, [row, col]);
				line.append(svg('rect', {
					role: 'gridcell',
					class: 'cell',
					x: col * UNIT,
					y: row * UNIT,
					width: UNIT,
					height: UNIT,
					'data-cell': cell.join(),
					tabindex: cell.join() === this.#focus.join() ? 0 : -1,
				}));
			}
			this.#cells.append(line);
		}
		this.#paintLines(grid, view, seen, margin);
		if (hadFocus) this.focus();
	}

	#paintLines(grid, view, seen, margin) {
		const width = seen.cols * UNIT;
		const height = seen.rows * UNIT;
		const [tall, wide] = grid.block ?? [0, 0];
		const [blockRows, blockCols] = view.transpose ? [wide, tall] : [tall, wide];
		const out = [];
		for (let col = 1; col < seen.cols; col += 1) {
			out.push(svg('path', { d: `M${col * UNIT} 0v${height}`, class: blockCols && col % blockCols === 0 ? 'heavy' : '' }));
		}
		for (let row = 1; row < seen.rows; row += 1) {
			out.push(svg('path', { d: `M0 ${row * UNIT}h${width}`, class: blockRows && row % blockRows === 0 ? 'heavy' : '' }));
		}
		const [rows, cols] = view.transpose ? [grid.col_labels, grid.row_labels] : [grid.row_labels, grid.col_labels];
		const label = (text, x, y) => {
			if (text) out.push(svg('text', { x, y, class: 'label', 'font-size': margin * 0.55 }, text));
		};
		for (let row = 0; row < seen.rows; row += 1) {
			label(rows?.[view.rows ? seen.rows - 1 - row : row], -margin / 2, (row + 0.5) * UNIT);
		}
		for (let col = 0; col < seen.cols; col += 1) {
			label(cols?.[view.cols ? seen.cols - 1 - col : col], (col + 0.5) * UNIT, -margin / 2);
		}
		this.#lines.replaceChildren(...out);
		this.#frame.setAttribute('width', width);
		this.#frame.setAttribute('height', height);
	}

	#paintCells() {
		const { board, overlay, last } = this.#scene;
		const on = contents(board);
		for (const rect of this.#cells.querySelectorAll('.cell')) {
			const key = rect.dataset.cell;
			const target = overlay.targets?.has(key);
			const chosen = overlay.selected?.has(key);
			rect.classList.toggle('last', last.has(key));
			rect.classList.toggle('target', Boolean(target));
			rect.classList.toggle('selected', Boolean(chosen));
			const move = overlay.targets?.get(key);
			if (move) rect.dataset.move = move;
			else delete rect.dataset.move;
			const words = [cellName(board.grid, cellAt(key)), ...(on.get(key) ?? ['empty'])];
			if (last.has(key)) words.push('last move');
			if (target) words.push('can be chosen');
			rect.setAttribute('aria-label', words.join(', '));
			rect.setAttribute('aria-selected', String(Boolean(chosen)));
		}
	}

	#paintPieces() {
		const { board, view, overlay, look, last, move } = this.#scene;
		// Marks are hidden where a ghost piece would be illegible over them.
		const covered = new Set((overlay.ghosts ?? []).flatMap(({ piece }) => cellsOf(piece)).map((cell) => cell.join()));
		// If nothing changed, the pieces stay, and their animation goes on.
		const painted = JSON.stringify([board, view, [...(overlay.hidden ?? [])], [...covered], [...last]]);
		if (painted === this.#painted) return;
		this.#painted = painted;
		const out = [];
		const nodes = new Map();
		for (const piece of board.pieces ?? []) {
			const key = pieceKey(piece);
			if (overlay.hidden?.has(key)) continue;
			const node = this.#shapeOf(piece);
			// A blocked cell covers its square, so it has to show the colour of the last move itself.
			if (piece.piece === 'blocked' && last.has(piece.cell.join())) node.classList.add('last');
			node.dataset.at = piece.cell.join();
			node.cells = cellsOf(piece);
			nodes.set(key, node);
			out.push(node);
		}
		for (const mark of board.marks ?? []) {
			if (covered.has(mark.cell.join())) continue;
			const [x, y] = this.#middle(mark.cell);
			const drawn = look?.mark?.(mark, x, y, board);
			// A game's own drawing may leave a mark out (null); one it does not know is shown as text in the corner.
			if (drawn) out.push(drawn);
			else if (drawn === undefined) out.push(cornerText(mark.label ?? mark.mark, x, y, ownerClass(mark.owner)));
		}
		const walls = new Map((board.walls ?? []).map(({ cell, side }) => [`${cell} ${side}`, this.#wall(cell, side, { class: 'wall' })]));
		this.#pieces.replaceChildren(...out, ...walls.values());
		move?.({
			nodes,
			wall: ({ cell, side }) => walls.get(`${cell} ${side}`),
			middle: (cell) => this.#middle(cell),
			shape: (piece) => this.#shapeOf(piece),
			layer: this.#pieces,
		});
	}

	#shapeOf(piece) {
		const places = cellsOf(piece).map((cell) => this.#middle(cell));
		return this.#scene.look?.piece?.(piece, places) ?? pieceShape(piece, places);
	}

	#wall(cell, side, attributes) {
		const [x, y] = this.#middle(cell);
		const [row, col] = STEP[sideToView(this.#scene.view, side)];
		const [u, v] = [x + col * 50, y + row * 50];
		return svg('line', { x1: u - row * 46, y1: v - col * 46, x2: u + row * 46, y2: v + col * 46, ...attributes });
	}

	#paintAbove() {
		const { overlay, view, board } = this.#scene;
		const out = [];
		const places = this.#places();
		this.#under.replaceChildren(...(overlay.under ?? []).flatMap((draw) => draw(places)));
		for (const { piece, className = '', number, owner = piece.owner } of overlay.ghosts ?? []) {
			const node = this.#shapeOf(piece);
			node.classList.add('ghost', ...className.split(' ').filter(Boolean));
			out.push(node);
			if (number) out.push(badge(number, ...this.#middle(piece.cell), owner));
		}
		const taken = new Set((board.pieces ?? []).flatMap(cellsOf).map((cell) => cell.join()));
		for (const key of overlay.targets?.keys() ?? []) {
			if (overlay.valued?.has(key)) continue;
			const [x, y] = this.#middle(cellAt(key));
			out.push(taken.has(key) ? svg('circle.dot.around', { cx: x, cy: y, r: 42 }) : svg('circle.dot', { cx: x, cy: y, r: 11 }));
		}
		for (const key of overlay.selected ?? []) {
			const [x, y] = this.#middle(cellAt(key));
			out.push(svg('rect.ring', { x: x - 46, y: y - 46, width: 92, height: 92, rx: 8 }));
		}
		for (const { from, to, owner } of overlay.arrows ?? []) out.push(arrow(this.#middle(from), this.#middle(to), owner));
		for (const { side, number, owner } of overlay.slides ?? []) {
			const seen = size(view, board.grid);
			const [row, col] = STEP[sideToView(view, side)];
			const [x, y] = [(seen.cols * UNIT) / 2, (seen.rows * UNIT) / 2];
			const reach = (Math.min(seen.cols, seen.rows) * UNIT) / 3;
			const [dx, dy] = [col * reach, row * reach];
			// The middle has room for one.
			const part = overlay.slides.length > 1 ? 0.4 : 0;
			out.push(arrow([x - dx, y - dy], [x + dx, y + dy], owner), badge(number, x + part * dx, y + part * dy, owner, 30));
		}
		for (const { cell, side, move, number, owner } of overlay.sides ?? []) {
			const [row, col] = STEP[sideToView(view, side)];
			const [x, y] = this.#middle(cell);
			const [u, v] = [x + col * 50, y + row * 50];
			if (number) {
				out.push(this.#wall(cell, side, { class: 'wall might' }), badge(number, u, v, owner, 12));
				continue;
			}
			const [width, height] = row ? [84, 36] : [36, 84];
			// The line shows the wall; a wider place that is not seen takes the pointer.
			out.push(svg('g.slot', { 'data-side': side, 'data-wall-of': cell.join(), 'data-move': move },
				svg('rect.reach', { x: u - width / 2, y: v - height / 2, width, height }),
				this.#wall(cell, side, { class: 'wall might' })));
		}
		out.push(...(overlay.above ?? []).flatMap((draw) => draw(places)));
		this.#above.replaceChildren(...out);
	}

	#cellUnder(event) {
		const node = document.elementFromPoint(event.clientX, event.clientY);
		const at = node?.closest?.('[data-cell]')?.dataset.cell;
		return at && this.#root.contains(node) ? cellAt(at) : null;
	}

	#click(event) {
		const { side, wallOf, cell } = event.target.closest('[data-side], [data-cell]')?.dataset ?? {};
		if (side) this.hand.side(cellAt(wallOf), side);
		else if (cell) this.hand.cell(cellAt(cell), event.pointerType ?? '');
	}

	#down(event) {
		if (event.button === 2) this.#drawn = this.#cellUnder(event);
		if (event.button !== 0) return;
		// A second finger ends what the first one began: together they play nothing.
		if (this.#press && this.#press.id !== event.pointerId) {
			this.#letGo();
			return;
		}
		this.hand.press?.();
		this.#press = { id: event.pointerId, x: event.clientX, y: event.clientY, cell: this.#cellUnder(event), lifted: null };
	}

	#move(event) {
		if (event.pointerType === 'mouse') this.hand.hover(this.#cellUnder(event));
		const press = this.#press;
		if (!press?.cell) return;
		const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
		if (!press.lifted && Math.hypot(dx, dy) > DRAG_PX) {
			const piece = (this.#scene.board.pieces ?? []).findLast((one) => (
				cellsOf(one).some((cell) => cell.join() === press.cell.join())));
			press.lifted = piece && this.#pieces.querySelector(`[data-at="${piece.cell.join()}"]`);
		}
		if (!press.lifted) return;
		// A game that shows where its piece would land draws it itself.
		const over = this.#cellUnder(event) ?? press.over ?? press.cell;
		if (over.join() === press.over?.join()) return;
		if (this.hand.dragOver?.(press.cell, over)) {
			press.over = over;
		} else if (this.hand.canDrag?.(press.cell)) {
			// The board may be smaller than the place that it has.
			const scale = 1 / this.#root.getScreenCTM().a;
			press.lifted.setAttribute('transform', `translate(${dx * scale} ${dy * scale})`);
			press.lifted.classList.add('lifted');
		}
	}

	#up(event) {
		if (event.button === 2) {
			const [from, to] = [this.#drawn, this.#cellUnder(event)];
			this.#drawn = null;
			if (from && to) this.hand.draw?.(from, to, event);
			return;
		}
		const press = this.#press;
		// It may be of another finger, somewhere on the page.
		if (press?.id !== event.pointerId) return;
		this.#letGo();
		const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
		if (Math.hypot(dx, dy) <= DRAG_PX) return;
		const to = this.#cellUnder(event);
		if (press.cell && to && to.join() !== press.cell.join() && !this.hand.swipes?.()) {
			this.hand.drag(press.cell, to);
		} else if (this.hand.swipes?.() && Math.hypot(dx, dy) > 3 * DRAG_PX) {
			const seen = Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? 'right' : 'left') : dy > 0 ? 'down' : 'up';
			this.hand.swipe(sideFromView(this.#scene.view, seen));
		}
	}

	#letGo() {
		this.#press?.lifted?.removeAttribute('transform');
		this.#press?.lifted?.classList.remove('lifted');
		this.#press = null;
	}

	#focused(target) {
		const at = target.dataset?.cell;
		if (!at) return;
		this.#cellAt(this.#focus)?.setAttribute('tabindex', '-1');
		this.#focus = cellAt(at);
		target.setAttribute('tabindex', '0');
		// A pointer sends hover events itself; this is for keys.
		if (target.matches(':focus-visible')) this.hand.hover(this.#focus);
	}

	#key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		if (this.hand.key(event)) {
			event.preventDefault();
			return;
		}
		const step = STEP[ARROWS[event.key]];
		if (step) {
			const { view, board } = this.#scene;
			const seen = size(view, board.grid);
			const [row, col] = toView(view, board.grid, this.#focus);
			const place = [
				Math.max(0, Math.min(seen.rows - 1, row + step[0])),
				Math.max(0, Math.min(seen.cols - 1, col + step[1])),
			];
			this.#cellAt(fromView(view, board.grid, place))?.focus();
		} else if (event.key === 'Enter' || event.key === ' ') {
			this.hand.cell(this.#focus, 'key');
		} else {
			return;
		}
		event.preventDefault();
	}
}

/** The side that an arrow key means on a board seen through a view, or undefined. */
export const arrowSide = (key, view) => (ARROWS[key] ? sideFromView(view, ARROWS[key]) : undefined);

function cornerText(text, x, y, className) {
	const short = text.length > 9 ? `${text.slice(0, 8)}…` : text;
	return svg('text', { x, y: y + 36, class: `mark ${className}`, 'font-size': 20 }, short);
}

function badge(number, x, y, owner, r = 17) {
	const [u, v] = r === 17 ? [x + 30, y - 30] : [x, y];
	const text = caption(String(number), u, v, 'badge-text');
	text.setAttribute('font-size', r * 1.3);
	return svg('g', { class: `badge ${ownerClass(owner)}` }, svg('circle', { cx: u, cy: v, r }), text);
}

/** An arrow between two places. */
export function arrow([x1, y1], [x2, y2], owner) {
	const length = Math.hypot(x2 - x1, y2 - y1) || 1;
	const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
	const [tx, ty] = [x2 - ux * 12, y2 - uy * 12];
	const [bx, by] = [tx - ux * 26, ty - uy * 26];
	const head = `M${tx} ${ty}L${bx - uy * 15} ${by + ux * 15}L${bx + uy * 15} ${by - ux * 15}Z`;
	return svg('g', { class: `arrow ${ownerClass(owner)}` },
		svg('line', { x1: x1 + ux * 24, y1: y1 + uy * 24, x2: bx, y2: by }), svg('path', { d: head }));
}
