// The connection: lost and found again, two pages at once, the time to the first board, small and dark screens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byTest, move, newGame, openIn, pageState, picture, quick, serve, stage, turnOf, until, visit,
} from './support.mjs';

const on = stage();

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`the game goes on after the server ended by ${signal}`, async () => {
    const page = await visit(on);
    await quick(page);
    await newGame(page, 'isolation', {});
    await move(page, 0);
    await turnOf(page, 'p1', 1);
    const before = await pageState(page);
    const { port } = on.server;
    const ended = await on.server.stop(signal);
    if (signal === 'SIGTERM') assert.deepEqual(ended, { code: 0, signal: null });
    await until(page, (now) => now.connection === 'lost');
    await picture(page, 'lost');
    // What lies before the server one can look at only with it; the game is there nevertheless.
    assert.equal((await pageState(page)).text, before.text);
    on.server = await serve(port);
    await until(page, (now) => now.connection === 'open');
    await turnOf(page, 'p1', 1);
    assert.equal((await pageState(page)).text, before.text);
    await move(page, 1);
    assert.ok(await turnOf(page, 'p1', 3));
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

test('a lesson says that the server is away, and goes on when it is back', async () => {
  const page = await visit(on, {}, 'isolation');
  await byTest(page, 'how-to-play').click();
  const lesson = page.locator('#lesson');
  await lesson.locator('.cell.target').first().waitFor();
  const { port } = on.server;
  await on.server.stop();
  await until(page, (now) => now.connection === 'lost');
  const said = async (step) => {
    await page.waitForFunction((title) => document.getElementById('lesson-title')?.textContent.startsWith(title), `How to play, ${step} of`);
    await page.waitForFunction(() => document.querySelector('[data-testid="lesson-said"]')?.textContent === 'The server is away. Try again when it is back.');
    assert.equal(await byTest(page, 'lesson-back').isDisabled(), step === 1);
    assert.ok(await byTest(page, 'lesson-next').textContent());
  };
  await byTest(page, 'lesson-next').click();
  await said(2);
  await byTest(page, 'lesson-back').click();
  await said(1);
  on.server = await serve(port);
  await until(page, (now) => now.connection === 'open');
  await byTest(page, 'lesson-again').click();
  await lesson.locator('.cell.target').first().waitFor();
  assert.equal(await byTest(page, 'lesson-said').textContent(), '');
  await byTest(page, 'lesson-close').click();
  // Opened while the server is away, it has its first step.
  await on.server.stop();
  await until(page, (now) => now.connection === 'lost');
  await byTest(page, 'how-to-play').click();
  await said(1);
  on.server = await serve(port);
  await until(page, (now) => now.connection === 'open');
  await byTest(page, 'lesson-again').click();
  await lesson.locator('.cell.target').first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a page that is loaded again has its game', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'sudoku', { m: 2, n: 2 });
  await move(page, 0);
  await turnOf(page, 'p1', 1);
  const before = await pageState(page);
  await page.reload();
  await until(page, (now) => now.text === before.text && now.toMove === 'p1');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('two tabs play games of their own', async () => {
  const first = await visit(on);
  const second = await openIn(first.context(), on.server.url);
  await Promise.all([quick(first), quick(second)]);
  await newGame(first, 'isolation', { width: 5, height: 5 });
  await newGame(second, 'colosseum', { size: 5, seed: '3' });
  for (let made = 0; made < 2; made += 1) {
    await first.bringToFront();
    await move(first, made);
    await second.bringToFront();
    await move(second, made);
    assert.ok(await turnOf(first, 'p1', 2 * made + 1));
    assert.ok(await turnOf(second, 'p1', 2 * made + 1) || made > 0);
  }
  assert.equal((await pageState(first)).game, 'isolation');
  assert.equal((await pageState(second)).game, 'colosseum');
  assert.deepEqual([...first.faults, ...second.faults], []);
  await first.context().close();
});

test('the first board is there at once', async (t) => {
  const page = await visit(on);
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (document.documentElement?.dataset.ready === undefined) return;
      observer.disconnect();
      // The next frame shows it.
      requestAnimationFrame(() => { globalThis.boardMs = performance.now(); });
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
  const times = [];
  for (let load = 0; load < 25; load += 1) {
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(on.server.url);
    await page.waitForFunction(() => globalThis.boardMs !== undefined);
    times.push(await page.evaluate(() => globalThis.boardMs));
  }
  times.sort((a, b) => a - b);
  const [least, median] = [times[0], times[times.length >> 1]];
  // The aim is for a machine of its own; here others may work, and then the least says most.
  t.diagnostic(`first board after ${least.toFixed(0)} ms at least, ${median.toFixed(0)} ms in the median of ${times.length} loads; the aim is 250`);
  assert.ok(median < 3000, `${median} ms in the median`);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('small and dark screens show the whole board', async () => {
  const page = await visit(on, {
    viewport: { width: 380, height: 740 }, colorScheme: 'dark', hasTouch: true, isMobile: true,
  });
  await newGame(page, 'isolation', { preset: '11x9' }, { moves: 'd4; h6' });
  const board = await byTest(page, 'board').boundingBox();
  assert.ok(board.x >= 0 && board.x + board.width <= 380, JSON.stringify(board));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'nothing is cut off');
  await picture(page, 'small-dark');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
