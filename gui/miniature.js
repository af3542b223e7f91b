/** Boards as static pictures, drawn like the board on the page. */
import { BoardView } from './board.js';
import { el } from './dom.js';
import { lookOf } from './looks.js';
import { PLAIN } from './symmetry.js';

const host = el('div', {});
let view = null;

/** @returns {SVGElement} @param {object} board  the protocol's */
export function miniature(game, board) {
	view ??= new BoardView(host, { hover() {} });
	view.draw({ board, view: PLAIN, last: new Set(), look: lookOf(game), overlay: {} });
	const picture = host.firstElementChild.cloneNode(true);
	for (const node of [picture, ...picture.querySelectorAll('*')]) {
		for (const name of ['role', 'tabindex', 'data-cell', 'data-at', 'data-testid']) node.removeAttribute(name);
		for (const { name } of [...node.attributes]) if (name.startsWith('aria-')) node.removeAttribute(name);
	}
	picture.setAttribute('aria-hidden', 'true');
	return picture;
}
