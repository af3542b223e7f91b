/** Competitive Sudoku: choose a cell, then a value. A move is `r,c,v`. The board's marks show what is taboo. */

const parts = (move) => move.split(',').map(Number);
const values = (mark) => (mark.label ?? '').split(' ').filter(Boolean).map(Number);

/** The values of one kind of mark on a cell. */
const marked = (board, kind, key) => new Set((board.marks ?? [])
	.filter((mark) => mark.mark === kind && mark.cell.join() === key).flatMap(values));

function input({ board, legal, play, changed }) {
	/** @type {Map<string, Map<number, string>>} the moves by cell, then by value */
	const cells = new Map();
	for (const move of legal) {
		const [row, col, value] = parts(move);
		const key = `${row},${col}`;
		if (!cells.has(key)) cells.set(key, new Map());
		cells.get(key).set(value, move);
	}
	let chosen = null;
	let typed = '';
	const fill = (value) => {
		const move = chosen && cells.get(chosen).get(value);
		typed = '';
		if (move) play(move);
		else changed();
		return Boolean(move);
	};
	/** Digits are taken as a value as soon as no further digit could belong to it. */
	const digit = (figure) => {
		typed += figure;
		const open = [...cells.get(chosen).keys()].map(String).filter((value) => value.startsWith(typed));
		if (!open.length || (open.length === 1 && open[0] === typed)) fill(Number(typed));
		else changed();
		return true;
	};
	return {
		overlay: () => ({
			targets: new Map([...cells].filter(([key]) => key !== chosen).map(([key]) => [key, null])),
			selected: new Set(chosen ? [chosen] : []),
			quiet: true,
		}),
		prompt() {
			if (!chosen) return 'Choose an empty cell, then a value.';
			return typed ? `Value ${typed}… (Enter takes it)` : 'Choose a value. A struck one is taboo: it passes the turn.';
		},
		cell(cell, pointer) {
			if (pointer === 'key' && typed) {
				fill(Number(typed));
				return;
			}
			chosen = cells.has(cell.join()) ? cell.join() : null;
			typed = '';
			changed();
		},
		key(event) {
			if (event.key === 'Escape' && chosen) {
				chosen = null;
				typed = '';
				changed();
				return true;
			}
			return chosen && /^[0-9]$/.test(event.key) ? digit(event.key) : false;
		},
		tools() {
			if (!chosen) return [];
			const taboo = marked(board, 'taboo', chosen);
			return [...cells.get(chosen)].map(([value, move]) => ({
				label: String(value), move, act: () => play(move),
				title: taboo.has(value) ? `${value} is taboo: it passes the turn` : `Fill in ${value}`,
				className: taboo.has(value) ? 'value taboo' : 'value',
			}));
		},
		left: () => (chosen ? [...cells.get(chosen).values()] : legal),
	};
}

export default ({ svg }) => ({
	// The usual board has 81 cells to fill.
	first: { m: 2, n: 3 },
	input,
	words(move) {
		const [row, col, value] = parts(move);
		return Number.isInteger(value) ? `${move} (${value} in row ${row}, column ${col})` : move;
	},
	/** The cell that a move fills. */
	entry(move) {
		const [row, col] = parts(move);
		return { stages: [[[row, col]]] };
	},
	/** Small values in the corner grid of the cell, those that pass the turn struck through. */
	mark(mark, x, y, board) {
		// What was possible says nothing where a value stands.
		if ((board.pieces ?? []).some((piece) => piece.cell.join() === mark.cell.join())) return null;
		const [tall, wide] = board.grid.block ?? [3, 3];
		if (tall * wide > 16) return null;
		const size = Math.min(92 / wide, 92 / tall);
		const taboo = marked(board, 'taboo', mark.cell.join());
		if (mark.mark === 'taboo' || mark.mark === 'undecided') return null;
		const struck = mark.mark === 'declared' ? new Set(values(mark)) : taboo;
		return svg('g', { class: `values ${mark.mark}` }, ...values(mark).map((value) => {
			const row = Math.floor((value - 1) / wide);
			const col = (value - 1) % wide;
			return svg('text', {
				x: x - 46 + ((col + 0.5) * 92) / wide,
				y: y - 46 + ((row + 0.5) * 92) / tall,
				'font-size': size * 0.62,
				class: struck.has(value) ? 'struck' : '',
			}, String(value));
		}));
	},
});
