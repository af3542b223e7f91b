// The report of a match: tables and charts from one JSON object, and its games to step through.
import { BoardView } from 'plyd/board.js';
import { change, pieceKey, touched } from 'plyd/changes.js';
import { el, svg } from 'plyd/dom.js';
import { loadLook, lookOf, moveWords } from 'plyd/looks.js';
import { PLAIN } from 'plyd/symmetry.js';
import { boardWords, scoreWords } from 'plyd/words.js';

const data = JSON.parse(document.getElementById('data').textContent);
const { report, games, lengths, errors } = data;
const { summary, players } = report;
const main = document.querySelector('main');
await loadLook(report.game, 'plyd/look.js');

const percent = ({ value, error }) => `${(100 * value).toFixed(1)} % ± ${(100 * error).toFixed(1)}`;
const elo = (estimate) => (estimate ? `${estimate.value >= 0 ? '+' : '−'}${Math.abs(estimate.value).toFixed(1)} ± ${estimate.error.toFixed(1)}` : '–');
const time = (us) => (us < 1000 ? `${us} µs` : us < 1e6 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1e6).toFixed(2)} s`);
const grouped = (n) => n.toLocaleString('en');

function section(title, ...content) {
  main.append(el('section', {}, el('h2', {}, title), ...content));
}

/** A table; `name` columns are to the left. */
function table(heading, rows) {
  const head = el('tr', {}, ...heading.map((text) => el('th', { scope: 'col' }, text)));
  return el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((cell) => el('td', {}, cell))))));
}

/** The points of a player over all its pairings. */
function pointsOf(index) {
  let [points, played] = [0, 0];
  for (const pairing of summary.meetings) {
    const side = pairing.players.indexOf(index);
    if (side < 0) continue;
    points += (side === 0 ? pairing.wins : pairing.losses) + pairing.draws / 2;
    played += pairing.wins + pairing.draws + pairing.losses;
  }
  return { points, played };
}

const meanTime = (index) => summary.players[index].time_us / Math.max(1, summary.players[index].answers);

function result() {
  const rules = Object.entries(report.rules).map(([name, value]) => `${name} ${value}`).join(', ');
  document.getElementById('title').textContent = `${report.game}: ${grouped(summary.games)} games`;
  const about = [
    rules && `Rules: ${rules}.`,
    `${grouped(summary.games)} of ${grouped(report.scheduled)} games, ${report.openings} different openings, seed ${report.seed}.`,
    { interrupted: 'The match was interrupted.', decided: 'The match ended when its test was decided.' }[report.ended],
    summary.unplayed > 0 && `Left out because a server was overloaded: ${grouped(summary.unplayed)}.`,
  ].filter(Boolean).join(' ');
  const content = [el('p.about', {}, about)];
  if (players.length === 2) {
    const [{ score, elo: difference, superiority }] = report.scores;
    const [{ wins, draws, losses }] = summary.meetings;
    content.unshift(
      el('p', {}, el('b', {}, players[0]), ' against ', el('b', {}, players[1])),
      el('p.verdict', {}, `+${wins} =${draws} −${losses}   ${score ? percent(score) : ''}`),
      el('p', {}, `Elo ${elo(difference)}`, superiority === null ? '' : `; likelihood of superiority ${(100 * superiority).toFixed(1)} %`),
    );
  }
  if (report.sprt) {
    const { llr, lower, upper, verdict } = report.sprt;
    const words = { h0: 'H0 is accepted', h1: 'H1 is accepted', continue: 'no hypothesis is accepted' }[verdict] ?? verdict;
    content.push(el('p', {}, `LLR ${llr.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)}): ${words}.`));
  }
  section('Result', ...content);
}

function ratings() {
  if (!report.ratings) return;
  const rated = report.ratings.filter((rating) => rating.elo);
  if (rated.length) {
    const low = Math.min(...rated.map(({ elo: e }) => e.value - e.error));
    const high = Math.max(...rated.map(({ elo: e }) => e.value + e.error));
    const x = (value) => 250 + ((value - low) / Math.max(1, high - low)) * 350;
    const rows = rated.flatMap(({ player, elo: e }, row) => {
      const y = 22 + row * 28;
      return [
        svg('text', { x: 240, y: y + 4, 'text-anchor': 'end' }, players[player]),
        svg('line.interval', { x1: x(e.value - e.error), x2: x(e.value + e.error), y1: y, y2: y }),
        svg('circle.point', { cx: x(e.value), cy: y, r: 5 }, svg('title', {}, `${players[player]}: ${elo(e)}`)),
      ];
    });
    const bottom = 12 + rated.length * 28;
    for (const value of ticks(low, high)) {
      rows.push(svg('line.axis', { x1: x(value), x2: x(value), y1: bottom - 4, y2: bottom }),
        svg('text.faint', { x: x(value), y: bottom + 14, 'text-anchor': 'middle' }, String(value).replace('-', '−')));
    }
    const chart = svg('svg.chart', { viewBox: `0 0 620 ${bottom + 20}`, role: 'img', 'aria-label': 'Ratings in Elo with their errors' },
      svg('line.axis', { x1: x(0), x2: x(0), y1: 4, y2: 12 + rated.length * 28 }), ...rows);
    section('Ratings in Elo, with 95 % intervals', chart);
  }
  const order = report.ratings.map(({ player }) => player);
  const cell = (a, b) => {
    if (a === b) return '';
    const pairing = summary.meetings.find(({ players: two }) => two.includes(a) && two.includes(b));
    if (!pairing) return '–';
    const won = (pairing.players[0] === a ? pairing.wins : pairing.losses) + pairing.draws / 2;
    return `${won}/${pairing.wins + pairing.draws + pairing.losses}`;
  };
  section('Crosstable', table(['player', 'Elo', 'points', ...order.map((_, rank) => String(rank + 1))],
    report.ratings.map(({ player, elo: e }, rank) => {
      const { points, played } = pointsOf(player);
      return [`${rank + 1}. ${players[player]}`, elo(e), `${points}/${played}`, ...order.map((other) => cell(player, other))];
    })));
}

/** Round numbers from low to high, about five. */
function ticks(low, high) {
  const wide = Math.max(1, high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(wide));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= wide);
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, index) => (Math.ceil(low / step) + index) * step);
}

/** Score over the mean time of a move, on a logarithmic axis. */
function scoreAgainstTime() {
  const points = players.map((name, index) => ({ name, us: Math.max(1, meanTime(index)), ...pointsOf(index) })).filter(({ played }) => played);
  if (!points.length) return;
  const logs = points.map(({ us }) => Math.log10(us));
  const [low, high] = [Math.floor(Math.min(...logs)), Math.max(Math.floor(Math.min(...logs)) + 1, Math.ceil(Math.max(...logs)))];
  const x = (us) => 50 + ((Math.log10(us) - low) / (high - low)) * 540;
  const y = (share) => 215 - share * 200;
  const out = [];
  for (const share of [0, 0.5, 1]) {
    out.push(svg('line.axis', { x1: 50, x2: 590, y1: y(share), y2: y(share) }), svg('text.faint', { x: 44, y: y(share) + 4, 'text-anchor': 'end' }, `${100 * share} %`));
  }
  for (let power = low; power <= high; power += 1) out.push(svg('text.faint', { x: x(10 ** power), y: 238, 'text-anchor': 'middle' }, time(10 ** power)));
  for (const { name, us, points: made, played } of points) {
    const share = made / played;
    const left = x(us) > 400;
    out.push(svg('circle.point', { cx: x(us), cy: y(share), r: 5 }, svg('title', {}, `${name}: ${(100 * share).toFixed(1)} %, ${time(Math.round(us))} a move`)),
      svg('text', { x: x(us) + (left ? -9 : 9), y: y(share) + (share > 0.9 ? 15 : -7), 'text-anchor': left ? 'end' : 'start' }, name));
  }
  section('Score against the mean time of a move', svg('svg.chart', { viewBox: '0 0 620 245', role: 'img', 'aria-label': 'Score of each player over its mean time a move' }, ...out));
}

function gameLengths() {
  const moves = Object.keys(lengths).map(Number);
  if (!moves.length) return;
  const [low, high] = [Math.min(...moves), Math.max(...moves)];
  const wide = Math.max(1, Math.ceil((high - low + 1) / 40));
  const columns = Array.from({ length: Math.floor((high - low) / wide) + 1 }, () => 0);
  for (const [at, count] of Object.entries(lengths)) columns[Math.floor((at - low) / wide)] += count;
  const tallest = Math.max(...columns);
  const width = 560 / columns.length;
  const bars = columns.map((count, index) => {
    const from = low + index * wide;
    const name = wide === 1 ? `${from}` : `${from} to ${from + wide - 1}`;
    return svg('rect.column', { x: 40 + index * width, y: 150 - (count / tallest) * 130, width: Math.max(1, width - 1.5), height: (count / tallest) * 130 },
      svg('title', {}, `${name} moves: ${count} games`));
  });
  const chart = svg('svg.chart', { viewBox: '0 0 620 175', role: 'img', 'aria-label': 'How many games have how many moves' }, ...bars,
    svg('line.axis', { x1: 40, x2: 600, y1: 150, y2: 150 }),
    svg('text.faint', { x: 40, y: 168 }, `${low} moves`), svg('text.faint', { x: 600, y: 168, 'text-anchor': 'end' }, String(high)));
  const mean = summary.moves / Math.max(1, summary.games);
  const ends = Object.entries(summary.endings).map(([by, count]) => `${grouped(count)} ${by}`).join(', ');
  section('Game lengths', chart, el('p.about', {}, `${mean.toFixed(1)} moves in the mean. Ended by: ${ends}.`));
}

function conduct() {
  const kinds = ['late', 'illegal', 'crash', 'silence', 'protocol'];
  section('Conduct', table(['player', 'answers', 'mean', 'longest', ...kinds, 'contradicted proofs', 'forgiven', 'overloaded'], summary.players.map((player, index) => [
    players[index], grouped(player.answers), time(Math.round(meanTime(index))), time(player.max_us),
    ...kinds.map((kind) => grouped(player.faults[kind] ?? 0)), grouped(player.contradicted_proofs), grouped(player.forgiven),
    grouped(player.overloaded),
  ])));
}

/** The errors that a review found, by player. */
function reviews() {
  if (!report.review) return;
  const { players: counts, games: reviewed } = report.review;
  section('Review', table(['player', 'moves', ...errors.map(([, words]) => words)],
    counts.map(({ moves, marks }, index) => [players[index], grouped(moves), ...errors.map(([mark]) => grouped(marks[mark] ?? 0))])),
  el('p.about', {}, `${grouped(reviewed)} games reviewed. Marks behind ~ are estimates, the others are proven.`));
}

/** A value with what changed: see `delta` in the command. */
function patched(old, delta) {
  if (Array.isArray(delta)) return delta[0];
  const out = Array.isArray(old) ? old.slice(0, delta.length ?? old.length) : { ...old };
  for (const [key, part] of Object.entries(delta)) {
    if (Array.isArray(old) && key === 'length') continue;
    if (Array.isArray(part) && !part.length) delete out[key];
    else out[key] = patched(out[key], part);
  }
  return out;
}

/** Steps through a game. */
class Viewer {
  #ply = 0;
  #game = null;
  #boards = [];
  #host = el('div.board-host', {});
  #text = el('p.unseen', { 'aria-live': 'polite' });
  #caption = el('p.help', {});
  #moves = el('ol', {});
  #slider = el('input', { type: 'range', min: 0, 'aria-label': 'Ply', oninput: () => this.go(Number(this.#slider.value)) });
  #heading = el('h2', {});

  constructor(host) {
    const nothing = () => {};
    this.board = new BoardView(this.#host, { cell: nothing, side: nothing, hover: nothing, drag: nothing, swipe: nothing, key: (event) => this.#key(event) });
    const to = (label, ply) => el('button', { 'aria-label': label, onclick: () => this.go(ply()) }, { 'First position': '⏮', 'One ply back': '◀', 'One ply on': '▶', 'Last position': '⏭' }[label]);
    const transport = el('div.transport', {}, to('First position', () => 0), to('One ply back', () => this.#ply - 1), this.#slider,
      to('One ply on', () => this.#ply + 1), to('Last position', () => this.#boards.length - 1));
    host.append(this.#heading, el('div.viewer', {}, el('div', {}, this.#host, transport), el('div', {}, this.#caption, this.#moves, this.#text)));
  }

  show(game) {
    this.#game = game;
    this.#boards = [];
    for (const part of game.boards) this.#boards.push(this.#boards.length ? patched(this.#boards[this.#boards.length - 1], part) : part);
    this.#heading.textContent = `Game ${game.number}: ${game.players[0]} – ${game.players[1]}`;
    this.#slider.max = this.#boards.length - 1;
    const marked = (mark) => (mark?.error ? { 'data-mark': mark.proven ? 'proven' : 'estimated' } : {});
    this.#moves.replaceChildren(...game.moves.map((move, index) => el(index < game.opening ? 'li.opening' : 'li', {},
      el('button', { 'data-ply': index + 1, ...marked(game.marks?.[index]), title: moveWords(report.game, move), onclick: () => this.go(index + 1) }, move))));
    this.go(game.opening);
  }

  go(ply) {
    const game = this.#game;
    this.#ply = Math.max(0, Math.min(this.#boards.length - 1, ply));
    this.#slider.value = this.#ply;
    const [board, before] = [this.#boards[this.#ply], this.#boards[this.#ply - 1]];
    const difference = before && change(before, board);
    this.board.draw({
      board, view: PLAIN, overlay: {}, look: lookOf(report.game),
      last: difference ? touched(difference) : new Set(), fresh: new Set(difference?.came.map(pieceKey)),
    });
    for (const button of this.#moves.querySelectorAll('button')) {
      const here = Number(button.dataset.ply) === this.#ply;
      button.toggleAttribute('aria-current', here);
      // Only the list scrolls: the report opens at its top.
      if (here) this.#moves.scrollTop = button.offsetTop - this.#moves.offsetTop - this.#moves.clientHeight / 2;
    }
    const answer = game.answers[this.#ply - 1];
    const end = this.#ply === this.#boards.length - 1 ? game.end : '';
    const answered = answer ? `${answer.player === 'p1' ? game.players[0] : game.players[1]}: ${time(answer.time_us)}${answer.score ? `, ${scoreWords(answer.score)}` : ''}` : '';
    const mark = game.marks?.[this.#ply - 1];
    this.#caption.textContent = [`Ply ${this.#ply} of ${this.#boards.length - 1}.`, answered && `${answered}.`, mark && `Review: ${mark.text}.`, end].filter(Boolean).join(' ');
    this.#text.textContent = boardWords(board);
  }

  #key(event) {
    const step = { n: 1, p: -1 }[event.key];
    if (step) this.go(this.#ply + step);
    return Boolean(step);
  }
}

function playable() {
  if (!games.length) return;
  const host = el('div', {});
  const rows = games.map((game) => el('tr', {},
    el('td', {}, el('button', { 'data-game': game.number, onclick: () => choose(game) }, String(game.number))),
    el('td.name', {}, game.players[0]), el('td.name', {}, game.players[1]), el('td', {}, String(game.moves.length)),
    el(game.fault ? 'td.name.fault' : 'td.name', {}, game.end)));
  const head = el('tr', {}, ...['game', 'p1', 'p2', 'plies', 'end'].map((text) => el(text === 'plies' ? 'th' : 'th.name', { scope: 'col' }, text)));
  const left = summary.games - games.length;
  const filter = el('input.filter', {
    type: 'search', placeholder: 'Player or end', 'aria-label': 'Show the games of a player or with an end', oninput: () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    },
  });
  section('Games', filter, el('div.games', {}, el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows))),
    left > 0 ? el('p.about', {}, `${grouped(left)} more games are not in this page; those with faults come first. “plyd show” steps through any of a record.`) : null, host);
  const viewer = new Viewer(host);
  function choose(game) {
    for (const row of rows) row.setAttribute('aria-selected', String(row.querySelector('button').dataset.game === String(game.number)));
    window.history.replaceState(null, '', `#game-${game.number}`);
    viewer.show(game);
  }
  // A link to a game: report.html#game-7.
  const linked = () => games.find((game) => `#game-${game.number}` === window.location.hash);
  window.addEventListener('hashchange', () => linked() && choose(linked()));
  choose(linked() ?? games[0]);
}

result();
ratings();
scoreAgainstTime();
gameLengths();
conduct();
reviews();
playable();
