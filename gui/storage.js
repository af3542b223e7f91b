/**
 * What the browser remembers: the table of each tab through a reload, and the tables of tabs that were closed, so that a new
 * tab goes on with the newest. A tab holds a lock while it is open, so two never play into one game. A browser that refuses
 * storage plays on without.
 */
import { newId } from './record.js';

const KEY = 'plyd.table.2';
/** Tables of closed tabs that are kept. */
const KEPT = 20;

/** This tab's name among the tables. */
let id = '';
/** Whether this tab's table is among them. */
let isKept = false;

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

/** Whether somebody was here before, who knows what there is to choose from. */
export function wasHere() {
	try {
		return localStorage.getItem(VISITED) !== null || tables().length > 0;
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

const whole = (saved) => {
	const game = saved?.game;
	return game && typeof game.game === 'string' && Array.isArray(game.moves) && saved.seats?.p1 && saved.seats?.p2 ? saved : null;
};

/** The tables of all tabs, the newest first. */
const tables = () => Object.keys(localStorage).filter((key) => key.startsWith(`${KEY}.`))
	.map((key) => ({ key, ...JSON.parse(localStorage.getItem(key)) })).sort((a, b) => b.at - a.at);

/** Makes a table this tab's own, until the tab is closed. @returns {Promise<boolean>} false if another tab has it */
function claim(name) {
	return new Promise((resolve) => {
		// Pages that are not from this machine, and not by TLS, have no locks; there each tab has its own table.
		if (!navigator.locks) resolve(false);
		else {
			navigator.locks.request(`${KEY}.${name}`, { ifAvailable: true }, (lock) => {
				resolve(Boolean(lock));
				return lock && new Promise(() => {});
			}).catch(() => resolve(false));
		}
	});
}

/** @returns {Promise<object|null>} the table of this tab, else the newest that no tab has any more, if it is whole */
export async function restore() {
	try {
		const own = JSON.parse(sessionStorage.getItem(KEY));
		if (whole(own?.saved)) {
			// The copy of a tab has the tab's memory, and needs a name of its own.
			id = await claim(own.id) ? own.id : newId();
			if (id !== own.id) claim(id);
			return own.saved;
		}
		for (const { key, saved } of tables()) {
			const name = key.slice(KEY.length + 1);
			if (whole(saved) && await claim(name)) {
				id = name;
				return saved;
			}
		}
	} catch {
		// What cannot be read is not there.
	}
	id = newId();
	claim(id);
	return null;
}

export function keep(saved) {
	try {
		sessionStorage.setItem(KEY, JSON.stringify({ id, saved }));
		// A table at which nothing was played is not worth to be found again.
		if (!saved.game?.moves.length) return;
		localStorage.setItem(`${KEY}.${id}`, JSON.stringify({ at: Date.now(), saved }));
		// One more than there were, once: all are read for this, and the table is kept with each news of an analysis.
		if (!isKept) for (const { key } of tables().slice(KEPT)) localStorage.removeItem(key);
		isKept = true;
	} catch {
		// Full or forbidden: the game is in the page all the same.
	}
}
