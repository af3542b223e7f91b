/** Colosseum Survival: walk to a cell, then choose the side to wall. A move is `34u`: row and column in hex, and a side. */

const SIDES = { u: 'up', r: 'right', d: 'down', l: 'left' };
const ORDER = ['l', 'u', 'd', 'r'];

export function parts(move) {
	const found = /^([0-9a-f])([0-9a-f])([urdl])$/i.exec(move);
	return found && { cell: [parseInt(found[1], 16), parseInt(found[2], 16)], side: SIDES[found[3].toLowerCase()] };
}

function input({ board, legal, mover, play, changed }, { cellAt }) {
	/** @type {Map<string, Map<string, string>>} the moves by cell, then by side */
	const cells = new Map();
	for (const move of legal) {
		const { cell, side } = parts(move);
		if (!cells.has(cell.join())) cells.set(cell.join(), new Map());
		cells.get(cell.join()).set(side, move);
	}
	const own = board.pieces.find((piece) => piece.owner === mover);
	let chosen = null;
	const choose = (cell) => {
		chosen = cells.has(cell.join()) && cell.join() !== chosen ? cell.join() : null;
		changed();
	};
	const wall = (side) => {
		const move = chosen && cells.get(chosen).get(side);
		if (move) play(move);
		return Boolean(move);
	};
	return {
		overlay() {
			const targets = new Map([...cells.keys()].filter((key) => key !== chosen).map((key) => [key, null]));
			if (!chosen) return { targets };
			const cell = cellAt(chosen);
			const sides = [...cells.get(chosen)].map(([side, move]) => ({ cell, side, move }));
			const ghosts = own && own.cell.join() !== chosen ? [{ piece: { ...own, cell } }] : [];
			return { targets, selected: new Set([chosen]), sides, ghosts };
		},
		prompt: () => (chosen
			? 'Choose the side to wall: click it, or press U, R, D or L. Escape takes the walk back.'
			: 'Choose the cell to walk to (your own to stay), or drag your piece.'),
		cell: choose,
		side: (cell, side) => { if (cell.join() === chosen) wall(side); },
		drag(from, to) {
			if (own && from.join() === own.cell.join()) choose(to);
		},
		key(event) {
			if (event.key === 'Escape' && chosen) {
				chosen = null;
				changed();
				return true;
			}
			return chosen ? wall(SIDES[event.key.toLowerCase()]) : false;
		},
		tools: () => (chosen ? ORDER.filter((letter) => cells.get(chosen).has(SIDES[letter])).map((letter) => ({
			label: `Wall ${SIDES[letter]}`, title: `Key ${letter.toUpperCase()}`, move: cells.get(chosen).get(SIDES[letter]),
			act: () => wall(SIDES[letter]),
		})) : []),
		left: () => (chosen ? [...cells.get(chosen).values()] : legal),
	};
}

export default (kit) => ({
	input: (context) => input(context, kit),
	entry(move) {
		const found = parts(move);
		return found && { stages: [[found.cell]], side: found.side };
	},
	words(move) {
		const found = parts(move);
		return found ? `${move} (to ${found.cell.join(',')}, wall ${found.side})` : move;
	},
});
