// Who comes for the first time: a choice of games, opponents by names, and what follows a game.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertAccessible, byTest, inSettings, move, newGame, openIn, openNewGame, pageState, picture, playOut, quick, stage, turnOf, until, visit,
} from './support.mjs';

const on = stage();

/** A page of somebody who was never here. */
async function firstVisit(options = {}) {
  const page = await visit(on, options);
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
  // What the page sent is what is looked at.
  page.sent = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => page.sent.push(JSON.parse(String(payload)))));
  await page.goto(on.server.url);
  await page.locator('#welcome-dialog .miniature svg').nth(4).waitFor();
  return page;
}

test('a first visit offers the games in pictures; the chosen one is played, against level 3', async () => {
  const page = await firstVisit();
  const cards = await page.locator('#welcome-dialog .card').evaluateAll((all) => all.map((card) => card.textContent));
  assert.equal(cards.length, 5);
  assert.ok(cards.every((text) => text.length > 20), 'each has a line');
  await assertAccessible(page);
  await picture(page, 'welcome');
  await byTest(page, 'welcome-isolation').click();
  await until(page, (now) => now.game === 'isolation' && now.toMove === 'p1');
  assert.ok(await page.locator('#welcome-dialog').isHidden());
  await move(page, 0);
  assert.ok(await turnOf(page, 'p1', 1));
  const opened = page.sent.filter((request) => request.cmd === 'newgame' && request.session === 'p2').at(-1);
  assert.deepEqual(opened.options, { level: 3 });
  // A tab beside it, and the next visit, are not the first.
  const beside = await openIn(page.context(), on.server.url);
  await until(beside, (now) => now.toMove === 'p1');
  assert.ok(await beside.locator('#welcome-dialog').isHidden());
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a choice that was put off is not offered again, nor to those whom an address sent', async () => {
  const page = await firstVisit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
  await picture(page, 'welcome-390x844');
  await byTest(page, 'welcome-close').tap();
  const again = await openIn(page.context(), on.server.url);
  await until(again, (now) => now.toMove === 'p1');
  assert.ok(await again.locator('#welcome-dialog').isHidden());
  assert.ok(await (await visit(on)).locator('#welcome-dialog').isHidden());
  await page.context().close();
});

test('opponents have names and the server’s ratings, and who begins is asked', async () => {
  const page = await visit(on);
  await quick(page);
  await openNewGame(page, 'l-game');
  const { ratings } = await page.evaluate(async () => {
    const { Engine } = await import('/plyd/web.js');
    const engine = new Engine(`ws://${location.host}/ws`);
    const { levels } = (await engine.request('describe', { what: 'game', game: 'l-game' })).body;
    engine.close?.();
    return levels;
  });
  const offered = await byTest(page, 'opponent').locator('option').allTextContents();
  for (const { level, elo } of ratings) assert.match(offered[level - 1], new RegExp(`^${level} · [A-Z][a-z ]+ · ${elo}$`));
  assert.equal(await byTest(page, 'opponent').inputValue(), '3', 'the one whom a beginner can beat');
  await byTest(page, 'variants').evaluate((details) => { details.open = false; });
  assert.ok(await byTest(page, 'rules-neutrals').isHidden(), 'the rules stand behind Variants');
  await assertAccessible(page);
  await picture(page, 'new-game');
  await byTest(page, 'opponent').selectOption('7');
  await byTest(page, 'begins').selectOption('p2');
  await byTest(page, 'start-game').click();
  assert.ok(await turnOf(page, 'p2', 0), 'the opponent moved first');
  await inSettings(page, async () => {
    assert.equal(await byTest(page, 'seat-p1').inputValue(), 'engine');
    assert.equal(await byTest(page, 'options-p1-level').inputValue(), '7');
  });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a time for the game is chosen where it begins, and the settings know it', async () => {
  const page = await visit(on);
  await openNewGame(page, 'isolation');
  await byTest(page, 'time').selectOption({ label: '3 minutes each, and 2 seconds a move' });
  await byTest(page, 'start-game').click();
  await page.locator('#strip-p1 .time').waitFor();
  await inSettings(page, async () => assert.equal(await byTest(page, 'clock-base_ms').inputValue(), '3'));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('after a game: rematch with sides swapped, a review, weaker and stronger opponents', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 4, height: 4 });
  assert.ok(await byTest(page, 'rematch').isHidden());
  await playOut(page);
  await picture(page, 'after-game');
  await assertAccessible(page);
  await byTest(page, 'review').click();
  await until(page, (now) => now.cursor === '0' && now.mode === 'analyse');
  await byTest(page, 'mode-play').click();
  await byTest(page, 'last').click();
  await byTest(page, 'stronger').click();
  await until(page, (now) => now.plies === '0' && now.over === 'false');
  const level = (player) => page.locator(`#strip-${player} .who`).textContent();
  assert.match(await level('p2'), /level 4/);
  assert.equal(await page.locator('[data-cell]').count(), 16, 'the same rules');
  await playOut(page);
  await byTest(page, 'rematch').click();
  await until(page, (now) => now.over === 'false' && now.plies !== undefined);
  assert.match(await level('p1'), /level 4/);
  assert.ok(await turnOf(page, 'p2', 0));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
