/** Charts of a match, drawn for the width that they get, so that their text has the same size on any screen. */
import { el, svg } from './dom.js';
import { counted, elo, grouped, meanTime, pointsOf, time } from './figures.js';

/** The margin at a chart's right, so that the last number is not cut off. */
const EDGE = 24;

/**
 * A chart as wide as its container.
 * @param {string} label  what it shows, in words
 * @param {(width: number) => {height: number, content: SVGElement[]}} draw
 */
export function chart(label, draw) {
  const root = svg('svg.chart', { role: 'img', 'aria-label': label });
  const host = el('div.chart-host', {}, root);
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(host.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    const { height, content } = draw(width);
    root.setAttribute('viewBox', `0 0 ${width} ${height}`);
    root.replaceChildren(...content);
  }).observe(host);
  return host;
}

/** About so many round numbers from low to high. */
export function ticks(low, high, about = 5) {
  const wide = Math.max(1e-9, high - low) / about;
  const power = 10 ** Math.floor(Math.log10(wide));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= wide * (1 - 1e-9));
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

const number = (value) => grouped(value).replace('-', '−');

/** A text of a chart; the anchor says which part of it is at the point: start, middle or end. */
export const words = (text, x, y, anchor = 'start', className = 'faint') => svg(`text.${className}`, { x, y, 'text-anchor': anchor }, text);

/** A horizontal axis with its numbers. */
export function below(values, x, y, top, text = number) {
  return values.flatMap((value) => [
    svg('line.axis', { x1: x(value), x2: x(value), y1: top, y2: y }), words(text(value), x(value), y + 17, 'middle')]);
}

/** A vertical axis with its numbers. */
const beside = (values, y, left, right, text = number) => values.flatMap((value) => [
  svg('line.axis', { x1: left, x2: right, y1: y(value), y2: y(value) }), words(text(value), left - 8, y(value) + 4, 'end')]);

/** The ratings of players with their errors. */
export function ratingsChart(players, ratings) {
  const rated = ratings.filter((rating) => rating.elo);
  const low = Math.min(0, ...rated.map(({ elo: { value, error } }) => value - error));
  const high = Math.max(0, ...rated.map(({ elo: { value, error } }) => value + error));
  return chart('Ratings in Elo with error bars', (width) => {
    // If there is no room for the names beside the intervals, they stand above them.
    const narrow = width < 640;
    const [left, row] = narrow ? [EDGE, 44] : [260, 30];
    const x = (value) => left + ((value - low) / Math.max(1, high - low)) * (width - left - EDGE);
    const bottom = 10 + rated.length * row;
    const content = below(ticks(low, high, narrow ? 4 : 8), x, bottom, 4);
    content.push(svg('line.zero', { x1: x(0), x2: x(0), y1: 4, y2: bottom }));
    rated.forEach(({ player, elo: { value, error } }, index) => {
      const y = 8 + (index + (narrow ? 0.72 : 0.5)) * row;
      content.push(
        narrow ? words(players[player], 2, y - 13, 'start', 'of') : words(shortened(players[player], 34), left - 14, y + 5, 'end', 'of'),
        svg('line.interval', { x1: x(value - (error ?? 0)), x2: x(value + (error ?? 0)), y1: y, y2: y }),
        svg('circle.point', { cx: x(value), cy: y, r: 5 }, svg('title', {}, `${players[player]}: ${elo({ value, error })}`)));
    });
    return { height: bottom + 24, content };
  });
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The score of each player by its mean time per move, on a logarithmic axis; null if nobody moved. */
export function scoreAgainstTime(players, summary) {
  const shown = players
    .map((name, index) => ({ name, us: Math.max(1, meanTime(summary.players[index])), ...pointsOf(summary, index) }))
    .filter(({ played }) => played);
  if (!shown.length) return null;
  const logs = shown.map(({ us }) => Math.log10(us));
  const low = Math.floor(Math.min(...logs));
  const high = Math.max(low + 1, Math.ceil(Math.max(...logs)));
  return chart('Score of each player by its mean time per move', (width) => {
    const [left, top, bottom] = [58, 14, 224];
    const x = (us) => left + 14 + ((Math.log10(us) - low) / (high - low)) * (width - left - 14 - 2 * EDGE);
    const y = (share) => bottom - share * (bottom - top);
    const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
    const between = high - low < 3 && width > 480 ? decades.slice(0, -1).flatMap((us) => [2 * us, 5 * us]) : [];
    const content = [
      ...beside([0, 0.25, 0.5, 0.75, 1], y, left, width - 4, (share) => `${100 * share} %`),
      ...below([...decades, ...between], x, bottom, top, time)];
    for (const { name, us, made, played } of shown) {
      const share = made / played;
      const isLeft = x(us) > width / 2;
      content.push(
        svg('circle.point', { cx: x(us), cy: y(share), r: 5 }, svg('title', {}, `${name}: ${(100 * share).toFixed(1)} %, ${time(us)} a move`)),
        words(shortened(name, Math.floor(width / 16)), x(us) + (isLeft ? -9 : 9), y(share) + (share > 0.9 ? 18 : -8), isLeft ? 'end' : 'start', 'of'));
    }
    return { height: bottom + 24, content };
  });
}

/** A histogram of game lengths; null if there is no game. @param {Record<string, number>} lengths */
export function gameLengths(lengths) {
  const moves = Object.keys(lengths).map(Number);
  if (!moves.length) return null;
  const [low, high] = [Math.min(...moves), Math.max(...moves)];
  const wide = Math.max(1, Math.ceil((high - low + 1) / 40));
  const columns = Array.from({ length: Math.floor((high - low) / wide) + 1 }, () => 0);
  for (const [at, count] of Object.entries(lengths)) columns[Math.floor((at - low) / wide)] += count;
  const tallest = Math.max(...columns);
  return chart('Game lengths in moves', (width) => {
    const [left, top, bottom] = [58, 10, 170];
    const each = (width - left - EDGE) / columns.length;
    const x = (at) => left + ((at - low + 0.5) / wide) * each;
    const y = (count) => bottom - (count / tallest) * (bottom - top);
    const content = [
      ...beside(ticks(0, tallest, 4).filter(Number.isInteger), y, left, width - 4),
      ...below(ticks(low, high, width < 500 ? 5 : 10).filter(Number.isInteger), x, bottom + 4, bottom)];
    columns.forEach((count, index) => {
      const from = low + index * wide;
      const range = wide === 1 ? counted(from, 'move') : `${from} to ${counted(from + wide - 1, 'move')}`;
      content.push(svg('rect.column', { x: left + index * each, y: y(count), width: Math.max(1, each - 1.5), height: bottom - y(count) },
        svg('title', {}, `${range}: ${counted(count, 'game')}`)));
    });
    return { height: bottom + 26, content };
  });
}
