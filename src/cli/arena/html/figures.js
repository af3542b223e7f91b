/** Figures of a match as its report writes them, and the tables that hold them. */
import { el } from './dom.js';

/** A number without its sign, rounded to so many decimals. */
const size = (value, decimals) => Math.abs(value).toFixed(decimals);

/** A number with its sign; what is shown as zero has none but a plus. */
export function signed(value, decimals = 0) {
  const text = size(value, decimals);
  return `${value < 0 && Number(text) !== 0 ? '−' : '+'}${text}`;
}

/** An error; null if the results do not say how large it is. */
const errorOf = (error, decimals) => (error === null ? '?' : size(error, decimals));

/** A difference in Elo with its error. */
export const elo = (estimate, decimals = 1) => (estimate ? `${signed(estimate.value, decimals)} ± ${errorOf(estimate.error, decimals)}` : '–');

/** A share of the points with its error. */
export const percent = ({ value, error }) => `${(100 * value).toFixed(1)} % ± ${errorOf(error === null ? null : 100 * error, 1)}`;

/** A time in microseconds. */
export const time = (us) => (us < 1000 ? `${Math.round(us)} µs` : us < 1e6 ? `${Number((us / 1000).toPrecision(3))} ms` : `${Number((us / 1e6).toPrecision(3))} s`);

export const grouped = (n) => n.toLocaleString('en');

/** A count with its noun. */
export const counted = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? '' : 's'}`;

/** Half points as people write them. */
export const points = (made) => String(made).replace(/^0?\.5$/, '½').replace('.5', '½');

/**
 * The points of a player over all its pairings.
 * @returns {{made: number, played: number}}
 */
export function pointsOf(summary, index) {
  let [made, played] = [0, 0];
  for (const { players, wins, draws, losses } of summary.meetings) {
    const side = players.indexOf(index);
    if (side < 0) continue;
    made += (side === 0 ? wins : losses) + draws / 2;
    played += wins + draws + losses;
  }
  return { made, played };
}

/** The time that a player took for a move, in the mean, in microseconds. */
export const meanTime = ({ time_us: us, answers }) => us / Math.max(1, answers);

/** What is wider or longer than its place, to be scrolled there, also by keys. */
export const scrolled = (label, ...content) => el('div.scroll', { role: 'region', 'aria-label': label, tabindex: 0 }, ...content);

/** A table of texts; the first column names the rows. */
export function table(label, heading, rows) {
  const head = el('tr', {}, ...heading.map((text) => el('th', { scope: 'col' }, text)));
  const cells = ([name, ...rest]) => [el('th.name', { scope: 'row' }, name), ...rest.map((cell) => el('td', {}, cell))];
  return scrolled(label, el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows.map((row) => el('tr', {}, ...cells(row))))));
}
