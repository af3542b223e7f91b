// A game that `plyd new-game` wrote, on the page of its own program, which PLYD_BIN names: it is played by its look.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clickCell, pageState, picture, quick, stage, turnOf, visit } from './support.mjs';

const on = stage();

test('a new game is drawn and played by its look', async () => {
  const page = await visit(on, {}, 'five-in-a-row');
  await quick(page);
  // A disc falls wherever its column is clicked.
  await clickCell(page, '0,3');
  assert.ok(await turnOf(page, 'p1', 1));
  assert.equal((await pageState(page)).text.at(-4), '1');
  assert.equal(await page.locator('#board .kind-disc').count(), 2);
  assert.equal(await page.locator('#board .kind-disc text').count(), 0);
  await page.locator('#board [tabindex="0"], #board').first().focus();
  await page.keyboard.press('1');
  assert.ok(await turnOf(page, 'p1', 3));
  assert.match(await page.locator('#history').textContent(), /4.*1/s);
  await picture(page, 'new-game');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
