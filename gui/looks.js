/**
 * The looks of games. Any game is drawn and played generically; one may bring a look of its own, which adds what it likes. A
 * look is a module beside the game's rules that imports nothing: what it may use of the page is handed to its default export.
 * The server has one for each of its games, which adds nothing if the game brings none.
 *
 * @typedef {object} Look
 * @property {(context: import('./input.js').Context) => import('./input.js').Input} [input]  how a move is entered
 * @property {(piece: object, places: Array<[number, number]>) => SVGElement|null|undefined} [piece]  a piece, by the middles of
 *   its cells; undefined: the generic drawing, null: nothing
 * @property {(mark: object, x: number, y: number, board: object) => SVGElement|null|undefined} [mark]  the same for a mark
 * @property {(move: string) => string} [words]  a move as it is read aloud
 * @property {(move: string) => string|undefined} [slide]  the side to which a move sends everything
 * @property {(move: string) => {stages: Array<Array<[number, number]>>, side?: string}|null} [entry]  the cells that one chooses
 *   for a move, stage by stage, and the side of the cell if the move is one of several walls there
 * @property {object} [first]  rules for a visitor's first game, if one by the usual rules would be long
 */
import { arrowSide } from './board.js';
import { cellAt, pieceKey } from './changes.js';
import { svg } from './dom.js';
import { caption, ownerClass } from './pieces.js';
import { sideFromView, sideToView } from './symmetry.js';

/** What a look may use; each is documented in its own file. */
const KIT = { arrowSide, caption, cellAt, ownerClass, pieceKey, sideFromView, sideToView, svg };

/** @type {Map<string, Promise<void>>} those that were asked for, by game */
const asked = new Map();
/** @type {Map<string, Look>} */
const looks = new Map();

/**
 * Gets the look of a game, once. One that fails is reported and left out: the game can be played without it.
 * @returns {Promise<void>} when `lookOf` knows it
 */
export function loadLook(game, from = `./games/${game}.js`) {
	if (!asked.has(game)) {
		asked.set(game, import(from).then((module) => { looks.set(game, module.default(KIT)); }).catch((error) => {
			console.warn(`the look of ${game} failed to load, so it is shown generically:`, error);
		}));
	}
	return asked.get(game);
}

/** @returns {Look} */
export const lookOf = (game) => looks.get(game) ?? {};

/** A move as it is read aloud. */
export const moveWords = (game, move) => lookOf(game).words?.(move) ?? move;
