// A whole game of each against the engine, by clicks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, inSettings, move, newGame, openIn, pageState, picture, playOut, quick, stage, turnOf, visit } from './support.mjs';

/** Rules under which a game is short. */
const GAMES = {
  isolation: { width: 5, height: 5 },
  colosseum: { size: 6, seed: '7' },
  sudoku: { m: 2, n: 2 },
  ijk: { preset: 'v2-4x4', mode: 'nondet', max_plies: 24 },
  'l-game': { max_plies: 10 },
};

const on = stage();

for (const [game, rules] of Object.entries(GAMES)) {
  test(`a whole game of ${game}`, async () => {
    const page = await visit(on);
    await quick(page);
    await newGame(page, game, rules);
    if (game === 'l-game') {
      // The perfect player would end a game against hands that know nothing at its second move.
      await inSettings(page, async () => {
        await byTest(page, 'options-p2-player').selectOption('random');
        await page.waitForFunction(() => document.getElementById('strip-p2').textContent.includes('random'));
      });
    }
    const made = await playOut(page, () => picture(page, `${game}-midway`));
    assert.ok(made >= 1);
    assert.equal((await pageState(page)).toMove, 'none');
    assert.match(await byTest(page, 'outcome').textContent(), /^(You win|The engine wins|A draw)[:,]/);
    // The server's own words for the whole game are those that the page shows.
    const played = await page.locator('#history [data-ply]').count();
    assert.equal(played, Number((await pageState(page)).plies) + 1);
    await picture(page, `${game}-over`);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

for (const [what, script] of [
  ['that cannot be read', 'export default {'],
  ['that fails', 'export default () => { throw new Error("no"); };'],
]) {
  test(`a game with a look ${what} is drawn and played as any game`, async () => {
    const context = await on.browser.newContext();
    await context.route('**/games/isolation.js', (route) => route.fulfill({ contentType: 'text/javascript', body: script }));
    const page = await openIn(context, `${on.server.url}?game=l-game`);
    const warnings = [];
    page.on('console', (message) => { if (message.type() === 'warning') warnings.push(message.text()); });
    await quick(page);
    await newGame(page, 'isolation', { width: 5, height: 5 });
    await move(page, 0);
    assert.ok(await turnOf(page, 'p1', 1));
    assert.equal(await page.locator('#board .kind-token').count(), 2);
    assert.equal(await page.locator('#board .kind-token .glyph').count(), 0);
    assert.match(warnings.join(), /the look of isolation failed to load/);
    assert.deepEqual(page.faults, []);
    await context.close();
  });
}
