// What the browser remembers, with stores of the test's own; each test begins with a page that was just opened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fresh } from '../record.js';

/** A store as browsers have it: the keys are its own properties. */
class Store {
	getItem(key) {
		return Object.hasOwn(this, key) ? this[key] : null;
	}

	setItem(key, text) {
		this[key] = String(text);
	}

	removeItem(key) {
		delete this[key];
	}
}

const refused = () => { throw new DOMException('The operation is insecure.', 'SecurityError'); };
const NO_LOCKS = { request: async () => refused(), query: async () => refused() };

let pages = 0;

/** The module in a page of its own. The stores are functions, because a browser that refuses them throws when they are named. */
async function page(t, { local, session = local, locks }) {
	const has = (name, get) => {
		const before = Object.getOwnPropertyDescriptor(globalThis, name);
		Object.defineProperty(globalThis, name, { configurable: true, get });
		t.after(() => (before ? Object.defineProperty(globalThis, name, before) : delete globalThis[name]));
	};
	has('localStorage', local);
	has('sessionStorage', session);
	has('navigator', () => ({ locks }));
	pages += 1;
	return import(`../storage.js?page=${pages}`);
}

const settle = () => new Promise((resolve) => { setImmediate(resolve); });
const seat = { kind: 'human', options: {} };
const table = (moves) => ({ game: fresh('g', {}, 's', moves).with({ id: '1-2' }), seats: { p1: seat, p2: seat } });
const ABOUT = { end: null, players: ['Human', 'Human'], isChosen: true };
const taken = () => assert.fail('no other tab has the game');

test('a page works in a browser that refuses all storage, or has none', async (t) => {
	const full = new Store();
	full.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };
	for (const [what, browser] of [
		['refused', { local: refused, locks: NO_LOCKS }],
		['without locks', { local: refused }],
		['none', { local: () => null, locks: NO_LOCKS }],
		['full', { local: () => full }],
	]) {
		const storage = await page(t, browser);
		assert.equal(await storage.restore(), null, what);
		for (const moves of [[], ['a'], ['a', 'b']]) {
			storage.keep(table(moves), ABOUT, taken);
			await settle();
		}
		storage.remember();
		storage.rememberLesson('g');
		assert.deepEqual([await storage.list(), await storage.take('1-2'), storage.wasHere(), storage.lessonsSeen()], [[], null, false, []], what);
		assert.equal(storage.isAllowed(), what === 'full');
	}
});

test('a game is kept from its first move on, listed, and there again for a new tab', async (t) => {
	const local = new Store();
	const locks = { request: async (_, how, act) => act({}), query: async () => ({ held: [] }) };
	const browser = () => ({ local: () => local, session: ((own) => () => own)(new Store()), locks });
	const storage = await page(t, browser());
	storage.keep(table([]), ABOUT, taken);
	await settle();
	assert.deepEqual(await storage.list(), []);
	storage.keep(table(['a']), { ...ABOUT, end: 'Over.' }, taken);
	await settle();
	const [{ id, end, where, saved }] = await storage.list();
	assert.deepEqual([id, end, where, saved.game.moves], ['1-2', 'Over.', 'here', ['a']]);
	const other = await page(t, browser());
	assert.deepEqual((await other.restore()).game.moves, ['a']);
});
