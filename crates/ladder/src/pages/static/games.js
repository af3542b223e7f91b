/** Keeps the list of the games that are being played up to date. Without it the page shows them as they were. */
import { el } from '/gui/dom.js';
import { follow } from '/static/events.js';

const section = document.getElementById('playing');
const RENEW_MS = 2000;
const pool = new URLSearchParams(location.search).get('pool');
let renewal = 0;

function bot({ id, name, house }) {
	return el('td', {}, el('a', { href: `/bot/${id}` }, el('bdi', {}, name)), house ? ' ' : null,
		house ? el('span.tag', {}, 'house') : null);
}

function row({ id, players, plies, begun_ms: begun }) {
	// As the page writes times: in UTC, to the minute.
	const time = begun === undefined ? null : new Date(begun).toISOString();
	return el('tr', { 'data-game': id },
		el('th.number', { scope: 'row' }, el('a', { href: `/game/${id}` }, String(id))), ...players.map(bot),
		el('td', {}, 'playing'), el('td', {}), el('td.number', { 'data-plies': true }, plies === undefined ? '' : String(plies)),
		el('td', {}, time && el('time', { datetime: time }, time.slice(0, 16).replace('T', ' '))));
}

function list(games) {
	if (!games.length) return el('p', {}, 'No game is being played.');
	const label = 'Games that are being played';
	const heads = ['Game', 'Player 1', 'Player 2', 'Result', 'How', 'Plies', 'Begun (UTC)'];
	const head = (text) => el(text === 'Game' || text === 'Plies' ? 'th.number' : 'th', { scope: 'col' }, text);
	return el('div.scroll', { role: 'region', 'aria-label': label, tabindex: 0 },
		el('table.games', {}, el('caption', {}, label), el('thead', {}, el('tr', {}, ...heads.map(head))),
			el('tbody', {}, ...games.map(row))));
}

/** Fetches the list again, at most once in RENEW_MS. */
function renew() {
	renewal ||= setTimeout(async () => {
		try {
			const answer = await fetch('/api/v1/playing');
			if (answer.ok) {
				const { games } = await answer.json();
				const shown = games.filter((game) => !pool || game.pool === Number(pool));
				section.replaceChildren(section.querySelector('h2'), list(shown));
			}
		} catch {
			// The next event tries again.
		}
		renewal = 0;
	}, RENEW_MS);
}

/** Counts the plies of a game in the list. */
function count(event) {
	const { game, first, moves } = JSON.parse(event.data);
	const plies = section.querySelector(`tr[data-game="${Number(game)}"] [data-plies]`);
	if (plies) plies.textContent = first + moves.length;
}

/** While events are refused, the list is renewed at each new try. */
function goesOn() {
	renew();
	return true;
}

if (section) follow('/api/v1/live', { began: renew, over: renew, open: renew, move: count }, goesOn);
