// What one can do with a game: back and forth, save and load, analysis, views, a start of one's own, keys alone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import {
  byTest, inSettings, move, newGame, openNewGame, pageState, picture, quick, stage, turnOf, until, visit,
} from './support.mjs';

const on = stage();

/** A page with a game under way, in which player 1 has made some moves and moves again. */
async function underWay(game, rules, moves = 3) {
  const page = await visit(on);
  await quick(page);
  await newGame(page, game, rules);
  for (let made = 0; made < moves; made += 1) {
    assert.ok(await turnOf(page, 'p1'), 'the game is not over');
    await move(page, made);
  }
  assert.ok(await turnOf(page, 'p1'), 'the game is not over');
  return page;
}

test('take back, redo, the slider and the list go through a game', async () => {
  const page = await underWay('isolation', {});
  const end = await pageState(page);
  assert.equal(Number(end.plies), 6);
  await byTest(page, 'take-back').click();
  await until(page, (now) => now.cursor === '4' && now.plies === '6' && now.toMove === 'p1');
  await byTest(page, 'redo').click();
  await until(page, (now) => now.cursor === '6' && now.text === end.text);
  await byTest(page, 'slider').fill('2');
  await until(page, (now) => now.cursor === '2' && now.plies === '6');
  await picture(page, 'replay');
  await page.locator('#history [data-ply="5"]').click();
  await until(page, (now) => now.cursor === '5');
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0');
  await byTest(page, 'last').click();
  await until(page, (now) => now.cursor === '6' && now.text === end.text);
  // A move in the past takes the place of what came after it.
  await byTest(page, 'take-back').click();
  await until(page, (now) => now.cursor === '4');
  await byTest(page, 'play-on').click();
  await until(page, (now) => now.plies === '4' && now.toMove === 'p1');
  await move(page, 1);
  await turnOf(page, 'p1', 4);
  assert.equal((await pageState(page)).plies, '6');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a game is saved, and loaded elsewhere', async () => {
  const page = await underWay('colosseum', { size: 6, seed: '5' }, 2);
  const before = await pageState(page);
  const [download] = await Promise.all([page.waitForEvent('download'), byTest(page, 'save').click()]);
  const text = await readFile(await download.path(), 'utf8');
  const saved = JSON.parse(text);
  assert.equal(saved.record, 1);
  assert.equal(saved.game, 'colosseum');
  assert.equal(saved.moves.length, Number(before.plies));
  await page.context().close();

  const other = await visit(on);
  await byTest(other, 'load').click();
  for (const [wrong, words] of [
    ['{"record":1', /./],
    [text.replace('"moves":["', '"moves":["00x","'), /move 1/],
  ]) {
    await byTest(other, 'load-text').fill(wrong);
    await byTest(other, 'load-submit').click();
    await other.waitForFunction(() => (document.querySelector('[data-testid="load-error"]')?.textContent ?? '') !== '');
    assert.match(await byTest(other, 'load-error').textContent(), words);
    assert.ok(await other.locator('#load-dialog').isVisible(), 'the dialog stays for the correction');
  }
  await other.locator('[data-testid="load-file"]').setInputFiles({
    name: 'game.jsonl', mimeType: 'application/json', buffer: Buffer.from(text),
  });
  await other.waitForFunction(() => document.querySelector('[data-testid="load-text"]')?.value.includes('colosseum'));
  await byTest(other, 'load-submit').click();
  await until(other, (now) => now.game === 'colosseum' && now.cursor === before.cursor && now.text === before.text);
  // The next file is another one, or the same with another text, of which a browser tells only if none was chosen.
  await byTest(other, 'load').click();
  assert.equal(await byTest(other, 'load-text').inputValue(), '');
  assert.equal(await byTest(other, 'load-file').inputValue(), '');
  const choose = async (name, content) => {
    const [chooser] = await Promise.all([other.waitForEvent('filechooser'), byTest(other, 'load-file').click()]);
    assert.equal(await byTest(other, 'load-file').inputValue(), '');
    await chooser.setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
  };
  await choose('game.jsonl', '{"record":1');
  await other.waitForFunction(() => (document.querySelector('[data-testid="load-error"]')?.textContent ?? '') !== '');
  // Of several games the chosen one is loaded.
  await choose('game.jsonl', `${text}${JSON.stringify({ ...saved, moves: saved.moves.slice(0, 1) })}\n`);
  await other.waitForFunction(() => document.querySelector('[data-testid="load-text"]').value.includes('colosseum'));
  assert.equal(await byTest(other, 'load-error').textContent(), '');
  await byTest(other, 'load-game').selectOption('1');
  await byTest(other, 'load-submit').click();
  await until(other, (now) => now.plies === '1');
  assert.deepEqual(other.faults, []);
  await other.context().close();
});

test('the board is saved as a picture, which is light or dark as its reader prefers', async () => {
  const page = await underWay('isolation', { width: 5, height: 5 }, 1);
  const saved = async () => {
    await byTest(page, 'share').click();
    const [download] = await Promise.all([page.waitForEvent('download'), byTest(page, 'save-picture').click()]);
    await byTest(page, 'share-close').click();
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
  };
  const { plies } = await pageState(page);
  const { name, text } = await saved();
  assert.equal(name, `isolation-${plies}.svg`);
  const grounds = [];
  for (const colorScheme of ['light', 'dark']) {
    const reader = await on.browser.newPage({ colorScheme });
    await reader.setContent(text);
    const seen = await reader.evaluate(() => {
      const svg = document.querySelector('svg');
      return {
        title: svg.querySelector('title').textContent,
        knights: svg.querySelectorAll('path[transform]').length,
        labels: [...svg.querySelectorAll('text')].map((label) => label.textContent).filter((label) => /^[a-e]$/.test(label)).join(''),
        width: svg.getBoundingClientRect().width,
        ground: getComputedStyle(svg.querySelector('rect')).fill,
      };
    });
    assert.match(seen.title, new RegExp(`after ${plies} plies: player 1 to move`));
    assert.equal(seen.knights, await page.locator('#board .kind-token').count());
    assert.equal(seen.labels, 'abcde');
    assert.ok(seen.width > 100);
    grounds.push(seen.ground);
    await reader.close();
  }
  assert.notEqual(grounds[0], grounds[1]);
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0' && now.toMove === 'p1');
  const start = await saved();
  assert.equal(start.name, 'isolation-0.svg');
  assert.ok(!start.text.includes('transform'), 'no knight is on the board yet');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a bad position is refused at its field, and a good one played', async () => {
  const page = await visit(on);
  await openNewGame(page, 'isolation', {}, { start: '1../.../... 3' });
  await page.waitForFunction(() => (document.querySelector('[data-testid="error-position-start"]')?.textContent ?? '') !== '');
  await picture(page, 'bad-position');
  await byTest(page, 'start-game').click();
  assert.ok(await page.locator('#new-dialog').isVisible());
  assert.notEqual(await byTest(page, 'error-position-start').textContent(), '');
  assert.equal(await byTest(page, 'start').getAttribute('aria-invalid'), 'true');
  await byTest(page, 'start').fill('1../.../..2 1');
  await byTest(page, 'moves').fill('b3; a3');
  await byTest(page, 'start-game').click();
  await page.waitForFunction(() => (document.querySelector('[data-testid="error-position-moves"]')?.textContent ?? '') !== '');
  assert.match(await byTest(page, 'error-position-moves').textContent(), /move 2/);
  await byTest(page, 'moves').fill('');
  await byTest(page, 'rules-width').fill('99');
  await byTest(page, 'start-game').click();
  await page.waitForFunction(() => (document.querySelector('[data-testid="error-rules-width"]')?.textContent ?? '') !== '');
  await byTest(page, 'rules-width').fill('');
  await byTest(page, 'start-game').click();
  await until(page, (now) => now.text === '1../.../..2 1');
  assert.equal(await page.locator('[data-cell]').count(), 9);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('analysis lines arrive, and a proven result is named', async () => {
  const page = await visit(on, { viewport: { width: 1280, height: 800 } });
  const moves = 'j4; c1; h5; d3; f6; f2; d5; h3; e3; g5; c4; f7; b6; h6';
  await newGame(page, 'isolation', { preset: '11x9' }, { moves });
  await byTest(page, 'mode-analyse').click();
  await byTest(page, 'multipv').fill('3');
  await byTest(page, 'multipv').press('Tab');
  await page.waitForFunction(() => document.querySelectorAll('[data-rank]').length === 3);
  await page.waitForFunction(() => {
    const depth = /depth (\d+)/.exec(document.querySelector('[data-testid="analysis-about"]').textContent);
    return depth && Number(depth[1]) >= 5;
  });
  assert.ok(await byTest(page, 'bar').isVisible());
  await page.evaluate(() => document.activeElement.blur());
  await picture(page, 'analysis');
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'analysis-dark');
  await byTest(page, 'analyse').click();
  await newGame(page, 'isolation', {}, { start: '1../.../..2 1' });
  await byTest(page, 'analyse').click();
  await page.waitForFunction(() => /win|loss/.test(document.querySelector('[data-rank="1"]')?.dataset.score ?? ''));
  assert.match(await page.locator('[data-rank="1"]').getAttribute('data-score'), /(win|loss) in \d+/);
  await byTest(page, 'analyse').click();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the views turn the board and not the game', async () => {
  const page = await visit(on);
  await newGame(page, 'isolation', { width: 4, height: 3 }, { moves: 'a1; d3' });
  const { text } = await pageState(page);
  const place = async () => {
    const [board, cell] = await Promise.all([
      byTest(page, 'board').boundingBox(), page.locator('[data-cell="0,0"]').boundingBox(),
    ]);
    return [cell.x - board.x > board.width / 2, cell.y - board.y > board.height / 2];
  };
  await byTest(page, 'settings').click();
  for (const [views, expected] of [
    [[], [false, false]],
    [['view-x'], [true, false]],
    [['view-x', 'view-y'], [true, true]],
    [['view-cw'], [true, false]],
    [['view-ccw'], [false, true]],
    [['view-transpose'], [false, false]],
  ]) {
    await byTest(page, 'view-reset').click();
    for (const view of views) await byTest(page, view).click();
    assert.deepEqual(await place(), expected, views.join());
    assert.equal((await pageState(page)).text, text);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a game is played with keys alone', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 5, height: 5 });
  await page.keyboard.press('b');
  assert.ok(await page.evaluate(() => Boolean(document.activeElement.dataset.cell)), 'B goes to the board');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.cell), '1,1');
  await page.keyboard.press('Enter');
  await turnOf(page, 'p1', 1);
  // Any legal move by the list: its words, then Enter.
  const legal = await page.locator('#legal [data-move]').evaluateAll((all) => all.map((one) => one.dataset.move));
  await page.keyboard.press('/');
  await page.keyboard.type(legal[0]);
  await page.keyboard.press('Enter');
  await turnOf(page, 'p1', 3);
  await page.keyboard.press('z');
  await until(page, (now) => now.cursor === '2');
  await page.keyboard.press('y');
  await until(page, (now) => now.cursor === '4');
  // The board in words, for those who do not see it.
  assert.match(await page.locator('#board [data-cell="1,1"]').getAttribute('aria-label'), /\w/);
  assert.notEqual((await byTest(page, 'in-words').textContent()).trim(), '');
  assert.notEqual((await byTest(page, 'status').textContent()).trim(), '');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('engines play each other, sides are swapped, and a hint is given', async () => {
  const page = await visit(on);
  await quick(page);
  await newGame(page, 'isolation', { width: 4, height: 4 });
  await byTest(page, 'hint').click();
  await byTest(page, 'play-hint').click();
  await turnOf(page, 'p1', 1);
  await inSettings(page, () => byTest(page, 'swap').click());
  await turnOf(page, 'p2', 2);
  await inSettings(page, () => byTest(page, 'seat-p2').selectOption('engine'));
  await until(page, (now) => now.over === 'true');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
