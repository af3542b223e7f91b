/**
 * A game as data: what was played, where one looks at it, and the record that the protocol, the arena and `plyd show`
 * share. Pure: it knows no server, so a record is only checked for its shape here; its moves the server checks.
 *
 * @typedef {import('./words.js').Score} Score
 * @typedef {{id: string, game: string, rules: object, start: string, moves: string[], cursor: number,
 *   scores: Record<number, Score>, clocks: Record<number, [number, number]>, players?: string[], opening?: number,
 *   flag?: {ply: number, player: 'p1'|'p2'}, earlier?: Line[]}} Game
 *   `cursor` counts the plies that are on the board; what lies behind it can be redone. `scores` by ply, from player 1's
 *   view; `clocks` by ply, what each had left in ms. `flag`: whose time was over after so many plies. `earlier`: what other
 *   moves took the place of, the newest last.
 * @typedef {Pick<Game, 'moves'|'scores'|'clocks'|'flag'>} Line
 */

import { flipped, other } from './words.js';

/** A fault in a file that somebody wrote; `line` counts from 1. */
export class BadRecord extends Error {}

/** A name that nothing else has. */
export const newId = () => crypto.getRandomValues(new Uint32Array(2)).join('-');

export const fresh = (game, rules, start) => ({ game, rules, start, moves: [], cursor: 0, scores: {}, clocks: {}, id: newId() });

/** The position on the board, as the protocol takes it. */
export const positionOf = (game, ply = game.cursor) => ({ start: game.start, moves: game.moves.slice(0, ply) });

/** Whether nothing lies behind the cursor. */
export const isLive = (game) => game.cursor === game.moves.length;

/** So many lines are kept that others took the place of. */
const KEPT_LINES = 20;

const lineOf = ({ moves, scores, clocks, flag }) => ({ moves, scores, clocks, flag });

/** The game without what lies behind the cursor, which is kept as an earlier line. */
export function cut(game) {
	if (isLive(game)) return game;
	const upTo = (table) => Object.fromEntries(Object.entries(table).filter(([ply]) => Number(ply) <= game.cursor));
	const moves = game.moves.slice(0, game.cursor);
	const earlier = [...(game.earlier ?? []), lineOf(game)].slice(-KEPT_LINES);
	const flag = game.flag && game.flag.ply <= game.cursor ? game.flag : undefined;
	return { ...game, moves, scores: upTo(game.scores), clocks: upTo(game.clocks), flag, earlier };
}

/** The game with the newest earlier line in the place of what is played now, which becomes the oldest of them. */
export function broughtBack(game) {
	const line = game.earlier?.at(-1);
	if (!line) return game;
	const others = game.earlier.slice(0, -1);
	const known = others.some(({ moves }) => moves.join('\n') === game.moves.join('\n'));
	const beginning = line.moves.slice(0, game.moves.length).join('\n') === game.moves.join('\n');
	const earlier = known || beginning ? others : [lineOf(game), ...others];
	return { ...game, ...line, cursor: Math.min(game.cursor, line.moves.length), earlier };
}

/** The outcome on the clock, if the time of one who is to move at the cursor is over. */
export function flagOutcome({ flag, cursor }) {
	return flag?.ply === cursor ? { winner: other(flag.player), by: 'time' } : null;
}

/** The game after a further ply. The ply that was played there goes forward; another forgets what was played since. */
export function played(game, ply) {
	const cursor = game.cursor + 1;
	if (game.moves[game.cursor] === ply) return { ...game, cursor };
	const before = cut(game);
	return { ...before, moves: [...before.moves, ply], cursor };
}

export const lookAt = (game, ply) => ({ ...game, cursor: Math.max(0, Math.min(game.moves.length, ply)) });

/** Whether a ply is an outcome of chance. */
export const isChance = (ply) => ply.startsWith('~');

/**
 * The number of a move as people count: chance plies are no moves.
 * @param {string[]} moves @param {number} ply  from 0
 */
export const moveNumber = (moves, ply) => moves.slice(0, ply + 1).filter((move) => !isChance(move)).length;

/** The record of a game as the page knows it without a server, which would add the result. */
export const ownRecord = ({ game, rules, start, moves }) => ({ record: 1, game, rules, start, moves });

/**
 * The line to save: the server's record and what the page adds to it.
 * @param {object} record  as `inspect` answered, or the page's own
 * @param {string[]} players  p1's name, then p2's
 */
export function line(record, game, players) {
	const more = {
		players: players.map((name, index) => ({ index, name })),
		scores: game.scores,
	};
	return `${JSON.stringify({ ...record, ...more })}\n`;
}

/**
 * The games of a file: one JSON object, or one a line as the arena writes them.
 * @throws {BadRecord} which line is wrong, and why
 */
export function read(text) {
	const whole = parsed(text);
	const lines = whole === undefined ? text.split('\n') : [text];
	const games = [];
	lines.forEach((source, index) => {
		if (!source.trim()) return;
		const where = lines.length > 1 ? `line ${index + 1}: ` : '';
		const value = parsed(source);
		if (value === undefined) throw new BadRecord(`${where}this is not JSON`);
		games.push(gameOf(value, where));
	});
	if (!games.length) throw new BadRecord('the file holds no game');
	return games;
}

function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function gameOf(value, where) {
	const wrong = (message) => { throw new BadRecord(`${where}${message}`); };
	if (!isObject(value)) wrong('a record is a JSON object');
	if (value.record !== 1) wrong('`record` must be 1: this is no record of a game, or one of a later version');
	if (typeof value.game !== 'string') wrong('`game` must be the name of a game');
	if (!isObject(value.rules ?? {})) wrong('`rules` must be an object');
	if (typeof value.start !== 'string') wrong('`start` must be the text of a position');
	if (!Array.isArray(value.moves) || value.moves.some((move) => typeof move !== 'string')) {
		wrong('`moves` must be a list of texts');
	}
	const game = fresh(value.game, value.rules ?? {}, value.start);
	game.moves = value.moves;
	game.cursor = value.moves.length;
	game.scores = scoresOf(value);
	// Of a match, which began with plies that nobody chose.
	if (Number.isInteger(value.opening)) game.opening = value.opening;
	if (Array.isArray(value.players)) {
		game.players = value.players.slice(0, 2).map((player) => String(player?.name ?? ''));
	}
	return game;
}

/** The scores that the file holds: the page's own by ply, or the arena's, one an answer of a player. */
function scoresOf(value) {
	const scores = {};
	if (isObject(value.scores)) {
		for (const [ply, score] of Object.entries(value.scores)) {
			if (isScore(score)) scores[ply] = score;
		}
	} else if (Array.isArray(value.answers)) {
		// The opening and chance were nobody's answers; a score belongs to the player that moved.
		let ply = Number.isInteger(value.opening) ? value.opening : 0;
		for (const answer of value.answers) {
			while (ply < value.moves.length && isChance(value.moves[ply])) ply += 1;
			if (isScore(answer?.score)) scores[ply] = answer.player === 'p2' ? flipped(answer.score) : answer.score;
			ply += 1;
		}
	}
	return scores;
}

const isScore = (score) => isObject(score) && typeof score.bound === 'string';
