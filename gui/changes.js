/**
 * What a move does to a board, found by comparing two drawings, and which moves fit the cells chosen so far. This is how the
 * page enters and shows moves of games that it knows nothing about.
 *
 * @typedef {import('./symmetry.js').Cell} Cell
 * @typedef {{cell: Cell, also?: Cell[], piece: string, owner?: string, label?: string}} Piece
 * @typedef {{cell: Cell, side: string}} Wall
 * @typedef {{came: Piece[], left: Piece[], walls: Wall[]}} Change
 */

/** A piece as a text that is equal for equal pieces. */
export const pieceKey = (piece) =>
	[piece.piece, piece.owner ?? '', piece.label ?? '', cellsOf(piece).map((cell) => cell.join()).sort().join(' ')].join('|');

export const cellsOf = (piece) => [piece.cell, ...(piece.also ?? [])];

const wallKey = (wall) => `${wall.cell.join()} ${wall.side}`;

/** What came and what left from one drawing to the next. */
export function change(before, after) {
	const old = new Set((before.pieces ?? []).map(pieceKey));
	const now = new Set((after.pieces ?? []).map(pieceKey));
	const walls = new Set((before.walls ?? []).map(wallKey));
	return {
		came: (after.pieces ?? []).filter((piece) => !old.has(pieceKey(piece))),
		left: (before.pieces ?? []).filter((piece) => !now.has(pieceKey(piece))),
		walls: (after.walls ?? []).filter((wall) => !walls.has(wallKey(wall))),
	};
}

/** The cell of a key `row,col`. */
export const cellAt = (key) => key.split(',').map(Number);

/** All cells that a change touches, as `row,col`. */
export function touched(difference) {
	const cells = [...difference.came, ...difference.left].flatMap(cellsOf);
	return new Set([...cells, ...difference.walls.map((wall) => wall.cell)].map((cell) => cell.join()));
}

/**
 * The moves that fit some chosen cells: those that touch all of them.
 * @param {Map<string, Set<string>>} cells  of each move the cells that it touches
 * @param {string[]} chosen  as `row,col`
 */
export function movesThrough(cells, chosen) {
	return [...cells].filter(([, touches]) => chosen.every((cell) => touches.has(cell))).map(([move]) => move);
}

/** The cells whose choice would leave at least one move, without those that are chosen. */
export function choices(cells, chosen) {
	const open = new Set(movesThrough(cells, chosen).flatMap((move) => [...cells.get(move)]));
	for (const cell of chosen) open.delete(cell);
	return open;
}

/**
 * The cell of each move whose text names one cell by its labels, such as `d4`; null unless all do and the labels of rows
 * and columns differ, so that nothing is guessed.
 */
export function namedCells(moves, grid) {
	const rows = grid.row_labels ?? [];
	const cols = grid.col_labels ?? [];
	if (!rows.length || !cols.length || rows.some((label) => cols.includes(label))) return null;
	const names = new Map();
	rows.forEach((row, r) => cols.forEach((col, c) => {
		names.set(`${col}${row}`, `${r},${c}`);
	}));
	const cells = new Map(moves.map((move) => [move, new Set([names.get(move.replace(/^~/, ''))])]));
	return [...cells.values()].every((named) => !named.has(undefined)) ? cells : null;
}

/**
 * One outcome of chance, drawn by its weight.
 * @param {Array<{move: string, ppm: number}>} outcomes  1,000,000 together
 * @param {number} at  from 0 to less than 1
 */
export function drawn(outcomes, at) {
	let rest = at * outcomes.reduce((sum, outcome) => sum + outcome.ppm, 0);
	for (const outcome of outcomes) {
		rest -= outcome.ppm;
		if (rest < 0) return outcome.move;
	}
	return outcomes[outcomes.length - 1].move;
}
