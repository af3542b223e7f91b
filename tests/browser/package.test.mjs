// The JavaScript package in a browser: its modules, as the server hands them to the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GAMES, playGame } from '../../javascript/tests/games.js';
import { stage } from './support.mjs';

const on = stage();

/** A page of the server's with nothing on it but an engine. */
async function bare() {
  const page = await on.browser.newPage();
  await page.goto(`${on.server.url}icon.svg`);
  await page.evaluate(async () => {
    const { Engine } = await import('/plyd/web.js');
    globalThis.engine = new Engine(`ws://${location.host}/ws`);
  });
  return page;
}

for (const [game, rules] of Object.entries(GAMES)) {
  test(`a whole game of ${game}`, async () => {
    const page = await bare();
    const { outcome, moves } = await page.evaluate(`(${playGame})(engine, ${JSON.stringify(game)}, ${JSON.stringify(rules)})`);
    assert.equal(typeof outcome.by, 'string');
    assert.ok(moves.length >= 2, moves.join());
    await page.close();
  });
}

test('leaving the loop of an analysis stops it; errors have code and field', async () => {
  const page = await bare();
  const seen = await page.evaluate(async () => {
    const { engine } = globalThis;
    const search = engine.analyse({ game: 'isolation', rules: { preset: '11x9' }, position: {} });
    const found = {};
    for await (const { event } of search) {
      Object.assign(found, { event, during: (await engine.request('status')).searches });
      break;
    }
    const { reason } = await search;
    const { name, code, pointer } = await engine.request('inspect', { game: 'isolation', position: { moves: ['z9'] } }).catch((error) => error);
    return { ...found, reason, after: (await engine.request('status')).searches, name, code, pointer };
  });
  assert.deepEqual(seen, {
    event: 'best', during: 1, reason: 'stopped', after: 0, name: 'ServerError', code: 'illegal_move', pointer: '/position/moves/0',
  });
  await page.close();
});
