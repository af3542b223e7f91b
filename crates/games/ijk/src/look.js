/** IJK: everything slides; swipes, arrow keys and four buttons, whichever way the board is turned. */

const SIDES = { U: 'up', R: 'right', D: 'down', L: 'left' };
const SIGNS = { up: '↑', right: '→', down: '↓', left: '←' };
const moveTo = (side) => Object.keys(SIDES).find((move) => SIDES[move] === side);

function input({ legal, play, view }, { arrowSide, sideFromView }) {
	const slide = (side) => {
		const move = moveTo(side);
		if (!legal.includes(move)) return false;
		play(move);
		return true;
	};
	return {
		overlay: () => ({}),
		prompt: () => 'Swipe over the board, press an arrow key, or choose a direction.',
		cell() {},
		swipe: slide,
		key(event) {
			if (event.key.toUpperCase() === 'S' && legal.includes('S')) {
				play('S');
				return true;
			}
			const side = arrowSide(event.key, view());
			return side ? slide(side) : false;
		},
		tools() {
			// The buttons say what is seen; the move is what it means on the board as it is.
			const directions = ['left', 'up', 'down', 'right'].map((seen) => ({ seen, move: moveTo(sideFromView(view(), seen)) }));
			return [
				...directions.filter(({ move }) => legal.includes(move)).map(({ seen, move }) => ({
					label: SIGNS[seen], title: `Slide ${seen} (${move})`, move, className: 'arrow-key', act: () => play(move),
				})),
				...(legal.includes('S') ? [{ label: 'Skip', title: 'Skip (S)', move: 'S', act: () => play('S') }] : []),
			];
		},
	};
}

export default (kit) => ({
	// On the usual board people who know nothing of the game play for hundreds of moves.
	first: { size: 4 },
	input: (context) => input(context, kit),
	slide: (move) => SIDES[move],
	words: (move) => (SIDES[move] ? `${move} (${SIDES[move]})` : move === 'S' ? 'S (skip)' : move),
	mark(mark, x, y) {
		if (mark.mark !== 'target') return undefined;
		return kit.svg('circle.flip-mark', { cx: x + 32, cy: y - 32, r: 8 });
	},
});
