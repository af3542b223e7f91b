/** Who plays each side and on what clock: the forms, and the strips beside the board. */
import { el, byId, prose } from './dom.js';
import { field, settings, showError, valuesOf } from './form.js';
import { KINDS } from './clock.js';
import { moveWords } from './looks.js';
import { isChance } from './record.js';
import { clockWords, flipped, other, playerName, plural, seatName, short, viewWords } from './words.js';

/** Options that stand first; the others are folded away. */
const FIRST = ['level', 'player', 'eval'];
/** The most letters of a move's words that fit a strip. */
const SHORT = 12;
/** How long after the last keystroke options are sent. */
const SETTLE_MS = 400;

/** What a player did last, if that was the last move. */
function lastMove(game, node, player) {
	const move = game?.moves.slice(0, game.cursor).findLast((ply) => !isChance(ply));
	// Who made the last move is inferred: the player who is not to move now.
	if (!move || !node || node.outcome || node.to_move !== other(player)) return '';
	const words = moveWords(game.game, move);
	// Longer ones would be cut off.
	return `played ${words.length > SHORT ? move : words}`;
}

export class SeatsPanel {
	#key = '';
	#forms = {};
	/** The clock that the form shows. */
	#shownClock = null;

	constructor(table, described) {
		this.table = table;
		this.described = described;
	}

	draw() {
		const { table } = this;
		if (table.clock.config !== this.#shownClock) this.#drawClock();
		const about = table.game && this.described(table.game.game);
		if (!about) return;
		const key = JSON.stringify([table.game.game, table.seats.p1.kind, table.seats.p2.kind, this.#signature()]);
		if (key !== this.#key) {
			this.#key = key;
			byId('seats').replaceChildren(this.#seat('p1', about), this.#seat('p2', about));
		}
		this.drawStrips();
	}

	/** Options that were set outside the form, such as by a swap. */
	#signature() {
		const { seats } = this.table;
		const entered = (player) => JSON.stringify(this.#forms[player] ? valuesOf(this.#forms[player]) : null);
		return ['p1', 'p2'].map((player) => JSON.stringify(seats[player].options)).map((options, index) => (
			entered(index ? 'p2' : 'p1') === options ? '' : options));
	}

	#seat(player, about) {
		const { table } = this;
		const seat = table.seats[player];
		const kind = el('select', { testid: `seat-${player}` },
			el('option', { value: 'human', selected: seat.kind === 'human' }, 'Human'),
			el('option', { value: 'engine', selected: seat.kind === 'engine' }, 'Engine'));
		kind.addEventListener('change', () => table.setSeat(player, { ...table.seats[player], kind: kind.value }));
		const box = el('fieldset', { class: `seat of-${player}` }, el('legend', {}, playerName(player)),
			field('Played by', kind, ''));
		delete this.#forms[player];
		if (seat.kind === 'human') return box;
		const specs = FIRST.map((name) => about.options.find((spec) => spec.name === name)).filter(Boolean);
		const rest = about.options.filter((spec) => !FIRST.includes(spec.name));
		const form = el('div.options', {},
			settings(specs, '/options', seat.options),
			el('details', {}, el('summary', {}, 'More options'), settings(rest, '/options', seat.options)));
		for (const input of form.querySelectorAll('[data-testid]')) {
			if (input.dataset.type) input.dataset.testid = `options-${player}-${input.name}`;
		}
		this.#explain(form, about);
		let timer = 0;
		form.addEventListener('input', () => {
			clearTimeout(timer);
			timer = setTimeout(() => this.#apply(player, form), SETTLE_MS);
		});
		this.#forms[player] = form;
		box.append(form);
		return box;
	}

	/** What the chosen player and evaluation are, instead of what the option is. */
	#explain(form, about) {
		const explain = (name, list) => {
			const input = form.querySelector(`[name="${name}"]`);
			if (!input) return;
			const help = input.closest('.field').querySelector('.help');
			const show = () => {
				const spec = about.options.find((one) => one.name === name);
				const chosen = list.find((one) => one.name === (input.value || spec.default));
				help.replaceChildren(...prose(chosen?.about ?? spec.about));
			};
			input.addEventListener('input', show);
			show();
		};
		explain('player', about.players);
		explain('eval', about.evaluators);
	}

	async #apply(player, form) {
		const { table } = this;
		const options = valuesOf(form);
		showError(form, null);
		try {
			// Checked before use, so that a wrong value is reported at its field and the game goes on.
			const { game, rules } = table.game;
			await table.connection.request('newgame', { session: 'check', game, rules, options });
			table.setSeat(player, { ...table.seats[player], options });
		} catch (error) {
			if (!showError(form, error)) throw error;
		}
	}

	#drawClock() {
		const { table } = this;
		const { config } = table.clock;
		this.#shownClock = config;
		const kind = el('select', { testid: 'clock-kind' },
			...KINDS.map((one) => el('option', { value: one.kind, selected: one.kind === config.kind }, one.label)));
		const fields = el('div.settings', {});
		const read = () => {
			const chosen = KINDS.find((one) => one.kind === kind.value);
			const next = { kind: chosen.kind };
			for (const spec of chosen.fields) {
				const input = fields.querySelector(`[name="${spec.name}"]`);
				const value = Number(input.value);
				const wrong = !(value >= spec.min);
				showError(fields, wrong ? { pointer: `/clock/${spec.name}`, message: `at least ${spec.min}` } : null);
				if (wrong) return;
				next[spec.name] = Math.round(value * spec.unit);
			}
			this.#shownClock = next;
			table.setClock(next);
		};
		const fill = () => {
			const chosen = KINDS.find((one) => one.kind === kind.value);
			fields.replaceChildren(...chosen.fields.map((spec) => field(spec.label, el('input', {
				type: 'number', name: spec.name, min: spec.min, step: 'any', testid: `clock-${spec.name}`,
				value: (config.kind === chosen.kind ? config[spec.name] : spec.value) / spec.unit,
			}), `/clock/${spec.name}`)));
		};
		kind.addEventListener('change', () => { fill(); read(); });
		fields.addEventListener('change', read);
		fill();
		byId('clock').replaceChildren(el('fieldset.seat', {}, el('legend', {}, 'Clock'),
			field('Time control', kind, '/clock/kind', 'The game clock runs for both sides; all other kinds limit engines alone.'), fields));
	}

	/** The strips of both players: name, points and clock. */
	drawStrips() {
		const { table } = this;
		const now = performance.now();
		for (const player of ['p1', 'p2']) {
			const { game, thinking, node } = table;
			const thinks = thinking?.player === player;
			const line = thinks ? thinking.lines[0] : null;
			let about = thinks ? 'thinking…' : lastMove(game, node, player);
			if (line && table.mode === 'analyse') about = `depth ${line.depth}, ${viewWords(player === 'p2' ? flipped(line.score) : line.score)}, ${short(thinking.stats.nodes)} ${plural(thinking.stats.nodes, 'node')}`;
			const score = node?.board.scores?.[player === 'p1' ? 0 : 1];
			const left = table.clock.shown(player, now);
			const strip = byId(`strip-${player}`);
			strip.classList.toggle('active', table.mover === player);
			strip.replaceChildren(...[
				el('span', { class: `chip of-${player}`, 'aria-hidden': 'true' }, player.slice(1)),
				el('span.who', {}, `${playerName(player)} · ${seatName(table.seats[player])}`),
				el('span.about', {}, about),
				score !== undefined && el('span.points', { title: 'Points' }, String(score)),
				table.clock.counts && el(left > 0 ? 'span.time' : 'span.time.out', { role: 'timer' },
					left > 0 ? clockWords(left) : 'time is up'),
			].filter(Boolean));
		}
	}
}
