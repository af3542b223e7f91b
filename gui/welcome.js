/** The first visit: the server's games as pictures to choose from. The chosen one is begun at once, against a beatable opponent. */
import { byId, el } from './dom.js';
import { loadLook, lookOf } from './looks.js';
import { miniature } from './miniature.js';
import { against, beginGame, FIRST_LEVEL } from './opponents.js';
import { remember } from './storage.js';

/**
 * @param {Array<{name: string, title: string}>} games  as `describe` lists them
 * @param {(game: string) => Promise<object>} describe
 * @returns {Promise<void>} when the choice is over
 */
export async function welcome(table, games, describe) {
	const dialog = byId('welcome-dialog');
	const error = el('p.error', { role: 'alert' });
	const cards = games.map(({ name, title }) => {
		const [called, line = ''] = title.split(/: (.*)/s);
		const picture = el('span.miniature', {});
		const card = el('button.card', { testid: `welcome-${name}` }, picture, el('strong', {}, called), el('span', {}, line));
		card.addEventListener('click', async () => {
			try {
				const [about] = await Promise.all([describe(name), loadLook(name)]);
				await beginGame(table, about, { rules: lookOf(name).first, seats: against(FIRST_LEVEL) });
				dialog.close();
			} catch (fault) {
				error.textContent = fault.message;
			}
		});
		return { name, picture, card };
	});
	dialog.replaceChildren(
		el('h2', { id: 'welcome-title' }, 'Choose a game'),
		el('p.help', {}, `You begin, against a beginner: level ${FIRST_LEVEL} of 10. Each game is explained first.`),
		el('div.cards', {}, ...cards.map(({ card }) => card)), error,
		el('div.row.end', {}, el('button', { testid: 'welcome-close', onclick: () => dialog.close() }, 'Not now')));
	const closed = new Promise((resolve) => { dialog.addEventListener('close', resolve, { once: true }); });
	closed.then(remember);
	dialog.showModal();
	await Promise.all(cards.map(async ({ name, picture }) => {
		const [about] = await Promise.all([describe(name), loadLook(name)]);
		// The last position of a lesson shows a game better than its start.
		const { rules, start } = about.lesson?.at(-1) ?? { rules: {} };
		const { board } = await table.ask({ game: name, rules }, start === undefined ? {} : { start }, ['board']);
		picture.replaceChildren(miniature(name, board));
	})).catch((fault) => { error.textContent = fault.message; });
	await closed;
}
