// The explorer of openings, from the server's book: on the board, as a list, and by mouse, keys and touch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, byTest, clickCell, move, newGame, pageState, picture, quick, stage, until, visit } from './support.mjs';

const on = stage();

/** A page that analyses a position. */
async function analysing(game, rules, position, options) {
  const page = await visit(on, options);
  await newGame(page, game, rules, position);
  await byTest(page, 'mode-analyse').click();
  return page;
}

const rows = (page) => page.locator('[data-testid=book] li button');
/** What is drawn on the board: kinds of values, and their texts. */
const drawn = (page) => page.locator('.valued').evaluateAll((all) => all.map((one) => [one.dataset.value, one.querySelector('text')?.textContent]));
const count = (list, kind) => list.filter(([value]) => value === kind).length;

/** Waits until the board shows so many values. */
const valued = (page, number) => page.waitForFunction((many) => document.querySelectorAll('.valued').length === many, number);

test('the empty board: every placement loses, the centre to fewest replies', async () => {
  const page = await analysing('isolation', { width: 7, height: 7 }, {});
  await valued(page, 49);
  const values = await drawn(page);
  assert.equal(count(values, 'loss'), 49);
  assert.deepEqual([values.filter(([, text]) => text === '16').length, values.filter(([, text]) => text === '24').length], [1, 24]);
  assert.match(await byTest(page, 'book-says').innerText(), /^Player 1 to move: P2 win in/);
  // 49 cells are ten up to symmetry.
  assert.equal(await rows(page).count(), 10);
  assert.match(await rows(page).first().innerText(), /^d4\s+loses: 16 of 48 replies win$/);
  assert.match(await rows(page).nth(1).innerText(), /×[48]/);
  assert.equal(await page.locator('#analysis > .lines').isVisible(), false);
  await picture(page, 'explorer', { width: 1280, height: 800 });
  await assertAccessible(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a click plays, nobody answers, and after both placements the proof is there', async () => {
  const page = await analysing('isolation', { width: 7, height: 7 }, {});
  await rows(page).first().click();
  await until(page, (now) => now.plies === '1');
  await valued(page, 48);
  const values = await drawn(page);
  assert.deepEqual([count(values, 'win'), count(values, 'loss')], [16, 32]);
  assert.match(await byTest(page, 'book-says').innerText(), /16 of 48 moves win/);
  // What wins stands first; what loses says to which reply.
  assert.match(await rows(page).first().innerText(), /wins$/);
  assert.match(await rows(page).last().innerText(), /loses after [a-g][1-7]$/);
  await rows(page).last().focus();
  await page.keyboard.press('Enter');
  await until(page, (now) => now.plies === '2');
  await page.waitForFunction(() => /P1 win in .*By the book [a-g][1-7] wins/.test(document.querySelector('[data-testid=analysis-about]')?.textContent));
  await valued(page, 1);
  // With one move there is nothing to choose from: the lines of the search are back.
  assert.equal(await page.locator('#analysis > .lines').isVisible(), true);
  // The engine sits on the other side, and has not moved: one looks.
  assert.equal((await pageState(page)).plies, '2');
  assert.equal(await byTest(page, 'pause').innerText(), 'Resume');
  const [, best] = /By the book (..) wins/.exec(await byTest(page, 'analysis-about').innerText());
  await clickCell(page, `${Number(best[1]) - 1},${'abcdefg'.indexOf(best[0])}`);
  await until(page, (now) => now.plies === '3');
  await valued(page, 0);
  // Its switch stays for those who go back, and the book is there again.
  assert.equal(await byTest(page, 'explorer').isVisible(), true);
  await byTest(page, 'first').click();
  await valued(page, 49);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('it can be off, which is kept; mode Play shows nothing of it; games without a book have no switch', async () => {
  const page = await analysing('isolation', { width: 7, height: 7 }, {});
  await valued(page, 49);
  await byTest(page, 'explorer').uncheck();
  await valued(page, 0);
  assert.equal(await page.locator('#analysis > .lines').isVisible(), true);
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await byTest(page, 'explorer').waitFor();
  assert.equal(await byTest(page, 'explorer').isChecked(), false);
  await byTest(page, 'explorer').check();
  await valued(page, 49);
  await byTest(page, 'mode-play').click();
  await valued(page, 0);
  await newGame(page, 'l-game');
  await byTest(page, 'mode-analyse').click();
  await page.waitForSelector('#analysis > .lines button');
  assert.equal(await byTest(page, 'explorer').isVisible(), false);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('by touch on a phone, dark', async () => {
  const page = await analysing('isolation', { width: 7, height: 7 }, {}, {
    viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true,
  });
  await valued(page, 49);
  await picture(page, 'explorer-phone');
  const { height } = await rows(page).first().boundingBox();
  assert.ok(height >= 38, `${height} px high`);
  await rows(page).nth(2).tap();
  await until(page, (now) => now.plies === '1');
  await valued(page, 48);
  await assertAccessible(page);
  await page.context().close();
});

test('a layer of the board shows the same to those who only play', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 7, height: 7 }, {});
  await byTest(page, 'settings').click();
  await byTest(page, 'layer-book').check();
  await byTest(page, 'settings-close').click();
  assert.equal(await page.locator('.layer.of-p2').count(), 49);
  await move(page, 0);
  await page.waitForFunction(() => document.body.dataset.plies === '2' && !document.querySelector('.layer[data-layer-mark=wins]'));
  await page.context().close();
});

test('regions of Sudoku that are about to close are marked and named', async () => {
  const page = await visit(on);
  await newGame(page, 'sudoku', {}, { start: '2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1; scores 2 1' });
  await byTest(page, 'settings').click();
  await byTest(page, 'layer-closing').check();
  assert.match(await page.locator('#layers').innerText(), /Regions about to close: points at once, or 2 cells left/);
  await byTest(page, 'settings-close').click();
  const labels = await page.locator('.layer').evaluateAll((all) => all.map((one) => one.textContent).sort());
  assert.deepEqual(labels, ['+1', '+3', '+7', '2 left']);
  await picture(page, 'layer-closing', { width: 1280, height: 800 });
  await page.context().close();
});
