/**
 * The page's address: it names the game with its rules, start, moves and the ply that is shown, so that a link is a game
 * (`#game=isolation&rules=width:5&moves=a1_c2&ply=1`), and the browser's "back" returns to the game before. A move
 * makes no entry in the browser's history, so "back" takes no moves back.
 */
import { count } from './words.js';

/** Browsers slow down a page that changes its address more than a few times a second. */
const SETTLE_MS = 250;

/** The table of each game since the page was loaded, by the game's id, as it was last: any history entry of the game returns to that. */
const tables = new Map();
let entry = 0;
let shown = '';
let timer = 0;
let latest = '';
/** Whether the current history entry waits for the game that its address asks for. */
let isAsked = false;

/** A text as part of an address: only characters with a meaning there are percent-encoded. */
const coded = (text) => encodeURIComponent(text)
	.replace(/%(20|2C|2F|3A|3B|2B|7E|5B|5D)/g, (code) => (code === '%20' ? '+' : code === '%2B' ? code : decodeURIComponent(code)));

const decoded = (text) => decodeURIComponent(text.replaceAll('+', ' '));

/** Separates moves; inside a move it is percent-encoded. */
const BETWEEN = '_';
const codedMove = (move) => coded(move).replaceAll(BETWEEN, '%5F');

/**
 * The part of an address that names a game.
 * @param {{rules: object, start?: string}} brief  the rules and the start that are not the server's defaults
 */
export function addressOf(game, { rules, start }) {
	const parts = [`game=${coded(game.game)}`];
	const set = Object.entries(rules).map(([name, value]) => `${coded(name)}:${coded(String(value))}`);
	if (set.length) parts.push(`rules=${set.join(';')}`);
	if (start !== undefined) parts.push(`start=${coded(start)}`);
	if (game.moves.length) parts.push(`moves=${game.moves.map(codedMove).join(BETWEEN)}`);
	if (game.cursor !== game.moves.length) parts.push(`ply=${game.cursor}`);
	return `#${parts.join('&')}`;
}

/**
 * What an address asks for.
 * @returns {{game: string, rules: object, start?: string, moves: string[], ply?: number}|null} null if it asks for nothing
 * @throws {Error} if it is not the address of a game
 */
export function readAddress({ search, hash }) {
	const named = new URLSearchParams(search).get('game');
	if (hash.length < 2) return named === null ? null : { game: named, rules: {}, moves: [] };
	const wrong = (why) => { throw new Error(`The address shows no game: ${why}.`); };
	const wanted = { game: named, rules: {}, moves: [] };
	try {
		for (const part of hash.slice(1).split('&')) {
			const [, name, value] = /^(\w+)=(.*)$/s.exec(part) ?? wrong(`“${part}” is not of the form name=value`);
			if (name === 'game' || name === 'start') wanted[name] = decoded(value);
			else if (name === 'moves') wanted.moves = value.split(BETWEEN).filter(Boolean).map(decoded);
			else if (name === 'rules') wanted.rules = rulesOf(value, wrong);
			else if (name === 'ply') wanted.ply = /^\d+$/.test(value) ? Number(value) : wrong('“ply” must be a number');
			else wrong(`“${name}” is unknown`);
		}
	} catch (error) {
		if (error instanceof URIError) wrong('it is cut off or damaged');
		throw error;
	}
	if (!wanted.game) wrong('it names no game');
	if (wanted.ply > wanted.moves.length) wrong(`ply ${wanted.ply} is beyond its ${count(wanted.moves.length, 'move')}`);
	return wanted;
}

/** All values are strings here; `typed` gives them their types. */
function rulesOf(text, wrong) {
	return Object.fromEntries(text.split(';').filter(Boolean).map((pair) => {
		const [, name, value] = /^([^:]+):(.*)$/s.exec(pair) ?? wrong(`the rule “${pair}” is not of the form name:value`);
		return [decoded(name), decoded(value)];
	}));
}

/** Rules of an address with the types that the game describes. */
export function typed(rules, specs) {
	return Object.fromEntries(Object.entries(rules).map(([name, value]) => {
		const spec = specs.find((one) => one.name === name);
		if (spec?.type === 'bool') return [name, value === 'true' ? true : value === 'false' ? false : value];
		return [name, spec?.type === 'int' && /^-?\d+$/.test(value) ? Number(value) : value];
	}));
}

/** The rules and start that the address of each game has to state, by the game's id. */
const briefs = new Map();

const same = (one, other) => JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

/**
 * Finds the rules and the start that an address has to state: no rule that follows from others, no start that follows from the rules.
 * @param {(rules: object) => Promise<{rules: object, start: string}>} begin  how a game under such rules begins
 */
async function briefOf({ rules, start }, begin) {
	let set = rules;
	let begun = null;
	for (const name of Object.keys(rules)) {
		const { [name]: _, ...rest } = set;
		const found = await begin(rest).catch(() => null);
		if (!found || !same(found.rules, rules)) continue;
		set = rest;
		begun = found;
	}
	begun ??= await begin(set);
	return { rules: set, start: begun.start === start ? undefined : start };
}

/** What the page was asked for when it was loaded. After a reload the address is the page's own and asks for nothing. */
let wanted = { search: location.search, hash: location.hash, id: history.state?.id };

/**
 * @param {import('./tree.js').Game|null} game  on the table
 * @returns {object|null} what the address asked for when the page was loaded, until that is settled
 * @throws {Error} if it is no address of a game
 */
export function readWanted(game) {
	return !wanted || (game && wanted.id === game.id) ? null : readAddress(wanted);
}

/** What the page was asked for is on the table, or refused. */
export function settleWanted() {
	wanted = null;
}

/**
 * Makes the address that of the game on the table; another game is another entry of the browser's history.
 * @param {object} saved  the table, as its `saved` gives it  @param {Function|null} begin  as above; null while there is no server to ask
 */
export function showAddress(saved, begin) {
	const { game } = saved;
	const brief = briefs.get(game.id);
	latest = brief ? addressOf(game, brief) : `#game=${coded(game.game)}`;
	if (game.id !== shown) {
		if (!shown && history.state?.id === game.id) entry = history.state.entry;
		else if (shown && !isAsked) entry += 1;
		write(shown && !isAsked ? 'pushState' : 'replaceState', game.id);
		isAsked = false;
		shown = game.id;
	} else if (brief && latest !== location.hash) {
		clearTimeout(timer);
		timer = setTimeout(() => write('replaceState', game.id), SETTLE_MS);
	}
	tables.set(game.id, saved);
	if (brief === undefined && begin) {
		briefs.set(game.id, null);
		briefOf(game, begin).then((found) => {
			briefs.set(game.id, found);
			if (shown === game.id) showAddress(tables.get(game.id), null);
		}).catch(() => briefs.delete(game.id));
	}
}

/** The address of a game with its moves, if that is known by now. @returns {string|null} */
export function linkTo(game) {
	const brief = briefs.get(game.id);
	return brief ? new URL(addressOf(game, brief), location.href.replace(/[?#].*$/s, '')).href : null;
}

function write(how, id) {
	clearTimeout(timer);
	history[how]({ entry, id }, '', location.pathname + latest);
}

/**
 * @param {(saved: object) => void} restore  takes the table to which one returned
 * @param {(address: Location) => void} asked  takes an address that was typed in, or is from before the page was loaded
 */
export function onReturn(restore, asked) {
	window.addEventListener('popstate', (event) => {
		clearTimeout(timer);
		const saved = tables.get(event.state?.id);
		if (saved) {
			entry = event.state.entry;
			shown = saved.game.id;
			restore(saved);
			return;
		}
		// The browser has made the entry already; it becomes that of the game asked for.
		entry = event.state?.entry ?? entry + 1;
		isAsked = true;
		asked(location);
	});
}

/** The address asked for is refused: it becomes that of the game on the table again. @param {object} saved  the table */
export function refuseAddress(saved) {
	isAsked = false;
	if (!saved.game) return;
	tables.set(saved.game.id, saved);
	if (latest) write('replaceState', saved.game.id);
}
