// Premoves: what is entered while the opponent thinks is shown, and is played in the player's turn if it is legal then.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, clickCell, inSettings, middle, openNewGame, pageState, quick, stage, turnOf, until, visit } from './support.mjs';

const on = stage();

/** The engine thinks until it is told to move: this board is too large to be solved, which would end its search. */
const THINKS_MS = 600_000;
const LARGE = { preset: '11x9' };
/** Player 1 is at d4, and player 2 in a corner from which it reaches nothing near. */
const APART = { moves: 'd4 a1' };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Lets the engine move. */
const answer = (page) => byTest(page, 'move-now').evaluate((button) => button.click());

/** What the list of moves says of a ply, once it was played. */
async function ply(page, number) {
  await page.locator(`#history [data-ply="${number}"]`).waitFor();
  return page.locator(`#history [data-ply="${number}"]`).textContent();
}

/** The cell of a move's name on the board. */
const cellOf = (page, name) => page.locator(`#board [aria-label^="${name},"]`).getAttribute('data-cell');

/** A game against the engine at its full strength: a lower level soon moves, however much time it has. */
async function against(page, game, rules, position) {
  await quick(page, THINKS_MS);
  await openNewGame(page, game, rules, position);
  await byTest(page, 'opponent').selectOption('10');
  await byTest(page, 'start-game').click();
  await page.waitForSelector('#new-dialog', { state: 'hidden' });
  await until(page, (now) => now.game === game && now.toMove !== undefined);
}

async function apart(options) {
  const page = await visit(on, options);
  await against(page, 'isolation', LARGE, APART);
  return page;
}

/** How a cell is chosen. */
const BY = {
  mouse: { choose: clickCell },
  keys: {
    async choose(page, cell) {
      await page.locator(`[data-cell="${cell}"]`).focus();
      await page.keyboard.press('Enter');
    },
  },
  touch: { options: PHONE, choose: async (page, cell) => page.touchscreen.tap(...await middle(page, cell)) },
};

for (const [how, { options, choose }] of Object.entries(BY)) {
  test(`a premove by ${how} is shown and played; one that is illegal then is dropped`, async () => {
    const page = await apart(options);
    await choose(page, await cellOf(page, 'c6'));
    await until(page, (now) => now.toMove === 'p2');
    const next = await cellOf(page, 'e7');
    await choose(page, next);
    await page.waitForSelector(`[data-premove="${next}"]`);
    assert.match(await byTest(page, 'prompt').textContent(), /^Premove: e7\. /);
    await answer(page);
    assert.match(await ply(page, 5), /e7/);
    assert.equal(await page.locator('[data-premove]').count(), 0);
    // It is blocked since it was left.
    await until(page, (now) => now.toMove === 'p2');
    await choose(page, await cellOf(page, 'c6'));
    await page.waitForSelector('[data-premove]');
    await answer(page);
    assert.ok(await turnOf(page, 'p1', 5));
    await page.waitForSelector('.cell.target');
    assert.equal(await page.locator('[data-premove], .cell.selected').count(), 0);
    assert.equal((await pageState(page)).plies, '6');
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

test('keys of a game are kept in their order: a walk and its wall', async () => {
  const page = await visit(on);
  await against(page, 'colosseum', { size: 8, seed: '7' });
  const own = await page.locator('#board .piece.of-p1').first().getAttribute('data-at');
  const wall = async (side) => {
    await clickCell(page, own);
    await page.keyboard.press(side);
  };
  const sides = await (async () => {
    await clickCell(page, own);
    const free = await page.locator('#board [data-side]').evaluateAll((all) => all.map((one) => one.dataset.move.at(-1)));
    await page.keyboard.press('Escape');
    return free;
  })();
  await wall(sides[0]);
  await until(page, (now) => now.toMove === 'p2');
  await wall(sides[1]);
  await page.waitForSelector(`[data-premove="${own}"]`);
  await answer(page);
  const cell = own.replace(',', '');
  assert.match(await ply(page, 1), new RegExp(`${cell}${sides[0]}`));
  assert.match(await ply(page, 3), new RegExp(`${cell}${sides[1]}`));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a premove is cancelled by Escape, the right button or its own button, and none is taken if the preference is off', async () => {
  const ways = {
    Escape: (page) => page.keyboard.press('Escape'),
    'the right button': async (page) => page.mouse.click(...await middle(page, '0,0'), { button: 'right' }),
    'the button': (page) => byTest(page, 'premove-cancel').click(),
  };
  const page = await apart();
  await clickCell(page, await cellOf(page, 'c6'));
  await until(page, (now) => now.toMove === 'p2');
  for (const [name, cancel] of Object.entries(ways)) {
    await clickCell(page, await cellOf(page, 'e7'));
    await page.waitForSelector('[data-premove]');
    await cancel(page);
    assert.equal(await page.locator('[data-premove], #board .own').count(), 0, name);
  }
  await answer(page);
  assert.ok(await turnOf(page, 'p1', 3));
  await page.waitForSelector('.cell.target');
  assert.equal((await pageState(page)).plies, '4');
  await inSettings(page, () => byTest(page, 'prefer-premove').uncheck());
  await clickCell(page, await cellOf(page, 'e7'));
  await clickCell(page, await cellOf(page, 'c6'));
  assert.equal(await page.locator('[data-premove]').count(), 0);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
