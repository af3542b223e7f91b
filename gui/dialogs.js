/** The dialogs: a new game with its rules and start, and games from files. Errors stand at the field that they are about. */
import { DEFAULT } from './clock.js';
import { el, byId, prose } from './dom.js';
import { field, settings, showError, valuesOf } from './form.js';
import { against, amongThemselves, beginGame, engineSide, FIRST_LEVEL, levelOf, levelsOf } from './opponents.js';
import { BadRecord, linesOf, pathTo, read } from './record.js';
import { count, nameWords } from './words.js';

/** How long after the last keystroke the server is asked. */
const SETTLE_MS = 300;

/** The message of an error about a move of a list, with the move's number, which people count from 1. */
export const located = (error) => {
	const found = /^\/position\/moves\/(\d+)$/.exec(error.pointer ?? '');
	return { pointer: error.pointer, message: found ? `move ${Number(found[1]) + 1}: ${error.message}` : error.message };
};

/** Times that are offered; the settings have all kinds of clocks. @type {Array<[string, import('./clock.js').Config]>} */
const TIMES = [
	['No clock; an engine takes 1 second a move', DEFAULT],
	['3 minutes each, plus 2 seconds a move', { kind: 'increment', base_ms: 180_000, inc_ms: 2000 }],
	['10 minutes each, plus 5 seconds a move', { kind: 'increment', base_ms: 600_000, inc_ms: 5000 }],
];

export class NewGameDialog {
	#dialog = byId('new-dialog');
	#game = el('select', { testid: 'game-select' });
	#about = el('p.help', {});
	#opponent = el('select', { testid: 'opponent' });
	#begins = el('select', { testid: 'begins' },
		el('option', { value: 'p1' }, 'You'), el('option', { value: 'p2' }, 'The opponent'), el('option', { value: 'lot' }, 'Random'));
	#time = el('select', { testid: 'time' });
	#rules = el('div');
	#start = el('textarea', { rows: 3, testid: 'start', spellcheck: 'false', autocomplete: 'off' });
	#moves = el('input', { type: 'text', testid: 'moves', spellcheck: 'false', autocomplete: 'off' });
	#error = el('p.error', { role: 'alert', testid: 'dialog-error' });
	/** What the fields say of the seats before anybody changes them. */
	#stated = '';
	/** The rules and the start, which most people leave as they are. */
	#variants = el('details', { testid: 'variants' }, el('summary', {}, 'Variants'), this.#rules,
		field('Position', this.#start, '/position/start', ''),
		field('Moves from there', this.#moves, '/position/moves'));
	#timer = 0;
	#asked = 0;

	/** @param {(game: string) => Promise<object>} describe  what the server says of a game */
	constructor(table, describe) {
		this.table = table;
		this.describe = describe;
		const form = el('form', { method: 'dialog', novalidate: true },
			el('h2', { id: 'new-title' }, 'New game'),
			field('Game', this.#game, '/game'), this.#about,
			field('Opponent', this.#opponent, '/opponent', 'The number at the end is the rating: Elo points above random moves, measured on one board of this game.'),
			field('Who begins', this.#begins, '/begins'),
			field('Time', this.#time, '/time'),
			this.#variants,
			this.#error,
			el('div.row.end', {},
				el('button', { onclick: () => this.#dialog.close() }, 'Cancel'),
				el('button', { type: 'submit', class: 'primary', testid: 'start-game' }, 'Start')));
		this.#dialog.append(form);
		this.#game.addEventListener('change', () => this.#choose());
		this.#opponent.addEventListener('change', () => this.#nameSides());
		form.addEventListener('input', (event) => {
			if (!this.#variants.contains(event.target)) return;
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
		this.#variants.open = false;
		this.#offerTimes();
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
		this.#offerOpponents(about);
		this.#rules.replaceChildren(about.rules.length ? settings(about.rules, '/rules') : el('p.help', {}, 'This game has one set of rules.'));
		this.#start.value = '';
		this.#moves.value = '';
		this.#start.placeholder = 'the usual start position';
		this.#dialog.querySelector('[data-pointer="/position/start"] .help').replaceChildren(...prose(about.position));
		this.#dialog.querySelector('[data-pointer="/position/moves"] .help').replaceChildren(
			...prose(`Separated by “;”, or by spaces if there is no “;”. ${about.moves}`));
		showError(this.#dialog, null);
	}

	/** The opponents of a game; the one of the game on the table is chosen, and so is who began there. */
	#offerOpponents(about) {
		const { seats } = this.table;
		const side = engineSide(seats);
		const levels = levelsOf(about);
		const chosen = side ? levelOf(seats[side], about) : seats.p1.kind === 'human' ? 'people' : 'engines';
		const option = (value, words) => el('option', { value, selected: value === chosen }, words);
		this.#opponent.replaceChildren(...levels.map(([level, words]) => option(level, words)),
			...(levels.length ? [] : [option('', 'The engine')]),
			option('people', 'Another person, at this screen'), option('engines', 'Nobody: watch the engine play itself'));
		this.#begins.value = side === 'p1' ? 'p2' : 'p1';
		this.#stated = this.#seatsStated();
		this.#nameSides();
	}

	/** Hides the question who begins if both sides are played alike. */
	#nameSides() {
		this.#begins.closest('.field').hidden = ['people', 'engines'].includes(this.#opponent.value);
	}

	#seatsStated() {
		return `${this.#opponent.value} ${this.#begins.value}`;
	}

	/** The seats that the fields ask for: the table's own, with their options, if nothing was changed. */
	#seats() {
		if (this.#seatsStated() === this.#stated) return this.table.seats;
		const opponent = this.#opponent.value;
		if (opponent === 'people') return amongThemselves('human');
		if (opponent === 'engines') return amongThemselves('engine', FIRST_LEVEL);
		const first = this.#begins.value === 'lot' ? (Math.random() < 0.5 ? 'p1' : 'p2') : this.#begins.value;
		return against(opponent === '' ? undefined : Number(opponent), first === 'p1' ? 'p2' : 'p1');
	}

	#offerTimes() {
		const now = JSON.stringify(this.table.clock.config);
		const known = TIMES.some(([, config]) => JSON.stringify(config) === now);
		this.#time.replaceChildren(...(known ? [] : [el('option', { value: now }, 'As in the settings')]),
			...TIMES.map(([words, config]) => el('option', { value: JSON.stringify(config) }, words)));
		this.#time.value = now;
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
		if (error && found) this.#variants.open = true;
	}

	async #submit() {
		clearTimeout(this.#timer);
		this.#asked += 1;
		try {
			const { rules, position, about } = await this.#wanted();
			const { table } = this;
			await beginGame(table, about, { rules, position, seats: this.#seats() });
			if (this.#time.value !== JSON.stringify(table.clock.config)) table.setClock(JSON.parse(this.#time.value));
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
	/** What is wrong with the text. @type {Error|null} */
	#fault = null;

	constructor(table) {
		this.table = table;
		const form = el('form', { method: 'dialog', novalidate: true },
			el('h2', { id: 'load-title' }, 'Load a game'),
			field('File', this.#file, '/file', 'A game record, as Save and `plyd arena --record` write it.'),
			field('Or paste its text', this.#text, '/text'),
			field('Game in the file', this.#which, '/which'),
			el('div.row.end', {},
				el('button', { onclick: () => this.#dialog.close() }, 'Cancel'),
				el('button', { type: 'submit', class: 'primary', testid: 'load-submit' }, 'Load')));
		this.#dialog.append(form);
		this.#text.closest('.field').querySelector('.error').dataset.testid = 'load-error';
		// A browser reports no change if the same file is chosen again, which may have another text by now.
		this.#file.addEventListener('click', () => { this.#file.value = ''; });
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
		this.#file.value = '';
		this.#text.value = '';
		this.#read();
		this.#dialog.showModal();
	}

	#read() {
		this.#games = [];
		this.#fault = null;
		try {
			if (this.#text.value.trim()) this.#games = read(this.#text.value);
		} catch (fault) {
			this.#fault = fault;
		}
		showError(this.#dialog, this.#fault && { pointer: '/text', message: this.#fault.message });
		this.#which.replaceChildren(...this.#games.map((game, index) => el('option', { value: index },
			`${index + 1}: ${game.game}, ${count(game.moves.length, 'ply')}${game.players ? `, ${game.players.map(nameWords).join(' – ')}` : ''}`)));
		this.#which.closest('.field').hidden = this.#games.length < 2;
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
		// The text was read as it came: to read it again would choose its first game.
		if (this.#fault) return;
		const { table } = this;
		try {
			const game = this.#games[Number(this.#which.value) || 0];
			if (!game) throw new BadRecord('choose a file, or paste its text');
			await this.#check(game);
			// A loaded game starts paused, so that one can look at it first.
			table.paused = true;
			table.put(game);
			this.#dialog.close();
		} catch (error) {
			showError(this.#dialog, { pointer: '/text', message: located(error).message });
		}
	}
}
