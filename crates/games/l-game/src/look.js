/**
 * The L Game: the L is picked up, turned, flipped and put down, then a token may be moved. A move is `x y d`, the cell where
 * the bars meet and the direction of the short end, and `fx fy tx ty` for a token; coordinates from 1, x to the right.
 */

const DIRECTIONS = { N: 'up', E: 'right', S: 'down', W: 'left' };
const TURN = { up: 'right', right: 'down', down: 'left', left: 'up' };
const BACK = { up: 'down', right: 'left', down: 'up', left: 'right' };
/** What a step adds to row and column. */
const STEP = { up: [-1, 0], right: [0, 1], down: [1, 0], left: [0, -1] };
const SIDE = 4;

const step = ([row, col], side, by = 1) => [row + STEP[side][0] * by, col + STEP[side][1] * by];
const inside = ([row, col]) => row >= 0 && col >= 0 && row < SIDE && col < SIDE;

/** The cells of an L: corner, short end, long bar. */
const shape = (corner, short, long) => [corner, step(corner, short), step(corner, long), step(corner, long, 2)];

/** What a move says. */
export function parts(move) {
	const words = move.split(' ');
	const corner = [Number(words[1]) - 1, Number(words[0]) - 1];
	const short = DIRECTIONS[words[2].toUpperCase()];
	// The long end lies on the only side where it fits.
	const long = [TURN[short], BACK[TURN[short]]].find((side) => inside(step(corner, side, 2)));
	const [from, to] = [[], []];
	for (let at = 3; at + 3 < words.length; at += 4) {
		const [fx, fy, tx, ty] = words.slice(at, at + 4).map((word) => Number(word) - 1);
		from.push(`${fy},${fx}`);
		to.push(`${ty},${tx}`);
	}
	return { place: words.slice(0, 3).join(' '), cells: shape(corner, short, long), short, long, from, to };
}

/** How an L on the board lies. */
function lying(piece) {
	const corner = piece.cell;
	const cells = new Set(piece.also.map((cell) => cell.join()));
	const long = Object.keys(STEP).find((side) => cells.has(step(corner, side, 2).join()));
	const short = Object.keys(STEP).find((side) => side !== long && cells.has(step(corner, side).join()));
	return { short, long };
}

function input({ board, legal, mover, play, changed, view }, { cellAt, pieceKey, sideFromView, sideToView }) {
	const moves = legal.map((move) => ({ move, ...parts(move) }));
	const own = board.pieces.find((piece) => piece.piece === 'l' && piece.owner === mover);
	const ownCells = new Set([own.cell, ...own.also].map((cell) => cell.join()));
	const tokens = board.pieces.filter((piece) => piece.piece === 'token');
	let lifted = false;
	let at = null;
	let held = 2;
	let { short, long } = lying(own);
	/** The placement that was put down, as its text; then the tokens that were moved. */
	let place = null;
	let from = [];
	let to = [];

	/** The L that would lie under the pointer: one that is allowed if there is any that covers the cell. */
	function under() {
		if (!at) return null;
		const key = at.join();
		const fitting = moves.filter((move) => move.short === short && move.long === long
			&& move.cells.some((cell) => cell.join() === key));
		const best = fitting.find((move) => move.cells[held].join() === key) ?? fitting[0];
		if (best) return { cells: best.cells, place: best.place };
		const base = shape([0, 0], short, long)[held];
		const cells = shape([at[0] - base[0], at[1] - base[1]], short, long);
		return cells.every(inside) ? { cells, place: null } : null;
	}

	const open = (origins = from, ends = to) => moves.filter((move) => move.place === place
		&& origins.every((cell) => move.from.includes(cell)) && ends.every((cell) => move.to.includes(cell)));
	const exact = () => open().find((move) => move.from.length === from.length && move.to.length === to.length);
	const awaitsTarget = () => from.length > to.length;

	function lift(cell) {
		lifted = true;
		at = cell;
		held = shape(own.cell, short, long).findIndex((part) => part.join() === cell.join());
		changed();
	}

	function putDown() {
		const ghost = under();
		if (!ghost?.place) return;
		({ place } = ghost);
		const left = open();
		if (left.length === 1) play(left[0].move);
		else changed();
	}

	function token(key) {
		const next = awaitsTarget() ? { from, to: [...to, key] } : { from: [...from, key], to };
		const left = open(next.from, next.to);
		if (!left.length) {
			// Another token instead of the one that was taken up.
			if (awaitsTarget()) from = from.slice(0, -1);
			changed();
			return;
		}
		({ from, to } = next);
		if (!awaitsTarget() && left.length === 1) play(left[0].move);
		else changed();
	}

	function back() {
		if (awaitsTarget()) from = from.slice(0, -1);
		else if (place) { place = null; from = []; to = []; } else lifted = false;
		changed();
		return true;
	}

	/** Turns and flips what is seen, so that a mirrored view turns the same way. */
	function turn(change) {
		const seen = { short: sideToView(view(), short), long: sideToView(view(), long) };
		const next = change(seen);
		short = sideFromView(view(), next.short);
		long = sideFromView(view(), next.long);
		changed();
	}
	const clockwise = () => turn((seen) => ({ short: TURN[seen.short], long: TURN[seen.long] }));
	const flip = () => turn((seen) => (STEP[seen.short][1]
		? { short: BACK[seen.short], long: seen.long }
		: { short: seen.short, long: BACK[seen.long] }));

	const piece = (cells) => ({ ...own, cell: cells[0], also: cells.slice(1) });

	return {
		overlay() {
			if (!lifted) return { targets: new Map([...ownCells].map((key) => [key, null])), quiet: true };
			const hidden = new Set([pieceKey(own)]);
			if (!place) {
				const ghost = under();
				if (!ghost) return { hidden, ghosts: [{ piece: own, className: 'faint' }] };
				return { hidden, ghosts: [
					{ piece: own, className: 'faint' },
					{ piece: piece(ghost.cells), className: ghost.place ? 'fits' : 'misfits' },
				] };
			}
			const placed = moves.find((move) => move.place === place).cells;
			const targets = new Map(open().flatMap((move) => (awaitsTarget() ? move.to : move.from))
				.filter((key) => !from.includes(key) && !to.includes(key)).map((key) => {
					const left = awaitsTarget() ? open().filter((move) => move.to.includes(key)) : [];
					return [key, left.length === 1 ? left[0].move : null];
				}));
			const gone = tokens.filter((stone) => to.length && from.slice(0, to.length).includes(stone.cell.join()));
			for (const stone of gone) hidden.add(pieceKey(stone));
			const moved = to.map((key) => ({ piece: { piece: 'token', cell: cellAt(key) } }));
			return {
				hidden, targets, selected: new Set(awaitsTarget() ? from.slice(-1) : []),
				ghosts: [{ piece: piece(placed), className: 'placed' }, ...moved],
			};
		},
		prompt() {
			if (!lifted) return 'Pick up your L: click it, or press P.';
			if (!place) return 'Move it over the board, turn it (T) and flip it (F); click or press Enter to put it down.';
			if (awaitsTarget()) return 'Choose the cell for the token.';
			return exact() ? 'Choose a token to move, or keep the tokens (K).' : 'Choose a token to move.';
		},
		cell(cell, pointer) {
			const key = cell.join();
			if (place) {
				token(key);
			} else if (!lifted) {
				if (ownCells.has(key)) lift(cell);
			} else if (pointer === 'touch' && !under()?.cells.some((part) => part.join() === key)) {
				// A finger does not hover: the first tap shows the L, the second puts it down.
				at = cell;
				changed();
			} else {
				at = pointer === 'touch' ? at : cell;
				putDown();
			}
		},
		hover(cell) {
			if (!lifted || place || !cell || cell.join() === at?.join()) return;
			at = cell;
			changed();
		},
		dragOver(start, over) {
			if (place || (!lifted && !ownCells.has(start.join()))) return;
			if (!lifted) lift(start);
			at = over;
			changed();
		},
		drag(start, end) {
			if (place) {
				if (!awaitsTarget()) token(start.join());
				if (awaitsTarget()) token(end.join());
			} else if (lifted || ownCells.has(start.join())) {
				if (!lifted) lift(start);
				at = end;
				putDown();
				changed();
			}
		},
		key(event) {
			const key = event.key.toLowerCase();
			if (key === 'escape') return lifted ? back() : false;
			if (key === 'p' && !lifted) lift(own.cell);
			else if (key === 't' && lifted && !place) clockwise();
			else if (key === 'f' && lifted && !place) flip();
			else if (key === 'k' && place && exact()) play(exact().move);
			else return false;
			return true;
		},
		tools() {
			if (!lifted) return [{ label: 'Pick up the L', title: 'Key P', testid: 'l-pick-up', act: () => lift(own.cell) }];
			if (!place) {
				return [
					{ label: '↻ Turn', title: 'Key T', testid: 'l-turn', act: clockwise },
					{ label: '⇋ Flip', title: 'Key F', testid: 'l-flip', act: flip },
					{ label: 'Put back', title: 'Escape', testid: 'l-back', act: back },
				];
			}
			const keep = exact();
			return [
				...(keep ? [{ label: to.length ? 'Done' : 'Keep the tokens', title: 'Key K', testid: 'l-keep', move: keep.move,
					className: 'primary', act: () => play(keep.move) }] : []),
				{ label: 'Back', title: 'Escape', testid: 'l-back', act: back },
			];
		},
		left: () => (place ? open() : moves).map((move) => move.move),
	};
}

/** First the L is put down, then tokens are moved. */
function entry(move, { cellAt }) {
	const { cells, from, to } = parts(move);
	return { stages: [cells, from.map(cellAt), to.map(cellAt)] };
}

export default (kit) => ({ input: (context) => input(context, kit), entry: (move) => entry(move, kit) });
