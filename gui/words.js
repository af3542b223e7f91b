/**
 * Scores, outcomes, boards and players in words. Pure: it knows the shapes of the protocol's messages and
 * nothing of the page.
 *
 * @typedef {'p1'|'p2'} Player
 * @typedef {{outcome: 'win'|'draw'|'loss', plies?: number, plies_max?: number, margin?: number}} Proof
 * @typedef {{bound: 'exact'|'lower'|'upper', eval?: number, wdl?: [number, number, number], proof?: Proof}} Score
 * @typedef {{winner: Player|null, by: string, scores?: [number, number]}} Outcome
 */

export const other = (player) => (player === 'p1' ? 'p2' : 'p1');

/** @param {string} player  `p1`, `p2` or `chance` */
export const playerName = (player) => (player === 'p1' ? 'Player 1' : player === 'p2' ? 'Player 2' : 'Chance');

/** Who plays a side, in words. @param {import('./table.js').Seat} seat */
export function seatName({ kind, options }) {
	if (kind === 'human') return 'Human';
	const { level, player, eval: judge } = options;
	return ['Engine', player, judge, level === undefined ? null : `level ${level}`].filter(Boolean).join(', ');
}

/**
 * The name of a seat in records, which `plyd play --load` seats again: `me`, or `default,level=1`.
 * @param {import('./table.js').Seat} seat
 */
export function recordName({ kind, options: { player = 'default', ...options } }) {
	if (kind === 'human') return 'me';
	const set = Object.entries(options).filter(([, value]) => value !== undefined);
	return [player, ...set.map((option) => option.join('='))].join();
}

/** A player's name in a record, in words. What has no words stays as it is, such as the name of a person. */
export function nameWords(name) {
	if (name === 'me') return seatName({ kind: 'human', options: {} });
	const [player, ...settings] = name.split(',');
	// Other programs and servers, as the arena names them.
	const isOther = player.includes('=');
	const called = settings.find((setting) => setting.startsWith('name='));
	if (called) return called.slice('name='.length);
	const options = Object.fromEntries(settings.map((setting) => setting.split('=')));
	const isShort = Object.keys(options).every((option) => option === 'level' || option === 'eval');
	if (isOther || !isShort || player !== 'default' && !settings.length) return name;
	return seatName({ kind: 'engine', options: { ...options, player: player === 'default' ? undefined : player } });
}

/** A name as records have it today: earlier versions of the page wrote the words. */
export function renamed(name) {
	if (name === 'Human') return 'me';
	const old = /^Engine(?:, ([^\s,]+))?(?:, ([^\s,]+))?(?:, level (\d+))?$/.exec(name);
	if (!old) return name;
	const [, player, judge, level] = old;
	return recordName({ kind: 'engine', options: { player, eval: judge, level } });
}

/** The noun for so many; `several` where its plural is not the usual one. */
export const plural = (n, noun, several = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`) => (n === 1 ? noun : several);

/** A count with its noun. */
export const count = (n, noun, several) => `${n} ${plural(n, noun, several)}`;

/** Thousandths of a unit as a decimal with its sign. */
export function units(thousandths) {
	const value = Math.round(thousandths / 10) / 100;
	const text = Math.abs(value) >= 100 ? Math.abs(value).toFixed(0) : Math.abs(value).toFixed(2);
	return value > 0 ? `+${text}` : value < 0 ? `−${text}` : '0.00';
}

/** A score from the other side. */
export function flipped(score) {
	if (!score) return score;
	const back = { exact: 'exact', lower: 'upper', upper: 'lower' };
	const ends = { win: 'loss', draw: 'draw', loss: 'win' };
	/** @type {Score} */
	const out = { ...score, bound: back[score.bound] ?? 'exact' };
	if (score.eval !== undefined) out.eval = -score.eval;
	if (score.wdl) out.wdl = [score.wdl[2], score.wdl[1], score.wdl[0]];
	if (score.proof) {
		out.proof = { ...score.proof, outcome: ends[score.proof.outcome] };
		if (score.proof.margin !== undefined) out.proof.margin = -score.proof.margin;
	}
	return out;
}

/** What is proven, named: "win in 9", "loss in at most 48", "draw", "win by 5". */
function proofWords(score) {
	const { outcome, plies, plies_max: most, margin } = score.proof;
	// "At least a win" is a win: such a bound bounds the margin alone.
	const best = score.bound === 'lower' && outcome === 'win';
	const worst = score.bound === 'upper' && outcome === 'loss';
	const edge = best || worst || score.bound === 'exact' ? '' : `at ${score.bound === 'lower' ? 'least' : 'most'} a `;
	let text = edge + outcome;
	if (margin) text += ` by ${best || worst ? 'at least ' : ''}${Math.abs(margin)}`;
	if (plies !== undefined) text += ` in ${plies}`;
	else if (most !== undefined) text += ` in at most ${most}`;
	return text;
}

/** A score in a few words, from the view of the one who moves. */
export function scoreWords(score) {
	if (!score) return '–';
	if (score.proof) return proofWords(score);
	const edge = score.bound === 'lower' ? '≥ ' : score.bound === 'upper' ? '≤ ' : '';
	if (score.eval !== undefined) return edge + units(score.eval);
	if (score.wdl) {
		const percent = score.wdl.map((ppm) => Math.round(ppm / 10000));
		return `${edge}${percent[0]} % win, ${percent[1]} % draw`;
	}
	return '–';
}

/**
 * A score as the whole page shows it, whoever is to move: numbers from player 1's view, and a proof by who wins.
 * @param {Score} [score]  from player 1's view
 */
export function viewWords(score) {
	if (!score?.proof) return scoreWords(score);
	const { outcome, plies } = score.proof;
	if (plies === 0 && outcome !== 'draw') return `P${outcome === 'win' ? 1 : 2} has won`;
	if (outcome === 'loss') return `P2 ${proofWords(flipped(score))}`;
	return outcome === 'draw' && score.bound === 'exact' ? proofWords(score) : `P1 ${proofWords(score)}`;
}

/**
 * A score as a height from -1 to 1, for bars and graphs. Evaluations have no common unit, so `scale` (thousandths) is
 * the score that is drawn half of the way.
 */
export function height(score, scale) {
	if (!score) return null;
	if (score.proof && score.bound !== 'upper' && score.proof.outcome === 'win') return 1;
	if (score.proof && score.bound !== 'lower' && score.proof.outcome === 'loss') return -1;
	if (score.proof && score.bound === 'exact') return 0;
	if (score.wdl) return (score.wdl[0] - score.wdl[2]) / 1e6;
	if (score.eval !== undefined) return (0.95 * score.eval) / (Math.abs(score.eval) + scale);
	return score.proof ? 0 : null;
}

/**
 * How a game ended, the winner first: "You win: no move is left, and player 2 (the engine) loses."
 * @param {Array<{name: string, about: string}>} [by]  the endings that `describe` lists
 * @param {Player|null} [you]  the side of the one who reads it, if one plays against an engine
 */
export function outcomeWords(outcome, by = [], you = null) {
	const { winner } = outcome;
	const who = !winner ? 'A draw' : !you ? `${playerName(winner)} wins` : you === winner ? 'You win' : 'The engine wins';
	const points = (winner ?? you) === 'p2' ? outcome.scores?.toReversed() : outcome.scores;
	const scores = points ? `, ${points.join(' to ')}` : '';
	return `${who}${scores}: ${causeWords(outcome, by, you)}.`;
}

/** Ends that no rule made, as records name them, and what the loser did. Other programs may write `time`. */
const FORFEITS = {
	resignation: ' resigned',
	late: '’s time is up',
	time: '’s time is up',
	illegal: ' made a move that the rules do not allow',
	crash: '’s program crashed or went away',
	silence: ' did not answer',
	protocol: ' broke the protocol',
};

/** Why a game ended: what the server says of such an end, up to its consequence, with the side to move by name. */
function causeWords({ winner, by: name }, by, you) {
	const about = by.find((ending) => ending.name === name)?.about;
	const loser = winner && other(winner);
	if (!about && name === 'resignation' && you && you === loser) return 'you resigned';
	if (!about && loser && FORFEITS[name]) return playerName(loser).toLowerCase() + FORFEITS[name];
	if (!about) return name.replaceAll('_', ' ');
	const MOVER = 'the side to move';
	const [, cause, rest] = /^([^:;]*)[:;]?\s*(.*?)\.?$/s.exec(about);
	// "No move is left: the side to move loses" says of whom only behind the colon.
	const text = rest.includes(MOVER) && !cause.includes(MOVER) ? `${cause}, and ${rest}` : cause.replace(/\.$/, '');
	const named = loser && `${playerName(loser).toLowerCase()}${you && you === winner ? ' (the engine)' : ''}`;
	// Whoever has to move at the end of a game that ends by it has lost: only then is the side known.
	const said = named && /loses\b/.test(rest) ? text.replaceAll(MOVER, named) : text;
	return said.replaceAll('`', '').replace(/^./, (letter) => letter.toLowerCase());
}

/** The name of a cell as move texts write it: `d4` where letters name the columns, else row and column. */
export function cellName(grid, [row, col]) {
	const r = grid.row_labels?.[row] ?? String(row + 1);
	const c = grid.col_labels?.[col] ?? String(col + 1);
	return /^[a-z]+$/i.test(c) ? `${c}${r}` : `row ${r}, column ${c}`;
}

/** What stands somewhere, in words. */
function pieceWords(piece) {
	const whose = piece.owner ? `${playerName(piece.owner)}'s ` : '';
	const label = piece.label && piece.label !== piece.piece ? ` ${piece.label}` : '';
	const named = `${piece.piece}${label}`;
	// The figure of a player is the player.
	return piece.owner && named === playerName(piece.owner).toLowerCase() ? playerName(piece.owner) : `${whose}${named}`;
}

/** What is on each cell: a map from `row,col` to the words for it. */
export function contents(board) {
	const on = new Map();
	const add = (cell, text) => {
		const key = cell.join();
		if (!on.has(key)) on.set(key, []);
		on.get(key).push(text);
	};
	for (const piece of board.pieces ?? []) {
		for (const cell of [piece.cell, ...(piece.also ?? [])]) add(cell, pieceWords(piece));
	}
	for (const mark of board.marks ?? []) add(mark.cell, `${mark.mark}${mark.label ? ` ${mark.label}` : ''}`);
	for (const wall of board.walls ?? []) add(wall.cell, `wall ${wall.side}`);
	return on;
}

/** The whole board in sentences, row by row; empty cells are left out. */
export function boardWords(board) {
	const { grid } = board;
	const on = contents(board);
	const lines = [`A board of ${count(grid.rows, 'row')} and ${count(grid.cols, 'column')}.`];
	if (board.scores) lines.push(`Player 1 has ${board.scores[0]}, player 2 has ${board.scores[1]}.`);
	for (let row = 0; row < grid.rows; row += 1) {
		const cells = [];
		for (let col = 0; col < grid.cols; col += 1) {
			const words = on.get(`${row},${col}`);
			if (words) cells.push(`${cellName(grid, [row, col])}: ${words.join('; ')}`);
		}
		if (cells.length) lines.push(`${cells.join('. ')}.`);
	}
	if (lines.length === 1) lines.push('It is empty.');
	return lines;
}

/** @param {number} ms  a time left, as `m:ss`, with tenths below ten seconds */
export function clockWords(ms) {
	const rest = Math.max(0, ms);
	if (rest < 10_000) return `0:0${(Math.floor(rest / 100) / 10).toFixed(1)}`;
	const seconds = Math.ceil(rest / 1000);
	return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Large counts in short: 912, 12.3k, 4.1M. */
export function short(n) {
	if (n < 1000) return String(n);
	if (n < 1e6) return `${(n / 1e3).toFixed(1)}k`;
	if (n < 1e9) return `${(n / 1e6).toFixed(1)}M`;
	return `${(n / 1e9).toFixed(1)}G`;
}
