/**
 * A game as a tree: a node for each position that was reached, the line that is shown, and the ply on the board.
 * It knows no server, so nothing here says which moves are legal.
 *
 * @typedef {import('./words.js').Score} Score
 * @typedef {{move?: string, parent: Node|null, next: Node[], score?: Score, clock?: [number, number], flag?: 'p1'|'p2',
 *   resigned?: 'p1'|'p2', ended?: Ended, comment?: string, review?: import('./review.js').Reviewed}} Node
 *   `move` led to it; the start has none. `next`: what was played from there, the main line's first. `score` is from player 1's
 *   view; `clock`: what each had left in ms; `flag`: whose time was over; `resigned`: who gave up; `ended`:
 *   what a record said of the game's end; `review`: what a review found of the move.
 * @typedef {import('./words.js').Outcome} Outcome
 * @typedef {{result: Outcome, forfeit?: {player: 'p1'|'p2', kind: string, message: string}}} Ended
 *   as records have both
 */
import { other } from './words.js';

/** A unique id. */
export const newId = () => crypto.getRandomValues(new Uint32Array(2)).join('-');

/**
 * A view of a tree: which line is shown, and which ply of it is on the board. It is immutable; another view is another value.
 * The nodes are shared by all views of one tree and change in place: children are added, reordered, deleted and restored, and
 * scores and comments are stored in them. So a node, or the root, identifies the same thing in every view.
 */
export class Game {
	/**
	 * @param {{id: string, game: string, rules: object, start: string, line: Node[], cursor: number, players?: string[],
	 *   name?: string, deleted?: {node: Node, at: number}}} fields
	 *   `line`: the nodes that are shown, from the start on; `cursor`: how many of its plies are on the board. `deleted`: the
	 *   branch that was deleted last, and its index among its siblings.
	 */
	constructor(fields) {
		Object.assign(this, fields);
		/** The plies of the line that is shown. @type {string[]} */
		this.moves = this.line.slice(1).map(({ move }) => move);
	}

	with(changes) {
		return new Game({ ...this, ...changes });
	}

	get root() {
		return this.line[0];
	}

	/** The node on the board. */
	get node() {
		return this.line[this.cursor];
	}

	/** What is known of the line that is shown, by ply. @type {Record<number, Score>} */
	get scores() {
		return byPly(this.line, 'score');
	}

	/** @type {Record<number, [number, number]>} */
	get clocks() {
		return byPly(this.line, 'clock');
	}
}

/** What nodes hold of a kind, by their plies. */
export function byPly(nodes, field, first = 0) {
	return Object.fromEntries(nodes.map((node, index) => [first + index, node[field]]).filter(([, value]) => value !== undefined));
}

export function fresh(game, rules, start, moves = []) {
	const line = grown([{ parent: null, next: [] }], moves);
	return new Game({ game, rules, start, line, cursor: moves.length, id: newId() });
}

/** The position on the board, as the protocol takes it. */
export const positionOf = (game, ply = game.cursor) => ({ start: game.start, moves: game.moves.slice(0, ply) });

/** Whether the end of the line is on the board, where the game goes on. */
export const isLive = (game) => game.cursor === game.moves.length;

/** Results of records that end a game whose rules go on, without a forfeit beside them. */
const GIVEN_UP = ['resignation', 'late', 'time'];

/**
 * How the game ended at the position on the board though its rules go on: a player's time was up, or a player
 * resigned, or forfeited the game in a match. What else a referee decided, such as a draw because of the number
 * of moves, does not count: one can play on.
 * @returns {Outcome|null}
 */
export function forfeitOutcome({ node: { flag, resigned, ended } }) {
	if (flag) return { winner: other(flag), by: 'late' };
	if (resigned) return { winner: other(resigned), by: 'resignation' };
	if (ended?.forfeit) return { winner: other(ended.forfeit.player), by: ended.forfeit.kind };
	return ended?.result.winner && GIVEN_UP.includes(ended.result.by) ? ended.result : null;
}

/**
 * What a record says of the end of the main line if the rules go on there, as `plyd play` and the arena say it.
 * @returns {Ended|{}}
 */
export function endOf({ root }) {
	const node = toEnd([root]).at(-1);
	const { flag, resigned, ended } = node;
	if (!flag && !resigned) return ended ?? {};
	const result = forfeitOutcome({ node });
	return flag ? { result, forfeit: { player: flag, kind: result.by, message: 'the time was up' } } : { result };
}

/** The game goes on at a node, whatever ended it there before. */
export const reopen = (node) => Object.assign(node, { flag: undefined, resigned: undefined, ended: undefined });

/** The node of a move from another one, which is made if there is none. */
function child(parent, move) {
	let node = parent.next.find((one) => one.move === move);
	if (!node) {
		node = { move, parent, next: [] };
		parent.next.push(node);
	}
	return node;
}

/** A line with these moves after it, which the tree has from then on. */
export function grown(line, moves) {
	const nodes = [...line];
	for (const move of moves) nodes.push(child(nodes[nodes.length - 1], move));
	return nodes;
}

/** The nodes from the start to this one. */
export function pathTo(node) {
	const path = [];
	for (let at = node; at; at = at.parent) path.unshift(at);
	return path;
}

/** A line followed to its end, by what is played first from each of its nodes. */
export function toEnd(line) {
	const nodes = [...line];
	for (let [at] = nodes[nodes.length - 1].next; at; [at] = at.next) nodes.push(at);
	return nodes;
}

/** The game after a further ply. What was played before stays, as another branch. */
export function played(game, ply) {
	const cursor = game.cursor + 1;
	if (game.moves[game.cursor] === ply) return game.with({ cursor });
	return game.with({ line: grown(cut(game).line, [ply]), cursor });
}

/** The line ends on the board, so that the game goes on from there. */
export const cut = (game) => (isLive(game) ? game : game.with({ line: game.line.slice(0, game.cursor + 1) }));

/** Looks at the position after so many plies; beyond the line's end, at what follows it in the tree. */
export function lookAt(game, ply) {
	const line = ply > game.moves.length ? toEnd(game.line) : game.line;
	return game.with({ line, cursor: Math.max(0, Math.min(line.length - 1, ply)) });
}

/** Looks at a node, on the line that is shown or another one. */
export function showing(game, node) {
	const path = pathTo(node);
	const cursor = path.length - 1;
	return game.with({ line: game.line[cursor] === node ? game.line : toEnd(path), cursor });
}

/** The node before or behind this one among those that were played from the same position. */
export function sibling(node, by) {
	const all = node.parent?.next ?? [];
	return all[all.indexOf(node) + by] ?? null;
}

/** Puts a node first among its siblings. */
function lead(node) {
	const all = node.parent.next;
	all.splice(all.indexOf(node), 1);
	all.unshift(node);
}

/** The variation that a node is in: its nearest ancestor, or itself, that is not played first; null on the main line. */
export function variationOf(node) {
	let at = node;
	while (at.parent && at.parent.next[0] === at) at = at.parent;
	return at.parent ? at : null;
}

/** Promotes the variation that a node is in: it becomes the main continuation where it begins. Changes the tree itself. */
export function promote(game, of = game.node) {
	const node = variationOf(of);
	if (node) lead(node);
	return game.with({});
}

/** Makes the line up to the board the main line. Changes the tree itself. */
export function makeMain(game) {
	for (const node of game.line.slice(1, game.cursor + 1)) lead(node);
	return game;
}

/** Takes a move and all that follows it out of the tree; `restored` puts it back. A line that had it ends elsewhere. */
export function withoutNode(game, node = game.node) {
	const at = node.parent ? node.parent.next.indexOf(node) : -1;
	// The start cannot be deleted, nor a node of another tree or one that is deleted already.
	if (at < 0 || pathTo(node)[0] !== game.root) return game;
	node.parent.next.splice(at, 1);
	const deleted = { node, at };
	const ply = game.line.indexOf(node);
	if (ply < 0) return game.with({ deleted });
	return game.with({ line: toEnd(game.line.slice(0, ply)), cursor: Math.min(game.cursor, ply - 1), deleted });
}

/** Puts what was deleted last back into the tree, and looks at it. */
export function restored(game) {
	if (!game.deleted) return game;
	const { node, at } = game.deleted;
	const twin = node.parent.next.find(({ move }) => move === node.move);
	// If the same move was played again meanwhile, the deleted branch is merged into it.
	if (twin) merge(twin, node);
	else node.parent.next.splice(at, 0, node);
	return showing(game.with({ deleted: undefined }), twin ?? node);
}

function merge(into, node) {
	into.comment ??= node.comment;
	into.score ??= node.score;
	into.review ??= node.review;
	for (const one of node.next) {
		const twin = into.next.find(({ move }) => move === one.move);
		if (twin) merge(twin, one);
		else {
			one.parent = into;
			into.next.push(one);
		}
	}
}

/** All nodes from one on, in no order that matters. */
export function nodesFrom(root) {
	const nodes = [root];
	for (let index = 0; index < nodes.length; index += 1) nodes.push(...nodes[index].next);
	return nodes;
}

/**
 * The lines that the tree is made of: the main line, then each variation behind the line that it leaves. A list, because
 * games are deeper than readers of nested JSON go.
 * @returns {Array<{of: number, ply: number, nodes: Node[]}>} `nodes` without those before it left; the main line has its start
 */
export function linesOf(root) {
	const lines = [{ of: 0, ply: 0, nodes: toEnd([root]) }];
	for (let index = 0; index < lines.length; index += 1) {
		const { ply, nodes } = lines[index];
		nodes.forEach((node, at) => {
			for (const one of node.next.slice(1)) {
				lines.push({ of: index, ply: index ? ply + at + 1 : at, nodes: toEnd([one]) });
			}
		});
	}
	return lines;
}
