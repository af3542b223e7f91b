// What is true of a position and of a game: values of all moves on the board, the review, layers.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  assertAccessible, byTest, clickCell, newGame, pageState, picture, PLYD, serve, stage, until, visit,
} from './support.mjs';

const on = stage();
const run = promisify(execFile);

/** A page that analyses a position. */
async function analysing(game, rules, position) {
  const page = await visit(on);
  await newGame(page, game, rules, position);
  await byTest(page, 'mode-analyse').click();
  return page;
}

/** The kinds of values that are drawn on the board. */
const kinds = (page) => page.locator('.valued').evaluateAll((all) => all.map((one) => one.dataset.value));

test('values of all moves are proofs where the game is solved, and nothing in mode Play', async () => {
  const page = await analysing('isolation', { width: 7, height: 7 }, {});
  await byTest(page, 'values').check();
  await page.waitForFunction(() => document.querySelectorAll('.valued[data-value=loss]').length === 49);
  assert.equal(await page.locator('[data-testid="legend"]').isVisible(), true);
  await picture(page, 'truth-values', { width: 1280, height: 800 });
  await assertAccessible(page);
  await byTest(page, 'mode-play').click();
  await page.waitForFunction(() => !document.querySelector('.valued') && !document.querySelector('button[data-value]'));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('who asks twice for values before they are loaded has switched them on and off', async () => {
  const page = await analysing('isolation', { width: 5, height: 5 }, {});
  await page.evaluate(() => {
    for (const key of ['v', 'v']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  });
  await page.waitForSelector('[data-testid=legend]', { state: 'attached' });
  assert.equal(await byTest(page, 'values').isChecked(), false);
  await page.keyboard.press('v');
  await page.waitForFunction(() => document.querySelectorAll('.valued').length === 25);
  assert.equal(await byTest(page, 'legend').count(), 1);
  await page.context().close();
});

test('values of the L Game are told for each placement, and by the keyboard', async () => {
  const page = await analysing('l-game', {}, {});
  await page.keyboard.press('v');
  await page.waitForFunction(() => document.querySelectorAll('.lines button[data-value=draw]').length === 36
    && document.querySelectorAll('.lines button[data-value=loss]').length === 29);
  assert.ok((await kinds(page)).includes('draw'));
  await page.keyboard.press('v');
  await page.waitForFunction(() => !document.querySelector('.valued'));
  await page.context().close();
});

test('estimates are drawn as estimates: directions of IJK at the sides of the board', async () => {
  const page = await analysing('ijk', { preset: 'v2', mode: 'det' }, {});
  await byTest(page, 'values').check();
  await page.waitForFunction(() => document.querySelectorAll('.valued rect').length > 0);
  assert.ok((await kinds(page)).every((kind) => ['near', 'less', 'poor', 'bad'].includes(kind)), String(await kinds(page)));
  await page.waitForFunction(() => document.querySelector('#tools [data-move][data-value]'));
  await page.context().close();
});

/** Games between players that know nothing, as the arena records them. */
async function randomGame(game, rules, folder) {
  const file = join(folder, `${game}.jsonl`);
  const settings = rules.flatMap((rule) => ['--rules', rule]);
  await run(PLYD, ['arena', game, ...settings, '--games', '2', '--seed', '5', '--player', 'random', '--player', 'random',
    '--record', file]);
  return file;
}

async function load(page, file) {
  await byTest(page, 'load').click();
  await byTest(page, 'load-text').fill((await readFile(file, 'utf8')).split('\n')[0]);
  await byTest(page, 'load-submit').click();
  await page.waitForSelector('#load-dialog', { state: 'hidden' });
}

async function reviewed(page) {
  await byTest(page, 'mode-analyse').click();
  await byTest(page, 'review').click();
  await page.waitForFunction(() => /found|No move/.test(document.querySelector('[data-testid=reviewed]')?.textContent)
    || document.querySelector('[data-testid=counts]')?.textContent && /^Review$/.test(document.querySelector('[data-testid=review]').textContent));
}

test('the page marks moves as `plyd review` does', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plyd-'));
  try {
    for (const [game, rules] of [['l-game', ['max_plies=20']], ['isolation', ['width=5', 'height=5']], ['sudoku', ['m=2', 'n=2']]]) {
      const file = await randomGame(game, rules, folder);
      const { stdout } = await run(PLYD, ['review', file, '--json', '--movetime', '5s', '--game', '1']);
      const expected = new Map(JSON.parse(stdout).moves.filter(({ mark }) => !['forced', 'unknown'].includes(mark))
        .map(({ ply, mark }) => [ply, mark]));
      const page = await visit(on);
      await load(page, file);
      await reviewed(page);
      const found = new Map(await page.locator('#history li [data-ply]:has(.review-mark)').evaluateAll((all) => all.map((one) => (
        [Number(one.dataset.ply), one.querySelector('.review-mark').dataset.mark]))));
      // What is proven of Sudoku depends on the time that there was: nothing, who wins, or by how many points, too. Who wins
      // is the same wherever both have proven it.
      const isProven = (mark) => /kept|wins|defence|lost|gave|threw/.test(mark);
      const outcome = (mark) => (mark === 'threw_away' ? mark : 'kept the outcome');
      const settled = (marks, others) => (game !== 'sudoku' ? [...marks]
        : [...marks].filter(([ply, mark]) => isProven(mark) && others.has(ply) && isProven(others.get(ply)))
          .map(([ply, mark]) => [ply, outcome(mark)]));
      assert.ok(settled(found, expected).length > 5, JSON.stringify([...found]));
      assert.deepEqual(settled(found, expected), settled(expected, found), game);
      if (game === 'isolation') {
        await picture(page, 'truth-review', { width: 1280, height: 800 });
        await picture(page, 'truth-review-phone', { width: 390, height: 844 });
        await assertAccessible(page);
      }
      assert.deepEqual(page.faults, []);
      await page.context().close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('one looks for the better move of a mistake; the game stays as it was', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', { width: 7, height: 7 });
  const { text } = await pageState(page);
  await byTest(page, 'load').click();
  // a1 throws away the win that the second player has.
  const record = { record: 1, game: 'isolation', rules: { width: 7, height: 7 }, start: text, moves: ['d4', 'a1'],
    variations: [{ of: 0, ply: 0, moves: ['a1'] }] };
  await byTest(page, 'load-text').fill(JSON.stringify(record));
  await byTest(page, 'load-submit').click();
  await page.waitForSelector('#load-dialog', { state: 'hidden' });
  await until(page, (now) => now.cursor === '2');
  // On a busy machine a move may have been given no time at all.
  for (let tries = 0; tries < 5; tries += 1) {
    await reviewed(page);
    if (!/unknown/.test(await byTest(page, 'reviewed').textContent())) break;
  }
  assert.match(await byTest(page, 'reviewed').textContent(), /threw the win away|a blunder/);
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0');
  await page.keyboard.press('m');
  await until(page, (now) => now.cursor === '1');
  await byTest(page, 'find-better').click();
  await clickCell(page, '0,0');
  await page.waitForFunction(() => /no, not that one/.test(document.querySelector('[data-testid=reviewed]')?.textContent));
  await clickCell(page, '0,3');
  await page.waitForFunction(() => /yes, that is better/.test(document.querySelector('[data-testid=reviewed]')?.textContent));
  assert.deepEqual([(await pageState(page)).plies, (await pageState(page)).cursor], ['2', '1']);
  // Another server knows nothing of what was opened before.
  await on.server.stop();
  await until(page, (now) => now.connection === 'lost');
  on.server = await serve(on.server.port);
  await until(page, (now) => now.connection === 'open');
  await clickCell(page, '0,0');
  await page.waitForFunction(() => /no, not that one/.test(document.querySelector('[data-testid=reviewed]')?.textContent));
  // Another move in the place of the one before the mistake ends the search for a better one.
  await page.locator('#history .variation [data-node]').click();
  await page.waitForFunction(() => /found/.test(document.querySelector('[data-testid=reviewed]')?.textContent));
  await byTest(page, 'review-close').click();
  await page.waitForFunction(() => !document.querySelector('.review-mark'));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('layers are switched on and off, and kept', async () => {
  const page = await visit(on);
  await newGame(page, 'colosseum', { size: 6, seed: '7' });
  assert.equal(await page.locator('.layer').count(), 0);
  await byTest(page, 'settings').click();
  await byTest(page, 'layer-ground').check();
  await byTest(page, 'settings-close').click();
  assert.ok(await page.locator('.layer.of-p1').count() > 0 && await page.locator('.layer.of-p2').count() > 0);
  await page.reload();
  await page.waitForSelector('.layer.of-p1');
  await newGame(page, 'sudoku', { m: 2, n: 2 });
  await page.waitForSelector('.values');
  await byTest(page, 'settings').click();
  await byTest(page, 'layer-candidates').uncheck();
  await page.waitForFunction(() => !document.querySelector('.values'));
  await assertAccessible(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
