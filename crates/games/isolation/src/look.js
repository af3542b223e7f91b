/** Knight Isolation: the tokens look like knights. Its moves name one cell each, which the generic input reads. */

const KNIGHT = 'M-20 32h42v-7c0-16 4-25-1-38c-4-11-14-17-24-17l-3-8l-6 9c-8 6-11 17-18 27c-3 5 1 11 7 9l9-4'
	+ 'c4-2 8-2 11-4c-1 9-14 14-17 26z';

export default ({ caption, ownerClass, svg }) => ({
	piece(piece, [[x, y]]) {
		if (piece.piece !== 'token') return undefined;
		return svg('g', { class: `piece kind-token ${ownerClass(piece.owner)}` },
			svg('circle.body', { cx: x, cy: y, r: 41 }),
			svg('path.glyph', { d: KNIGHT, transform: `translate(${x} ${y}) scale(0.92)` }),
			caption(piece.owner === 'p1' ? '1' : '2', x + 2, y + 17, 'small-caption'));
	},
});
