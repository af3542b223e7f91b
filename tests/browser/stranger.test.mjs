// What somebody meets who knows none of the games: the lesson has the board, the end is theirs, a review is about their moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, byTest, newGame, pageState, playOut, quick, stage, until, visit } from './support.mjs';

const on = stage();
const DESKTOP = { viewport: { width: 1280, height: 800 } };

/** A page of somebody who has seen no lesson, with the lesson of a game open beside its board. */
async function taught(game) {
  const page = await visit(on, DESKTOP);
  await newGame(page, game);
  await byTest(page, 'how-to-play').click();
  await page.locator('#lesson .tools, #lesson .target').first().waitFor();
  return page;
}

/** Waits until the lesson has said so. @param {RegExp} words */
const lessonSays = (page, words) => page.waitForFunction(([source]) => (
  new RegExp(source).test(document.querySelector('[data-testid=lesson-said]')?.textContent)), [words.source]);

test('a first game is one that ends soon, against an opponent at level 1', async () => {
  const page = await visit(on, DESKTOP);
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
  for (const [game, cells] of [['ijk', 16], ['sudoku', 36]]) {
    await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
    await page.goto(on.server.url);
    await byTest(page, `welcome-${game}`).click();
    await until(page, (now) => now.game === game && now.toMove === 'p1');
    assert.equal(await page.locator('#board [data-cell]').count(), cells);
    assert.match(await page.locator('#strip-p2').textContent(), /level 1/);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('while a lesson is open, clicks on the large board play nothing; after it they do', async () => {
  const page = await taught('isolation');
  const cell = page.locator('#board [data-cell="3,3"]');
  const { x, y, width, height } = await cell.boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.locator('#lesson [data-cell="2,2"]').click();
  // Any cell would do: none is right, and the one that was chosen is named.
  await lessonSays(page, /^You played c3\.$/);
  assert.equal((await pageState(page)).plies, '0');
  await assertAccessible(page);
  await byTest(page, 'lesson-close').click();
  await page.mouse.click(x + width / 2, y + height / 2);
  await until(page, (now) => now.plies !== '0');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('keys play on the board of the lesson, wherever the focus is', async () => {
  const page = await taught('ijk');
  await page.locator('#lesson [data-move]').first().waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('ArrowDown');
  await lessonSays(page, /^You played D \(down\)\.$/);
  assert.equal((await pageState(page)).plies, '0');
  await page.keyboard.press('Escape');
  await page.locator('#lesson').waitFor({ state: 'hidden' });
  await page.keyboard.press('ArrowDown');
  await until(page, (now) => now.plies !== '0');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the end and the review speak of the one who plays, and the next game is offered beside the review', async () => {
  const page = await visit(on, DESKTOP);
  await quick(page);
  await newGame(page, 'isolation', { width: 4, height: 4 });
  await playOut(page);
  assert.match(await byTest(page, 'outcome').textContent(), /^(You win|The engine wins): no move is left, and player [12]( \(the engine\))? loses\.$/);
  assert.match(await byTest(page, 'status').textContent(), /(You win|The engine wins): /);
  await byTest(page, 'review-game').click();
  await page.waitForFunction(() => /found/.test(document.querySelector('[data-testid=reviewed]')?.textContent));
  assert.match(await byTest(page, 'reviewed').textContent(), /^Mistakes found: \d+ by you.*, \d+ by the opponent/);
  // Each sign of the list stands in the counts with what it means.
  const signs = await page.evaluate(() => {
    const of = (host) => [...new Set([...document.querySelectorAll(`${host} .review-mark`)].map((mark) => mark.textContent))].sort();
    return { listed: of('#history'), explained: of('[data-testid=counts]') };
  });
  assert.ok(signs.listed.length > 1, String(signs.listed));
  assert.deepEqual(signs.explained, signs.listed);
  assert.notEqual((await pageState(page)).cursor, (await pageState(page)).plies, 'one looks back');
  await byTest(page, 'rematch').click();
  // What was said of the game before goes with it.
  await page.waitForFunction(() => !/\bwins?\b/.test(document.querySelector('[data-testid=status]').textContent));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('what a review says of a move is the number that the list shows behind it', async () => {
  const page = await visit(on, DESKTOP);
  await newGame(page, 'isolation', { width: 4, height: 4 });
  const { text } = await pageState(page);
  await byTest(page, 'load').click();
  const record = { record: 1, game: 'isolation', rules: { width: 4, height: 4 }, start: text, moves: ['b2', 'd4', 'a4'] };
  await byTest(page, 'load-text').fill(JSON.stringify(record));
  await byTest(page, 'load-submit').click();
  await page.waitForSelector('#load-dialog', { state: 'hidden' });
  await until(page, (now) => now.plies === '3');
  await byTest(page, 'mode-analyse').click();
  await byTest(page, 'review').click();
  await page.waitForFunction(() => document.querySelectorAll('#history .review-mark').length >= 3
    && /^Review$/.test(document.querySelector('[data-testid=review]').textContent));
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0');
  await byTest(page, 'forward').click();
  await until(page, (now) => now.cursor === '1');
  const listed = await page.locator('#history [data-ply="1"] .score').textContent();
  assert.match(listed, /^P[12] win in \d+$/);
  assert.ok((await byTest(page, 'reviewed').textContent()).includes(`, ${listed} after)`), await byTest(page, 'reviewed').textContent());
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a link to a game goes on with it, or begins it anew where it is over; a right one ends the words about a wrong one', async () => {
  const page = await visit(on, DESKTOP);
  await quick(page);
  await newGame(page, 'isolation', { width: 4, height: 4 });
  await playOut(page);
  await page.evaluate(() => { location.hash = '#game=nothing'; });
  await byTest(page, 'alert').waitFor();
  await page.evaluate(() => { location.hash = '#game=isolation'; });
  await until(page, (now) => now.game === 'isolation' && now.over === 'false' && now.plies === '0');
  assert.ok(await byTest(page, 'alert').isHidden());
  assert.equal(await page.locator('[data-cell]').count(), 49, 'by the usual rules');
  await page.context().close();
});
