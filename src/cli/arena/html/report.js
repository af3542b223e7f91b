/** The report of a match: figures and charts from one JSON object, and its games to step through. */
import { gameLengths, ratingsChart, scoreAgainstTime } from './charts.js';
import { el } from './dom.js';
import { counted, elo, grouped, meanTime, percent, points, pointsOf, table, time } from './figures.js';
import { gamesSection } from './games.js';
import { headline } from './headline.js';
import { loadLook } from './looks.js';
import { slideFigure } from './slide.js';

const data = JSON.parse(document.getElementById('data').textContent);
const { report, games, lengths, errors } = data;
const { summary, players } = report;
const main = document.querySelector('main');
await loadLook(report.game, 'plyd/look.js');

function section(title, ...content) {
  main.append(el('section', {}, el('h2', {}, title), ...content.filter(Boolean)));
}

/** The facts beside the picture of the result. */
function facts() {
  const rules = Object.entries(report.rules).map(([name, value]) => `${name} ${value}`).join(', ');
  const out = [];
  if (players.length === 2) {
    const [{ score, superiority }] = report.scores;
    const [{ wins, draws, losses }] = summary.meetings;
    out.push(['Won, drawn, lost', `+${wins} =${draws} −${losses}`]);
    if (score) out.push(['Score', percent(score)]);
    out.push(['Elo', elo(report.scores[0].elo)]);
    if (superiority !== null) out.push(['Likelihood of superiority', `${(100 * superiority).toFixed(1)} %`]);
  }
  if (report.sprt) {
    const { llr, lower, upper, verdict } = report.sprt;
    const words = { h0: 'H0 is accepted', h1: 'H1 is accepted', continue: 'no hypothesis is accepted' }[verdict] ?? verdict;
    out.push(['SPRT', `LLR ${llr.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)}): ${words}`]);
  }
  out.push(['Games', `${grouped(summary.games)} of ${grouped(report.scheduled)}, from ${counted(report.openings, 'different opening')}`]);
  if (rules) out.push(['Rules', rules]);
  out.push(['Seed', report.seed]);
  const ended = { interrupted: 'The match was interrupted.', decided: 'The match ended when its test was decided.' }[report.ended];
  const notes = [ended, summary.unplayed > 0 && `Games left out because a server was overloaded: ${grouped(summary.unplayed)}.`].filter(Boolean);
  return el('div', {}, el('dl', {}, ...out.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    notes.length ? el('p.about', {}, notes.join(' ')) : null,
    el('p.help', {}, 'The number after ± is half the width of a 95 % interval; ? if all pairs of games ended alike, which says nothing of it.'));
}

function result() {
  const sentence = headline(report);
  document.title = `${sentence}: ${report.game}`;
  document.getElementById('title').textContent = `${report.game}: ${counted(summary.games, 'game')}`;
  main.append(el('section', {}, el('h1.verdict', { testid: 'headline' }, sentence),
    el('div.halves', {}, slideFigure(report, sentence), facts())));
}

/** The points of a player against another, of those that there were. */
function cell(a, b) {
  if (a === b) return '';
  const pairing = summary.meetings.find(({ players: two }) => two.includes(a) && two.includes(b));
  const games = pairing && pairing.wins + pairing.draws + pairing.losses;
  if (!games) return '–';
  const won = (pairing.players[0] === a ? pairing.wins : pairing.losses) + pairing.draws / 2;
  return `${points(won)}/${games}`;
}

function ratings() {
  if (!report.ratings) return;
  if (report.ratings.some((rating) => rating.elo)) section('Ratings in Elo, with 95 % intervals', ratingsChart(players, report.ratings));
  const order = report.ratings.map(({ player }) => player);
  section('Crosstable', table('Crosstable', ['player', 'Elo', 'points', ...order.map((_, rank) => String(rank + 1))],
    report.ratings.map(({ player, elo: rating }, rank) => {
      const { made, played } = pointsOf(summary, player);
      return [`${rank + 1}. ${players[player]}`, elo(rating), `${points(made)}/${played}`, ...order.map((other) => cell(player, other))];
    })));
}

function lengthsOfGames() {
  const chart = gameLengths(lengths);
  if (!chart) return;
  const mean = summary.moves / Math.max(1, summary.games);
  const ends = Object.entries(summary.endings).map(([by, count]) => `${grouped(count)} ${by}`).join(', ');
  section('Game lengths', chart, el('p.about', {}, `${mean.toFixed(1)} moves on average. Ended by: ${ends}.`));
}

/** The kinds of faults, with the words for the sentence that says nobody committed them. */
const FAULTS = [
  ['late', 'was late'], ['illegal', 'played an illegal move'], ['crash', 'crashed'], ['silence', 'fell silent'], ['protocol', 'broke the protocol'],
];

function conduct() {
  const counts = [
    ...FAULTS.map(([kind, words]) => [kind, words, (player) => player.faults[kind] ?? 0]),
    ['contradicted proofs', 'announced a proof that the game contradicted', (player) => player.contradicted_proofs],
    ['forgiven', null, (player) => player.forgiven], ['overloaded', null, (player) => player.overloaded],
  ];
  const isSome = ([, , of]) => summary.players.some((player) => of(player) > 0);
  const some = counts.filter(isSome);
  const none = counts.filter((one) => one[1] && !isSome(one)).map(([, words]) => words);
  section('Conduct', table('Conduct', ['player', 'answers', 'mean time', 'longest', ...some.map(([name]) => name)], summary.players.map((player, index) => [
    players[index], grouped(player.answers), time(meanTime(player)), time(player.max_us), ...some.map(([, , of]) => grouped(of(player)))])),
  none.length ? el('p.about', {}, `No player ${none.join(', ').replace(/, ([^,]*)$/, ' or $1')}.`) : null);
}

/** The errors that a review found, by player. */
function reviews() {
  if (!report.review) return;
  const { players: counts, games: reviewed } = report.review;
  section('Review', table('Review', ['player', 'moves', ...errors.map(([, words]) => words)],
    counts.map(({ moves, marks }, index) => [players[index], grouped(moves), ...errors.map(([mark]) => grouped(marks[mark] ?? 0))])),
  el('p.about', {}, `${counted(reviewed, 'game')} reviewed. Marks with ~ are estimates, the others are proven.`));
}

result();
ratings();
const scores = scoreAgainstTime(players, summary);
if (scores) section('Score by mean time per move', scores);
lengthsOfGames();
conduct();
reviews();
if (games.length) {
  const { content, scroll } = gamesSection(data);
  section('Games', ...content);
  scroll();
}
document.documentElement.dataset.ready = 'true';
