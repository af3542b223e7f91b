/**
 * The games that bring a drawing or an input of their own. A game that is not listed is drawn and played generically; a
 * module adds what it likes:
 *
 * @typedef {object} GameModule
 * @property {(context: import('../input.js').Context) => import('../input.js').Input} [input]
 * @property {{piece?: Function, mark?: Function}} [look]  SVG for a piece or a mark; undefined: the generic one
 * @property {(move: string) => string} [words]  a move as it is read aloud
 * @property {(move: string) => string|undefined} [slide]  the side to which a move sends everything
 */
import colosseum from './colosseum.js';
import ijk from './ijk.js';
import isolation from './isolation.js';
import lGame from './l-game.js';
import sudoku from './sudoku.js';

/** @type {Record<string, GameModule>} */
const MODULES = { colosseum, ijk, isolation, 'l-game': lGame, sudoku };

export const moduleOf = (game) => (Object.hasOwn(MODULES, game) ? MODULES[game] : {});

/** A move as it is read aloud. */
export const moveWords = (game, move) => moduleOf(game).words?.(move) ?? move;
