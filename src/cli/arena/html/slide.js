/**
 * The result of a match as a picture that needs nothing around it, such as for a talk: 16 to 9, in the colours of the page,
 * saved as SVG or PNG.
 */
import { el, svg } from './dom.js';
import { below, ticks } from './charts.js';
import { download, png } from './download.js';
import { counted, elo, points, pointsOf } from './figures.js';

const [WIDTH, HEIGHT] = [1200, 675];
const [LEFT, RIGHT] = [60, WIDTH - 60];
const FONT = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
/** The most players whose ratings have room. */
const MOST = 7;

/** A text in the picture, with its style in attributes, so that a saved file keeps it. */
const text = (content, x, y, { size = 30, anchor = 'start', fill = 'var(--text)', weight = 400 } = {}) => svg('text', {
  x, y, 'font-size': size, 'text-anchor': anchor, fill, 'font-weight': weight, 'font-family': FONT }, content);

const measure = document.createElement('canvas').getContext('2d');

/** How wide a text is. */
function breadth(content, size, weight) {
  measure.font = `${weight} ${size}px ${FONT}`;
  return measure.measureText(content).width;
}

/** A text, cut off if it is too wide. */
function fitting(content, wide, size, weight = 400) {
  if (breadth(content, size, weight) <= wide) return content;
  let most = content.length;
  while (most > 1 && breadth(`${content.slice(0, most)}…`, size, weight) > wide) most -= 1;
  return `${content.slice(0, most)}…`;
}

/** Lines of a sentence that fit the picture. */
function lines(sentence, size) {
  const out = [''];
  for (const word of sentence.split(' ')) {
    const longer = `${out[out.length - 1]} ${word}`.trim();
    if (breadth(longer, size, 700) <= RIGHT - LEFT || !out[out.length - 1]) out[out.length - 1] = longer;
    else out.push(word);
  }
  return out;
}

/** The picture of a report under its headline. */
export function slide(report, sentence) {
  let size = 54;
  while (size > 30 && lines(sentence, size).length > 2) size -= 4;
  const headline = lines(sentence, size).map((line, index) => text(line, LEFT, 150 + index * size * 1.2, { size, weight: 700 }));
  const { summary, openings, players } = report;
  const about = `${counted(summary.games, 'game')} from ${counted(openings, 'opening')}; errors are 95 % intervals`;
  return svg('svg.slide', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `Picture of the result: ${sentence}` },
    svg('rect', { width: WIDTH, height: HEIGHT, fill: 'var(--card)' }),
    text(`plyd arena · ${report.game}`, LEFT, 74, { size: 30, fill: 'var(--faint)' }),
    ...headline,
    ...(players.length === 2 ? duel(report) : standings(report)),
    text(about, LEFT, HEIGHT - 34, { size: 30, fill: 'var(--faint)' }));
}

/** Wins, draws and losses as parts of a bar, and the difference on an axis. */
function duel({ players, summary, scores: [{ elo: difference }] }) {
  const [{ wins, draws, losses }] = summary.meetings;
  const total = Math.max(1, wins + draws + losses);
  const [top, tall] = [312, 84];
  const half = (RIGHT - LEFT) / 2 - 20;
  const out = [
    text(fitting(players[0], half, 36, 600), LEFT, top - 20, { size: 36, weight: 600 }),
    text(fitting(players[1], half, 36, 600), RIGHT, top - 20, { size: 36, weight: 600, anchor: 'end' })];
  let x = LEFT;
  for (const [count, fill, ink, what] of [[wins, 'var(--p1)', 'var(--on-p1)', 'won'], [draws, 'var(--none)', 'var(--on-p1)', 'drawn'], [losses, 'var(--p2)', 'var(--on-p2)', 'won']]) {
    const wide = (count / total) * (RIGHT - LEFT);
    if (count) out.push(svg('rect', { x, y: top, width: wide, height: tall, fill }));
    const label = [`${count} ${what}`, String(count)].find((words) => breadth(words, 36, 700) < wide - 16);
    if (count && label) out.push(text(label, x + wide / 2, top + 54, { size: 36, weight: 700, anchor: 'middle', fill: ink }));
    x += wide;
  }
  if (!difference) return [...out, text(`${points(wins + draws / 2)} : ${points(losses + draws / 2)}`, WIDTH / 2, 520, { size: 72, weight: 700, anchor: 'middle' })];
  return [...out, ...axis([{ elo: difference }], 440, 552, () => 496)];
}

/** The players' ratings, or their points where there are none. */
function standings({ players, ratings, summary }) {
  const shown = ratings.slice(0, MOST);
  const top = 265;
  // As much height as there is, if there are few.
  const row = Math.min(76, 294 / shown.length);
  const y = (index) => top + index * row + row / 2;
  const out = shown.map(({ player, elo: rating }, index) => {
    const { made, played } = pointsOf(summary, player);
    const name = rating ? players[player] : `${players[player]}: ${points(made)}/${points(played)}`;
    return text(fitting(`${index + 1}. ${name}`, rating ? 400 : RIGHT - LEFT, 28), LEFT, y(index) + 10, { size: 28 });
  });
  const rated = shown.map((rating, index) => ({ ...rating, y: y(index) })).filter((rating) => rating.elo);
  return rated.length ? [...out, ...axis(rated, top, top + shown.length * row, (index) => rated[index].y, 480)] : out;
}

/** Intervals over an axis of Elo. */
function axis(rated, top, bottom, y, left = LEFT) {
  const low = Math.min(0, ...rated.map(({ elo: { value, error } }) => value - error));
  const high = Math.max(0, ...rated.map(({ elo: { value, error } }) => value + error));
  const x = (value) => left + 40 + ((value - low) / Math.max(1, high - low)) * (RIGHT - left - 80);
  const out = [];
  for (const node of below(ticks(low, high, 6), x, bottom, top)) {
    if (node.tagName === 'text') {
      out.push(text(node.textContent, node.getAttribute('x'), bottom + 36, { size: 28, anchor: 'middle', fill: 'var(--faint)' }));
    } else {
      node.setAttribute('stroke', 'var(--edge)');
      out.push(node);
    }
  }
  out.push(svg('line', { x1: x(0), x2: x(0), y1: top, y2: bottom, stroke: 'var(--faint)', 'stroke-width': 2 }));
  rated.forEach(({ elo: { value, error } }, index) => {
    const at = y(index);
    out.push(
      svg('line', { x1: x(value - (error ?? 0)), x2: x(value + (error ?? 0)), y1: at, y2: at, stroke: 'var(--link)', 'stroke-width': 6, 'stroke-linecap': 'round' }),
      svg('circle', { cx: x(value), cy: at, r: 11, fill: 'var(--link)' }, svg('title', {}, elo({ value, error }))));
  });
  out.push(text('Elo', RIGHT, bottom + 36, { size: 28, anchor: 'end', fill: 'var(--faint)' }));
  return out;
}

/** The picture as a file of its own: with the page's colours as they are now instead of their names. */
export function asFile(picture) {
  const copy = picture.cloneNode(true);
  copy.setAttribute('width', WIDTH);
  copy.setAttribute('height', HEIGHT);
  copy.removeAttribute('class');
  const style = getComputedStyle(document.documentElement);
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

/** The picture with the buttons that save it. */
export function slideFigure(report, sentence) {
  const picture = slide(report, sentence);
  const name = `plyd-${report.game}`;
  return el('figure.result', {}, picture, el('figcaption.row', {},
    el('button', { testid: 'save-svg', onclick: () => download(new Blob([asFile(picture)], { type: 'image/svg+xml' }), `${name}.svg`) }, 'Save as SVG'),
    el('button', { testid: 'save-png', onclick: async () => download(await png(asFile(picture), 2 * WIDTH), `${name}.png`) }, 'Save as PNG')));
}
