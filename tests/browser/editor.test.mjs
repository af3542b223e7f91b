// Setting up a position by hand: what is put on the board by mouse, keys and touch, what the server says of it, and what
// becomes of it on the table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, byTest, newGame, pageState, picture, stage, TIMEOUT, until, visit } from './support.mjs';

const on = stage();
const EMPTY = `${Array(7).fill('.......').join('/')} 1`;

/** A page with the editor open over a game. */
async function editing(game, rules = {}, position = {}, options = {}) {
  const page = await visit(on, options);
  await newGame(page, game, rules, position);
  await byTest(page, 'edit').click();
  await page.waitForSelector('#editor[open]');
  return page;
}

/** What the editor holds: {text, fault}. */
const draft = (page) => page.evaluate(() => {
  const { text, fault } = document.getElementById('editor').dataset;
  return { text, fault };
});

/** Waits until the draft is so. @param {(now: {text: string, fault: string}) => boolean} is */
async function drafts(page, is) {
  const deadline = Date.now() + TIMEOUT;
  let now = await draft(page);
  while (!is(now)) {
    if (Date.now() > deadline) throw new Error(`not ${is}, but ${JSON.stringify(now)}`);
    await page.waitForTimeout(30);
    now = await draft(page);
  }
}

const brush = (page, label) => page.locator(`#editor [data-brush="${label}"]`).first().click();
const cell = (page, at) => page.locator(`#editor [data-cell="${at}"]`);
const finish = async (page) => {
  await byTest(page, 'edit-use').click();
  await page.waitForSelector('#editor', { state: 'hidden' });
};

test('with the mouse: pieces of a palette, a fault at its cell, and a new root that keeps the old game', async () => {
  const page = await editing('isolation', {}, { moves: 'd4 b3' });
  const before = await pageState(page);
  await page.locator('#editor [data-whole="Board"]').click();
  await drafts(page, ({ text }) => text === EMPTY);
  await brush(page, 'Token of player 2');
  await cell(page, '1,2').click();
  // Player 1 places first: the second token cannot stand alone.
  await drafts(page, ({ fault }) => fault === '1,2');
  assert.match(await byTest(page, 'edit-said').textContent(), /^c2: player 2's token cannot stand alone/);
  assert.match(await cell(page, '1,2').getAttribute('aria-label'), /not allowed/);
  assert.equal(await page.locator('#editor .fault').count(), 1);
  assert.match(await byTest(page, 'edit-where').textContent(), /^Character 11: /);
  assert.equal(await byTest(page, 'edit-use').isDisabled(), true);
  await picture(page, 'editor-fault');
  await brush(page, 'Token of player 1');
  await cell(page, '6,6').click();
  await brush(page, 'Blocked');
  await cell(page, '0,0').click();
  await cell(page, '0,1').click();
  // Once more takes it away.
  await cell(page, '0,1').click();
  await page.locator('#editor [data-whole="To move"]').selectOption({ label: 'Player 2' });
  const made = 'x....../..2..../......./......./......./......./......1 2';
  await drafts(page, ({ text, fault }) => text === made && fault === '');
  // A step back, and forth again.
  await byTest(page, 'edit-undo').click();
  await drafts(page, ({ text }) => text.endsWith(' 1'));
  await page.locator('#editor [data-whole="To move"]').selectOption({ label: 'Player 2' });
  await drafts(page, ({ text }) => text === made);
  await assertAccessible(page);
  await finish(page);
  await until(page, (now) => now.text === made && now.cursor === '0' && now.toMove === 'p2');
  // The game before is among one's own games.
  await byTest(page, 'library').click();
  await page.waitForFunction(() => /2 moves/.test(document.querySelector('[data-testid="own-games"]')?.textContent));
  assert.notEqual(before.text, made);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('with keys: arrows, letters, digits, Enter and Delete', async () => {
  const page = await editing('ijk', { preset: 'v2-4x4' });
  await cell(page, '0,0').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('c');
  await drafts(page, ({ text }) => text === 'A.../.c../..../.... +');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('B');
  await drafts(page, ({ text }) => text === 'A.../Bc../..../.... +');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Delete');
  await drafts(page, ({ text }) => text === '..../Bc../..../.... +');
  // Enter puts the next content: A is the first.
  await page.keyboard.press('Enter');
  await drafts(page, ({ text }) => text === 'A.../Bc../..../.... +');
  await page.keyboard.press('Enter');
  await drafts(page, ({ text }) => text === 'B.../Bc../..../.... +');
  // The button has the focus by Tab and works by Enter.
  await byTest(page, 'edit-use').focus();
  await page.keyboard.press('Enter');
  await until(page, (now) => now.text === 'B.../Bc../..../.... +');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('with a finger: walls and players of Colosseum, on a phone', async () => {
  const page = await editing('colosseum', {}, { start: '5 0,0 4,4 - 1' }, {
    viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true,
  });
  await page.locator('#editor [data-brush="Player 2"]').tap();
  await cell(page, '2,2').tap();
  await drafts(page, ({ text }) => text === '5 0,0 2,2 - 1');
  // Everything that the chosen cell can have stands below the board.
  await page.locator('#editor .here [data-choice="Wall on the right"]').tap();
  await drafts(page, ({ text }) => text === '5 0,0 2,2 22R 1');
  await page.locator('#editor .here [data-choice="Wall below"]').tap();
  await drafts(page, ({ text }) => text === '5 0,0 2,2 22R,22D 1');
  await page.locator('#editor .here [data-choice="Wall below"]').tap();
  await drafts(page, ({ text }) => text === '5 0,0 2,2 22R 1');
  // Walls can be put on the sides themselves.
  await page.locator('#editor [data-brush="Wall"]').tap();
  await page.locator('#editor [data-wall-of="0,0"][data-side="down"]').tap();
  await drafts(page, ({ text }) => text === '5 0,0 2,2 22R,00D 1');
  const sizes = await page.locator('#editor button:visible').evaluateAll((all) => all.map((one) => {
    const { width, height } = one.getBoundingClientRect();
    return [one.textContent, width, height];
  }));
  assert.deepEqual(sizes.filter(([, width, height]) => width < 43.5 || height < 43.5), []);
  const wide = await page.evaluate(() => document.getElementById('editor').scrollWidth - document.getElementById('editor').clientWidth);
  assert.equal(wide, 0, 'nothing is wider than the phone');
  await assertAccessible(page);
  await picture(page, 'editor-phone');
  // Both players on one cell are a fault there.
  await page.locator('#editor [data-brush="Player 1"]').tap();
  await cell(page, '2,2').tap();
  await drafts(page, ({ fault }) => fault === '2,2');
  await byTest(page, 'edit-cancel').tap();
  await page.waitForSelector('#editor', { state: 'hidden' });
  assert.equal((await pageState(page)).text, '5 0,0 4,4 - 1', 'Cancel leaves the game');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the L Game: Ls by their corner and their short end, and a piece that is carried', async () => {
  const page = await editing('l-game');
  await brush(page, 'L of player 1, short end right');
  await cell(page, '1,1').click();
  await drafts(page, ({ text, fault }) => text === '2 2 E 1 1 4 4 2 4 E 1' && fault !== '');
  await brush(page, 'L of player 2, short end left');
  await cell(page, '0,3').click();
  await drafts(page, ({ text }) => text.includes('4 1 W'));
  // A neutral piece is dragged to another cell.
  const middle = async (at) => {
    const box = await cell(page, at).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await page.mouse.move(...await middle('3,3'));
  await page.mouse.down();
  await page.mouse.move(...await middle('3,2'), { steps: 4 });
  await page.mouse.up();
  await drafts(page, ({ text }) => / 3 4 /.test(text));
  assert.deepEqual(page.faults, []);
  await picture(page, 'editor-l-game');
  await page.context().close();
});

test('Sudoku: values, points, declared moves, and a text by hand', async () => {
  const page = await editing('sudoku', { m: 2, n: 2 });
  await cell(page, '0,0').focus();
  await page.keyboard.press('1');
  await drafts(page, ({ text }) => text.startsWith('2 2 1 .'));
  await brush(page, '1');
  await cell(page, '0,3').click();
  await drafts(page, ({ fault }) => fault === '0,3');
  assert.match(await byTest(page, 'edit-said').textContent(), /the value 1 at 0,3 is in its row already/);
  await cell(page, '0,3').click();
  await drafts(page, ({ fault }) => fault === '');
  await page.locator('#editor [data-whole="Points of player 2"]').selectOption({ label: '3' });
  await drafts(page, ({ text }) => text.includes('scores 0 3'));
  // A move that is declared taboo must be one: the server says so at its cell.
  await page.locator('#editor .here [role=group][aria-label="Declared taboo"] [data-choice="2"]').click();
  await drafts(page, ({ text, fault }) => text.includes('taboo 0,3,2') && fault === '0,3');
  // By hand: a text that cannot be read leaves the board, and says where it is wrong.
  await byTest(page, 'edit-text').fill('2 2 1 2 ? 4');
  await drafts(page, ({ fault }) => fault === '0,2');
  assert.match(await byTest(page, 'edit-where').textContent(), /^Character 9: 2 2 1 2 \? 4/);
  assert.equal(await page.locator('#editor .cell').count(), 16);
  await byTest(page, 'edit-text').fill('2 2 1 2 3 4 . . . . . . . . . . . . ; scores 1 0 ; mover 2');
  await drafts(page, ({ text, fault }) => text.startsWith('2 2 1 2 3 4') && fault === '');
  await finish(page);
  await until(page, (now) => now.text?.startsWith('2 2 1 2 3 4') && now.toMove === 'p2');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('each game has an editor in light and dark that axe finds nothing in', async () => {
  const page = await visit(on, { viewport: { width: 1280, height: 800 } });
  for (const game of ['isolation', 'colosseum', 'ijk', 'l-game', 'sudoku']) {
    await newGame(page, game);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await byTest(page, 'edit').click();
      await page.waitForSelector('#editor[open]');
      await cell(page, '1,1').click();
      await assertAccessible(page);
      const wide = await page.evaluate(() => document.getElementById('editor').scrollWidth - document.getElementById('editor').clientWidth);
      assert.equal(wide, 0, game);
      await picture(page, `editor-${game}-${colorScheme}`);
      await byTest(page, 'edit-cancel').click();
      await page.waitForSelector('#editor', { state: 'hidden' });
    }
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
