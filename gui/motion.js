/**
 * How a board comes from one position to the next: pieces travel, tiles that are sent to one side slide and merge, walls grow.
 * It is all found by comparing two drawings, without rules. A motion is only an effect: the board has the new position at once.
 */
import { cellsOf, change, pieceKey } from './changes.js';
import { STEP } from './symmetry.js';

export const TRAVEL_MS = 200;

/**
 * @typedef {import('./symmetry.js').Cell} Cell
 * @typedef {object} Motion
 * @property {Map<string, Cell[]>} travels  the pieces that moved, by key, with the cells where they were
 * @property {Array<{piece: object, to: Cell, into: string}>} merges  pieces that went into another one, by its key
 * @property {Set<string>} came  keys of pieces that came from nowhere
 * @property {Array<{cell: Cell, side: string}>} walls  that were built
 * @property {boolean} isStrong  whether something was merged, built or scored
 */

/**
 * What moves between two drawings.
 * @param {string} [side]  the side to which everything was sent
 * @returns {Motion}
 */
export function motionBetween(before, after, side) {
	const { came, left, walls } = change(before, after);
	const motion = { travels: new Map(), merges: [], came: new Set(), walls, isStrong: false };
	if (side) slide(before, after, side, motion);
	else travel(came, left, motion);
	const scored = (board) => JSON.stringify(board.scores ?? []);
	motion.isStrong = walls.length > 0 || motion.merges.length > 0 || scored(before) !== scored(after);
	return motion;
}

function travel(came, left, motion) {
	const rest = [...left];
	for (const piece of came) {
		// The cell that a piece blocks by leaving did not travel, and appears at once.
		if (piece.piece === 'blocked') continue;
		const at = rest.findIndex((gone) => gone.piece === piece.piece && gone.owner === piece.owner && gone.label === piece.label);
		if (at < 0) motion.came.add(pieceKey(piece));
		else motion.travels.set(pieceKey(piece), cellsOf(rest.splice(at, 1)[0]));
	}
}

/**
 * Tiles keep their order in each line. Seen from the side to which they slid: a tile that differs from the next old one was merged
 * from the next two, and tiles that remain when the old ones are used up are new.
 */
function slide(before, after, side, motion) {
	const [down, right] = STEP[side];
	const lines = (board) => {
		const found = new Map();
		for (const piece of board.pieces ?? []) {
			const line = down ? piece.cell[1] : piece.cell[0];
			found.set(line, [...(found.get(line) ?? []), piece]);
		}
		const along = ({ cell }) => -(cell[0] * down + cell[1] * right);
		for (const line of found.values()) line.sort((one, other) => along(one) - along(other));
		return found;
	};
	const old = lines(before);
	for (const [line, pieces] of lines(after)) {
		const rest = old.get(line) ?? [];
		for (const piece of pieces) {
			const key = pieceKey(piece);
			const [next] = rest;
			if (!next) {
				motion.came.add(key);
			} else if (next.label === piece.label || rest.length < 2) {
				rest.shift();
				if (next.cell.join() !== piece.cell.join()) motion.travels.set(key, [next.cell]);
			} else {
				for (const part of rest.splice(0, 2)) motion.merges.push({ piece: part, to: piece.cell, into: key });
			}
		}
	}
}

/** The middle of several places. */
const mean = (places) => [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);

/**
 * Shows a motion on what a board has just drawn. The next drawing replaces these nodes, and so ends their motion.
 * @param {Motion} motion
 * @param {object} stage
 * @param {Map<string, SVGElement>} stage.nodes  the pieces as they stand now, by key
 * @param {(wall: object) => SVGElement|undefined} stage.wall  a wall as it stands now
 * @param {(cell: Cell) => [number, number]} stage.middle
 * @param {(piece: object) => SVGElement} stage.shape  draws a piece
 * @param {SVGElement} stage.layer  of the pieces
 */
export function show(motion, { nodes, wall, middle, shape, layer }) {
	const timing = { duration: TRAVEL_MS, easing: 'cubic-bezier(0.3, 0, 0.2, 1)' };
	const way = (from, to) => {
		const [x, y] = mean(from.map(middle));
		const [u, v] = mean(to.map(middle));
		return `translate(${x - u}px, ${y - v}px)`;
	};
	for (const [key, from] of motion.travels) {
		const node = nodes.get(key);
		if (!node) continue;
		// Over those that stay.
		layer.append(node);
		node.animate([{ transform: way(from, node.cells) }, { transform: 'none' }], timing);
	}
	for (const { piece, to, into } of motion.merges) {
		const node = shape(piece);
		layer.prepend(node);
		const parts = node.animate([{ transform: 'none' }, { transform: way([to], [piece.cell]) }], { ...timing, fill: 'forwards' });
		parts.finished.then(() => node.remove(), () => node.remove());
		pop(nodes.get(into), { ...timing, delay: TRAVEL_MS * 0.6, duration: TRAVEL_MS * 0.6 });
	}
	for (const key of motion.came) pop(nodes.get(key), timing);
	for (const one of motion.walls) {
		const node = wall(one);
		node?.setAttribute('pathLength', '1');
		node?.animate([{ strokeDasharray: '1', strokeDashoffset: '1' }, { strokeDasharray: '1', strokeDashoffset: '0' }], timing);
	}
}

/** Lets a piece grow out of its middle. */
function pop(node, timing) {
	if (!node || node.getAnimations().length) return;
	node.classList.add('grows');
	node.animate([{ transform: 'scale(0.3)', opacity: 0 }, { transform: 'none', opacity: 1 }], { ...timing, fill: 'backwards' });
}
