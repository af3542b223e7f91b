/**
 * Setting up a position by hand. It knows no rules: the server says of each text, legal or not, what can be chosen at each
 * cell and what text that makes, and what is wrong with it.
 *
 * @typedef {{label: string, piece?: string, owner?: 'p1'|'p2', so?: boolean, from: number, to: number, put: string}} Choice
 * @typedef {{what: string, cell?: [number, number], side?: 'right'|'down', choices: Choice[]}} Edit
 * @typedef {{text: string, board?: object, edits: Edit[], fault?: {message: string, offset: number, cell?: [number, number]}}} Draft
 */
import { BoardView } from './board.js';
import { cellsOf } from './changes.js';
import { el, svg } from './dom.js';
import { loadLook, lookOf } from './looks.js';
import { cellName, playerName } from './words.js';

/** How long after the last keystroke the server is asked. */
const SETTLE_MS = 300;
/** Characters that are shown on either side of a fault in a text. */
const AROUND = 14;
/** The mark of a cell that a fault is about. */
const WRONG = 'not allowed';
/** The brush that cycles through what a cell can hold. */
const NEXT = { key: '', label: 'Next content', title: 'Each click puts the next thing that the cell can hold' };

/** The text after a choice. The usual form of a text is ASCII. @param {Draft} draft @param {Choice} choice */
const chosen = ({ text }, { from, to, put }) => text.slice(0, from) + put + text.slice(to);

/** What a choice puts, whatever the cell: walls are walls on any side. */
const keyOf = ({ what, side }, { label, piece, owner }) => JSON.stringify([what, side ? what : label, piece, owner]);

export class Editor {
	/** @type {Draft|null} */
	#draft = null;
	/** The board that is drawn: the last one, while a text cannot be read. */
	#board = null;
	#game = null;
	#brush = NEXT.key;
	/** @type {[number, number]|null} */
	#cell = null;
	/** The texts before, the latest last. @type {string[]} */
	#past = [];
	/** Changes run one after the other: each begins with the result of the one before. */
	#work = Promise.resolve();
	#timer = 0;
	#painted = '';

	#host = el('div.board-host', {});
	#palette = el('div.palette', {});
	#here = el('div.here', {});
	#whole = el('div.whole', {});
	#said = el('p.said', { role: 'status', testid: 'edit-said' });
	#text = el('textarea', { id: 'edit-text', rows: 3, testid: 'edit-text', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': 'edit-where' });
	#where = el('p.help.where', { id: 'edit-where', testid: 'edit-where' });
	#undo = el('button', { testid: 'edit-undo', onclick: () => this.#takeBack() }, 'Undo');
	#use = el('button', { class: 'primary', testid: 'edit-use', onclick: () => this.#finish() }, 'Use this position');
	#dialog = el('dialog.editor', { id: 'editor', 'aria-labelledby': 'editor-title' });
	#view;

	/** @param {import('./table.js').Table} table */
	constructor(table) {
		this.table = table;
		this.#view = new BoardView(this.#host, {
			cell: (cell) => this.#press(cell),
			side: (cell, side) => this.#brushAt(cell, side),
			drag: (from, to) => this.#carry(from, to),
			canDrag: () => true,
			hover: () => {},
			key: (event) => this.#key(event),
		});
		const board = this.#host.firstElementChild;
		board.dataset.testid = 'edit-board';
		board.setAttribute('aria-label', 'Board being edited');
		this.#text.addEventListener('input', () => {
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => this.#settle(), SETTLE_MS);
		});
		this.#dialog.append(
			el('h2', { id: 'editor-title' }, 'Edit position'),
			el('div.editing', {},
				el('div.on', {}, this.#host, this.#said, this.#here),
				el('div.with', {}, this.#palette, this.#whole,
					el('label', { for: 'edit-text' }, 'As text'), this.#text, this.#where)),
			el('div.row.end', {}, this.#undo,
				el('button', { testid: 'edit-cancel', onclick: () => this.#dialog.close() }, 'Cancel'), this.#use));
		this.#dialog.addEventListener('close', () => {
			clearTimeout(this.#timer);
			this.#timer = 0;
		});
		document.body.append(this.#dialog);
	}

	/** Opens it with the position on the board. */
	async open() {
		const { game, rules } = this.table.game;
		this.#game = { game, rules };
		this.#brush = NEXT.key;
		this.#cell = null;
		this.#past = [];
		this.#draft = null;
		await loadLook(game);
		await this.#ask(this.table.node.text);
		this.#dialog.showModal();
		this.#paint();
	}

	/** Asks the server about a text, and again in the server's own spelling if that differs. */
	async #ask(text) {
		const { edits } = await this.table.connection.request('inspect', { ...this.#game, position: {}, draft: text, want: ['edits'] });
		if (edits.board && edits.text !== text && !edits.fault) return this.#ask(edits.text);
		this.#draft = edits;
		if (edits.board) this.#board = edits.board;
		return edits;
	}

	/** Goes to another text, once all earlier changes are done. @param {() => string|null|undefined} next  null: no change */
	#change(next, isNew = true) {
		this.#work = this.#work.then(async () => {
			const text = next();
			const before = this.#draft.text;
			if (text === null || text === undefined || text === before) {
				this.#paint();
				return;
			}
			await this.#ask(text);
			if (isNew && this.#draft.text !== before) this.#past.push(before);
			this.#paint();
		}).catch((error) => this.#complain(error));
		return this.#work;
	}

	#complain({ message }) {
		this.#said.textContent = message;
		this.#said.classList.add('wrong');
	}

	/** Takes the text as it was typed. */
	#settle() {
		clearTimeout(this.#timer);
		this.#timer = 0;
		return this.#change(() => this.#text.value.trim());
	}

	#takeBack() {
		const back = this.#past.at(-1);
		this.#change(() => back, false).then(() => {
			// The step is dropped only if its text really came back.
			if (this.#draft.text === back && this.#past.at(-1) === back) this.#past.pop();
			this.#paint();
		});
	}

	async #finish() {
		if (this.#timer) this.#settle();
		await this.#work;
		if (this.#draft.fault) return;
		const { game, rules } = this.#game;
		try {
			// The game starts paused, so that one can look first.
			await this.table.begin(game, rules, { start: this.#draft.text }, { paused: true });
			this.#dialog.close();
		} catch (error) {
			this.#complain(error);
		}
	}

	// What a hand does

	/** The edits of a cell; of one of its sides, if one is given. */
	#at(cell, side) {
		return this.#draft.edits.filter((edit) => edit.cell?.join() === cell.join() && (side === undefined || edit.side === side));
	}

	/** What the cell itself can hold comes first. */
	#content(cell) {
		return this.#at(cell).find((edit) => !edit.side);
	}

	#press(cell) {
		this.#cell = cell;
		if (this.#brush === NEXT.key) this.#change(() => this.#next(cell));
		else this.#brushAt(cell);
	}

	/** The text with the next thing on a cell; what it holds is taken away after the last one. */
	#next(cell) {
		const edit = this.#content(cell);
		if (!edit) return null;
		const at = edit.choices.findLastIndex((choice) => choice.so);
		const choice = edit.choices[at + 1] ?? edit.choices[0];
		return chosen(this.#draft, choice);
	}

	/** Puts what was chosen, or takes it away. */
	#brushAt(cell, side) {
		this.#cell = cell;
		this.#change(() => {
			for (const edit of this.#at(cell, side)) {
				const found = (side !== undefined || !edit.side) && edit.choices.find((choice) => keyOf(edit, choice) === this.#brush);
				if (found) return chosen(this.#draft, found);
			}
			return null;
		});
	}

	/** Carries a piece to another cell. */
	#carry(from, to) {
		const piece = (this.#board.pieces ?? []).findLast((one) => cellsOf(one).some((cell) => cell.join() === from.join()));
		if (!piece) return;
		const origin = piece.cell;
		const isIt = (choice) => choice.piece === piece.piece && choice.owner === piece.owner;
		const held = this.#content(origin)?.choices.find((choice) => choice.so && isIt(choice));
		if (!held) return;
		this.#cell = to;
		const isAlone = (draft) => draft.edits.some((edit) => (
			edit.cell?.join() === origin.join() && edit.choices.some((choice) => choice.so && isIt(choice))));
		let carried = false;
		this.#change(() => {
			const put = this.#content(to)?.choices.find((choice) => isIt(choice) && choice.label === held.label && !choice.so);
			carried = Boolean(put);
			return put ? chosen(this.#draft, put) : null;
		});
		// A piece that may occur several times would stay where it was, so it is removed there.
		this.#change(() => {
			const stays = carried && isAlone(this.#draft) && this.#content(origin).choices.find((choice) => choice.so && isIt(choice));
			return stays && this.#content(to)?.choices.some((choice) => choice.so && choice.label === held.label)
				? chosen(this.#draft, stays) : null;
		}, false);
	}

	/** A letter or a digit puts what has that name, or the one piece of that player; Delete empties the cell. */
	#key(event) {
		const at = event.target.dataset?.cell;
		if (!at || event.key.startsWith('Arrow') || event.key === 'Enter' || event.key === ' ') return false;
		const cell = at.split(',').map(Number);
		const edit = this.#content(cell);
		if (!edit) return false;
		const clears = event.key === 'Delete' || event.key === 'Backspace';
		const named = edit.choices.filter((choice) => choice.label === event.key);
		const owned = edit.choices.filter((choice) => choice.owner === `p${event.key}`);
		const [choice] = clears ? edit.choices.filter((one) => (one.piece ? one.so : !one.so))
			: named.length ? named : owned.length === 1 ? owned : [];
		if (!choice) return false;
		this.#cell = cell;
		this.#change(() => chosen(this.#draft, choice));
		return true;
	}

	// What is shown

	#paint() {
		const { fault, text, edits } = this.#draft;
		const brushes = this.#brushes();
		if (edits.length && !brushes.some(({ key }) => key === this.#brush)) this.#brush = NEXT.key;
		this.#paintBoard(fault);
		this.#paintPalette(brushes);
		this.#paintHere();
		this.#paintWhole();
		if (document.activeElement !== this.#text) this.#text.value = text;
		this.#said.textContent = fault ? `${fault.cell ? `${cellName(this.#board.grid, fault.cell)}: ` : ''}${fault.message}.`
			: 'This position can be played.';
		this.#said.classList.toggle('wrong', Boolean(fault));
		this.#paintWhere(fault);
		this.#use.disabled = Boolean(fault);
		this.#undo.disabled = !this.#past.length;
		this.#dialog.dataset.text = text;
		this.#dialog.dataset.fault = fault ? (fault.cell?.join() ?? 'text') : '';
	}

	#paintBoard(fault) {
		const board = this.#board;
		const look = lookOf(this.#game.game);
		const walls = this.#draft.edits.filter((edit) => edit.side && edit.choices.some((choice) => keyOf(edit, choice) === this.#brush));
		const wrong = fault?.cell;
		const sign = ({ middle }) => {
			const [x, y] = middle(wrong);
			return [svg('rect.fault', { x: x - 47, y: y - 47, width: 94, height: 94, rx: 8 })];
		};
		this.#view.draw({
			board: wrong ? { ...board, marks: [...(board.marks ?? []), { cell: wrong, mark: WRONG }] } : board,
			view: this.table.view,
			last: new Set(),
			// The sign is drawn, and read out as a mark of the cell.
			look: { ...look, mark: (mark, ...more) => (mark.mark === WRONG ? null : look.mark?.(mark, ...more)) },
			overlay: {
				selected: this.#cell ? new Set([this.#cell.join()]) : new Set(),
				sides: walls.map(({ cell, side }) => ({ cell, side, move: null })),
				above: wrong ? [sign] : [],
			},
		});
		this.#host.style.setProperty('--ratio', this.#view.ratio);
	}

	/** What can be put somewhere, each once, by player. */
	#brushes() {
		const found = new Map();
		for (const edit of this.#draft.edits) {
			if (!edit.cell) continue;
			for (const choice of edit.choices) {
				const key = keyOf(edit, choice);
				if (!found.has(key)) found.set(key, { key, what: edit.what, choice, label: edit.side ? edit.what : named(edit, choice) });
			}
		}
		return [...found.values()].sort((one, other) => order(one.choice) - order(other.choice));
	}

	#paintPalette(brushes) {
		// While a text cannot be read, the last palette stays.
		if (!brushes.length) return;
		const groups = Map.groupBy(brushes, ({ what }) => what);
		const button = ({ key, label, title, choice }) => el('button', {
			class: choice?.owner ? `of-${choice.owner}` : null, 'aria-pressed': String(key === this.#brush), 'data-brush': label, title,
			onclick: () => {
				this.#brush = key;
				this.#paint();
			},
		}, label);
		const painted = JSON.stringify([brushes.map(({ key }) => key), this.#brush]);
		if (painted === this.#painted) return;
		this.#painted = painted;
		kept(this.#palette, () => this.#palette.replaceChildren(...[...groups].map(([what, list], index) => el('fieldset', {},
			el('legend', {}, what), el('div.choices', {}, ...(index ? [] : [button(NEXT)]), ...list.map(button))))));
	}

	/** All that the chosen cell can have. */
	#paintHere() {
		const edits = this.#cell ? this.#at(this.#cell) : [];
		const choose = (edit, choice) => this.#change(() => {
			const now = this.#at(edit.cell, edit.side).find(({ what }) => what === edit.what);
			const same = now?.choices.find((one) => keyOf(now, one) === keyOf(edit, choice));
			return same ? chosen(this.#draft, same) : null;
		});
		const group = (edit) => el('div.choices', { role: 'group', 'aria-label': edit.what },
			el('span.what', { 'aria-hidden': 'true' }, `${edit.what}:`),
			...edit.choices.map((choice) => el('button', {
				class: choice.owner ? `of-${choice.owner}` : null, 'aria-pressed': String(Boolean(choice.so)),
				'data-choice': named(edit, choice), onclick: () => choose(edit, choice),
			}, named(edit, choice))));
		kept(this.#here, () => this.#here.replaceChildren(...(!this.#cell ? [el('p.help', {}, 'Choose a cell, or choose a piece and then a cell.')]
			: [el('h3', {}, cellName(this.#board.grid, this.#cell)), ...edits.map(group)])));
	}

	/** The choices that belong to no cell, such as who is to move. */
	#paintWhole() {
		const edits = this.#draft.edits.filter((edit) => !edit.cell);
		if (!edits.length) return;
		const choose = (what, index) => this.#change(() => chosen(this.#draft, this.#draft.edits.find((edit) => edit.what === what).choices[index]));
		const of = (edit, index) => {
			if (edit.choices.length === 1) {
				return el('button', { 'data-whole': edit.what, onclick: () => choose(edit.what, 0) }, edit.choices[0].label);
			}
			const id = `edit-whole-${index}`;
			return el('div.field', {}, el('label', { for: id }, edit.what),
				el('select', { id, 'data-whole': edit.what, onchange: (event) => choose(edit.what, Number(event.target.value)) },
					...(edit.choices.some((choice) => choice.so) ? [] : [el('option', { value: '', selected: true, disabled: true }, 'none')]),
					...edit.choices.map((choice, at) => el('option', { value: at, selected: Boolean(choice.so) }, choice.label))));
		};
		kept(this.#whole, () => this.#whole.replaceChildren(...edits.map(of)));
	}

	/** Where a text is wrong. */
	#paintWhere(fault) {
		this.#text.toggleAttribute('aria-invalid', false);
		this.#where.replaceChildren();
		if (!fault) return;
		this.#text.setAttribute('aria-invalid', 'true');
		const characters = [...this.#draft.text];
		const part = (from, to) => characters.slice(Math.max(0, from), Math.max(0, to)).join('');
		const { offset } = fault;
		this.#where.append(`Character ${offset + 1}: `, el('code', {}, offset > AROUND ? '…' : '', part(offset - AROUND, offset),
			el('mark', {}, characters[offset] ?? '␣'), part(offset + 1, offset + AROUND), offset + AROUND < characters.length ? '…' : ''));
	}
}

/** Player 1's things come first, nobody's last. */
const order = ({ owner }) => (owner ? Number(owner.slice(1)) : 3);

/** A choice by its name; with the player, if two players have it. */
function named(edit, choice) {
	const isShared = choice.owner && edit.choices.some(({ label, owner }) => label === choice.label && owner !== choice.owner);
	return isShared ? `${choice.label}, ${playerName(choice.owner).toLowerCase()}` : choice.label;
}

/** Renews what an element holds; the focus stays on what has the same name. */
function kept(host, renew) {
	const focused = host.contains(document.activeElement) ? document.activeElement : null;
	const name = focused && (focused.dataset.whole ?? focused.dataset.brush ?? focused.dataset.choice);
	const of = focused?.parentElement.getAttribute('aria-label');
	renew();
	if (!focused) return;
	const all = [...host.querySelectorAll('button, select')].filter(({ dataset }) => (dataset.whole ?? dataset.brush ?? dataset.choice) === name);
	(all.find((node) => node.parentElement.getAttribute('aria-label') === of) ?? all[0])?.focus();
}
