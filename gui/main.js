/** Puts the page together: the connection, the table, and the parts that show it. */
import { onReturn, readAddress, readWanted, refuseAddress, settleWanted, showAddress, typed } from './address.js';
import { Analysis } from './analysis.js';
import { AnalysisPanel } from './analysis-panel.js';
import { BoardPanel } from './board-panel.js';
import { LoadDialog, located, NewGameDialog } from './dialogs.js';
import { byId, el } from './dom.js';
import { download } from './download.js';
import { HistoryPanel } from './history-panel.js';
import { isForBrowser } from './input.js';
import { layerSwitches } from './layers.js';
import { loadLook, moveWords } from './looks.js';
import { switches } from './preferences.js';
import { isLive, newId, toEnd } from './record.js';
import { connection } from './server.js';
import { SeatsPanel } from './seats-panel.js';
import { keep, lessonsSeen, remember, rememberLesson, restore, wasHere } from './storage.js';
import { PLAIN, turned, TURNS } from './symmetry.js';
import { Table } from './table.js';
import { you } from './opponents.js';
import { MovesPanel } from './moves-panel.js';
import { count, nameWords, outcomeWords, playerName, seatName } from './words.js';

const table = new Table(connection, await restore(), loadLook);
const analysis = new Analysis(table, (game) => Boolean(settled.get(game)?.options.some(({ name }) => name === 'exact')));

/** What the server said of each game; asked anew after each connection, since it may be another server. */
const described = new Map();
const settled = new Map();

function describe(game) {
	if (!described.has(game)) {
		const answer = connection.request('describe', { what: 'game', game }).then(({ body }) => {
			settled.set(game, body);
			return body;
		});
		described.set(game, answer);
		answer.catch(() => described.delete(game));
	}
	return described.get(game);
}

/** Plays a sound; does nothing until somebody touches the page. */
let play = () => {};
const heardAfter = ['pointerdown', 'keydown'];
function wake() {
	for (const event of heardAfter) removeEventListener(event, wake, true);
	import('./sound.js').then((sound) => { play = sound.play; }).catch(() => {});
}
for (const event of heardAfter) addEventListener(event, wake, true);

const board = new BoardPanel(table, () => moves.draw(),
	({ isStrong }) => play(table.outcome ? 'end' : isStrong ? 'strong' : 'move'));
const moves = new MovesPanel(table, () => board.input?.left?.());
const played = new HistoryPanel(table);
const seats = new SeatsPanel(table, (game) => settled.get(game));
const panel = new AnalysisPanel(table, analysis, board, played, () => {
	drawAfter();
	keepTable();
});
const newGame = new NewGameDialog(table, describe);
const load = new LoadDialog(table);
const button = (name) => document.querySelector(`[data-testid="${name}"]`);

// What is shown

/** The game on the table when it was last drawn. */
let shownId = '';
/** Whether that is the game which the page began by itself: nobody chose it. */
let isByItself = false;

function draw() {
	const { game, node } = table;
	if (!game) return;
	// A game from a file may not have been described yet.
	if (connection.isOpen && !described.has(game.game)) describe(game.game).then(draw).catch(() => {});
	if (table.settled) {
		Object.assign(document.body.dataset, {
			game: game.game, cursor: game.cursor, plies: game.moves.length,
			toMove: table.outcome ? 'none' : node.to_move, over: String(Boolean(table.outcome)), text: node.text,
		});
		document.documentElement.dataset.ready = '';
	}
	document.body.dataset.mode = table.mode;
	forget(game.id);
	byId('title').textContent = titleOf(game.game);
	byId('title').parentElement.title = titleOf(game.game);
	document.title = `plyd – ${byId('title').textContent}`;
	board.draw();
	moves.draw();
	played.draw();
	seats.draw();
	panel.draw();
	const over = byId('outcome');
	over.hidden = !table.outcome;
	over.textContent = table.outcome ? endWords(table.outcome) : '';
	drawAfter();
	teach();
	const slider = byId('slider');
	slider.max = game.moves.length;
	slider.value = game.cursor;
	slider.setAttribute('aria-valuetext', `after ${game.cursor} of ${count(game.moves.length, 'ply')}`);
	drawButtons();
	keepTable();
	showAddress(table.saved, connection.isOpen && table.settled ? begun(game.game) : null);
}

/** Clears the messages about another game. @param {string} id  of the game on the table */
function forget(id) {
	if (id === shownId) return;
	// On the first draw, keep it: it may say why the game that was asked for is not shown.
	if (shownId) {
		byId('alert').hidden = true;
		announce('');
		isByItself = false;
	}
	shownId = id;
}

function keepTable() {
	// How the game ended is seen only at the end of its main line.
	const seesEnd = table.settled && isLive(table.game) && table.game.node === toEnd([table.game.root]).at(-1);
	const end = !seesEnd ? null : table.outcome ? outcomeWords(table.outcome, settled.get(table.game.game)?.by) : '';
	const players = table.game.players?.map(nameWords) ?? [table.seats.p1, table.seats.p2].map(seatName);
	keep(table.saved, { end, players, isChosen: !isByItself }, () => {
		table.game = table.game.with({ id: newId() });
		draw();
	});
}

const titleOf = (game) => (settled.get(game)?.title ?? game).split(':')[0];

let library = null;

async function openLibrary() {
	const { Library } = await import('./library.js');
	library ??= new Library(table, (game) => describe(game).catch(() => null).then(() => titleOf(game)));
	await library.open();
}

/** Draws what is offered after a game; loaded when it is first needed. */
async function drawAfter() {
	// The next game is also offered beside the review of a finished one.
	const reviewed = () => table.mode === 'analyse' && panel.review?.isOfEnded;
	const about = (table.outcome || reviewed()) && settled.get(table.game.game);
	byId('after').hidden = !about;
	if (!about) return;
	const { showAfter } = await import('./after-game.js');
	// Meanwhile another position may have come.
	if (!table.outcome && !reviewed()) return;
	showAfter(table, about, reviewed() ? null : () => {
		setMode('analyse');
		table.goTo(0);
		if (!panel.review?.review.progress) panel.startReview();
	});
}

/** The lesson, once it was needed; and whether one may be offered: on a first visit the choice of games comes first. */
let lesson = null;
let mayTeach = false;
/** The game on the table when its lesson was last looked for. */
let taught = '';

async function openLesson(byItself) {
	const about = settled.get(table.game.game);
	const { Lesson } = await import('./lesson.js');
	lesson ??= new Lesson((...asked) => table.ask(...asked), rememberLesson);
	await lesson.open(about, byItself);
}

/** Offers the lesson of a game to those who have not seen it, where a game begins; another game on the table ends it. */
function teach() {
	const { id, game, moves: played } = table.game;
	const about = settled.get(game);
	button('how-to-play').hidden = !about?.lesson?.length;
	button('edit').hidden = !about?.editor;
	if (lesson?.isOpen && lesson.game !== game) lesson.close();
	if (!mayTeach || !about || !table.settled || taught === id) return;
	taught = id;
	if (about.lesson?.length && !played.length && table.mode === 'play' && !lessonsSeen().includes(game)) openLesson(true);
}

function drawButtons() {
	const { game, node, hint, outcome } = table;
	const back = game.cursor === 0;
	const end = isLive(game);
	for (const name of ['first', 'back', 'take-back']) button(name).disabled = back;
	for (const name of ['forward', 'last', 'redo']) button(name).disabled = end && !game.node.next.length;
	button('hint').disabled = !node || Boolean(outcome) || node.to_move === 'chance' || !connection.isOpen;
	button('hint').textContent = hint && !hint.line ? 'Thinking…' : 'Hint';
	button('play-hint').hidden = !(hint?.line && table.yours);
	if (hint?.line) button('play-hint').textContent = `Play ${hint.line.move}`;
	button('move-now').hidden = !table.thinking || !end;
	button('play-on').hidden = end || Boolean(outcome) || !button('play-hint').hidden;
	const others = ['play-hint', 'move-now', 'play-on'];
	button('resign').hidden = !table.mayResign || others.some((name) => !button(name).hidden);
	if (doubted !== game.node) doubt(null);
	for (const mode of ['play', 'analyse']) button(`mode-${mode}`).setAttribute('aria-pressed', String(table.mode === mode));
	button('pause').disabled = Boolean(outcome);
	button('pause').textContent = table.paused ? 'Resume' : 'Pause';
}

/** How long a first press of "Resign" waits for the second. */
const DOUBT_MS = 4000;
/** The position in which "Resign" was pressed once. */
let doubted = null;
let doubtEnds = 0;

function doubt(node) {
	doubted = node;
	clearTimeout(doubtEnds);
	if (node) doubtEnds = setTimeout(() => doubt(null), DOUBT_MS);
	button('resign').textContent = node ? 'Resign?' : 'Resign';
	button('resign').classList.toggle('danger', Boolean(node));
}

/** The second press resigns, as long as the position is the same. */
function resign() {
	const { node } = table.game;
	if (doubted !== node) {
		doubt(node);
		announce('Press again to resign.');
		return;
	}
	doubt(null);
	table.resign();
}

/** How a game ended, in the words of those who play it. */
const endWords = (outcome) => outcomeWords(outcome, settled.get(table.game.game)?.by, you(table.seats));

function announce(text) {
	byId('status').textContent = text;
}

function alert(message, canRetry) {
	byId('alert').hidden = false;
	byId('alert').querySelector('p').textContent = message;
	byId('retry').hidden = !canRetry;
	play('error');
}

table.addEventListener('change', draw);
table.addEventListener('thinking', () => {
	seats.drawStrips();
	panel.draw();
	drawButtons();
	board.draw();
});
analysis.addEventListener('change', () => {
	panel.draw();
	played.draw();
	drawAfter();
	keepTable();
});
table.addEventListener('trouble', (event) => {
	alert(event.detail.message, true);
});
table.addEventListener('played', async (event) => {
	const { ply, move, player } = event.detail;
	byId('alert').hidden = true;
	const words = moveWords(table.game.game, move);
	const node = await table.inspect(ply + 1).catch(() => null);
	const then = !node ? '' : node.outcome ? endWords(node.outcome)
		: node.to_move === 'chance' ? '' : `${playerName(node.to_move)} to move.`;
	announce(`${playerName(player)}: ${words}. ${then}`);
});
table.addEventListener('ended', () => {
	play('end');
	announce(endWords(table.outcome));
});
// Every unexpected error is shown; the page goes on.
window.addEventListener('unhandledrejection', (event) => alert(event.reason?.message ?? String(event.reason), true));
window.addEventListener('error', (event) => alert(event.message, true));

// The connection

function showConnection(state, text) {
	document.body.dataset.connection = state;
	byId('connection-text').textContent = text;
	byId('reconnect').hidden = state === 'open';
}

async function opened() {
	showConnection('open', 'Connected');
	described.clear();
	// What failed without a server can be done again.
	byId('alert').hidden = true;
	let choosing = null;
	try {
		const games = connection.request('describe', { what: 'games' });
		const [first] = connection.hello?.games ?? [];
		if (!first) throw new Error('The server has no games.');
		const isThere = await openAddress(() => readWanted(table.game));
		settleWanted();
		const isFirst = !isThere && !table.game && !wasHere();
		if (!isThere && table.game) table.refresh();
		else if (!isThere) {
			isByItself = true;
			await table.begin(first, {});
		}
		if (!isFirst) remember();
		else choosing = import('./welcome.js').then(async ({ welcome }) => welcome(table, (await games).body, describe));
		document.body.dataset.choice = String(Boolean(choosing));
		newGame.offer((await games).body);
		// Load the rest now that the first board is drawn: later the server may be gone.
		await Promise.all([import('./library.js'), import('./share.js'), import('./editor.js'),
			import('./review-panel.js'), import('./after-game.js'), import('./values.js'), import('./lesson.js'), choosing]);
		mayTeach = true;
		draw();
	} catch (error) {
		if (connection.isOpen) alert(error.message, true);
	}
}

/** How a game under such rules begins. */
const begun = (game) => async (rules) => (await table.ask({ game, rules }, {}, ['record'])).record;

/**
 * Puts the game on the table that an address asks for. If it cannot be shown, an alert says why, and the board stays.
 * @param {() => object|null} read  what is asked for
 * @returns {Promise<boolean>} whether it is on the table
 */
async function openAddress(read) {
	let wanted = null;
	try {
		wanted = read();
		if (!wanted) return false;
		byId('alert').hidden = true;
		const { game, rules, start, moves, ply } = wanted;
		if (!connection.isOpen) throw new Error('The server is away. The game in the address can be opened when it is back.');
		if (!connection.hello?.games.includes(game)) throw new Error(`This server has no game ${game}.`);
		// A link that only names a game keeps the game of that name on the table, unless it is over.
		const isAlone = !Object.keys(rules).length && start === undefined && !moves.length;
		if (isAlone && table.game?.game === game && !await table.isOver(table.game)) return false;
		const specs = (await describe(game)).rules;
		// A game from a link starts paused, so that one can look at it first.
		await table.begin(game, typed(rules, specs), { ...start === undefined ? {} : { start }, moves }, { ply, paused: moves.length > 0 });
		return true;
	} catch (error) {
		if (!connection.isOpen) {
			refuseAddress(table.saved);
			throw error;
		}
		const rule = /^\/rules\/(.+)$/.exec(error.pointer ?? '');
		const why = wanted && error.pointer
			? `The game in the address cannot be shown: ${rule ? `${rule[1]}: ` : ''}${located(error).message}` : error.message;
		refuseAddress(table.saved);
		alert(why, false);
		return false;
	}
}
connection.addEventListener('open', opened);
connection.addEventListener('lost', (event) => {
	const seconds = Math.max(1, Math.round(event.detail.retryMs / 1000));
	const why = event.detail.reason ? ` (${event.detail.reason})` : '';
	showConnection('lost', `Connection lost${why}; next try in ${seconds} s. The game is kept.`);
});
connection.addEventListener('notice', ({ detail: { kind, id, message } }) => {
	// A warning about one search of many, such as that the machine was too busy for it, needs no alert.
	if (kind === 'warning' && id) console.info(message);
	else alert(message, false);
});
byId('reconnect').addEventListener('click', () => connection.connect());
window.addEventListener('online', () => connection.connect());
document.addEventListener('visibilitychange', () => { if (!document.hidden) connection.connect(); });

// What one can do

const actions = {
	first: () => table.goTo(0),
	back: () => table.goTo(table.game.cursor - 1),
	forward: () => table.goTo(table.game.cursor + 1),
	last: () => table.goTo(Infinity),
	'take-back': () => table.takeBack(),
	redo: () => table.redo(),
	hint: () => table.askHint(),
	'play-hint': () => table.play(table.hint.line.move),
	swap: () => table.swapSides(),
	pause: () => table.pause(!table.paused),
	'move-now': () => table.moveNow(),
	resign,
	'play-on': () => table.playOn(),
	'mode-play': () => setMode('play'),
	'mode-analyse': () => setMode('analyse'),
	settings: () => {
		byId('layers').replaceChildren(...layerSwitches(table.game.game, table.node?.board ?? {}, () => board.repaint()));
		byId('settings-dialog').showModal();
	},
	'settings-close': () => byId('settings-dialog').close(),
	'how-to-play': () => openLesson(false),
	'new-game': () => newGame.open(),
	load: () => load.open(),
	library: openLibrary,
	save,
	share: openShare,
	edit: openEditor,
};
for (const [name, act] of Object.entries(actions)) {
	button(name).addEventListener('click', () => { if (table.game || name === 'new-game' || name === 'load') act(); });
}
byId('slider').addEventListener('input', (event) => table.goTo(Number(event.target.value)));
byId('retry').addEventListener('click', () => {
	byId('alert').hidden = true;
	connection.connect();
	table.refresh();
});
byId('dismiss').addEventListener('click', () => { byId('alert').hidden = true; });

for (const { name, label, sign } of TURNS) {
	byId('views').append(el('button', {
		title: label, 'aria-label': label, testid: `view-${name}`,
		onclick: () => table.setView(turned(table.view, name)),
	}, sign));
}
byId('preferences').append(...switches());
byId('views').append(el('button', {
	testid: 'view-reset', title: 'Undo all turning and mirroring', onclick: () => table.setView(PLAIN),
}, 'Reset view'));

/** Switching to Analyse starts the search; in mode Play nothing runs that could give something away. */
function setMode(mode) {
	if (analysis.progress) analysis.endSweep();
	lesson?.close();
	if (mode === 'play' && panel.review?.review.progress) panel.review.review.stop();
	table.setMode(mode);
	analysis.turn(mode === 'analyse');
}

const record = () => table.toLine();

async function save() {
	download(new Blob([await record()], { type: 'application/json' }), `${table.game.game}.jsonl`);
	announce('The game is saved.');
}

let share = null;

async function openShare() {
	const { ShareDialog } = await import('./share.js');
	share ??= new ShareDialog(table, record);
	share.open();
}

let editor = null;

async function openEditor() {
	const { Editor } = await import('./editor.js');
	editor ??= new Editor(table);
	await editor.open();
}

// The fragment of the address belongs to the game, so the link must not change it.
document.querySelector('.skip').addEventListener('click', (event) => {
	event.preventDefault();
	board.board.focus();
});

const KEYS = {
	'[': 'back', ']': 'forward', Home: 'first', End: 'last', z: 'take-back', y: 'redo', h: 'hint',
};
document.addEventListener('keydown', (event) => {
	if (event.defaultPrevented || isForBrowser(event)) return;
	// A modal dialog takes all keys, even if nothing in it has the focus.
	if (event.target.closest('input, select, textarea, dialog') || document.querySelector('dialog:modal')) return;
	// With Caps Lock letters are capitals.
	const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
	if (key === '/') moves.focus();
	else if (key === 'b') board.board.focus();
	else if (key === 'm' && table.mode === 'analyse') panel.review?.jump(event.shiftKey ? -1 : 1);
	else if (key === 'v' && table.mode === 'analyse') panel.showValues(!analysis.all);
	else if (key === 'a') setMode(table.mode === 'play' ? 'analyse' : 'play');
	else if (KEYS[key] && !button(KEYS[key]).disabled) button(KEYS[key]).click();
	else if (key === 'Escape' && board.cancelPremoves()) announce('The premove is cancelled.');
	// Keys of the game work wherever the focus is, except those that move the focus or press buttons.
	else if (event.target === document.body || /^(.|Arrow\w+)$/.test(event.key)) {
		if (event.key === ' ' || !(board.key(event) || played.key(event.key))) return;
	} else return;
	event.preventDefault();
});

// A running clock is the only thing that changes without an event.
setInterval(() => { if (table.clock.running && table.clock.counts) seats.drawStrips(); }, 100);

onReturn((saved) => table.restore(saved), async (address) => {
	const isThere = await openAddress(() => readAddress(address)).catch((error) => alert(error.message, false));
	if (!isThere) refuseAddress(table.saved);
});

draw();
if (connection.isOpen) opened();
