/**
 * The record of a game, which the protocol, the arena and `plyd show` share, and what the page adds to it. Only the shape of a
 * record is checked here; the server checks its moves.
 */
import { byPly, endOf, fresh, grown, linesOf } from './tree.js';
import { flipped, other, renamed } from './words.js';

export * from './tree.js';

/** A fault in a file that somebody wrote; `line` counts from 1. */
export class BadRecord extends Error {}

/** Whether a ply is an outcome of chance. */
export const isChance = (ply) => ply.startsWith('~');

/**
 * The number of a move as people count: chance plies are no moves.
 * @param {string[]} moves @param {number} ply  from 0
 */
export const moveNumber = (moves, ply) => moves.slice(0, ply + 1).filter((move) => !isChance(move)).length;

/** What is kept at nodes: the record's field, which is by ply, and the node's. */
const FIELDS = { scores: 'score', clocks: 'clock', flags: 'flag', resigned: 'resigned', comments: 'comment' };
/** The same, with what the browser keeps and no file has. */
const OWN = { ...FIELDS, reviews: 'review', ends: 'ended' };

const held = (nodes, first, fields) => Object.fromEntries(Object.entries(fields)
	.map(([name, field]) => [name, byPly(nodes, field, first)]).filter(([, values]) => Object.keys(values).length));

/** The record of a game as the page knows it, without its result. */
export function ownRecord({ game, rules, start, root, name, opening }, fields = FIELDS) {
	const [main, ...others] = linesOf(root);
	const variations = others.map(({ of, ply, nodes }) => ({ of, ply, moves: movesOf(nodes), ...held(nodes, ply + 1, fields) }));
	return {
		record: 1, game, rules, start, moves: movesOf(main.nodes.slice(1)), ...held(main.nodes, 0, fields),
		...variations.length ? { variations } : {}, ...name ? { name } : {}, ...opening === undefined ? {} : { opening },
	};
}

const movesOf = (nodes) => nodes.map(({ move }) => move);

/**
 * The line to save: the server's record of the main line and what the page adds to it. The rules come first.
 * Only where they let the game go on, it may have ended by the clock, a resignation, or as its file said.
 * @param {object} record  as `inspect` answered; none without a server
 * @param {string[]} players  p1's name, then p2's
 */
export function line(record, game, players) {
	const more = { players: players.map((name, index) => ({ index, name })) };
	const end = record?.result ? {} : endOf(game);
	return `${JSON.stringify({ ...ownRecord(game), ...record, ...end, ...more })}\n`;
}

/** A game as the browser keeps it: its record, the line shown and the ply on the board. */
export function kept(game) {
	const { id, cursor, players } = game;
	const end = game.line[game.line.length - 1];
	const shown = linesOf(game.root).findIndex(({ nodes }) => nodes.includes(end));
	const names = players ? { players: players.map((name) => ({ name })) } : {};
	return { ...ownRecord(game, OWN), ...names, id, shown: [shown, game.moves.length], cursor };
}

/** The game that was kept. @throws {BadRecord} if it cannot be read */
export function taken(value) {
	const { game, lines } = gameOf(value, '', OWN);
	const [shown, end] = value.shown;
	return game.with({ id: String(value.id), line: lines[shown].slice(0, end + 1), cursor: value.cursor });
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
		if (value === undefined) throw new BadRecord(`${where}this is not JSON: no game that plyd saved, or one that is cut off`);
		games.push(gameOf(value, where, FIELDS).game);
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

function gameOf(value, where, fields) {
	const wrong = (message) => { throw new BadRecord(`${where}${message}`); };
	if (!isObject(value)) wrong('a record is a JSON object');
	if (value.record !== 1) wrong('`record` must be 1: this is not a game record, or one of a later version');
	if (typeof value.game !== 'string') wrong('`game` must be the name of a game');
	if (!isObject(value.rules ?? {})) wrong('`rules` must be an object');
	if (typeof value.start !== 'string') wrong('`start` must be the text of a position');
	if (!Array.isArray(value.moves) || value.moves.some((move) => typeof move !== 'string')) {
		wrong('`moves` must be a list of strings');
	}
	const opening = openingOf(value);
	const game = fresh(value.game, value.rules ?? {}, value.start, value.moves).with({
		...opening === undefined ? {} : { opening },
		...namesOf(value),
		...typeof value.name === 'string' ? { name: value.name } : {},
	});
	hold(game.line, 0, { ...value, scores: scoresOf(value, opening) }, fields);
	const ended = endedOf(value);
	if (ended) game.node.ended = ended;
	const lines = [game.line];
	const variations = value.variations ?? [];
	if (!Array.isArray(variations)) wrong('`variations` must be a list');
	variations.forEach((variation, index) => lines.push(lineOf(variation, lines, fields, (message) => {
		wrong(`variation ${index + 1}: ${message}`);
	})));
	return { game, lines };
}

/** The names of both players, as records have them today; nothing if one of them has none. */
function namesOf({ players }) {
	const names = Array.isArray(players) ? players.slice(0, 2).map((player) => player?.name) : [];
	return names.length === 2 && names.every((name) => name && typeof name === 'string') ? { players: names.map(renamed) } : {};
}

/**
 * What a record says of how the game ended. What makes no sense is left out.
 * @returns {import('./tree.js').Ended|undefined}
 */
function endedOf({ result, forfeit }) {
	if (!isForfeit(forfeit)) return isOutcome(result) ? { result } : undefined;
	const { player, kind, message = '' } = forfeit;
	const said = { player, kind, message: String(message) };
	return { result: isOutcome(result) ? result : { winner: other(player), by: kind }, forfeit: said };
}

/** The number of opening plies, which no player chose; undefined if the value makes no sense. */
const openingOf = ({ opening, moves }) => (
	Number.isInteger(opening) && opening >= 0 && opening <= moves.length ? opening : undefined);

/** The line of a variation, from the start on, with what is known of it. */
function lineOf(value, lines, fields, wrong) {
	if (!isObject(value)) wrong('it must be an object');
	const { of = 0, ply, moves } = value;
	const base = lines[of];
	if (!base) wrong('`of` must be 0 for the main line, or the number of a variation before it');
	if (!Number.isInteger(ply) || ply < 0 || ply >= base.length) wrong(`\`ply\` must be from 0 to ${base.length - 1}`);
	if (!Array.isArray(moves) || !moves.length || moves.some((move) => typeof move !== 'string')) {
		wrong('`moves` must be a list of strings');
	}
	const line = grown(base.slice(0, ply + 1), moves);
	hold(line, ply + 1, value, fields);
	return line;
}

const isPlayer = (value) => value === 'p1' || value === 'p2';

const isOutcome = (value) => isObject(value) && (value.winner === null || isPlayer(value.winner)) && typeof value.by === 'string';

const isForfeit = (value) => isObject(value) && isPlayer(value.player) && typeof value.kind === 'string';

const IS = {
	scores: (value) => isScore(value),
	clocks: (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isFinite),
	flags: isPlayer,
	resigned: isPlayer,
	comments: (value) => typeof value === 'string',
	ends: (value) => isObject(value) && isOutcome(value.result) && (value.forfeit === undefined || isForfeit(value.forfeit)),
	reviews: (value) => isObject(value) && typeof value.mark === 'string',
};

/** Gives the nodes of a line what a record says of them. Values that make no sense are left out. */
function hold(nodes, first, value, fields) {
	for (const [name, field] of Object.entries(fields)) {
		if (!isObject(value[name])) continue;
		for (const [ply, one] of Object.entries(value[name])) {
			const node = Number(ply) >= first ? nodes[ply] : undefined;
			if (node && IS[name](one)) node[field] = one;
		}
	}
}

/** The scores that the file holds: the page's own by ply, or the arena's, one an answer of a player. */
function scoresOf(value, opening = 0) {
	const scores = {};
	if (isObject(value.scores)) {
		for (const [ply, score] of Object.entries(value.scores)) {
			if (isScore(score)) scores[ply] = score;
		}
	} else if (Array.isArray(value.answers)) {
		// The opening and chance were nobody's answers; a score belongs to the player that moved.
		let ply = opening;
		for (const answer of value.answers) {
			while (ply < value.moves.length && isChance(value.moves[ply])) ply += 1;
			if (isScore(answer?.score)) scores[ply] = answer.player === 'p2' ? flipped(answer.score) : answer.score;
			ply += 1;
		}
	}
	return scores;
}

const isScore = (score) => isObject(score) && typeof score.bound === 'string';
