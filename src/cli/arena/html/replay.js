/** A game of a match on a board: stepped through by buttons, keys, its moves, and the graph of its scores. */
import { BoardView } from './board.js';
import { change, touched } from './changes.js';
import { el } from './dom.js';
import { Evaluations, scoresOf } from './evaluations.js';
import { scrolled, time } from './figures.js';
import { lookOf, moveWords } from './looks.js';
import { motionBetween, show } from './motion.js';
import { isMoving } from './preferences.js';
import { PLAIN } from './symmetry.js';
import { boardWords, viewWords } from './words.js';

/** A value with what changed: see `delta` in the command. */
export function patched(old, delta) {
  if (Array.isArray(delta)) return delta[0];
  const out = Array.isArray(old) ? old.slice(0, delta.length ?? old.length) : { ...old };
  for (const [key, part] of Object.entries(delta)) {
    if (Array.isArray(old) && key === 'length') continue;
    if (Array.isArray(part) && !part.length) delete out[key];
    else out[key] = patched(out[key], part);
  }
  return out;
}

const SIGNS = { 'First position': '«', 'One ply back': '‹', 'One ply forward': '›', 'Last position': '»' };

export class Replay {
  #of;
  #ply = 0;
  #game = null;
  #boards = [];
  #scores = new Map();
  #evaluations = null;
  #board;
  #moves;
  #host = el('div.board-host', {});
  #text = el('p.unseen', { 'aria-live': 'polite' });
  #caption = el('p.said', { testid: 'said' });
  #legend = el('p.legend', {});
  #graph = el('div', {});
  #rows = el('tbody', {});
  #slider = el('input', { type: 'range', min: 0, 'aria-label': 'Ply', oninput: () => this.go(Number(this.#slider.value)) });
  #heading = el('h3', {});

  /** @param {string} game  which game the match is of */
  constructor(game) {
    this.#of = game;
    const nothing = () => {};
    this.#board = new BoardView(this.#host, { cell: nothing, side: nothing, hover: nothing, drag: nothing, swipe: nothing, key: () => false });
    const to = (label, ply) => el('button', { 'aria-label': label, onclick: () => this.go(ply()) }, SIGNS[label]);
    const transport = el('div.transport', {}, to('First position', () => 0), to('One ply back', () => this.#ply - 1), this.#slider,
      to('One ply forward', () => this.#ply + 1), to('Last position', () => this.#boards.length - 1));
    const head = el('tr', {}, ...['ply', 'player', 'move', 'score', 'time', 'review'].map((name) => el('th', { scope: 'col' }, name)));
    this.#moves = scrolled('Moves', el('table.plies', {}, el('thead', {}, head), this.#rows));
    this.#moves.classList.add('tall');
    this.host = el('div.viewer', { testid: 'viewer', onkeydown: (event) => this.#near(event) },
      el('div.now', {}, this.#host, transport, this.#caption, el('p.help', {}, 'Keys: [ and ] one ply back and forward, N and P next and previous game.')),
      el('div.beside', {}, this.#heading, this.#legend, this.#graph, this.#moves, this.#text));
  }

  /** Puts a game on the board, at the position after its opening. */
  show(game) {
    this.#game = game;
    this.#boards = [];
    for (const part of game.boards) this.#boards.push(this.#boards.length ? patched(this.#boards[this.#boards.length - 1], part) : part);
    this.#heading.textContent = `Game ${game.number}: ${game.end}`;
    this.#slider.max = this.#boards.length - 1;
    this.#scores = new Map(scoresOf(game).map(({ ply, score }) => [ply, score]));
    this.#legend.replaceChildren(...['p1', 'p2'].map((player, side) => el('span', {}, el(`span.chip.of-${player}`, { 'aria-hidden': true }, String(side + 1)), ` ${game.players[side]} `, el('b', { testid: `thinks-${player}` }))),
      this.#scores.size ? el('span.help', {}, 'Scores are from player 1’s view.') : el('span.help', {}, 'Neither player announced a score.'));
    this.#evaluations = this.#scores.size ? new Evaluations(game, (ply) => this.go(ply)) : null;
    this.#graph.replaceChildren(...(this.#evaluations ? [this.#evaluations.host] : []));
    this.#rows.replaceChildren(...game.moves.map((move, index) => this.#row(move, index)));
    this.#moves.querySelector('table').classList.toggle('unreviewed', !game.marks);
    this.go(game.opening);
  }

  #row(move, index) {
    const game = this.#game;
    const [answer, mark, ply] = [game.answers[index], game.marks?.[index], index + 1];
    const player = answer?.player.slice(1) ?? (index < game.opening ? 'opening' : move.startsWith('~') ? 'chance' : '');
    const marked = mark?.error ? { 'data-mark': mark.proven ? 'proven' : 'estimated' } : {};
    const score = this.#scores.get(ply);
    return el('tr', { 'data-row': ply, onclick: () => this.go(ply) },
      el('td', {}, String(ply)), el('td', {}, answer ? el(`span.chip.of-p${player}`, {}, player) : player),
      el('td', {}, el('button', { 'data-ply': ply, ...marked, title: moveWords(this.#of, move) }, move)),
      el('td', { 'data-score': ply }, score ? viewWords(score) : ''), el('td', {}, answer ? time(answer.time_us) : ''), el('td.mark-words', {}, mark?.text ?? ''));
  }

  /** Goes so many plies forward, or back if negative; for keys that work anywhere on the page. */
  step(by) {
    this.go(this.#ply + by);
  }

  go(ply) {
    const [game, shown] = [this.#game, this.#ply];
    this.#ply = Math.max(0, Math.min(this.#boards.length - 1, ply));
    this.#slider.value = this.#ply;
    this.host.dataset.ply = this.#ply;
    const [board, before] = [this.#boards[this.#ply], this.#boards[this.#ply - 1]];
    const difference = before && change(before, board);
    const look = lookOf(this.#of);
    // Pieces travel only on a step forward. If a move shifts everything, the cells it touched are not marked.
    const isStep = this.#ply === shown + 1 && isMoving();
    this.#board.draw({
      board, view: PLAIN, overlay: {}, look, last: difference && !look.slide ? touched(difference) : new Set(),
      move: isStep ? (stage) => show(motionBetween(before, board, look.slide?.(game.moves[shown])), stage) : undefined,
    });
    this.#evaluations?.mark(this.#ply);
    for (const row of this.#rows.rows) {
      const isHere = Number(row.dataset.row) === this.#ply;
      if (isHere) row.querySelector('button').setAttribute('aria-current', 'step');
      else row.querySelector('button').removeAttribute('aria-current');
      row.classList.toggle('here', isHere);
      // Only the list scrolls: the report opens at its top, and stays where it is read.
      if (isHere) this.#moves.scrollTop = row.offsetTop - this.#moves.clientHeight / 2;
    }
    for (const player of ['p1', 'p2']) this.#legend.querySelector(`[data-testid="thinks-${player}"]`).textContent = this.#thinks(player);
    this.#caption.textContent = this.#said();
    this.#text.textContent = boardWords(board).join(' ');
    if (this.#ply !== this.#boards.length - 1) return;
    this.#caption.append(el('b', {}, ` ${game.end}.`));
  }

  /** What a player announced last by the ply that is shown. */
  #thinks(player) {
    for (let ply = this.#ply; ply > 0; ply -= 1) {
      if (this.#game.answers[ply - 1]?.player === player && this.#scores.has(ply)) return viewWords(this.#scores.get(ply));
    }
    return '';
  }

  /** What there is to say of the ply that is shown. */
  #said() {
    const [game, index] = [this.#game, this.#ply - 1];
    const answer = game.answers[index];
    const score = this.#scores.get(this.#ply);
    const who = answer && game.players[answer.player === 'p1' ? 0 : 1];
    const answered = answer && `${who}: ${game.moves[index]}${score ? `, ${viewWords(score)}` : ''}, ${time(answer.time_us)}.`;
    const mark = game.marks?.[index];
    return [`Ply ${this.#ply} of ${this.#boards.length - 1}.`, answered, mark && `Review: ${mark.text}.`].filter(Boolean).join(' ');
  }

  /** Arrows and ends, where nothing else in the viewer wants them. */
  #near(event) {
    if (event.target.closest('input, .board') || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowLeft: this.#ply - 1, ArrowRight: this.#ply + 1, Home: 0, End: this.#boards.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }
}
