// Where things stand: the board first, one column beside it, and on a phone all that it takes to play on one screen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, byTest, inSettings, move, newGame, picture, quick, stage, turnOf, visit } from './support.mjs';

const on = stage();

/** Each game as people play it; small ones would leave their columns half empty. */
const GAMES = {
  isolation: {},
  colosseum: { size: 8, seed: '7' },
  sudoku: { m: 3, n: 3 },
  ijk: { preset: 'v2-4x4' },
  'l-game': {},
};

const WINDOW = { width: 1280, height: 800 };

/** The box of all cells: the board without its labels. */
const cellsBox = (page) => page.evaluate(() => {
  const boxes = [...document.querySelectorAll('#board .cell')].map((cell) => cell.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  return { left, top, right, bottom, width: right - left, height: bottom - top };
});

/** Fails unless an element is wholly inside the window. */
async function assertInView(page, selector) {
  const { width, height } = page.viewportSize();
  const box = await page.locator(selector).boundingBox();
  assert.ok(box, `${selector} is not shown`);
  const inside = box.x >= -0.5 && box.y >= -0.5 && box.x + box.width <= width + 0.5 && box.y + box.height <= height + 0.5;
  assert.ok(inside, `${selector} at ${JSON.stringify(box)} in ${width}x${height}`);
}

for (const [game, rules] of Object.entries(GAMES)) {
  test(`${game}: the board has 40 % of the window and stays where it is`, async () => {
    const page = await visit(on, { viewport: WINDOW });
    await quick(page);
    await newGame(page, game, rules);
    const box = await cellsBox(page);
    const share = (box.width * box.height) / (WINDOW.width * WINDOW.height);
    assert.ok(share >= 0.4, `${(100 * share).toFixed(1)} %`);
    const stays = async (when) => assert.deepEqual(await cellsBox(page), box, when);
    for (const part of ['#history', '.controls', '#strip-p1', '#strip-p2']) await assertInView(page, part);

    // The pointer over all that it can reach, and a move with its answer.
    for (let x = 20; x < WINDOW.width; x += 90) {
      for (let y = 20; y < WINDOW.height; y += 90) await page.mouse.move(x, y);
    }
    await stays('after the mouse was everywhere');
    await byTest(page, 'hint').click();
    await page.waitForFunction(() => !document.querySelector('[data-testid="play-hint"]').hidden);
    await stays('with a hint');
    await byTest(page, 'play-hint').click();
    await turnOf(page, 'p1', 1);
    await stays('after a move');

    await byTest(page, 'mode-analyse').click();
    if (await page.evaluate(() => document.body.dataset.over !== 'true')) await page.waitForSelector('[data-rank]');
    await stays('while a search runs');
    for (const part of ['#history', '#analysis ol', '[data-testid="graph"]', '.controls', '[data-testid="bar"]']) {
      await assertInView(page, part);
    }
    await page.locator('#analysis').hover();
    await stays('over the lines');
    await picture(page, `${game}-desktop-analyse`);
    await byTest(page, 'first').click();
    await stays('at the start of the game');
    await byTest(page, 'mode-play').click();
    await page.evaluate(() => Promise.reject(new Error('a fault that is shown')).catch((error) => {
      dispatchEvent(new ErrorEvent('error', { message: error.message }));
    }));
    await byTest(page, 'alert').waitFor();
    await stays('with an alert');
    await page.context().close();
  });
}

const PHONES = [[390, 844], [380, 740], [844, 390]];
for (const [width, height] of PHONES) {
  test(`a phone of ${width}x${height} shows board, prompt and moves at once, with targets for fingers`, async () => {
    const page = await visit(on, { viewport: { width, height }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
    await quick(page);
    for (const [game, rules] of Object.entries(GAMES)) {
      await newGame(page, game, rules);
      for (const part of ['#board', '#prompt', '#history', '.controls', '#strip-p1', '#strip-p2']) await assertInView(page, part);
      const box = await cellsBox(page);
      assert.ok(Math.min(box.width, box.height) >= 0.8 * Math.min(width, height - 46) - 40, `${game}: ${JSON.stringify(box)}`);
      const small = await page.evaluate(() => [...document.querySelectorAll('header button, main button')]
        .map((button) => [button, button.getBoundingClientRect()])
        .filter(([, seen]) => seen.width && (seen.height < 43.5 || seen.width < 43.5))
        .map(([button, seen]) => `${button.textContent} ${seen.width}x${seen.height}`));
      assert.deepEqual(small, [], game);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${game}: nothing is cut off`);
      await picture(page, `${game}-${width}x${height}`);
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

test('axe finds nothing in either mode, nor in the settings', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await visit(on, { viewport: WINDOW, colorScheme });
    await quick(page);
    await newGame(page, 'sudoku', {});
    await move(page, 0);
    await turnOf(page, 'p1', 1);
    await assertAccessible(page);
    await byTest(page, 'mode-analyse').click();
    await page.waitForSelector('[data-rank]');
    await assertAccessible(page);
    await inSettings(page, async () => {
      await assertAccessible(page);
      await picture(page, `settings-${colorScheme}`);
    });
    await page.context().close();
  }
});
