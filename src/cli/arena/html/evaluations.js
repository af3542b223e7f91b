/** The scores that both players of a game announced, by ply: a line for each, from player 1's view. */
import { chart, below, ticks, words } from './charts.js';
import { svg } from './dom.js';
import { scaleOf } from './graph.js';
import { flipped, height, units, viewWords } from './words.js';

/**
 * The scores that were announced, by ply from 1, from player 1's view.
 * @returns {Array<{ply: number, player: 'p1'|'p2', score: object}>}
 */
export function scoresOf(game) {
  return game.answers.flatMap((answer, index) => (answer?.score
    ? [{ ply: index + 1, player: answer.player, score: answer.player === 'p2' ? flipped(answer.score) : answer.score }] : []));
}

/** The graph of a game's scores. A click on it goes to the ply there. */
export class Evaluations {
  #game;
  #ply = 0;
  #place = null;

  /** @param {(ply: number) => void} go */
  constructor(game, go) {
    this.#game = game;
    this.host = chart('Each player’s scores, from player 1’s view', (width) => this.#draw(width));
    this.host.classList.add('evaluations');
    this.host.addEventListener('click', (event) => {
      if (!this.#place) return;
      const { left, x } = this.#place;
      const at = event.clientX - this.host.getBoundingClientRect().left - left;
      go(Math.round(Math.max(0, Math.min(1, at / (x(1) - x(0)) / Math.max(1, game.moves.length))) * game.moves.length));
    });
  }

  /** Marks the ply that the board shows. */
  mark(ply) {
    this.#ply = ply;
    const x = this.#place?.x(ply);
    if (x !== undefined) this.host.querySelector('.here')?.setAttribute('d', `M${x} 8V${this.#place.bottom}`);
  }

  #draw(width) {
    const plies = Math.max(1, this.#game.moves.length);
    const found = scoresOf(this.#game);
    const scale = scaleOf(Object.fromEntries(found.map(({ ply, score }) => [ply, score])));
    const [left, top, bottom] = [72, 12, 152];
    const x = (ply) => left + (ply / plies) * (width - left - 14);
    const y = (level) => (top + bottom) / 2 - level * ((bottom - top) / 2);
    this.#place = { left, x, bottom };
    const content = [];
    // The scale is the score drawn half of the way up; the ends are proofs.
    const hasUnits = found.some(({ score }) => !score.proof && score.eval !== undefined);
    const levels = [[1, 'P1 wins'], [0, '0'], [-1, 'P2 wins'], ...(hasUnits ? [[0.475, units(scale)], [-0.475, units(-scale)]] : [])];
    for (const [level, text] of levels) {
      content.push(svg(level ? 'line.axis' : 'line.zero', { x1: left, x2: width - 14, y1: y(level), y2: y(level) }), words(text, left - 8, y(level) + 4, 'end'));
    }
    content.push(...below(ticks(0, plies, width < 500 ? 5 : 10).filter(Number.isInteger), x, bottom + 4, bottom));
    for (const player of ['p1', 'p2']) {
      const points = found.filter((one) => one.player === player)
        .map(({ ply, score }) => ({ ply, score, level: height(score, scale) })).filter(({ level }) => level !== null);
      const path = points.map(({ ply, level }, index) => `${index ? 'L' : 'M'}${x(ply)} ${y(level)}`).join('');
      content.push(svg('g', { class: `line-of-${player}`, 'data-scores': points.length }, svg('path', { d: path }),
        ...points.map(({ ply, score, level }) => svg('circle', { cx: x(ply), cy: y(level), r: plies > 120 ? 1.2 : 2.8 },
          svg('title', {}, `ply ${ply}: ${viewWords(score)}`)))));
    }
    content.push(svg('path.here', { d: `M${x(this.#ply)} 8V${bottom}` }));
    return { height: bottom + 24, content };
  }
}
