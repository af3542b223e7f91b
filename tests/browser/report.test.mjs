// The report that `plyd arena --html` writes, made by the real binary and opened as a file: what it says, what its filters show,
// and a game on its board. PLYD_BIN names a plyd.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { assertAccessible, byTest, launch, picture, PLYD, TIMEOUT } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'plyd-report-'));
const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true };
let browser;

/** Plays a match of fixed nodes, so that no busy machine decides a game: its result as JSON, and its page. */
function arena(name, ...args) {
  const html = join(folder, `${name}.html`);
  const json = execFileSync(PLYD, ['arena', ...args, '--margin', '60s', '--json', '--html', html], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return { result: JSON.parse(json), url: String(pathToFileURL(html)) };
}

const made = {};
before(async () => {
  browser = await launch();
  made.two = arena('two', 'isolation', '--rules', 'width=5,height=5', '--player', 'default,nodes=2000', '--player', 'greedy', '--games', '20', '--review=nodes=500');
  made.three = arena('three', 'ijk', '--rules', 'preset=v2-4x4', '--player', 'default,nodes=100', '--player', 'random', '--player', 'greedy', '--games', '4', '--max-moves', '60');
  // One of the two answers later than it may from its tenth move on.
  const slow = join(folder, 'slow.mjs');
  writeFileSync(slow, `import { spawn } from 'node:child_process';
const engine = spawn(process.argv[2], { stdio: ['pipe', 'pipe', 'ignore'] });
process.stdin.pipe(engine.stdin);
let answers = 0;
engine.stdout.on('data', (data) => {
  answers += data.includes('bestmove');
  setTimeout(() => process.stdout.write(data), answers < 10 ? 0 : 1500);
});
`);
  made.late = JSON.parse(execFileSync(PLYD, ['arena', 'isolation', '--rules', 'width=5,height=5', '--player', 'greedy,time=60s', '--player', `cmd=node ${slow} ${PLYD},nodes=100,time=1s`,
    '--games', '16', '--json', '--html', join(folder, 'late.html')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** A report in a profile of its own, without a network. */
async function open(url, options = DESKTOP) {
  const context = await browser.newContext({ ...options, offline: true });
  context.setDefaultTimeout(TIMEOUT);
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  await page.goto(url);
  await page.waitForSelector('html[data-ready]');
  return page;
}

const close = async (page) => {
  assert.deepEqual(page.faults, []);
  await page.context().close();
};

/** The numbers of the games that the list shows. */
const listed = (page) => page.locator('.list tbody tr:not([hidden]) [data-game]').evaluateAll((all) => all.map((one) => Number(one.dataset.game)));

/** The games as the page holds them. */
const held = (page) => page.evaluate(() => JSON.parse(document.getElementById('data').textContent).games);

const rounded = (value) => Math.round(Math.abs(value));

test('it opens at its top with one sentence that agrees with the result', async () => {
  for (const [name, { result, url }] of Object.entries({ two: made.two, three: made.three })) {
    const page = await open(url);
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    const sentence = await byTest(page, 'headline').textContent();
    const box = await byTest(page, 'headline').boundingBox();
    assert.ok(box.y < 150, `the headline is ${box.y} px below the top`);
    assert.ok(sentence.includes(`over ${result.summary.games} games`) || !result.scores[0].elo, sentence);
    const [{ elo }] = name === 'two' ? result.scores : result.ratings;
    const best = name === 'two' ? result.players[elo?.value < 0 ? 1 : 0] : result.players[result.ratings[0].player];
    assert.ok(sentence.startsWith(best), sentence);
    if (elo && Math.abs(elo.value) > elo.error && elo.error > 0) assert.ok(sentence.includes(`+${rounded(elo.value)} ± ${rounded(elo.error)} Elo`), sentence);
    // The picture says the same, and is where it is seen.
    assert.ok((await page.locator('.slide').getAttribute('aria-label')).endsWith(sentence));
    await close(page);
  }
});

/** How each kind of result is said. */
test('the headline says what a result shows and no more', async () => {
  const page = await open(made.two.url);
  const say = (report) => page.evaluate(async (given) => (await import('plyd/headline.js')).headline(given), report);
  const of = (wins, draws, losses, elo) => say({
    players: ['ann', 'bob'], scores: [{ elo }], summary: { games: wins + draws + losses, meetings: [{ players: [0, 1], wins, draws, losses }] },
  });
  assert.equal(await of(30, 0, 10, { value: 199.4, error: 76.8 }), 'ann is +199 ± 77 Elo ahead of bob over 40 games');
  assert.equal(await of(10, 0, 30, { value: -199.4, error: 76.8 }), 'bob is +199 ± 77 Elo ahead of ann over 40 games');
  assert.equal(await of(21, 0, 19, { value: 17, error: 90 }), 'ann and bob are level within the error over 40 games: +17 ± 90 Elo');
  assert.equal(await of(8, 0, 0, null), 'ann won all of 8 games against bob');
  assert.equal(await of(0, 1, 7, null), 'bob scored 7½ of 8 points against ann, too one-sided for a difference in Elo');
  assert.equal(await of(2, 2, 0, { value: 190.8, error: 0 }), 'ann is +191 Elo ahead of bob over 4 games, with the same result in every pair');
  assert.equal(await of(0, 0, 0, null), 'No game was played');
  await close(page);
});

test('filters show the games that they name', async () => {
  const page = await open(made.two.url);
  const games = await held(page);
  const numbers = (passes) => games.filter(passes).map(({ number }) => number);
  assert.deepEqual(await listed(page), numbers(() => true));
  const [first] = made.two.result.players;
  const winner = (game) => game.winner && game.players[game.winner === 'p1' ? 0 : 1];
  await byTest(page, 'filter-player').selectOption(first);
  await byTest(page, 'filter-result').selectOption('lost');
  assert.deepEqual(await listed(page), numbers((game) => winner(game) && winner(game) !== first));
  await byTest(page, 'filter-result').selectOption('won');
  const won = numbers((game) => winner(game) === first);
  assert.equal(won.length, made.two.result.summary.meetings[0].wins);
  assert.deepEqual(await listed(page), won);
  assert.match(await byTest(page, 'shown').textContent(), new RegExp(`^${won.length} of ${games.length} games shown`));
  await byTest(page, 'filter-reset').click();
  await page.waitForFunction((all) => document.querySelectorAll('.list tbody tr:not([hidden])').length === all, games.length);
  // Both games of a pair have one opening, and others may have the same.
  await byTest(page, 'filter-opening').selectOption({ index: 1 });
  const opening = games[0].moves.slice(0, games[0].opening).join();
  assert.deepEqual(await listed(page), numbers((game) => game.moves.slice(0, game.opening).join() === opening));
  await byTest(page, 'filter-opening').selectOption('');
  const middle = games.map(({ moves }) => moves.length).sort((a, b) => a - b)[10];
  await byTest(page, 'filter-least').fill(String(middle));
  assert.deepEqual(await listed(page), numbers((game) => game.moves.length >= middle));
  await byTest(page, 'filter-most').fill(String(middle));
  assert.deepEqual(await listed(page), numbers((game) => game.moves.length === middle));
  await close(page);
});

test('one sees only the games that were lost on time', async () => {
  const page = await open(String(pathToFileURL(join(folder, 'late.html'))));
  const late = (await held(page)).filter(({ by }) => by === 'late' || by === 'silence').map(({ number }) => number);
  assert.equal(late.length, (made.late.summary.endings.late ?? 0) + (made.late.summary.endings.silence ?? 0));
  assert.ok(late.length > 0 && late.length < made.late.summary.games);
  await byTest(page, 'filter-clock').check();
  assert.deepEqual(await listed(page), late);
  assert.match(await page.locator('main').textContent(), /ahead of|won all|scored|level/);
  await close(page);
});

test('a game is gone through with the scores of both players', async () => {
  const page = await open(made.two.url);
  const games = await held(page);
  const game = games.find((one) => one.answers.filter((answer) => answer?.score).length > 3);
  await page.locator(`[data-game="${game.number}"]`).click();
  const viewer = byTest(page, 'viewer');
  const plies = game.moves.length;
  assert.equal(await viewer.getAttribute('data-ply'), String(game.opening));
  // Each announced score stands in the list, and on the graph.
  const announced = game.answers.flatMap((answer, index) => (answer?.score ? [index + 1] : []));
  for (const ply of announced) assert.ok(await page.locator(`[data-score="${ply}"]`).textContent(), `ply ${ply}`);
  const points = await page.locator('.evaluations [data-scores]').evaluateAll((all) => all.map((one) => Number(one.dataset.scores)));
  assert.equal(points[0] + points[1], announced.length);
  // By the move, by keys, by the graph, by the buttons.
  await page.locator(`[data-ply="${plies - 1}"]`).last().click();
  assert.equal(await viewer.getAttribute('data-ply'), String(plies - 1));
  await page.keyboard.press(']');
  assert.equal(await viewer.getAttribute('data-ply'), String(plies));
  assert.ok((await byTest(page, 'said').textContent()).includes(game.end));
  // Beside the board stands what both thought last.
  for (const player of ['p1', 'p2']) {
    const last = announced.filter((ply) => game.answers[ply - 1].player === player).at(-1);
    const thinks = await byTest(page, `thinks-${player}`).textContent();
    assert.equal(thinks, last ? await page.locator(`[data-score="${last}"]`).textContent() : '');
  }
  await page.locator('.evaluations').scrollIntoViewIfNeeded();
  const graph = await page.locator('.evaluations').boundingBox();
  await page.mouse.click(graph.x + 74, graph.y + 80);
  assert.equal(await viewer.getAttribute('data-ply'), '0');
  assert.equal(await page.locator('.viewer [data-at]').count(), game.boards[0].pieces?.length ?? 0);
  await page.getByRole('button', { name: 'Last position' }).click();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await viewer.getAttribute('data-ply'), String(plies - 1));
  await page.keyboard.press('Home');
  assert.equal(await viewer.getAttribute('data-ply'), '0');
  // To the next game of the list, and by a link to the same.
  await page.keyboard.press('n');
  const next = games[games.indexOf(game) + 1] ?? game;
  assert.match(await page.locator('.viewer h3').textContent(), new RegExp(`^Game ${next.number}:`));
  assert.ok(page.url().endsWith(`#game-${next.number}`));
  await picture(page, 'report-viewer');
  await close(page);
  const linked = await open(`${made.two.url}#game-3`);
  assert.match(await linked.locator('.viewer h3').textContent(), /^Game 3:/);
  await close(linked);
});

test('the picture of the result is saved as SVG and as PNG, whole', async () => {
  const page = await open(made.two.url);
  const download = async (name) => {
    const [file] = await Promise.all([page.waitForEvent('download'), byTest(page, name).click()]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const svg = await download('save-svg');
  assert.equal(svg.name, 'plyd-isolation.svg');
  const text = svg.bytes.toString();
  assert.ok(text.startsWith('<svg') && text.includes('20 games') && !text.includes('var('), text.slice(0, 300));
  const png = await download('save-png');
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)], [2400, 1350]);
  await close(page);
});

for (const [screen, options] of [['desktop', DESKTOP], ['desktop-dark', { ...DESKTOP, colorScheme: 'dark' }], ['phone', PHONE], ['phone-light', { ...PHONE, colorScheme: 'light' }]]) {
  test(`nothing is wider than the window, and nothing keeps anybody out: ${screen}`, async () => {
    for (const [name, { url }] of Object.entries({ two: made.two, three: made.three })) {
      const page = await open(url, options);
      const { width } = page.viewportSize();
      await page.waitForFunction(() => [...document.querySelectorAll('.chart')].every((one) => one.childElementCount));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width);
      // On a desktop no table has to be scrolled to be read.
      const cut = await page.locator('.scroll').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel));
      if (width === 1280) assert.deepEqual(cut, []);
      // Charts have the whole width, and numbers on their axes of a size that can be read.
      for (const chart of await page.locator('.report > section > .chart-host').all()) {
        const [box, section] = [await chart.boundingBox(), await chart.locator('..').boundingBox()];
        assert.ok(box.width > section.width - 50, `${box.width} of ${section.width}`);
        const numbers = await chart.locator('text.faint').evaluateAll((all) => all.map((one) => [one.textContent, one.getBoundingClientRect().height]));
        assert.ok(numbers.length >= 3 && numbers.every(([, height]) => height >= 11), JSON.stringify(numbers));
      }
      if (options.hasTouch) {
        for (const button of await page.locator('main button, main select').all()) {
          const box = await button.boundingBox();
          assert.ok(!box || (box.height >= 44 && box.width >= 44), `${await button.textContent()}: ${JSON.stringify(box)}`);
        }
      }
      await assertAccessible(page);
      await picture(page, `report-${name}-${screen}`);
      await close(page);
    }
  });
}
