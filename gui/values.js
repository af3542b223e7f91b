/**
 * What each legal move is worth, drawn where the move is entered: on cells, walls and sides of the board, and on its button.
 * A proof is a full disc, an estimate a hollow one, coloured by what it loses against the best move. It knows no rules: where
 * a move is entered follows from its game's look, from its text, or from what it changes on the board.
 *
 * @typedef {{kind: string, text: string, words: string}} Grade  `kind`: win, draw, loss; for estimates near, less, poor, bad
 * @typedef {{stages: Array<Array<Cell>>, side?: string, slide?: string}} Entry  cells by stage, as one chooses them
 */
import { cellAt, change, namedCells, touched } from './changes.js';
import { el, svg } from './dom.js';
import { scaleOf } from './graph.js';
import { lookOf } from './looks.js';
import { UNIT, caption } from './pieces.js';
import { likelihood, proofOf } from './value.js';
import { flipped, playerName, units, viewWords } from './words.js';

/** How many boards after a move are requested at once, and the most moves for which any are requested. */
const AT_ONCE = 24;
const MOST_QUESTIONS = 600;
/** The loss of winning likelihood from which an estimate is drawn as less, poor or bad; the same steps as a review's marks. */
const STEPS = [[0.15, 'bad'], [0.1, 'poor'], [0.05, 'less'], [0, 'near']];

/** @returns {Grade|null} how a score is drawn, compared with the best one of the position */
export function gradeOf(score, best, decisive) {
	const proof = proofOf(score);
	if (proof) {
		const { outcome, plies, plies_max: most, margin } = proof;
		const text = margin !== undefined ? `${margin > 0 ? '+' : margin < 0 ? '−' : ''}${Math.abs(margin)}`
			: plies !== undefined ? String(plies) : most !== undefined && outcome !== 'draw' ? `≤${most}` : '=';
		return { kind: outcome, text: outcome === 'draw' ? '=' : text };
	}
	const likely = likelihood(score, decisive);
	if (likely === null) return null;
	const edge = score.bound === 'lower' ? '≥' : score.bound === 'upper' ? '≤' : '';
	const lost = (likelihood(best, decisive) ?? likely) - likely;
	// An upper bound above the best score says nothing yet.
	if (score.bound === 'upper' && lost <= 0 && score !== best) return null;
	return { kind: STEPS.find(([least]) => lost >= least)?.[1] ?? 'near', text: edge + (units(score.eval).replace(/\.?0+$/, '') || '0') };
}

export class Values {
	/** @type {object|null} the position whose moves are placed, and where they are entered */
	#node = null;
	/** @type {Map<string, Entry>} */
	#entries = new Map();

	/** @param {() => void} changed  there is more to draw */
	constructor(table, analysis, changed) {
		Object.assign(this, { table, analysis, changed });
		this.legend = el('p.legend', { testid: 'legend' });
		/** The book that judges the moves while no search does. @type {import('./explorer.js').Explorer|null} */
		this.book = null;
	}

	/** @returns {Map<string, Grade>} of each move that is judged; the best first */
	grades() {
		const { analysis, table } = this;
		const { lines, player } = analysis;
		if (!analysis.all) return this.book?.grades() ?? new Map();
		if (!player) return new Map();
		const decisive = table.node?.decisive ?? scaleOf(table.game.scores);
		const out = new Map();
		for (const { move, score } of lines) {
			const grade = gradeOf(score, lines[0].score, decisive);
			if (grade) out.set(move, { ...grade, words: viewWords(player === 'p2' ? flipped(score) : score) });
		}
		return out;
	}

	/** Finds where the moves of the position are entered, once. */
	async #place() {
		const { node, game, position } = this.table;
		if (node === this.#node) return;
		this.#node = node;
		this.#entries = new Map();
		const look = lookOf(game.game);
		const named = namedCells(node.legal, node.board.grid);
		const unknown = [];
		for (const move of node.legal) {
			const slide = look.slide?.(move);
			const cells = named && [...named.get(move)].map(cellAt);
			const entry = slide ? { stages: [], slide } : look.entry?.(move) ?? (cells && { stages: [cells] });
			if (entry) this.#entries.set(move, entry);
			else if (!look.slide) unknown.push(move);
		}
		if (unknown.length > MOST_QUESTIONS) return;
		for (let at = 0; at < unknown.length && node === this.#node; at += AT_ONCE) {
			await Promise.all(unknown.slice(at, at + AT_ONCE).map(async (move) => {
				const there = { start: position.start, moves: [...position.moves, move] };
				const { board } = await this.table.ask(game, there, ['board']);
				const cells = [...touched({ ...change(node.board, board), left: [] })].map(cellAt);
				if (node === this.#node) this.#entries.set(move, { stages: [cells] });
			})).catch(() => {});
		}
		if (unknown.length && node === this.#node) this.changed();
	}

	/**
	 * What is drawn over the board.
	 * @param {string[]} left  the moves that fit what is chosen so far
	 * @returns {{valued: Set<string>, above: (places: import('./board.js').Places) => SVGElement[]}|null}
	 */
	overlay(left) {
		const grades = this.grades();
		if (!grades.size) return null;
		this.#place();
		const open = new Set(left);
		// Grades come in order, so that the first one of a place is its best.
		const moves = [...grades].filter(([move]) => open.has(move) && this.#entries.has(move))
			.map(([move, grade]) => ({ grade, ...this.#entries.get(move) }));
		const cells = new Map();
		const stage = [0, 1, 2].find((at) => !moves.every(({ stages }) => sameCells(stages[at], moves[0].stages[at])));
		for (const { stages, grade } of moves) {
			for (const cell of stages[stage ?? 0] ?? []) if (!cells.has(cell.join())) cells.set(cell.join(), grade);
		}
		// All moves of one cell differ by their walls.
		const walls = stage === undefined ? moves.filter(({ side }) => side) : [];
		if (walls.length > 1) cells.clear();
		const slides = moves.filter(({ slide }) => slide);
		return {
			valued: new Set(cells.keys()),
			above: (places) => [
				...[...cells].map(([key, grade]) => disc(grade, ...places.middle(cellAt(key)))),
				...walls.map(({ stages: [[cell]], side, grade }) => valued(grade, places.wall(cell, side, { class: 'value-wall' }))),
				...slides.map(({ slide, grade }) => edge(grade, slide, places)),
			],
		};
	}

	/**
	 * Colours the buttons of moves; says what the colours mean.
	 * @param {boolean} reviewed  whether a review stands in the place of the list that says what the book's numbers mean
	 */
	paint(reviewed) {
		const grades = this.grades();
		for (const button of document.querySelectorAll('#tools [data-move], #legal [data-move], .lines [data-move]')) {
			const grade = grades.get(button.dataset.move);
			if (grade) button.dataset.value = grade.kind;
			else delete button.dataset.value;
		}
		const isOfBook = !this.analysis.all && reviewed && grades.size > 0;
		this.legend.hidden = !this.analysis.all && !isOfBook;
		const player = isOfBook ? this.table.node.to_move : this.analysis.player;
		const numbers = isOfBook ? this.book.legend : ' (number: plies, or ± points)';
		const key = `${player} ${isOfBook} ${numbers}`;
		if (this.legend.hidden || !player || this.legend.dataset.of === key) return;
		this.legend.dataset.of = key;
		const sign = (kind) => el('span.sign', { 'data-value': kind, 'aria-hidden': 'true' });
		this.legend.replaceChildren(`${playerName(player)} `, sign('win'), ' wins ', sign('draw'), ' draws ', sign('loss'), ` loses${numbers}.`,
			...isOfBook ? [] : [' Estimates: ', sign('near'), ' close to the best, ', sign('less'), sign('poor'), sign('bad'), ' worse.']);
	}
}

const sameCells = (some, others) => (some ?? []).join(' ') === (others ?? []).join(' ');

const valued = (grade, ...parts) => svg('g', { class: 'valued', 'data-value': grade.kind }, svg('title', {}, grade.words), ...parts);

function disc(grade, x, y) {
	const text = caption(grade.text, x, y);
	text.setAttribute('font-size', [26, 26, 26, 21, 16][grade.text.length] ?? 12);
	return valued(grade, svg('circle', { cx: x, cy: y, r: 27 }), text);
}

/** A bar along the side of the board to which a move slides everything. */
function edge(grade, side, { size, seen }) {
	const { rows, cols } = size;
	const [width, height] = [cols * UNIT, rows * UNIT];
	const at = seen(side);
	const [x, y] = { up: [width / 2, 16], down: [width / 2, height - 16], left: [16, height / 2], right: [width - 16, height / 2] }[at];
	const flat = at === 'up' || at === 'down';
	const [w, h] = flat ? [width * 0.5, 26] : [26, height * 0.5];
	const text = caption(grade.text, x, y);
	text.setAttribute('font-size', 20);
	if (!flat) text.setAttribute('transform', `rotate(-90 ${x} ${y})`);
	return valued(grade, svg('rect', { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 13 }), text);
}
