// One's own arrows and circles on the board, by the right mouse button.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, middle, move, newGame, quick, stage, visit } from './support.mjs';

const on = stage();

const own = (page) => page.locator('#board .own').evaluateAll((shapes) => shapes.map((shape) => (
  `${shape.localName} ${[...shape.classList].at(-1)}`)));

/** Drags with the right button. */
async function draw(page, from, to) {
  await page.mouse.move(...await middle(page, from));
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(...await middle(page, to), { steps: 3 });
  await page.mouse.up({ button: 'right' });
}

test('arrows and circles are drawn, taken away again, and gone with the position; no move is made of them', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation');
  const plies = () => page.evaluate(() => document.body.dataset.plies);
  const before = await plies();
  await draw(page, '0,0', '2,1');
  await page.keyboard.down('Shift');
  await draw(page, '3,3', '3,3');
  await page.keyboard.up('Shift');
  assert.deepEqual(await own(page), ['g green', 'circle red']);
  // It points from cell to cell.
  const box = await page.locator('#board .own.green').boundingBox();
  const [[x1, y1], [x2, y2]] = [await middle(page, '0,0'), await middle(page, '2,1')];
  assert.ok(box.x >= x1 - 20 && box.y >= y1 && box.x + box.width <= x2 + 20 && box.y + box.height <= y2, JSON.stringify(box));
  await draw(page, '0,0', '2,1');
  assert.deepEqual(await own(page), ['circle red'], 'the same once more takes it away');
  assert.equal(await plies(), before);
  await page.locator('#board').click({ position: { x: 4, y: 4 } });
  assert.deepEqual(await own(page), [], 'a click takes all away');
  await draw(page, '0,0', '2,1');
  await move(page);
  await page.waitForFunction((plies) => document.body.dataset.plies !== plies, before);
  assert.deepEqual(await own(page), []);
  await byTest(page, 'first').click();
  await page.waitForFunction(() => document.body.dataset.cursor === '0');
  assert.deepEqual(await own(page), [], 'it belonged to a look, not to the game');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
