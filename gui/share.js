/** All ways to share a game, behind one button: as a link, as text, as a picture. */
import { linkTo } from './address.js';
import { el, prose } from './dom.js';
import { download, png } from './download.js';

/** Pixels of a PNG's longer side. */
const PIXELS = 1200;

export class ShareDialog {
	#said = el('p.help', { role: 'status', testid: 'share-said' });
	/** A text that the page could not copy, to be copied by hand. */
	#text = el('textarea', { rows: 4, readonly: true, hidden: true, 'aria-label': 'The text to copy', testid: 'share-text' });
	#dialog = el('dialog', { id: 'share-dialog', 'aria-labelledby': 'share-title' });

	/** @param {() => Promise<string>} record  the game as a line of a file */
	constructor(table, record) {
		this.table = table;
		const copies = [
			['link', 'Copy link', 'A link to this game with its moves, opened at the ply on the board.', () => this.#link()],
			['position', 'Copy position', 'The position on the board, as `plyd go --position` reads it.', () => table.node.text],
			['moves', 'Copy moves', 'The moves up to the position on the board.', () => this.#moves()],
			['record', 'Copy record', 'The whole game with variations and comments, as “Load…” reads it.', record],
		].map(([name, label, help, text]) => this.#way(`copy-${name}`, label, help, async () => this.#copy(await text())));
		const pictures = [
			this.#way('save-picture', 'Save SVG', 'The board as it stands, sharp at any size.', async () => this.#save(new Blob([await this.#svg()],
				{ type: 'image/svg+xml' }), 'svg')),
			this.#way('save-png', 'Save PNG', 'The same, for programs that cannot show SVG.', async () => this.#save(await png(await this.#svg(), PIXELS), 'png')),
		];
		this.#dialog.append(el('h2', { id: 'share-title' }, 'Share'), ...copies, ...pictures, this.#said, this.#text,
			el('div.row.end', {}, el('button', { class: 'primary', testid: 'share-close', onclick: () => this.#dialog.close() }, 'Done')));
		document.body.append(this.#dialog);
	}

	open() {
		this.#say('');
		this.#dialog.showModal();
	}

	#way(testid, label, help, act) {
		const press = () => act().catch((error) => this.#say(error.message));
		return el('div.way', {}, el('button', { testid, onclick: press }, label), el('p.help', {}, ...prose(help)));
	}

	#link() {
		const link = linkTo(this.table.game);
		if (!link) throw new Error('The link is not ready yet: it needs an answer from the server. Try again.');
		return link;
	}

	/** As the dialog of a new game reads them. */
	#moves() {
		const { moves } = this.table.position;
		return moves.join(moves.some((move) => move.includes(' ')) ? '; ' : ' ');
	}

	/** The server draws the board for documents: from its own side, whichever way the page shows it. */
	async #svg() {
		const { game, position } = this.table;
		return (await this.table.ask(game, position, ['svg'])).svg;
	}

	async #copy(text) {
		this.#text.hidden = true;
		try {
			await navigator.clipboard.writeText(text);
			this.#say('Copied.');
		} catch {
			// Browsers allow it only to pages from this machine or over TLS.
			this.#say('This browser does not let the page copy. Copy this text yourself:');
			this.#text.hidden = false;
			this.#text.value = text;
			this.#text.select();
		}
	}

	#save(blob, type) {
		const { game, cursor } = this.table.game;
		download(blob, `${game}-${cursor}.${type}`);
		this.#say('The picture is saved.');
	}

	#say(text) {
		this.#said.textContent = text;
		if (!text) this.#text.hidden = true;
	}
}
