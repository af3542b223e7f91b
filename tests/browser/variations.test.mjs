// The tree of a game: variations are added, gone through, promoted, deleted and put back; comments are kept and saved.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  assertAccessible, byTest, inSettings, newGame, pageState, picture, quick, stage, TIMEOUT, turnOf, until, visit,
} from './support.mjs';

const on = stage();

/** A page with two people at the table, after these moves. */
async function analysed(moves) {
  const page = await visit(on);
  await newGame(page, 'isolation', {}, { moves });
  await inSettings(page, async () => {
    await byTest(page, 'seat-p1').selectOption('human');
    await byTest(page, 'seat-p2').selectOption('human');
  });
  return page;
}

const play = async (page, move) => {
  const { cursor } = await pageState(page);
  await page.locator(`#board [data-move="${move}"]`).click();
  await until(page, (now) => Number(now.cursor) === Number(cursor) + 1 && now.toMove !== undefined);
};

/** The list of what was played as a text: variations in brackets, no numbers and no scores. */
const tree = (page) => page.evaluate(() => {
  const words = (item) => [...item.firstElementChild.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.textContent.trim()).join('');
  const text = (list) => [...list.children].map((item) => {
    if (item.matches('.variation')) return `(${text(item.firstElementChild)})`;
    return item.matches('.comment') ? `“${item.textContent}”` : words(item);
  }).join(' ');
  return text(document.getElementById('history'));
});

/** Waits until the list is so. */
async function becomes(page, expected) {
  const deadline = Date.now() + TIMEOUT;
  let now = await tree(page);
  while (now !== expected && Date.now() < deadline) {
    await page.waitForTimeout(30);
    now = await tree(page);
  }
  assert.equal(now, expected);
}

test('a move in the past is a variation of an analysis, and the game itself while one plays', async () => {
  const page = await analysed('d4 b3 e6 c5');
  await byTest(page, 'mode-analyse').click();
  await page.locator('#history [data-ply="2"]').click();
  await until(page, (now) => now.cursor === '2');
  await play(page, 'f5');
  await becomes(page, 'Start d4 b3 e6 (f5) c5');
  await byTest(page, 'mode-play').click();
  await byTest(page, 'back').click();
  await play(page, 'c6');
  await becomes(page, 'Start d4 b3 c6 (e6 c5) (f5)');
  // What was played stays through a reload, and so does where one looks.
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await becomes(page, 'Start d4 b3 c6 (e6 c5) (f5)');
  await until(page, (now) => now.cursor === '3' && now.plies === '3');
  // Keys: up and down to siblings, right goes on.
  await page.locator('#history [aria-current]').focus();
  await page.keyboard.press('ArrowDown');
  await until(page, (now) => now.plies === '4' && now.cursor === '3');
  await page.keyboard.press('ArrowRight');
  await until(page, (now) => now.cursor === '4');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  await until(page, (now) => now.plies === '3' && now.cursor === '3');
  // The focus follows, through a list that is drawn anew as well.
  assert.ok(await page.evaluate(() => document.activeElement.matches('#history [data-ply="3"][aria-current]')));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a variation is promoted, commented, deleted once that is confirmed, and put back', async () => {
  const page = await analysed('d4 b3 e6 c5');
  await byTest(page, 'mode-analyse').click();
  await page.locator('#history [data-ply="2"]').click();
  await until(page, (now) => now.cursor === '2');
  await play(page, 'f5');
  await play(page, 'd2');
  await byTest(page, 'node-menu').click();
  await byTest(page, 'comment').fill('towards the middle');
  await becomes(page, 'Start d4 b3 e6 (f5 d2 “towards the middle”) c5');
  await assertAccessible(page);
  await picture(page, 'variations-menu', { width: 1280, height: 800 });
  await byTest(page, 'promote').click();
  await becomes(page, 'Start d4 b3 f5 (e6 c5) d2 “towards the middle”');
  await picture(page, 'variations', { width: 1280, height: 800 });
  const [download] = await Promise.all([page.waitForEvent('download'), byTest(page, 'save').click()]);
  const text = await readFile(await download.path(), 'utf8');
  const saved = JSON.parse(text);
  assert.deepEqual(saved.moves, ['d4', 'b3', 'f5', 'd2']);
  assert.deepEqual(saved.comments, { 4: 'towards the middle' });
  assert.deepEqual(saved.variations.map(({ of, ply, moves }) => ({ of, ply, moves })), [{ of: 0, ply: 2, moves: ['e6', 'c5'] }]);

  await page.locator('#history .variation [data-node]').first().click();
  await until(page, (now) => now.cursor === '3');
  for (const answer of ['ask-no', 'ask-yes']) {
    await byTest(page, 'node-menu').click();
    await byTest(page, 'delete-node').click();
    await assertAccessible(page);
    await byTest(page, answer).click();
    await becomes(page, answer === 'ask-no' ? 'Start d4 b3 f5 (e6 c5) d2 “towards the middle”' : 'Start d4 b3 f5 d2 “towards the middle”');
  }
  await byTest(page, 'undelete').click();
  await becomes(page, 'Start d4 b3 f5 (e6 c5) d2 “towards the middle”');
  assert.ok(await byTest(page, 'undelete').isHidden());

  // What was saved is what is loaded.
  await byTest(page, 'load').click();
  await byTest(page, 'load-text').fill(text.replace('"c5"', '"c4x"'));
  await byTest(page, 'load-submit').click();
  await page.waitForFunction(() => (document.querySelector('[data-testid="load-error"]')?.textContent ?? '') !== '');
  assert.match(await byTest(page, 'load-error').textContent(), /variation 1.*move 4/);
  await byTest(page, 'load-text').fill(text);
  await byTest(page, 'load-submit').click();
  await page.waitForSelector('#load-dialog', { state: 'hidden' });
  await becomes(page, 'Start d4 b3 f5 (e6 c5) d2 “towards the middle”');
  assert.deepEqual(page.faults, []);
  await picture(page, 'variations-phone', { width: 390, height: 844 });
  await page.context().close();
});

test('what one does with a move is done with it, though the engine answers meanwhile', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 5, height: 5 });
  // Pauses, or lets the game go on as by itself: a true click would close what is open.
  const goOn = () => byTest(page, 'pause').evaluate((button) => button.click());
  await goOn();
  await play(page, 'c3');
  await byTest(page, 'node-menu').click();
  await page.keyboard.type('the mid');
  await goOn();
  await until(page, (now) => now.cursor === '2');
  await page.keyboard.type('dle');
  assert.equal(await byTest(page, 'comment').inputValue(), 'the middle');
  assert.equal(await page.locator('#node-title').textContent(), 'Comment on 1. c3');
  assert.match(await tree(page), /^Start c3 “the middle” \S+$/);

  await goOn();
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0');
  await play(page, 'b2');
  await byTest(page, 'node-menu').click();
  await byTest(page, 'delete-node').click();
  await goOn();
  await until(page, (now) => now.cursor === '2');
  await byTest(page, 'ask-yes').click();
  await until(page, (now) => now.cursor === '0');
  assert.match(await tree(page), /^Start c3 “the middle” \S+$/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('engines play on in the branch that is shown', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 5, height: 5 }, { moves: 'c3 a2 d5 b4' });
  await byTest(page, 'mode-analyse').click();
  await page.locator('#history [data-ply="2"]').click();
  await until(page, (now) => now.cursor === '2' && now.toMove === 'p1');
  await page.locator('#board .target:not([data-move="d5"])').first().click();
  assert.ok(await turnOf(page, 'p1', 3));
  const { plies } = await pageState(page);
  assert.equal(plies, '4');
  assert.match(await tree(page), /^Start c3 a2 d5 \(\S+ \S+\) b4$/);
  await page.context().close();
});

test('a click on a later move of a line walks the line up to it, as a variation', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'colosseum', { size: 6, seed: '7' });
  await byTest(page, 'mode-analyse').click();
  const third = page.locator('.lines [data-rank="1"] [data-ply="2"]');
  await third.waitFor();
  // It may be shown before the search has ended: what stands there when it is clicked counts.
  const line = await page.locator('.lines [data-rank="1"] [data-ply]').evaluateAll((plies) => {
    plies[2].click();
    return plies.map((ply) => ply.textContent);
  });
  await until(page, (now) => now.cursor === '3');
  const moves = await page.evaluate(() => [...document.querySelectorAll('#history [data-move]')].map((move) => move.dataset.move));
  const shown = moves.length ? moves.slice(0, 3) : await page.locator('#history').innerText();
  assert.ok(line.slice(0, 3).every((move) => shown.includes(move)), `${line} in ${shown}`);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
