/**
 * What the browser remembers: every game with the table at which it was played, and through a reload which game each tab has. A
 * tab holds a lock on the game on its table, so that no two tabs write to the same game. If a browser refuses storage, the page
 * works without it.
 */
import { kept, newId, taken } from './record.js';

/** What the tab has on its table, in its own memory. */
const TAB = 'plyd.table.3';
const GAME = 'plyd.game.1.';
/** The game that was put on a table last and has no move yet: it is kept until it has one, and is not in the list. */
const CHOSEN = 'plyd.chosen.1';
/** The names of games; apart from the games, so that a tab which saves its game does not restore an old name. */
const NAME = 'plyd.name.1.';
/** The most unnamed games that are kept, and the most characters of them: browsers give a site five million. */
const KEPT = 60;
const KEPT_CHARS = 3_000_000;

/**
 * How long the page that a tab showed before may take to let go of its game: a reload does not wait for the end of that page. A tab that
 * was duplicated is shown that much later, as its game stays with the other one.
 */
const LET_GO_MS = 1000;

/** The game that this tab holds, with its lock. */
let held = { id: '', isSure: false, release() {} };
let latest = null;

const VISITED = 'plyd.visited';

const LESSONS = 'plyd.lessons';

/** The games whose lessons somebody has closed. @returns {string[]} */
export function lessonsSeen() {
	try {
		const seen = JSON.parse(localStorage.getItem(LESSONS));
		return Array.isArray(seen) ? seen : [];
	} catch {
		return [];
	}
}

export function rememberLesson(game) {
	try {
		localStorage.setItem(LESSONS, JSON.stringify([...new Set([...lessonsSeen(), game])]));
	} catch {
		// Then it is offered again.
	}
}

/** Whether somebody used this page before, and so needs no choice of games. */
export function wasHere() {
	try {
		return localStorage.getItem(VISITED) !== null || entries().length > 0;
	} catch {
		return false;
	}
}

export function remember() {
	try {
		localStorage.setItem(VISITED, '1');
	} catch {
		// Then the choice is offered again.
	}
}

/**
 * @typedef {{id: string, at: number, name: string, saved: object, end: string, players: string[]}} Entry
 *   `at`: when it was last on a table; `end`: how it ended, in words; `saved`: the table, with the game's record
 */

/** Whether this browser lets the page keep anything. */
export function isAllowed() {
	try {
		return Boolean(localStorage);
	} catch {
		return false;
	}
}

/** All games that are kept, the newest first. @returns {Entry[]} */
function entries() {
	// Where storage is refused, every use of it throws: then no game is kept.
	const keys = isAllowed() ? Object.keys(localStorage) : [];
	const found = [];
	for (const key of keys.filter((one) => one.startsWith(GAME))) {
		const id = key.slice(GAME.length);
		try {
			const entry = JSON.parse(localStorage.getItem(key));
			if (isWhole(entry.saved)) found.push({ ...entry, id, name: localStorage.getItem(NAME + id) ?? '' });
		} catch {
			// An entry that cannot be read is skipped.
		}
	}
	return found.sort((a, b) => b.at - a.at);
}

/** The game without moves that was chosen last, in a list, so that it is found in its place among the others. @returns {Entry[]} */
function chosen() {
	try {
		const entry = JSON.parse(localStorage.getItem(CHOSEN));
		return isWhole(entry?.saved) ? [{ ...entry, id: String(entry.saved.game.id), name: '' }] : [];
	} catch {
		return [];
	}
}

const isWhole = (saved) => typeof saved?.game?.game === 'string' && Array.isArray(saved.game.moves) && saved.seats?.p1 && saved.seats?.p2;

const read = (saved) => ({ ...saved, game: taken(saved.game) });

/** A table that was kept; null if it is none. */
function readable(saved) {
	try {
		return read(saved);
	} catch {
		return null;
	}
}

/** Removes a game that is kept, but not its name. */
function forget(id) {
	try {
		localStorage.removeItem(GAME + id);
	} catch {
		// Nothing is kept there.
	}
}

const lockOf = (id) => `${GAME}${id}`;

/**
 * Makes a game this tab's own, until it is released or the tab is closed.
 * @param {number} waitMs  how long another page may go on holding it
 * @returns {Promise<Function|null>} what releases it; null if another tab has it
 */
function claim(id, waitMs = 0) {
	return new Promise((resolve) => {
		// Browsers give locks only to pages from this machine or over TLS; without them, other tabs are unknown.
		if (!navigator.locks) resolve(() => {});
		else {
			const how = waitMs ? { signal: AbortSignal.timeout(waitMs) } : { ifAvailable: true };
			navigator.locks.request(lockOf(id), how, (lock) => {
				if (!lock) resolve(null);
				return lock && new Promise((release) => { resolve(release); });
			// A browser that refuses storage refuses locks, too.
			}).catch(({ name }) => resolve(name === 'TimeoutError' ? null : () => {}));
		}
	});
}

function hold(id, release) {
	held.release();
	held = { id, isSure: true, release };
}

/** @returns {Promise<object|null>} the table of this tab, else the newest one that no tab has open */
export async function restore() {
	try {
		const own = JSON.parse(sessionStorage.getItem(TAB));
		if (isWhole(own)) {
			const saved = read(own);
			const release = await claim(saved.game.id, LET_GO_MS);
			// A duplicated tab has a copy of the tab's memory; its game needs an id of its own.
			if (release) hold(saved.game.id, release);
			else saved.game = saved.game.with({ id: newId() });
			return saved;
		}
		// Without locks another tab might have any of them, so none is taken.
		for (const { id, saved } of navigator.locks ? [...chosen(), ...entries()].sort((a, b) => b.at - a.at) : []) {
			const table = readable(saved);
			const release = table && await claim(id);
			if (!release) continue;
			hold(id, release);
			return table;
		}
	} catch {
		// What cannot be read counts as absent.
	}
	return null;
}

/**
 * Keeps a table.
 * @param {object} table  what is to be kept of it
 * @param {{end: string|null, players: string[], isChosen: boolean}} about  for the list; `end`: null if it is not known at the
 *   position shown; `isChosen`: whether somebody chose the game, so that it is kept even without moves
 * @param {() => void} isTaken  another tab has this game: it needs another id
 */
export function keep(table, about, isTaken) {
	const { game } = table;
	const end = about.end ?? (latest?.saved.game.id === game.id ? latest : entries().find(({ id }) => id === game.id))?.end ?? '';
	latest = { saved: { ...table, game: kept(game) }, ...about, end };
	try {
		sessionStorage.setItem(TAB, JSON.stringify(latest.saved));
	} catch {
		// Full or forbidden: the game is in the page all the same.
	}
	if (held.id === game.id) {
		if (held.isSure) write();
		return;
	}
	held.release();
	held = { id: game.id, isSure: false, release() {} };
	const mine = held;
	claim(game.id).then((release) => {
		if (held !== mine) release?.();
		else if (!release) isTaken();
		else {
			hold(game.id, release);
			write();
			drop();
		}
	});
}

function write() {
	const { game } = latest.saved;
	const text = JSON.stringify({ at: Date.now(), ...latest });
	// Without moves and comments it is not worth a place in the list, which would fill with such games.
	const isEmpty = !game.moves.length && !game.comments;
	if (isEmpty) forget(game.id);
	if (isEmpty && !latest.isChosen) return;
	if (!isEmpty && chosen().some(({ id }) => id === game.id)) localStorage.removeItem(CHOSEN);
	for (;;) {
		try {
			localStorage.setItem(isEmpty ? CHOSEN : GAME + game.id, text);
			return;
		} catch {
			// Full: the oldest goes. Forbidden, or nothing left to go: the game is in the page all the same.
			if (!dropOldest()) return;
		}
	}
}

/** The games that may be dropped, the oldest last. */
const unnamed = () => entries().filter(({ id, name }) => !name && id !== held.id);

function dropOldest() {
	const oldest = unnamed().at(-1);
	if (oldest) localStorage.removeItem(GAME + oldest.id);
	return Boolean(oldest);
}

/** Drops the oldest unnamed games beyond the bounds. */
function drop() {
	let count = 0;
	let chars = 0;
	for (const { id } of unnamed()) {
		count += 1;
		chars += localStorage.getItem(GAME + id).length;
		if (count > KEPT || chars > KEPT_CHARS) localStorage.removeItem(GAME + id);
	}
}

/** The games that are kept, and whether this tab or another one has each. @returns {Promise<Array<Entry & {where: string}>>} */
export async function list() {
	const locks = await navigator.locks?.query().then(({ held: names }) => names.map(({ name }) => name)).catch(() => []) ?? [];
	return entries().map((entry) => ({
		...entry, where: entry.id === held.id ? 'here' : locks.includes(lockOf(entry.id)) ? 'elsewhere' : '',
	}));
}

/** The table of a game that is kept. @returns {Promise<object|null>} null if another tab has it, or it is gone */
export async function take(id) {
	const table = readable(entries().find((entry) => entry.id === id)?.saved);
	const release = table && await claim(id);
	if (!release) return null;
	hold(id, release);
	return table;
}

export function rename(id, name) {
	if (name) localStorage.setItem(NAME + id, name);
	else localStorage.removeItem(NAME + id);
}

export function remove(id) {
	localStorage.removeItem(GAME + id);
	localStorage.removeItem(NAME + id);
}
