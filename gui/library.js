/** The list of the games saved in the browser, to open, name and delete them. */
import { confirmed } from './ask.js';
import { el, svgAddress } from './dom.js';
import { isChance } from './record.js';
import { isAllowed, list, remove, rename, take } from './storage.js';
import { count } from './words.js';

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export class Library {
	#dialog = el('dialog.library', { id: 'library', 'aria-labelledby': 'library-title' });
	#list = el('ul', { testid: 'own-games' });
	#help = el('p.help', {});

	/** @param {(game: string) => Promise<string>} title  what a game is called */
	constructor(table, title) {
		this.table = table;
		this.title = title;
		this.#dialog.append(
			el('h2', { id: 'library-title' }, 'Your games'), this.#help, this.#list,
			el('div.row.end', {}, el('button', { testid: 'library-close', onclick: () => this.#dialog.close() }, 'Close')));
		document.body.append(this.#dialog);
	}

	async open() {
		await this.#draw();
		this.#dialog.showModal();
	}

	async #draw() {
		const games = await list();
		this.#help.textContent = games.length
			? 'They are saved in this browser only. If there are too many, unnamed games are deleted, the oldest first.'
			: isAllowed() ? 'None yet. Every game that you play is saved here.'
				: 'This browser does not let the page keep games. “Save” writes the one on the board to a file.';
		const titles = await Promise.all(games.map(({ saved }) => this.title(saved.game.game)));
		this.#list.replaceChildren(...games.map((entry, index) => this.#entry(entry, titles[index])));
	}

	#entry({ id, at, name, saved, end, players, where }, title) {
		const { game } = saved;
		const moves = count(game.moves.filter((ply) => !isChance(ply)).length, 'move');
		const variations = game.variations?.length ?? 0;
		const more = variations ? `, ${count(variations, 'variation')}` : '';
		const input = el('input', {
			type: 'text', value: name, placeholder: title, title: 'Name this game; named games are never deleted automatically',
			'aria-label': `Name of this game of ${title}`, testid: 'own-name', maxlength: 80, autocomplete: 'off', onchange: (event) => rename(id, event.target.value.trim()),
		});
		const about = [
			name ? title : '', `${moves}${more}`, players?.join(' – '), end || 'unfinished',
		].filter(Boolean).join(' · ');
		return el('li', { 'data-own': id },
			this.#picture(game),
			el('div.about-own', {}, input, el('p', {}, about), el('p.help', {}, WHEN.format(at))),
			el('div.row', {},
				el('button', { testid: 'own-open', disabled: where !== '', onclick: () => this.#take(id) },
					{ here: 'On the board', elsewhere: 'In another tab' }[where] ?? 'Open'),
				el('button', {
					testid: 'own-delete', disabled: where !== '', onclick: () => this.#remove(id, input.value.trim() || title, moves),
				}, 'Delete…')));
	}

	/** The board at the end of the main line, as the server draws it. */
	#picture({ game, rules, start, moves }) {
		const image = el('img', { alt: '', width: 64, height: 64 });
		this.table.ask({ game, rules }, { start, moves }, ['svg'])
			.then(({ svg }) => { image.src = svgAddress(svg); }).catch(() => {});
		return image;
	}

	async #take(id) {
		const saved = await take(id);
		if (!saved) {
			await this.#draw();
			return;
		}
		this.#dialog.close();
		this.table.restore(saved);
	}

	async #remove(id, name, moves) {
		if (!await confirmed(`Delete “${name}” with ${moves}?`, 'Delete')) return;
		remove(id);
		await this.#draw();
	}
}
