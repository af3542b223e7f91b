/** The games of a match: a list with filters, and the one that is chosen on a board. */
import { el } from './dom.js';
import { counted, scrolled } from './figures.js';
import { Replay } from './replay.js';

/** The endings of games that were lost on time. */
const BY_CLOCK = ['late', 'silence'];

/** A game's result from a player's view, or who won if no player is named. */
function result(game, name) {
  if (!game.winner) return 'draw';
  if (!name) return game.winner;
  return game.players[game.winner === 'p1' ? 0 : 1] === name ? 'won' : 'lost';
}

/** The key of an opening, equal for equal ones: the start position and the moves that no player chose. */
const openingOf = (game) => JSON.stringify([game.boards[0], game.moves.slice(0, game.opening)]);

/** The openings by their texts, numbered as they first appear, with words for people. */
function openings(games) {
  const found = new Map();
  for (const game of games) {
    const key = openingOf(game);
    if (!found.has(key)) found.set(key, `${found.size + 1}: ${game.moves.slice(0, game.opening).join(' ') || 'the start'}`);
  }
  return found;
}

/** A selection list with its label; the first option is any. */
const choice = (label, testid, options) => {
  const select = el('select', { testid }, ...options.map(([value, text]) => el('option', { value }, text)));
  return { select, field: el('label', {}, label, select) };
};

/** The filters, and whether a game passes them. */
class Filters {
  constructor(players, games, changed) {
    const keys = [...openings(games)];
    const ends = [...new Set(games.map((game) => game.by))].sort();
    const lengths = games.map((game) => game.moves.length);
    this.player = choice('Player', 'filter-player', [['', 'any'], ...players.map((name) => [name, name])]);
    this.result = choice('Result', 'filter-result', [
      ['', 'any'], ['won', 'the player won'], ['lost', 'the player lost'], ['draw', 'a draw'], ['p1', 'p1 won'], ['p2', 'p2 won']]);
    this.opening = choice('Opening', 'filter-opening', [['', 'any'], ...keys.map(([, words], index) => [String(index), words])]);
    this.end = choice('Ended by', 'filter-end', [['', 'any'], ...ends.map((by) => [by, by])]);
    this.keys = keys.map(([key]) => key);
    const number = (testid, value) => el('input', { type: 'number', testid, min: 0, placeholder: value });
    this.least = number('filter-least', Math.min(...lengths));
    this.most = number('filter-most', Math.max(...lengths));
    this.clock = el('input', { type: 'checkbox', testid: 'filter-clock' });
    const reset = el('button', { testid: 'filter-reset', type: 'reset' }, 'Show all');
    this.form = el('form.filters', { 'aria-label': 'Filters of the games', oninput: changed, onsubmit: (event) => event.preventDefault(), onreset: () => setTimeout(changed) },
      this.player.field, this.result.field, this.opening.field, this.end.field,
      el('label', {}, 'Plies from', this.least), el('label', {}, 'to', this.most),
      el('label.check', {}, this.clock, 'Only lost on time'), reset);
  }

  /** Which games are wanted now. */
  wants() {
    const name = this.player.select.value;
    // “Won” and “lost” make sense only if a player is chosen.
    for (const option of this.result.select.options) option.disabled = !name && ['won', 'lost'].includes(option.value);
    if (this.result.select.selectedOptions[0]?.disabled) this.result.select.value = '';
    const [outcome, opening, by] = [this.result.select.value, this.opening.select.value, this.end.select.value];
    const [least, most] = [this.least, this.most].map((field) => (field.value === '' ? null : Number(field.value)));
    return (game) => (!name || game.players.includes(name))
      && (!outcome || outcome === result(game, ['won', 'lost'].includes(outcome) ? name : ''))
      && (!opening || openingOf(game) === this.keys[Number(opening)])
      && (!by || game.by === by)
      && (least === null || game.moves.length >= least) && (most === null || game.moves.length <= most)
      && (!this.clock.checked || BY_CLOCK.includes(game.by));
  }
}

/** @param {object} data  of the page */
export function gamesSection({ report, games }) {
  const shown = el('p.about', { role: 'status', testid: 'shown' });
  const filters = new Filters(report.players, games, () => apply());
  const rows = games.map((game) => el('tr', { 'data-row': game.number, onclick: () => choose(game) },
    el('td', {}, el('button', { 'data-game': game.number }, String(game.number))),
    el('td.name', {}, game.players[0]), el('td.name', {}, game.players[1]), el('td', {}, String(game.moves.length)),
    el(game.fault ? 'td.name.fault' : 'td.name', {}, game.end)));
  const head = el('tr', {}, ...['game', 'p1', 'p2', 'plies', 'end'].map((text) => el(text === 'game' || text === 'plies' ? 'th' : 'th.name', { scope: 'col' }, text)));
  const replay = new Replay(report.game);
  const list = scrolled('Games', el('table.list', {}, el('thead', {}, head), el('tbody', {}, ...rows)));
  let chosen = null;
  let passing = games;

  function apply() {
    passing = games.filter(filters.wants());
    games.forEach((game, index) => { rows[index].hidden = !passing.includes(game); });
    const left = report.summary.games - games.length;
    const more = left > 0 ? ` ${counted(left, 'more game')} of the match ${left === 1 ? 'is' : 'are'} not on this page, which has the games with faults and the first ones; “plyd show” steps through any game of a record.` : '';
    shown.textContent = `${passing.length} of ${counted(games.length, 'game')} shown.${more}`;
  }
  function choose(game) {
    chosen = game;
    for (const row of rows) row.classList.toggle('here', row.dataset.row === String(game.number));
    window.history.replaceState(null, '', `#game-${game.number}`);
    replay.show(game);
  }
  /** Goes that many games on in the filtered list, or back if negative. */
  function next(by) {
    const at = passing.indexOf(chosen) + by;
    if (passing[at]) choose(passing[at]);
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input:not([type=range], [type=checkbox]), select')) return;
    const act = { '[': () => replay.step(-1), ']': () => replay.step(1), n: () => next(1), p: () => next(-1) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  // A link to a game: report.html#game-7. Only such a link scrolls.
  const linked = () => games.find((game) => `#game-${game.number}` === window.location.hash);
  window.addEventListener('hashchange', () => linked() && choose(linked()));
  const asked = linked();
  apply();
  choose(asked ?? games[0]);
  if (!asked) window.history.replaceState(null, '', window.location.pathname + window.location.search);
  list.classList.add('games');
  return { content: [filters.form, shown, list, replay.host], scroll: () => asked && replay.host.scrollIntoView() };
}
