// Games that go from one browser to another by their address, and out of the page by "Share"; one's own games in a list.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  assertAccessible, byTest, inSettings, move, newGame, openIn, openNewGame, pageState, picture, profile, quick, stage, turnOf, until, visit,
} from './support.mjs';

const on = stage();

/** Waits until the address is this, from its `#` on. */
const addressIs = (page, expected) => page.waitForFunction((hash) => location.hash === hash, expected).catch((error) => {
  throw new Error(`${page.url()} is not ${expected}`, { cause: error });
});

const people = (page) => inSettings(page, async () => {
  for (const player of ['p1', 'p2']) await byTest(page, `seat-${player}`).selectOption('human');
});

test('an address holds what is not usual about a game, and opens it elsewhere', async () => {
  const page = await visit(on);
  await people(page);
  for (const [game, rules, position, hash] of [
    ['isolation', {}, { moves: 'd4 b3 e6' }, '#game=isolation&moves=d4_b3_e6'],
    ['isolation', { preset: '11x9' }, { moves: 'd4' }, '#game=isolation&rules=preset:11x9&moves=d4'],
    ['isolation', {}, { start: '1../.../..2 1', moves: 'b3' }, '#game=isolation&rules=height:3;width:3&start=1../.../..2+1&moves=b3'],
    ['l-game', {}, {}, null],
    ['sudoku', { m: 2, n: 2 }, { moves: '0,0,1; 1,1,2' }, '#game=sudoku&rules=m:2;n:2&moves=0,0,1_1,1,2'],
    ['ijk', { preset: 'v2-4x4' }, {}, '#game=ijk&rules=size:4'],
  ]) {
    if (game === 'l-game') await newGame(page, game).then(() => newMove(page));
    else await newGame(page, game, rules, position);
    await until(page, (now) => now.game === game);
    if (hash) await addressIs(page, hash);
    else await page.waitForFunction(() => /moves=\S/.test(location.hash));
    const { text, cursor } = await pageState(page);
    const other = await visit(on);
    await other.goto(page.url());
    await until(other, (now) => now.game === game && now.text === text && now.cursor === cursor);
    await addressIs(other, new URL(page.url()).hash);
    assert.deepEqual(other.faults, [], game);
    await other.context().close();
  }
  await page.context().close();
});

/** The first move of the list. */
async function newMove(page) {
  await byTest(page, 'prompt').waitFor();
  await page.locator('summary', { hasText: 'Legal moves' }).click();
  const { cursor } = await pageState(page);
  await page.locator('#legal [data-move]').first().click();
  await until(page, (now) => Number(now.cursor) === Number(cursor) + 1);
}

test('the address follows the ply; one that is bad is refused, and the board stays', async () => {
  const page = await visit(on);
  await people(page);
  await newGame(page, 'isolation', {}, { moves: 'd4 b3 e6' });
  await byTest(page, 'back').click();
  await addressIs(page, '#game=isolation&moves=d4_b3_e6&ply=2');
  const { text } = await pageState(page);
  for (const [hash, words] of [
    ['#game=chess', /no game chess/],
    ['#game=isolation&moves=d4_d4', /move 2/],
    ['#game=isolation&rules=width:99', /width/],
    ['#nonsense', /not of the form/],
    ['#game=isolation&moves=%E0%A4%A', /cut off/],
    ['#game=isolation&moves=d4&ply=7', /ply 7/],
  ]) {
    await page.evaluate((bad) => { location.hash = bad; }, hash);
    await byTest(page, 'alert').waitFor();
    assert.match(await byTest(page, 'alert').textContent(), words, hash);
    assert.equal((await pageState(page)).text, text);
    await addressIs(page, '#game=isolation&moves=d4_b3_e6&ply=2');
    await page.locator('#dismiss').click();
  }
  // A good one by hand is another game, and "back" returns.
  await page.evaluate(() => { location.hash = '#game=sudoku&rules=m:2;n:2&moves=0,0,1'; });
  await until(page, (now) => now.game === 'sudoku' && now.cursor === '1');
  await page.goBack();
  await until(page, (now) => now.game === 'isolation' && now.text === text);
  await page.goForward();
  await until(page, (now) => now.game === 'sudoku' && now.cursor === '1');
  await page.context().close();
});

test('"back" returns to a game with its players, also in the list of games', async () => {
  const page = await visit(on);
  await quick(page);
  const begin = async (side, begins) => {
    await openNewGame(page, 'isolation', { width: side, height: side });
    await byTest(page, 'begins').selectOption(begins);
    await byTest(page, 'start-game').click();
    await page.waitForSelector('#new-dialog', { state: 'hidden' });
  };
  await begin(6, 'p2');
  assert.ok(await turnOf(page, 'p2', 0));
  const { text } = await pageState(page);
  await begin(5, 'p1');
  await until(page, (now) => now.plies === '0' && now.toMove === 'p1');
  await page.goBack();
  await until(page, (now) => now.text === text);
  assert.match(await page.locator('#strip-p1 .who').textContent(), /Engine/);
  assert.match(await page.locator('#strip-p2 .who').textContent(), /Human/);
  await move(page, 0);
  assert.ok(await turnOf(page, 'p2', 2), 'the engine answers as player 1');
  await byTest(page, 'library').click();
  await page.waitForFunction(() => /3 moves · Engine[^–]* – Human/.test(document.querySelector('[data-testid="own-games"]')?.textContent));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a link is opened by the next connection if the first one breaks before its game is there', async () => {
  let breaks = true;
  const page = await openIn(await profile(on), `${on.server.url}#game=isolation&moves=d4_b3`, (fresh) => (
    fresh.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        if (!breaks || JSON.parse(message).cmd !== 'inspect') server.send(message);
        else {
          breaks = false;
          socket.close();
        }
      });
    })));
  await until(page, (now) => now.game === 'isolation' && now.cursor === '2');
  await addressIs(page, '#game=isolation&moves=d4_b3');
  assert.ok(!breaks);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a game is shared as link, position, moves, record and PNG', async () => {
  const page = await visit(on, { permissions: ['clipboard-read', 'clipboard-write'] });
  await people(page);
  await newGame(page, 'isolation', {}, { moves: 'd4 b3 e6' });
  await addressIs(page, '#game=isolation&moves=d4_b3_e6');
  await byTest(page, 'share').click();
  await assertAccessible(page);
  await picture(page, 'share', { width: 1280, height: 800 });
  await picture(page, 'share-phone', { width: 390, height: 844 });
  const copied = async (name) => {
    await byTest(page, 'share-said').evaluate((node) => { node.textContent = ''; });
    await byTest(page, `copy-${name}`).click();
    await page.waitForFunction(() => (document.querySelector('[data-testid="share-said"]')?.textContent ?? '') !== '');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied('link'), page.url());
  assert.equal(await copied('position'), (await pageState(page)).text);
  assert.equal(await copied('moves'), 'd4 b3 e6');
  assert.deepEqual(JSON.parse(await copied('record')).moves, ['d4', 'b3', 'e6']);
  const [download] = await Promise.all([page.waitForEvent('download'), byTest(page, 'save-png').click()]);
  assert.equal(download.suggestedFilename(), 'isolation-3.png');
  const bytes = await readFile(await download.path());
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  assert.equal(Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)), 1200);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('own games are listed, named, opened and deleted, and two tabs do not lose each other’s', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 5, height: 5 });
  await move(page, 0);
  await turnOf(page, 'p1', 1);
  const first = await pageState(page);
  await newGame(page, 'sudoku', { m: 2, n: 2 });
  await move(page, 0);
  await turnOf(page, 'p1', 1);
  const beside = await openIn(page.context(), on.server.url);
  // The other tab goes on with the game that no tab has on its table.
  await until(beside, (now) => now.text === first.text);
  await newGame(beside, 'colosseum', { size: 6, seed: '5' });
  await move(beside, 0);
  await turnOf(beside, 'p1', 1);

  await byTest(page, 'library').click();
  await page.waitForFunction(() => document.querySelectorAll('[data-own]').length === 3);
  await assertAccessible(page);
  await page.waitForFunction(() => [...document.querySelectorAll('[data-own] img')].every((image) => image.naturalWidth));
  await picture(page, 'own-games', { width: 1280, height: 800 });
  await picture(page, 'own-games-phone', { width: 390, height: 844 });
  const labels = await byTest(page, 'own-open').allTextContents();
  assert.deepEqual(labels.toSorted(), ['In another tab', 'On the board', 'Open']);
  const row = page.locator('[data-own]').filter({ has: page.getByText('Open', { exact: true }) });
  assert.match(await row.textContent(), /2 moves.*Human – Engine.*unfinished/);
  await row.locator('[data-testid="own-name"]').fill('a good start');
  await row.locator('[data-testid="own-name"]').press('Tab');
  await row.locator('[data-testid="own-open"]').click();
  await until(page, (now) => now.game === 'isolation' && now.text === first.text);

  await byTest(page, 'library').click();
  await page.waitForFunction(() => document.querySelectorAll('[data-own]').length === 3);
  const sudoku = page.locator('[data-own]').filter({ has: page.getByText('Open', { exact: true }) });
  for (const [answer, left] of [['ask-no', 3], ['ask-yes', 2]]) {
    await sudoku.locator('[data-testid="own-delete"]').click();
    await byTest(page, answer).click();
    await page.waitForFunction((count) => document.querySelectorAll('[data-own]').length === count, left);
  }
  const names = await byTest(page, 'own-name').evaluateAll((all) => all.map(({ value }) => value));
  assert.deepEqual(names.toSorted(), ['', 'a good start']);
  await byTest(page, 'library-close').click();
  assert.deepEqual([page.faults, beside.faults], [[], []]);
  await page.context().close();
});

test('of many games the oldest without a name are dropped', async () => {
  const page = await visit(on);
  await people(page);
  await newGame(page, 'isolation', {}, { moves: 'd4' });
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith('plyd.game.1.')));
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find((one) => one.startsWith('plyd.game.1.'));
    const entry = JSON.parse(localStorage.getItem(key));
    for (let at = 1; at <= 70; at += 1) localStorage.setItem(`plyd.game.1.old-${at}`, JSON.stringify({ ...entry, at }));
    localStorage.setItem('plyd.name.1.old-1', 'kept');
  });
  await newGame(page, 'isolation', {}, { moves: 'd4 b3' });
  await page.waitForFunction(() => !localStorage.getItem('plyd.game.1.old-5'));
  const left = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('plyd.game.1.old-')).length);
  assert.ok(left <= 60, String(left));
  assert.ok(await page.evaluate(() => localStorage.getItem('plyd.game.1.old-1') && localStorage.getItem('plyd.game.1.old-70')));
  await page.context().close();
});
