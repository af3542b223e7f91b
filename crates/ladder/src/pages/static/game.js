/**
 * The viewer of a game, on the boards of `plyd gui`: steps through it, and follows it while it is played. Without it the page
 * has the board as a table, and links from ply to ply.
 */
import { BoardView } from '/gui/board.js';
import { change, touched } from '/gui/changes.js';
import { el, svg } from '/gui/dom.js';
import { scaleOf } from '/gui/graph.js';
import { loadLook, lookOf } from '/gui/looks.js';
import { PLAIN } from '/gui/symmetry.js';
import { flipped, height, scoreWords } from '/gui/words.js';
import { follow } from '/static/events.js';

const viewer = document.getElementById('viewer');
const byId = (id) => document.getElementById(id);
const { game: id, rules: name } = viewer.dataset;
const API = `/api/v1/games/${id}`;
/** How many boards come with one answer. */
const PAGE = 50;

/** Boards by ply, as far as they are known. */
const boards = new Map();
const asked = new Set();
let plies = Number(viewer.dataset.plies);
let cursor = Number(byId('slider').value);
/** The plies with their scores, of a game that is followed. */
let played = [];
let view = null;
/** While a game is played the latest board is shown, unless somebody looks at an earlier one. */
const follows = () => cursor === plies;

/** Fetches the page of boards that has a ply, unless it is known or on its way. */
async function load(ply) {
	const from = Math.floor(ply / PAGE) * PAGE;
	if (boards.has(ply) || asked.has(from)) return;
	asked.add(from);
	try {
		const answer = await fetch(`${API}/boards?from=${from}&limit=${PAGE}`);
		if (!answer.ok) throw new Error(`${answer.status}`);
		const found = await answer.json();
		for (const board of found.boards) boards.set(board.ply, board);
		draw();
	} catch (error) {
		console.warn('no boards:', error);
	} finally {
		// More plies may have been played since; a failure may be tried again.
		asked.delete(from);
	}
}

function drawBoard() {
	const at = boards.get(cursor);
	if (!at) return;
	if (!view) {
		byId('board').replaceChildren();
		const nothing = () => {};
		view = new BoardView(byId('board'), {
			cell: nothing, side: nothing, hover: nothing, drag: nothing, swipe: nothing, key: () => false,
		});
	}
	const look = lookOf(name);
	const before = look.slide ? null : boards.get(cursor - 1);
	const last = before ? touched(change(before.board, at.board)) : new Set();
	view.draw({ board: at.board, view: PLAIN, last, look, overlay: {} });
	viewer.dataset.shown = cursor;
	viewer.dataset.text = at.text;
}

function draw() {
	drawBoard();
	const slider = byId('slider');
	slider.max = plies;
	slider.value = cursor;
	slider.setAttribute('aria-valuetext', `after ${cursor} of ${plies} ${plies === 1 ? 'ply' : 'plies'}`);
	byId('at').textContent = `${cursor} of ${plies}`;
	viewer.dataset.plies = plies;
	for (const [link, ply] of [['first', 0], ['back', cursor - 1], ['forward', cursor + 1], ['last', plies]]) {
		byId(link).href = `?ply=${Math.max(0, Math.min(plies, ply))}`;
	}
	for (const row of byId('moves').querySelectorAll('[aria-current]')) row.removeAttribute('aria-current');
	const row = cursor ? byId('moves').rows[cursor - 1] : null;
	row?.setAttribute('aria-current', 'true');
	if (row) {
		// Only the list scrolls, never the page.
		const list = row.closest('.scroll');
		const top = row.offsetTop - list.clientHeight / 2;
		if (Math.abs(list.scrollTop - top) > list.clientHeight / 3) list.scrollTop = top;
	}
	const graph = byId('graph');
	if (graph) {
		graph.querySelector('.here')?.remove();
		graph.append(svg('path.here', { d: `M${plies ? (cursor / plies) * 300 : 0} 0V90` }));
	}
}

function show(ply) {
	cursor = Math.max(0, Math.min(plies, ply));
	draw();
	load(cursor);
	if (cursor) load(cursor - 1);
}

const players = { p1: '1', p2: '2' };

/** A time of a move or of a clock, as the page writes it. */
function time(us) {
	if (us === undefined) return '';
	if (us < 1000) return `${us} µs`;
	if (us < 1e6) return `${Math.floor(us / 1000)} ms`;
	if (us < 60e6) return `${(us / 1e6).toFixed(1)} s`;
	return `${Math.floor(us / 60e6)}:${String(Math.floor(us / 1e6) % 60).padStart(2, '0')} min`;
}

/** The row of a ply in the list of moves. */
function rowOf(ply, number) {
	return el('tr', {},
		el('td.number', {}, String(number)), el('td', {}, players[ply.player] ?? ''),
		el('th', { scope: 'row' }, el('a', { href: `?ply=${number}`, 'data-ply': number }, el('bdi', {}, ply.move))),
		el('td', {}, ply.score ? scoreWords(ply.score) : ''),
		el('td.number', {}, time(ply.time_us)), el('td.number', {}, time(ply.left_us)));
}

/** Draws the scores of a game that is followed, like those that the server drew into the page. */
function drawScores() {
	const scores = played.map((ply) => (ply.player === 'p2' && ply.score ? flipped(ply.score) : ply.score));
	const scale = scaleOf(scores.filter(Boolean));
	for (const player of ['p1', 'p2']) {
		const points = [];
		played.forEach((ply, index) => {
			const level = ply.player === player ? height(scores[index], scale) : null;
			if (level !== null) points.push(`${((index + 1) / played.length) * 300} ${45 - level * 39}`);
		});
		byId('graph').querySelector(`.of-${player}`).setAttribute('d', points.length ? `M${points.join('L')}` : '');
	}
}

/** Replaces all plies after the first ones. */
function replace(first, moves, board) {
	const followed = follows();
	const list = byId('moves');
	while (list.rows.length > first) list.lastElementChild.remove();
	moves.forEach((ply, index) => list.append(rowOf(ply, first + index + 1)));
	plies = first + moves.length;
	played = [...played.slice(0, first), ...moves];
	if (played.length === plies && byId('graph')) drawScores();
	for (const ply of boards.keys()) {
		if (ply > first) boards.delete(ply);
	}
	if (board) boards.set(board.ply, board);
	if (followed || cursor > plies) cursor = plies;
	show(cursor);
}

/** Follows a game while it is played, and shows its end. */
function followGame() {
	const end = follow(`${API}/live`, {
		game(event) {
			const { moves, board } = JSON.parse(event.data);
			replace(0, moves, board);
			viewer.dataset.live = 'open';
		},
		move(event) {
			const { first, moves, board } = JSON.parse(event.data);
			// Plies that are known may come again; if some were missed, the whole game comes as a `game` event.
			if (first + moves.length > plies && first <= plies) replace(first, moves, board);
		},
		async over() {
			end();
			// The result is stored before the end is announced, but may take a moment to be readable.
			while (await renew()) await new Promise((resolve) => { setTimeout(resolve, 1000); });
		},
	}, renew);
}

/** Fetches and shows the game as it is now; returns whether it still goes on, or may. */
async function renew() {
	const answer = await fetch(API).catch(() => null);
	if (answer?.status === 404) return false;
	if (!answer?.ok) return true;
	const game = await answer.json();
	if (game.moves.length !== plies) replace(0, game.moves);
	if (game.state === 'playing' || game.state === 'waiting') return true;
	viewer.dataset.live = 'over';
	byId('outcome').removeAttribute('data-live');
	byId('outcome').textContent = outcome(game);
	return false;
}

/** How a game ended, in the words of the page. */
function outcome({ state, players: [one, other], points: [p1, p2] = [], ending, forfeit, ended_by: by, void_why: why }) {
	if (state === 'void') return `It does not count: ${why ?? 'it became void'}.`;
	const who = p1 > p2 ? `${one.name} wins` : p2 > p1 ? `${other.name} wins` : 'A draw';
	if (ending) return `${who}. ${ending}`;
	const how = forfeit ? `${(forfeit === 'p1' ? one : other).name} forfeits: ${by ?? 'a fault'}` : by;
	return how ? `${who} (${how}).` : `${who}.`;
}

byId('slider').hidden = false;
byId('slider').addEventListener('input', (event) => show(Number(event.target.value)));
viewer.addEventListener('click', (event) => {
	const link = event.target.closest('a[href^="?ply="]');
	if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
	event.preventDefault();
	show(Number(new URL(link.href).searchParams.get('ply')));
});
document.addEventListener('keydown', (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select')) return;
	const to = { '[': cursor - 1, ']': cursor + 1, Home: 0, End: plies }[event.key];
	if (to === undefined) return;
	event.preventDefault();
	show(to);
});

await loadLook(name, `/gui/games/${encodeURIComponent(name)}.js`);
show(cursor);
if ('playing' in viewer.dataset) followGame();
