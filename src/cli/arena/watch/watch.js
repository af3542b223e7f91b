/**
 * A match as it is played. The server sends the state of each part (`match`, `score`, `result`, `table`, `over`), not what
 * happened since: whoever comes late, or was away, sees the same as everybody. It knows no rules; boards are drawn from the
 * protocol's primitives, as on the page of `plyd gui`.
 */
import { BoardView } from './board.js';
import { change, touched } from './changes.js';
import { byId, el, svg } from './dom.js';
import { loadLook, lookOf } from './looks.js';
import { motionBetween, show } from './motion.js';
import { isMoving } from './preferences.js';
import { PLAIN } from './symmetry.js';
import { clockWords, flipped, playerName, viewWords } from './words.js';

/** How often clocks that run are drawn. */
const TICK_MS = 100;
/** Moves that come faster than this are not animated, else the pieces would never be seen in place. */
const CALM_MS = 600;
/** As many results as the server holds. */
const RESULTS = 200;

/** @type {Map<number, Table>} the games that are played beside each other */
const tables = new Map();
let game = '';

/** A seat beside a board: the player's name, score and clock. */
class Seat {
  #side;
  #who = el('span.who', {});
  #says = el('span.says', {});
  #time = el('span.time', {});

  constructor(player) {
    this.#side = player;
    this.host = el('div.seat', {}, el(`span.chip.of-${player}`, { 'aria-hidden': true }, player.slice(1)), this.#who, this.#says, this.#time);
  }

  draw({ players, scores, to_move: toMove }) {
    const index = this.#side === 'p1' ? 0 : 1;
    this.#who.textContent = players[index];
    this.#who.title = players[index];
    const score = scores[index];
    this.#says.textContent = score ? viewWords(this.#side === 'p1' ? score : flipped(score)) : '';
    this.host.toggleAttribute('data-thinks', toMove === this.#side);
  }

  tick({ clocks_us: clocks, to_move: toMove, thought_us: thought }, came) {
    const clock = clocks[this.#side === 'p1' ? 0 : 1];
    const spent = toMove === this.#side ? thought / 1000 + performance.now() - came : 0;
    this.#time.textContent = clock === null ? '' : clockWords(clock / 1000 - spent);
  }
}

/** A game that is played. */
class Table {
  #title = el('h2', {});
  #board = el('div.board-host', {});
  #seats = { p1: new Seat('p1'), p2: new Seat('p2') };
  #end = el('p.end', {});
  #view;
  #now = null;
  #came = 0;

  constructor(number) {
    const nothing = () => {};
    this.#view = new BoardView(this.#board, { cell: nothing, side: nothing, hover: nothing, drag: nothing, swipe: nothing, key: () => false });
    this.host = el('article.table', { 'data-table': number }, this.#title, this.#seats.p2.host, this.#board, this.#seats.p1.host, this.#end);
  }

  show(now) {
    const look = lookOf(game);
    // If a move shifts everything, the cells it touched are not marked.
    const before = this.#now?.game === now.game && !look.slide ? this.#now.board : null;
    const isCalm = performance.now() - this.#came > CALM_MS;
    [this.#now, this.#came] = [now, performance.now()];
    this.#title.textContent = `Game ${now.game}, after ${now.plies} plies${now.move ? `: ${now.move}` : ''}`;
    for (const seat of Object.values(this.#seats)) seat.draw(now);
    this.#end.textContent = now.end ? ended(now.players, now.end) : '';
    Object.assign(this.host.dataset, { game: now.game, plies: now.plies, over: now.end !== null });
    if (now.board) {
      const difference = before && change(before, now.board);
      this.#view.draw({
        board: now.board, view: PLAIN, overlay: {}, look,
        last: difference ? touched(difference) : new Set(),
        move: difference && isCalm && isMoving() ? (stage) => show(motionBetween(before, now.board), stage) : undefined,
      });
    }
    this.tick();
  }

  tick() {
    for (const seat of Object.values(this.#seats)) seat.tick(this.#now, this.#came);
  }
}

/** How a game ended. */
function ended(players, { winner, by }) {
  return winner ? `${players[winner === 'p1' ? 0 : 1]} (${playerName(winner)}) wins: ${by}` : `A draw: ${by}`;
}

/** How the match stands. */
function score({ games, scheduled, standing, players, results }) {
  byId('standing').textContent = standing;
  byId('played').textContent = `${games} of ${scheduled} games`;
  Object.assign(byId('progress'), { value: games, max: scheduled });
  document.title = `${standing.split('  ')[0]} · plyd arena`;
  for (const [index, { points, games: played }] of players.entries()) {
    byId('players').children[index].querySelector('b').textContent = ` ${points} of ${played}`;
  }
  if (!results) return;
  const total = results.reduce((sum, count) => sum + count) || 1;
  let x = 0;
  byId('share').replaceChildren(...results.map((count, index) => {
    const width = (100 * count) / total;
    x += width;
    return svg('rect', { x: x - width, width, height: 10, class: ['of-p1', 'of-none', 'of-p2'][index] });
  }));
  byId('share').setAttribute('aria-label', `${results[0]} won, ${results[1]} drawn, ${results[2]} lost`);
  byId('share').removeAttribute('hidden');
}

/** Puts a result on top of the list; once, since after a lost connection all come again. */
function result({ game: number, players, winner, by, plies }) {
  const list = byId('results');
  list.querySelector(`[data-result="${number}"]`)?.remove();
  list.prepend(el('li', { 'data-result': number },
    `${number}: ${players.join(' – ')}: `, el('b', {}, winner ? `${players[winner === 'p1' ? 0 : 1]} wins` : 'a draw'), `, ${by}, ${plies} plies`));
  while (list.children.length > RESULTS) list.lastElementChild.remove();
}

function connection(state, words) {
  document.documentElement.dataset.state = state;
  document.body.dataset.connection = state;
  byId('connection-text').textContent = words;
}

const events = new EventSource('events');
/** Resolves when the game's look is loaded and all earlier events are shown. */
let ready = Promise.resolve();
const on = (name, act) => events.addEventListener(name, (event) => {
  // An event that cannot be shown does not stop the others.
  ready = ready.then(() => act(JSON.parse(event.data))).catch((error) => console.error(error));
});

on('match', async ({ game: name, players }) => {
  game = name;
  // After a lost connection it may be another match; all of it comes again.
  tables.clear();
  byId('tables').replaceChildren();
  byId('results').replaceChildren();
  byId('share').setAttribute('hidden', '');
  byId('title').textContent = `${name}: ${players.join(' – ')}`;
  byId('players').replaceChildren(...players.map((player) => el('li', {}, player, el('b', {}, ''))));
  await loadLook(name);
});
on('score', score);
on('result', result);
on('table', (now) => {
  if (!tables.has(now.table)) {
    tables.set(now.table, new Table(now.table));
    const places = [...tables.keys()].sort((a, b) => a - b);
    byId('tables').replaceChildren(...places.map((place) => tables.get(place).host));
  }
  tables.get(now.table).show(now);
});
on('over', () => {
  events.close();
  window.location.replace('report');
});
events.addEventListener('open', () => connection('open', 'Live'));
events.addEventListener('error', () => connection('lost', 'Connection lost; trying again'));
setInterval(() => { for (const table of tables.values()) table.tick(); }, TICK_MS);
