/** All ways to give a game away, behind one button: as a link, as a text, as a picture. */
import { linkTo } from './address.js';
import { el, prose } from './dom.js';
import { download, png } from './download.js';

/** Pixels of a PNG's longer side. */
const PIXELS = 1200;

export class ShareDialog {
	#said = el('p.help', { role: 'status', testid: 'share-said' });
	/** What could not be copied, to be copied by hand. */
	#text = el('textarea', { rows: 4, readonly: true, hidden: true, 'aria-label': 'The text to copy', testid: 'share-text' });
	#dialog = el('dialog', { id: 'share-dialog', 'aria-labelledby': 'share-title' });

	/** @param {() => Promise<string>} record  the game as a line of a file */
	constructor(table, record) {
		this.table = table;
		const copies = [
			['link', 'Copy link', 'The game as an address of this page: moves, and the ply on the board.', () => this.#link()],
			['position', 'Copy position', 'The position on the board, as `plyd go --position` reads it.', () => table.node.text],
			['moves', 'Copy moves', 'What was played up to the board.', () => this.#moves()],
			['record', 'Copy record', 'The whole game with variations and comments, as “Load…” reads it.', record],
		].map(([name, label, help, text]) => this.#way(`copy-${name}`, label, help, async () => this.#copy(await text())));
		const pictures = [
			this.#way('save-picture', 'Save SVG', 'The board as it stands, sharp at any size.', async () => this.#save(new Blob([await this.#svg()],
				{ type: 'image/svg+xml' }), 'svg')),
			this.#way('save-png', 'Save PNG', 'The same for programs that show no SVG.', async () => this.#save(await png(await this.#svg(), PIXELS), 'png')),
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
		if (!link) throw new Error('The link is not known yet: the server has to be asked.');
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
			// No browser lets a page copy that is not from this machine, and not by TLS.
			this.#say('This browser does not let the page copy; here is the text:');
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
