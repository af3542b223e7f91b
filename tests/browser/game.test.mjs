// What a person expects of a game: that nothing is given away, no time runs for nothing and no game is lost.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  byTest, clickCell, inSettings, move, newGame, openIn, openNewGame, pageState, playOut, quick, serve, setClock,
  stage, turnOf, until, visit,
} from './support.mjs';

const on = stage();

/** How many searches the server runs, as another connection is told. */
const searches = (page) => page.evaluate(async () => {
  const { Engine } = await import('/plyd/web.js');
  const engine = new Engine(`ws://${location.host}/ws`);
  const { searches: running } = await engine.request('status');
  engine.close?.();
  return running;
});

/** A page on which each side has made one move of Isolation, on a square board. */
async function begun(side) {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: side, height: side });
  await move(page, 0);
  await turnOf(page, 'p1', 1);
  return page;
}

/** Waits until a value that is asked for is as expected. */
async function becomes(ask, expected) {
  const deadline = Date.now() + 20_000;
  let value = await ask();
  while (value !== expected && Date.now() < deadline) value = await ask();
  assert.equal(value, expected);
}

test('Stop ends the search, and so does the way back to the game', async () => {
  const page = await visit(on);
  const sent = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))));
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await newGame(page, 'colosseum', { size: 10, seed: '7' });
  await byTest(page, 'mode-analyse').click();
  await page.waitForSelector('[data-rank]');
  await becomes(() => searches(page), 1);
  assert.equal(await byTest(page, 'analyse').textContent(), 'Stop');
  await byTest(page, 'analyse').click();
  assert.equal(await byTest(page, 'analyse').textContent(), 'Analyse');
  await becomes(() => searches(page), 0);
  assert.ok(sent.some((frame) => JSON.parse(frame).cmd === 'stop'), 'a stop on the wire');
  assert.equal(await page.locator('[data-rank]').count(), 0, 'lines of a search that was ended');
  await byTest(page, 'analyse').click();
  await becomes(() => searches(page), 1);
  await byTest(page, 'mode-play').click();
  await becomes(() => searches(page), 0);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('arrow keys move the tiles wherever the focus is', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'ijk', { preset: 'v2-4x4' });
  for (const name of ['new-game', 'hint', 'take-back']) {
    const before = await pageState(page);
    if (name === 'hint') await byTest(page, 'hint').click();
    await byTest(page, name).focus();
    const moves = await page.locator('#tools [data-move]').evaluateAll((all) => all.map((one) => one.dataset.move));
    await page.keyboard.press({ U: 'ArrowUp', R: 'ArrowRight', D: 'ArrowDown', L: 'ArrowLeft' }[moves.find((one) => /[URDL]/.test(one))]);
    assert.ok(await turnOf(page, 'p1', Number(before.cursor)), name);
    assert.equal(await page.evaluate(() => scrollY), 0);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('keys of the page work with Caps Lock, and brackets with Alt', async () => {
  const page = await visit(on);
  await inSettings(page, () => byTest(page, 'seat-p2').selectOption('human'));
  await newGame(page, 'isolation', {}, { moves: 'd4 b3' });
  const press = (key, held = {}) => page.evaluate(([name, more]) => (
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more }))), [key, held]);
  await until(page, (now) => now.cursor === '2');
  await press('[', { altKey: true });
  await until(page, (now) => now.cursor === '1');
  await press(']', { altKey: true, ctrlKey: true });
  await until(page, (now) => now.cursor === '2');
  await press('Z');
  await until(page, (now) => now.cursor === '1');
  await press('Y');
  await until(page, (now) => now.cursor === '2');
  await press('A');
  await until(page, (now) => now.mode === 'analyse');
  // What the browser does with a key is left to it.
  assert.ok(await press('a', { altKey: true }));
  assert.equal((await pageState(page)).mode, 'analyse');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a button whose name says what it does is not “pressed” as well', async () => {
  const page = await visit(on);
  await byTest(page, 'pause').click();
  await byTest(page, 'mode-analyse').click();
  for (const [name, label] of [['pause', 'Resume'], ['analyse', 'Stop']]) {
    const shown = byTest(page, name);
    assert.equal(await shown.textContent(), label);
    assert.equal(await shown.getAttribute('aria-pressed'), null, name);
  }
  await page.context().close();
});

test('a line of the analysis can be played for an engine’s side, too', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', { preset: '11x9' }, { moves: 'd4 h6' });
  await byTest(page, 'mode-analyse').click();
  await byTest(page, 'back').click();
  await until(page, (now) => now.cursor === '1' && now.toMove === 'p2');
  const line = page.locator('[data-rank="1"]');
  await line.waitFor();
  await line.locator('.score').click();
  await until(page, (now) => now.cursor === '2' && now.toMove === 'p1');
  assert.equal(await byTest(page, 'pause').textContent(), 'Resume', 'no engine answers');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('two fingers on a board of slides play nothing, one finger does', async () => {
  const page = await visit(on, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await inSettings(page, () => byTest(page, 'seat-p2').selectOption('human'));
  await newGame(page, 'ijk', { preset: 'v2-4x4' });
  await page.locator('#tools [data-move]').first().waitFor();
  const moves = await page.locator('#tools [data-move]').evaluateAll((all) => all.map((one) => one.dataset.move));
  const box = await byTest(page, 'board').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const hand = await page.context().newCDPSession(page);
  const touch = (type, ...points) => hand.send('Input.dispatchTouchEvent', {
    type, touchPoints: points.map(([id, dx, dy]) => ({ id, x: x + dx, y: y + dy })),
  });
  const played = () => page.evaluate(() => (
    JSON.parse(sessionStorage.getItem('plyd.table.3')).game.moves.filter((ply) => !ply.startsWith('~'))));
  const way = moves.find((one) => /^[URDL]$/.test(one));
  const [dx, dy] = { U: [0, -1], R: [1, 0], D: [0, 1], L: [-1, 0] }[way].map((step) => 90 * step);
  // The second finger lies where a swipe of the first one would end.
  await touch('touchStart', [0, 0, 0]);
  await touch('touchStart', [0, 0, 0], [1, -dx, -dy]);
  // The first one is lifted first.
  await touch('touchMove', [1, -dx, -dy]);
  await touch('touchEnd');
  const before = await pageState(page);
  assert.deepEqual(await played(), []);
  await touch('touchStart', [0, 0, 0]);
  await touch('touchMove', [0, dx, dy]);
  await touch('touchEnd');
  await until(page, (now) => Number(now.cursor) > Number(before.cursor) && now.toMove === 'p2');
  assert.deepEqual(await played(), [way]);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the flag of a person ends the game; taken back, the game goes on with its time', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', {});
  await setClock(page, 'increment', { base_ms: 0.05, inc_ms: 0 });
  await inSettings(page, () => byTest(page, 'seat-p2').selectOption('human'));
  await move(page, 0);
  await until(page, (now) => now.over === 'true');
  const outcome = await byTest(page, 'outcome').textContent();
  assert.match(outcome, /^Player 1 wins: player 2’s time is up/);
  assert.equal(await byTest(page, 'status').textContent(), outcome, 'it is said, too');
  const { cursor } = await pageState(page);
  await clickCell(page, '3,3');
  assert.equal(await page.locator('#board .target').count(), 0, 'no cell can be chosen any more');
  assert.equal((await pageState(page)).cursor, cursor);
  await page.reload();
  await until(page, (now) => now.over === 'true');
  await byTest(page, 'take-back').click();
  await until(page, (now) => now.over === 'false' && now.toMove === 'p1');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a second press of Resign ends the game, by keys and by a finger, and it stays ended', async () => {
  for (const options of [{}, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]) {
    const page = await visit(on, options);
    await quick(page);
    await newGame(page, 'isolation');
    const resign = byTest(page, 'resign');
    assert.ok(await resign.isHidden(), 'nothing was played');
    await move(page, 0);
    assert.ok(await turnOf(page, 'p1', 1));
    const press = () => (options.hasTouch ? resign.tap() : page.keyboard.press('Enter'));
    if (options.hasTouch) assert.ok((await resign.boundingBox()).height >= 43.5);
    else await resign.focus();
    await press();
    assert.equal(await resign.textContent(), 'Resign?');
    assert.equal((await pageState(page)).over, 'false');
    await press();
    await until(page, (now) => now.over === 'true');
    assert.equal(await byTest(page, 'outcome').textContent(), 'The engine wins: you resigned.');
    await byTest(page, 'rematch').waitFor();
    assert.ok(await resign.isHidden());
    await page.reload();
    await until(page, (now) => now.over === 'true');
    assert.equal(await byTest(page, 'outcome').textContent(), 'The engine wins: you resigned.');
    await byTest(page, 'take-back').click();
    await until(page, (now) => now.over === 'false' && now.toMove === 'p1');
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
});

test('a hint shows one move and names it; the prompt is that of the entry again once something is entered', async () => {
  const page = await visit(on);
  await newGame(page, 'colosseum', { size: 8, seed: '7' });
  const prompt = byTest(page, 'prompt');
  const usual = await prompt.textContent();
  await byTest(page, 'hint').click();
  await page.waitForFunction(() => /^Hint: .+\.$/.test(document.getElementById('prompt').textContent));
  await page.waitForSelector('#board .wall.might', { state: 'attached' });
  assert.equal(await page.locator('#board .wall.might').count(), 1, 'the wall of one move');
  await clickCell(page, await page.locator('.cell.target').first().getAttribute('data-cell'));
  assert.match(await prompt.textContent(), /^Choose the side to wall/);
  await page.keyboard.press('Escape');
  assert.equal(await prompt.textContent(), usual);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a game gives nothing away: no bar, no lines, no scores', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', { preset: '11x9' });
  await setClock(page, 'per_move', { ms: 1 });
  const seen = page.evaluate(() => new Promise((resolve) => {
    const found = new Set();
    const look = () => {
      if (document.querySelector('#board .ghost, #board .arrow, #board .badge')) found.add('a line on the board');
      if (document.querySelector('#bar').checkVisibility({ visibilityProperty: true })) found.add('the bar');
      if (document.querySelector('#analysis').checkVisibility()) found.add('the lines');
      if ([...document.querySelectorAll('#history .score')].some((score) => score.checkVisibility())) found.add('a score');
      if (/depth|[+−]\d/.test(document.getElementById('strip-p2').textContent)) found.add('what the engine thinks');
      if (document.body.dataset.cursor === '4') resolve([...found]);
      else requestAnimationFrame(look);
    };
    look();
  }));
  for (let made = 0; made < 2; made += 1) {
    assert.ok(await turnOf(page, 'p1', 2 * made - 1));
    await move(page, made);
  }
  assert.deepEqual(await seen, []);
  await byTest(page, 'mode-analyse').click();
  await page.waitForSelector('#board .ghost, #board .arrow');
  assert.ok(await byTest(page, 'bar').isVisible());
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the bar does not fall back to the middle on each turn of a person', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { preset: '11x9' });
  await byTest(page, 'mode-analyse').click();
  await byTest(page, 'analyse').click();
  const samples = page.evaluate(() => new Promise((resolve) => {
    const found = [];
    const look = () => {
      const { cursor, toMove } = document.body.dataset;
      const bar = document.getElementById('bar');
      if (toMove === 'p1' && Number(cursor) >= 6) found.push(bar.getAttribute('aria-valuetext'));
      if (Number(cursor) >= 8) resolve(found);
      else requestAnimationFrame(look);
    };
    look();
  }));
  for (let made = 0; made < 4; made += 1) {
    assert.ok(await turnOf(page, 'p1', 2 * made - 1));
    await move(page, made);
  }
  const shown = await samples;
  assert.ok(shown.length > 2);
  assert.deepEqual(shown.filter((words) => words === '–'), []);
  await page.context().close();
});

test('a game whose tab was closed is there again, once', async () => {
  const page = await begun(6);
  const { text } = await pageState(page);
  const context = page.context();
  const beside = await openIn(context, on.server.url);
  assert.equal((await pageState(beside)).plies, '0', 'a game that is open in a tab is not opened in another');
  await beside.close();
  await page.close();
  const again = await openIn(context, on.server.url);
  await until(again, (now) => now.text === text && now.toMove === 'p1');
  await move(again, 1);
  assert.deepEqual(again.faults, []);
  await context.close();
});

test('a reload makes no second game of it, also where the page before lets go of it late', async () => {
  const page = await begun(6);
  const { text } = await pageState(page);
  const id = await page.evaluate(() => JSON.parse(sessionStorage.getItem('plyd.table.3')).game.id);
  // It waits for the game, and so has it between the page before and the page after the reload, until that one waits for it, too.
  const between = await openIn(page.context(), on.server.url);
  await between.evaluate(async (game) => {
    const name = `plyd.game.1.${game}`;
    const waits = async () => (await navigator.locks.query()).pending.some((lock) => lock.name === name);
    navigator.locks.request(name, async () => {
      while (!await waits());
      document.body.dataset.between = 'let go';
    });
    while (!await waits());
  }, id);
  await page.reload();
  await until(between, (now) => now.between === 'let go');
  await until(page, (now) => now.text === text && now.toMove === 'p1');
  assert.equal(await page.evaluate(() => JSON.parse(sessionStorage.getItem('plyd.table.3')).game.id), id);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a game is saved without a server, and no complaint outlives the connection', async () => {
  const page = await begun(5);
  const { port } = on.server;
  await on.server.stop();
  await until(page, (now) => now.connection === 'lost');
  const [download] = await Promise.all([page.waitForEvent('download'), byTest(page, 'save').click()]);
  const saved = JSON.parse(await readFile(await download.path(), 'utf8'));
  assert.equal(saved.moves.length, 2);
  await byTest(page, 'first').click();
  on.server = await serve(port);
  await until(page, (now) => now.connection === 'open' && now.cursor === '0');
  assert.ok(await byTest(page, 'alert').isHidden());
  // What was saved is a game like any other.
  await byTest(page, 'load').click();
  await byTest(page, 'load-text').fill(JSON.stringify(saved));
  await byTest(page, 'load-submit').click();
  await until(page, (now) => now.cursor === '2');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('an L that is dragged shows where it will lie, whole, and lies there', async () => {
  const page = await visit(on);
  await newGame(page, 'l-game', {});
  const placed = await page.locator('#legal [data-move]').evaluateAll((all) => all.map((one) => one.dataset.move));
  assert.ok(placed.length > 1);
  const own = await page.locator('#board .cell.target').evaluateAll((cells) => cells.map((cell) => cell.dataset.cell));
  const at = async (cell) => {
    const box = await page.locator(`[data-cell="${cell}"]`).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const board = await byTest(page, 'board').boundingBox();
  let fits = 0;
  await page.mouse.move(...await at(own[0]));
  await page.mouse.down();
  for (const cell of ['0,0', '0,3', '1,1', '3,3', '3,0', '2,2', '1,2', '2,1']) {
    await page.mouse.move(...await at(cell), { steps: 3 });
    for (const ghost of await page.locator('#board .ghost.fits, #board .ghost.misfits').all()) {
      const box = await ghost.boundingBox();
      assert.ok(box.x >= board.x && box.y >= board.y && box.x + box.width <= board.x + board.width, 'it is cut off');
      assert.ok(box.y + box.height <= board.y + board.height, 'it is cut off');
    }
    fits = await page.locator('#board .ghost.fits').count();
    if (fits) break;
  }
  assert.equal(fits, 1, 'no landing place was shown');
  await page.mouse.up();
  await byTest(page, 'l-keep').waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('both cells of the last move can be seen, also where one is blocked since', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', {}, { moves: 'd4; b2; c6; d3' });
  await until(page, (now) => now.cursor === '4');
  assert.deepEqual(await page.locator('#board .cell.last').evaluateAll((all) => all.map((one) => one.dataset.cell).sort()), ['1,1', '2,3']);
  const colours = await page.locator('#board .kind-blocked').evaluateAll((all) => all.map((one) => [
    one.dataset.at, getComputedStyle(one.querySelector('.body')).fill,
  ]));
  const left = colours.find(([at]) => at === '1,1');
  const other = colours.find(([at]) => at === '3,3');
  assert.ok(left && other, JSON.stringify(colours));
  assert.notEqual(left[1], other[1]);
  await page.context().close();
});

test('Sudoku’s candidates lie under no value, of the board or of a line', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'sudoku', { m: 2, n: 2 });
  const under = () => page.evaluate(() => {
    const boxes = (selector) => [...document.querySelectorAll(selector)].map((node) => node.getBoundingClientRect());
    const values = boxes('#board .kind-value text');
    return boxes('#board .values text').filter((mark) => values.some((value) => (
      Math.abs(mark.x + mark.width / 2 - value.x - value.width / 2) < 30 && Math.abs(mark.y + mark.height / 2 - value.y - value.height / 2) < 30))).length;
  });
  await byTest(page, 'mode-analyse').click();
  await page.waitForSelector('#board .ghost.line');
  assert.equal(await under(), 0, 'under the main line');
  await byTest(page, 'mode-play').click();
  await playOut(page);
  assert.equal(await under(), 0, 'at the end');
  await page.context().close();
});

test('one position has one score: in the list of moves, in the lines and at the bar', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', {}, { start: '1../.../..2 1', moves: 'b3' });
  await inSettings(page, () => byTest(page, 'seat-p2').selectOption('human'));
  await byTest(page, 'mode-analyse').click();
  // The engine may have moved before it lost its seat: of the position on the board all three say the same in the end.
  await page.waitForFunction(() => {
    const ply = document.body.dataset.cursor;
    const score = document.querySelector('[data-rank="1"]')?.dataset.score ?? '';
    const listed = document.querySelector(`#history [data-ply="${ply}"] .score`)?.textContent;
    const bar = document.querySelector('[data-testid="bar"]').getAttribute('aria-valuetext');
    return /^P[12] win in \d+$/.test(score) && listed === score && bar === score;
  });
  await page.context().close();
});

test('dialogs show no markup of the texts that they are made of', async () => {
  const page = await visit(on);
  for (const game of ['isolation', 'colosseum', 'sudoku', 'ijk', 'l-game']) {
    await newGame(page, game);
    await openNewGame(page, game);
    assert.doesNotMatch(await page.locator('#new-dialog').textContent(), /`/, game);
    await page.keyboard.press('Escape');
    await inSettings(page, async () => assert.doesNotMatch(await page.locator('#settings-dialog').textContent(), /`/, game));
  }
  await page.context().close();
});

test('the address names the game, and "back" returns to the game before', async () => {
  const page = await visit(on);
  await quick(page);
  await page.goto(`${on.server.url}?game=sudoku`);
  await until(page, (now) => now.game === 'sudoku');
  await newGame(page, 'isolation', { width: 5, height: 5 });
  await move(page, 0);
  await turnOf(page, 'p1', 1);
  const { text } = await pageState(page);
  await newGame(page, 'colosseum', { size: 6, seed: '7' });
  await page.waitForURL(/#game=colosseum&rules=seed:7;size:6/);
  await page.goBack();
  await until(page, (now) => now.game === 'isolation' && now.text === text);
  await page.waitForURL(/#game=isolation&rules=\S*&moves=\w+/);
  await page.goForward();
  await until(page, (now) => now.game === 'colosseum');
  await page.reload();
  await until(page, (now) => now.game === 'colosseum');
  await page.goto(`${on.server.url}?game=chess`);
  await byTest(page, 'alert').waitFor();
  await until(page, (now) => now.game !== undefined);
  await page.context().close();
});
