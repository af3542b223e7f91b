/**
 * How the board looks on the page of `plyd gui`, where it differs from that of any game; without this file, the game is drawn
 * and played all the same. `gui/looks.js` of plyd says what a look may hold.
 */
export default ({ ownerClass, svg }) => ({
	/** A click anywhere in a column drops a disc there; so does its number. */
	input({ board, legal, play }) {
		const drop = (move) => {
			if (legal.includes(move)) play(move);
			return legal.includes(move);
		};
		// An empty list is left out of a board.
		const taken = (col) => (board.pieces ?? []).filter((piece) => piece.cell[1] === col).length;
		const landing = (move) => `${board.grid.rows - 1 - taken(Number(move) - 1)},${Number(move) - 1}`;
		return {
			overlay: () => ({ targets: new Map(legal.map((move) => [landing(move), move])) }),
			prompt: () => 'Choose a column, or press its number.',
			cell: ([, col]) => drop(String(col + 1)),
			key: (event) => drop(event.key),
		};
	},

	/** A large disc without a number. */
	piece: (piece, [[x, y]]) => svg('g', { class: `piece kind-disc ${ownerClass(piece.owner)}` },
		svg('circle.body', { cx: x, cy: y, r: 42 })),

	/** A move as it is read aloud. */
	words: (move) => `column ${move}`,
});
