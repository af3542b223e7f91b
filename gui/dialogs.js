/** The dialogs: a new game with its rules and start, and games from files. Errors stand at the field that they are about. */
import { el, byId, prose } from './dom.js';
import { field, randomSeed, settings, showError, valuesOf } from './form.js';
import { BadRecord, linesOf, pathTo, read } from './record.js';

/** How long one may type before the server is asked. */
const SETTLE_MS = 300;

/** The message of an error about a move of a list, with the move's number, which people count from 1. */
export const located = (error) => {
	const found = /^\/position\/moves\/(\d+)$/.exec(error.pointer ?? '');
	return { pointer: error.pointer, message: found ? `move ${Number(found[1]) + 1}: ${error.message}` : error.message };
};

export class NewGameDialog {
	#dialog = byId('new-dialog');
	#game = el('select', { testid: 'game-select' });
	#about = el('p.help', {});
	#rules = el('div');
	#start = el('textarea', { rows: 3, testid: 'start', spellcheck: 'false', autocomplete: 'off' });
	#moves = el('input', { type: 'text', testid: 'moves', spellcheck: 'false', autocomplete: 'off' });
	#error = el('p.error', { role: 'alert', testid: 'dialog-error' });
	#timer = 0;
	#asked = 0;

	/** @param {(game: string) => Promise<object>} describe  what the server says of a game */
	constructor(table, describe) {
		this.table = table;
		this.describe = describe;
		const form = el('form', { method: 'dialog', novalidate: true },
			el('h2', { id: 'new-title' }, 'New game'),
			field('Game', this.#game, '/game'), this.#about,
			el('details', { open: true }, el('summary', {}, 'Rules'), this.#rules),
			el('details', { open: true }, el('summary', {}, 'Start'),
				field('Position', this.#start, '/position/start', ''),
				field('Moves since', this.#moves, '/position/moves')),
			this.#error,
			el('div.row.end', {},
				el('button', { onclick: () => this.#dialog.close() }, 'Cancel'),
				el('button', { type: 'submit', class: 'primary', testid: 'start-game' }, 'Start')));
		this.#dialog.append(form);
		this.#game.addEventListener('change', () => this.#choose());
		form.addEventListener('input', (event) => {
			if (event.target === this.#game) return;
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => this.#check(), SETTLE_MS);
		});
		form.addEventListener('submit', (event) => {
			event.preventDefault();
			this.#submit();
		});
	}

	offer(games) {
		const chosen = this.#game.value || this.table.game?.game;
		this.#game.replaceChildren(...games.map(({ name, title }) => (
			el('option', { value: name, selected: name === chosen }, title.split(':')[0]))));
	}

	async open() {
		this.#error.textContent = '';
		if (this.table.game) this.#game.value = this.table.game.game;
		this.#dialog.showModal();
		await this.#choose();
	}

	async #choose() {
		const about = await this.describe(this.#game.value).catch((error) => {
			this.#error.textContent = error.message;
			return null;
		});
		if (!about) return;
		this.#about.replaceChildren(...prose(about.title));
		this.#rules.replaceChildren(about.rules.length ? settings(about.rules, '/rules') : el('p.help', {}, 'None to choose.'));
		this.#start.value = '';
		this.#moves.value = '';
		this.#start.placeholder = 'the rules’ own start';
		this.#dialog.querySelector('[data-pointer="/position/start"] .help').replaceChildren(...prose(about.position));
		this.#dialog.querySelector('[data-pointer="/position/moves"] .help').replaceChildren(
			...prose(`Separated by “;”, or by spaces if there is none. ${about.moves}`));
		showError(this.#dialog, null);
	}

	/** What is filled in. */
	async #wanted() {
		const game = this.#game.value;
		const about = await this.describe(game);
		const rules = valuesOf(this.#rules);
		const position = {};
		if (this.#start.value.trim()) position.start = this.#start.value.trim();
		const text = this.#moves.value;
		const moves = text.split(text.includes(';') ? /\s*;\s*/ : /\s+/).filter(Boolean);
		if (moves.length) position.moves = moves;
		return { game, rules, position, about };
	}

	async #check() {
		this.#asked += 1;
		const asked = this.#asked;
		try {
			const { game, rules, position } = await this.#wanted();
			await this.table.ask({ game, rules }, position, ['to_move']);
			if (asked === this.#asked) this.#show(null);
		} catch (error) {
			if (asked === this.#asked) this.#show(error);
		}
	}

	#show(error) {
		const found = showError(this.#dialog, error && located(error));
		this.#error.textContent = found ? '' : error.message;
	}

	async #submit() {
		clearTimeout(this.#timer);
		this.#asked += 1;
		try {
			const { game, rules, position, about } = await this.#wanted();
			// What the rules draw is drawn anew for each game, unless a seed is given.
			const seed = about.rules.find((spec) => spec.type === 'seed');
			if (seed && rules[seed.name] === undefined && !position.start) rules[seed.name] = randomSeed();
			await this.table.begin(game, rules, position);
			this.#show(null);
			this.#dialog.close();
		} catch (error) {
			this.#show(error);
			this.#dialog.querySelector('[aria-invalid]')?.focus();
		}
	}
}

export class LoadDialog {
	#dialog = byId('load-dialog');
	#file = el('input', { type: 'file', accept: '.json,.jsonl,.txt,application/json', testid: 'load-file' });
	#text = el('textarea', { rows: 6, testid: 'load-text', spellcheck: 'false', autocomplete: 'off' });
	#which = el('select', { testid: 'load-game' });
	#games = [];

	constructor(table) {
		this.table = table;
		const form = el('form', { method: 'dialog', novalidate: true },
			el('h2', { id: 'load-title' }, 'Load a game'),
			field('File', this.#file, '/file', 'A record, as Save and `plyd arena --record` write it.'),
			field('or its text', this.#text, '/text'),
			field('Game of the file', this.#which, '/which'),
			el('div.row.end', {},
				el('button', { onclick: () => this.#dialog.close() }, 'Cancel'),
				el('button', { type: 'submit', class: 'primary', testid: 'load-submit' }, 'Load')));
		this.#dialog.append(form);
		this.#text.closest('.field').querySelector('.error').dataset.testid = 'load-error';
		this.#file.addEventListener('change', async () => {
			this.#text.value = await this.#file.files[0]?.text() ?? '';
			this.#read();
		});
		this.#text.addEventListener('input', () => this.#read());
		form.addEventListener('submit', (event) => {
			event.preventDefault();
			this.#submit();
		});
	}

	open() {
		this.#read();
		this.#dialog.showModal();
	}

	#read() {
		this.#games = [];
		let error = null;
		try {
			if (this.#text.value.trim()) this.#games = read(this.#text.value);
		} catch (fault) {
			error = fault;
		}
		showError(this.#dialog, error && { pointer: '/text', message: error.message });
		this.#which.replaceChildren(...this.#games.map((game, index) => el('option', { value: index },
			`${index + 1}: ${game.game}, ${game.moves.length} plies${game.players ? `, ${game.players.join(' – ')}` : ''}`)));
		this.#which.closest('.field').hidden = this.#games.length < 2;
		return !error;
	}

	/** Asks the server about each line of the game's tree. */
	async #check(game) {
		for (const [index, { nodes }] of linesOf(game.root).entries()) {
			const moves = pathTo(nodes[nodes.length - 1]).slice(1).map(({ move }) => move);
			await this.table.ask(game, { start: game.start, moves }, ['to_move']).catch((error) => {
				throw index ? new BadRecord(`variation ${index}: ${located(error).message}`) : error;
			});
		}
	}

	async #submit() {
		if (!this.#read()) return;
		const { table } = this;
		try {
			const game = this.#games[Number(this.#which.value) || 0];
			if (!game) throw new BadRecord('choose a file, or paste its text');
			await this.#check(game);
			// Nobody is hurried by a game that was loaded: one looks first.
			table.paused = true;
			table.put(game);
			this.#dialog.close();
		} catch (error) {
			showError(this.#dialog, { pointer: '/text', message: located(error).message });
		}
	}
}
