/** The analysis on the page: the bar beside the board, the lines, the graph. */
import { el, svg, byId } from './dom.js';
import { drawGraph, plyAt, scaleOf } from './graph.js';
import { nodesFrom } from './record.js';
import { flipped, height, playerName, plural, short, viewWords } from './words.js';

const REASONS = {
	proven: 'Proven: nothing is left to search.',
	limit: 'The search is finished.',
	superseded: 'Interrupted by another search; resumes soon.',
	failed: 'The search failed; the server’s log says why.',
};

/** Plies of a line that are listed. */
const SHOWN_PLIES = 12;

export class AnalysisPanel {
	#toggle = el('button', { testid: 'analyse', title: 'Key A' }, 'Analyse');
	#count = el('input.narrow', { type: 'number', min: 1, max: 20, step: 1, testid: 'multipv', 'aria-label': 'Lines' });
	#whole = el('button', { testid: 'whole-game' }, 'Whole game');
	#show = el('input', { type: 'checkbox', checked: true, id: 'show-line' });
	#values = el('input', { type: 'checkbox', testid: 'values' });
	#review = el('button', { testid: 'review', title: 'Mark each move of the game: what it kept, what it gave away' }, 'Review');
	#about = el('p.about-search', { testid: 'analysis-about' });
	#lines = el('ol.lines', { 'aria-label': 'Lines' });
	#graph = svg('svg.graph', { role: 'img', testid: 'graph', preserveAspectRatio: 'none' });
	#hovered = null;
	/** The root of the game whose kept review was looked for last. */
	#recalled = null;
	#drawn = null;
	#all = false;
	/** What was drawn by: whether the better move is asked for. */
	#hides = false;
	/** The explorer of openings, while it is loaded. @type {Promise<void>|null} */
	#opening = null;

	/** @param {() => void} reviewed  a review found something, or ended */
	constructor(table, analysis, board, moves, reviewed) {
		Object.assign(this, { table, analysis, board, moves, reviewed });
		this.#count.value = analysis.multipv;
		byId('analysis').append(
			el('div.row', {}, this.#toggle, el('label.inline', {}, this.#count, ' lines'), this.#whole, this.#review, el('label.inline', { title: 'Draw the best line on the board' }, this.#show, ' line'),
				el('label.inline', { title: 'Colour all legal moves by their value (V)' }, this.#values, ' values')),
			this.#about, this.#lines, this.#graph,
		);
		this.#toggle.addEventListener('click', () => analysis.turn(!analysis.on));
		this.#count.addEventListener('change', () => {
			const lines = Math.max(1, Math.min(20, Math.round(Number(this.#count.value)) || 1));
			this.#count.value = lines;
			analysis.ask(lines);
		});
		this.#whole.addEventListener('click', () => (analysis.progress ? analysis.endSweep() : analysis.wholeGame(250)));
		this.#review.addEventListener('click', () => this.startReview());
		this.#values.addEventListener('change', () => this.showValues(this.#values.checked));
		this.#show.addEventListener('change', () => {
			board.showLine = this.#show.checked;
			this.draw();
		});
		const hover = (event) => this.#hover(event.target.closest?.('[data-rank]')?.dataset.rank);
		this.#lines.addEventListener('pointerover', hover);
		this.#lines.addEventListener('focusin', hover);
		this.#lines.addEventListener('pointerleave', () => this.#hover(null));
		this.#lines.addEventListener('focusout', () => this.#hover(null));
		this.#lines.addEventListener('click', (event) => {
			const rank = event.target.closest('[data-rank]')?.dataset.rank;
			const line = analysis.lines.find((one) => String(one.rank) === rank);
			const ply = Number(event.target.closest('[data-ply]')?.dataset.ply ?? 0);
			if (line && ply > 0) table.walk(line.pv.slice(0, ply + 1));
			else if (line && table.yours) table.play(line.move);
			else if (line) table.explore(line.move);
		});
		this.#graph.addEventListener('click', (event) => {
			const box = this.#graph.getBoundingClientRect();
			if (table.game) table.goTo(plyAt(table.game, (event.clientX - box.left) / box.width));
		});
	}

	/** Begins a review of the game, or ends the one that runs. */
	async startReview() {
		await this.#loadReview();
		this.review.toggle();
	}

	/** Shows the review that was kept with a game, once the game is on the table. */
	async #recallReview() {
		const { game, mode } = this.table;
		if (mode !== 'analyse' || !game || game.root === this.#recalled) return;
		this.#recalled = game.root;
		if (!nodesFrom(game.root).some((node) => node.review)) return;
		await this.#loadReview();
		this.review.open();
	}

	async #loadReview() {
		if (!this.review) {
			const { ReviewPanel } = await import('./review-panel.js');
			this.review ??= new ReviewPanel(this.table, this.analysis.hasExact, this.board, this.moves, () => {
				this.analysis.rest(Boolean(this.review.review.progress || this.review.isAsking));
				this.draw();
			}, this.reviewed);
			this.moves.markOf = (node) => this.review.markOf(node);
			this.#lines.before(this.review.root);
		}
	}

	/** Colours all legal moves by their value, or ends that. */
	async showValues(on) {
		const { analysis, board } = this;
		this.#values.checked = on;
		// Set before the first await, so that a second caller sees it.
		analysis.askAll(on);
		if (on && !this.values) {
			await this.#loadValues();
			this.draw();
		}
		board.repaint();
	}

	async #loadValues() {
		const { Values } = await import('./values.js');
		// Two callers may have waited for the import.
		if (this.values) return;
		const { analysis, board } = this;
		this.values = new Values(this.table, analysis, () => board.repaint());
		this.#about.after(this.values.legend);
		board.layers.push(() => this.values.overlay(board.left()));
	}

	/** Looks the position up in the server's book, if it has one. */
	async #openBook() {
		const { table } = this;
		if (table.mode !== 'analyse' || !table.connection.hello?.features.includes('book')) return;
		if (!this.#opening) {
			this.#opening = import('./explorer.js').then(async ({ Explorer }) => {
				await this.#loadValues();
				this.explorer = new Explorer(table, () => {
					this.draw();
					this.board.repaint();
				});
				this.values.book = this.explorer;
				this.#values.closest('.row').append(this.explorer.switch);
				this.#lines.before(this.explorer.root);
			});
			// After a failure the next draw tries again.
			this.#opening.catch(() => { this.#opening = null; });
		}
		await this.#opening;
		await this.explorer.follow();
	}

	#hover(rank) {
		this.#hovered = rank ?? null;
		this.#drawLine();
	}

	draw() {
		const { analysis, table } = this;
		this.#whole.textContent = analysis.progress ? `Stop (${analysis.progress.join('/')})` : 'Whole game';
		this.#about.textContent = this.explorer?.said ?? this.#words();
		// The colours are explained in the place of the search's figures, so that nothing moves.
		const reviewed = Boolean(this.review && !this.review.root.hidden);
		const reviewing = Boolean(this.review?.review.progress);
		// While a review runs, the analysis rests. Beside it, “Stop” could be taken for the end of the review.
		this.#toggle.hidden = reviewing;
		this.#toggle.textContent = reviewed ? 'Engine' : analysis.on ? 'Stop' : 'Analyse';
		// A name that says what a press does cannot be “pressed” as well.
		if (reviewed) this.#toggle.setAttribute('aria-pressed', String(analysis.on));
		else this.#toggle.removeAttribute('aria-pressed');
		const explored = this.explorer?.page?.moves.length > 1 && !reviewed && !analysis.all;
		this.explorer?.draw(explored);
		this.#lines.hidden = reviewed || explored;
		this.#count.parentElement.hidden = reviewed;
		this.#whole.hidden = reviewed && !analysis.progress;
		this.#openBook().catch(() => {});
		this.#recallReview().catch(() => { this.#recalled = null; });
		this.#review.textContent = reviewing ? 'Stop the review' : 'Review';
		byId('analysis').parentElement.classList.toggle('reviewing', reviewed);
		const hides = Boolean(table.trial?.hides);
		this.#about.hidden = reviewed || explored || Boolean(this.values && analysis.all);
		this.#drawLines();
		if (this.values) {
			if (this.#drawn !== analysis.lines || analysis.all !== this.#all || hides !== this.#hides) this.board.repaint();
			[this.#drawn, this.#all, this.#hides] = [analysis.lines, analysis.all, hides];
			this.values.paint(reviewed);
		}
		this.#drawBar();
		this.#drawLine();
		if (table.game) drawGraph(this.#graph, table.game, { ...table.game.scores, ...this.review?.scores });
	}

	#words() {
		const { analysis, table } = this;
		if (!analysis.on) return '';
		if (table.outcome) return 'The game is over.';
		const { stats } = analysis;
		const end = REASONS[analysis.reason] ?? analysis.reason;
		if (!stats) return end || 'Waiting…';
		return `depth ${stats.depth}, ${short(stats.nodes)} ${plural(stats.nodes, 'node')}, ${short(stats.nps)} nodes/s. ${end}`;
	}

	#drawLines() {
		const { analysis } = this;
		// Elements are kept, so that a pointer or the focus stays on its line while the scores stream.
		while (this.#lines.children.length > analysis.lines.length) this.#lines.lastElementChild.remove();
		analysis.lines.forEach((line, index) => {
			let item = this.#lines.children[index];
			if (!item) {
				item = el('li', {}, el('button.plain', {}, el('span.score', {}), el('span.pv', {})));
				this.#lines.append(item);
			}
			const button = item.firstElementChild;
			button.dataset.rank = line.rank;
			button.dataset.move = line.move;
			const words = viewWords(analysis.player === 'p2' && line.score ? flipped(line.score) : line.score);
			button.dataset.score = words;
			button.title = `${playerName(analysis.player)} to move; depth ${line.depth}; click to play it, or a later move to walk the line up to there`;
			button.querySelector('.score').textContent = words;
			drawPv(button.querySelector('.pv'), line.pv.slice(0, SHOWN_PLIES));
		});
	}

	/** The score that the bar shows: of the analysis, of the engine that thinks, or the last one that is known of the game. */
	#score() {
		const { analysis, table } = this;
		const of = (score, player) => score && (player === 'p2' ? flipped(score) : score);
		return of(analysis.lines[0]?.score, analysis.player)
			?? of(table.thinking?.lines[0]?.score, table.thinking?.player)
			?? lastKnown(table.game);
	}

	#drawBar() {
		const { table } = this;
		const bar = byId('bar');
		if (!table.game || table.mode === 'play') return;
		const hides = Boolean(table.trial?.hides);
		bar.classList.toggle('veiled', hides);
		if (hides) return;
		const { outcome } = table;
		const score = outcome ? undefined : this.#score();
		const won = outcome ? (outcome.winner === 'p1' ? 1 : outcome.winner === 'p2' ? -1 : 0) : null;
		const level = won ?? height(score, scaleOf(table.game.scores)) ?? 0;
		const share = (100 * (1 + level)) / 2;
		const p1 = bar.querySelector('.bar-p1');
		p1.setAttribute('height', share);
		p1.setAttribute('y', 100 - share);
		bar.setAttribute('aria-valuenow', level.toFixed(2));
		const words = outcome ? 'the game is over' : viewWords(score);
		bar.setAttribute('aria-valuetext', words);
		bar.title = `${words}, from player 1’s view`;
	}

	#drawLine() {
		const { analysis, table } = this;
		const hovered = analysis.lines.find((line) => String(line.rank) === this.#hovered);
		// In mode play, only what was asked for is shown.
		const isValued = analysis.all || this.explorer?.page;
		const tried = this.explorer?.hovered && [this.explorer.hovered];
		const found = table.mode === 'analyse' ? hovered?.pv ?? tried ?? (isValued ? null : analysis.lines[0]?.pv) ?? table.thinking?.lines[0]?.pv : null;
		// A hint is one move: what could follow it is not asked for.
		const hinted = table.hint?.line && [table.hint.line.move];
		const line = this.review?.line ?? hinted ?? (table.trial?.hides ? null : hovered?.pv ?? found) ?? [];
		this.board.showPv(table.node && table.connection.isOpen ? line : [], this.review?.wrong);
	}
}

/** Writes the plies of a line, each an element of its own; those that stay are kept, so that a pointer stays on them. */
function drawPv(host, pv) {
	while (host.children.length > pv.length) host.lastElementChild.remove();
	pv.forEach((move, ply) => {
		const shown = host.children[ply] ?? host.appendChild(el('span', { 'data-ply': ply }));
		if (shown.textContent !== move) shown.textContent = move;
	});
}

/** The newest score up to the position on the board, shown until that position is searched itself. */
function lastKnown(game) {
	for (let ply = game?.cursor ?? -1; ply >= 0; ply -= 1) {
		const { score } = game.line[ply];
		if (score) return score;
	}
	return undefined;
}
