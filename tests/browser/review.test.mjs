// A review that tells nothing it is asked to hide, loses nothing when the server goes, and reads as a person expects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, byTest, clickCell, newGame, openIn, pageState, picture, quick, serve, stage, until, visit } from './support.mjs';

const on = stage();
const DESKTOP = { viewport: { width: 1280, height: 800 } };

/** A page with a game of Isolation from its start, looked at in Analyse from its end. */
async function looking(size, moves, opening) {
  const page = await visit(on, DESKTOP);
  await until(page, (now) => now.choice === 'false');
  await quick(page);
  await newGame(page, 'isolation', { width: size, height: size });
  const { text } = await pageState(page);
  await byTest(page, 'load').click();
  await byTest(page, 'load-text').fill(JSON.stringify({ record: 1, game: 'isolation', rules: { width: size, height: size }, start: text, moves, opening }));
  await byTest(page, 'load-submit').click();
  await page.waitForSelector('#load-dialog', { state: 'hidden' });
  await until(page, (now) => now.plies === String(moves.length));
  await byTest(page, 'mode-analyse').click();
  return page;
}

const says = (page, words) => page.waitForFunction(([source]) => (
  new RegExp(source).test(document.querySelector('[data-testid=reviewed]')?.textContent)), [words.source]);

const marks = (page) => page.locator('#history .review-mark').evaluateAll((all) => all.map((one) => one.dataset.mark));

/** Reviews the game and waits for the end of it. */
async function review(page) {
  await byTest(page, 'review').click();
  await ended(page);
}

const ended = (page) => page.waitForFunction(() => /^Review$/.test(document.querySelector('[data-testid=review]').textContent)
  && !/^Reviewing|server is away/.test(document.querySelector('[data-testid=reviewed]')?.textContent ?? 'Reviewing'));

async function goTo(page, ply) {
  await byTest(page, 'slider').fill(String(ply));
  await until(page, (now) => now.cursor === String(ply));
}

/**
 * A game on a board so small that all is proven at once. Nobody chose the first two moves; e3 (ply 8) wins later than necessary,
 * e5 loses sooner, b5 (ply 14) throws the win away. Player 1 has the odd plies.
 */
const SMALL = [5, ['d4', 'a2', 'b3', 'c3', 'a5', 'd1', 'c4', 'e3', 'e5', 'c2', 'd3', 'a3', 'c5', 'b5', 'e4'], 2];
const MARKS = ['best_defence', 'kept_win', 'best_defence', 'kept_win', 'wins_later', 'lost_sooner', 'kept_win', 'kept_win', 'best_defence', 'threw_away',
  'kept_win'];

test('while the better move is asked for, nothing on the page tells it; with the answer all of it is back', async () => {
  // a1 throws away the win that the second player has; the book knows all of it.
  const page = await looking(7, ['d4', 'a1']);
  await review(page);
  const seen = () => page.evaluate(() => ({
    bar: getComputedStyle(document.getElementById('bar')).visibility,
    values: document.querySelectorAll('.valued, #tools [data-value], #legal [data-value]').length,
    line: document.querySelectorAll('#board .ghost.line, #board .arrow').length,
    lines: [...document.querySelectorAll('#analysis .lines [data-rank], #analysis .lines [data-move]')].filter((one) => one.checkVisibility()).length,
    best: document.querySelectorAll('[data-testid=best]').length,
  }));
  const nothing = { bar: 'hidden', values: 0, line: 0, lines: 0, best: 0 };
  await goTo(page, 1);
  await page.waitForFunction(() => document.querySelector('.valued'));
  assert.notDeepEqual(await seen(), nothing, 'usually it is there');
  await goTo(page, 2);
  await byTest(page, 'find-better').click();
  await until(page, (now) => now.cursor === '1');
  await says(page, /Which move is better/);
  // It stays so, whatever a search might find, and with all values asked for.
  await byTest(page, 'values').check();
  await page.locator('#analysis').hover();
  for (let look = 0; look < 12; look += 1) {
    assert.deepEqual(await seen(), nothing);
    await page.waitForTimeout(100);
  }
  await picture(page, 'find-better', DESKTOP.viewport);
  await clickCell(page, '0,0');
  await says(page, /no, not that one/);
  assert.deepEqual(await seen(), nothing);
  await byTest(page, 'values').uncheck();
  await clickCell(page, '0,3');
  await says(page, /yes, that is better/);
  await page.waitForFunction(() => document.querySelector('.valued') && document.querySelector('[data-testid=best]')
    && getComputedStyle(document.getElementById('bar')).visibility === 'visible');
  // So it is when one gives up: by looking elsewhere, and by asking for the answer.
  await goTo(page, 2);
  await byTest(page, 'find-better').click();
  await says(page, /Which move is better/);
  assert.equal((await seen()).bar, 'hidden');
  await byTest(page, 'show-better').click();
  await page.waitForFunction(() => document.querySelector('#board .ghost.line, #board .arrow')
    && getComputedStyle(document.getElementById('bar')).visibility === 'visible');
  await goTo(page, 2);
  await byTest(page, 'find-better').click();
  await says(page, /Which move is better/);
  await goTo(page, 0);
  await page.waitForFunction(() => getComputedStyle(document.getElementById('bar')).visibility === 'visible');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a review that cannot begin keeps the marks, says that the server is away, and goes on by itself', async () => {
  const page = await looking(...SMALL);
  await review(page);
  const before = await marks(page);
  assert.deepEqual(before, MARKS);
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    await on.server.stop(signal);
    await until(page, (now) => now.connection === 'lost');
    await byTest(page, 'review').click();
    await says(page, /^The server is away\. The review begins when it is back\.$/);
    assert.deepEqual(await marks(page), before);
    // A server that ends in order says so itself.
    if (signal === 'SIGKILL') assert.ok(await byTest(page, 'alert').isHidden());
    on.server = await serve(on.server.port);
    await until(page, (now) => now.connection === 'open');
    await ended(page);
    assert.deepEqual(await marks(page), before, 'and a second review knows no less');
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a first review may be asked for without a server, and one that runs goes on where it was', async () => {
  // On the usual board each move takes its time; the book has the first two.
  const page = await looking(7, ['d4', 'f5', 'c6', 'd6', 'a5', 'b5']);
  await on.server.stop('SIGKILL');
  await until(page, (now) => now.connection === 'lost');
  await byTest(page, 'review').click();
  await says(page, /^The server is away\. The review begins when it is back\.$/);
  on.server = await serve(on.server.port);
  await says(page, /^Reviewing: [1-5] of 6 moves\.$/);
  await on.server.stop('SIGTERM');
  await says(page, /^The server is away\. The review goes on when it is back: \d of 6 moves done\.$/);
  const done = Number(/(\d) of 6/.exec(await byTest(page, 'reviewed').textContent())[1]);
  const sent = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)))));
  on.server = await serve(on.server.port);
  await ended(page);
  assert.equal((await marks(page)).length, 6);
  // What was done is not done again.
  const plies = sent.filter(({ cmd, session }) => cmd === 'go' && session === 'review').map(({ position }) => position.moves.length);
  assert.ok(plies.length && Math.max(...plies) < 6 - done, `${plies} after ${done}`);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('“Play from here” ends the search for a better move, and loses nothing of the game', async () => {
  const page = await looking(...SMALL);
  await review(page);
  const listed = () => page.locator('#history [data-node]').evaluateAll((all) => all.map((one) => one.textContent.split(/[^\w. ]/)[0].trim()));
  const [before, judged] = [await listed(), await marks(page)];
  await goTo(page, 8);
  await byTest(page, 'find-better').click();
  await says(page, /Which move is better/);
  assert.equal(await byTest(page, 'play-on').textContent(), 'Play from here');
  await byTest(page, 'play-on').click();
  await page.waitForFunction(() => !/Which move is better/.test(document.querySelector('[data-testid=reviewed]').textContent));
  // The engine is to move, and does: a variation, or a move that was there.
  await until(page, (now) => now.cursor === '8' && now.plies === '8' && now.toMove === 'p1');
  const after = await listed();
  assert.ok(after.length >= before.length && after.length <= before.length + 1, String(after));
  assert.deepEqual(await marks(page), judged, 'the moves that are not shown keep their marks');
  // The way back to them, too.
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0');
  for (const ply of ['7', '8', '13']) {
    await page.keyboard.press('m');
    await until(page, (now) => now.cursor === ply);
  }
  assert.equal((await pageState(page)).plies, '15', 'to its end');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the best move stands beside each mistake, and a click shows it', async () => {
  const page = await looking(...SMALL);
  await review(page);
  const named = await byTest(page, 'best').allTextContents();
  assert.equal(named.length, 3);
  assert.match(named[0], /^Wins later than necessary\. Best was [a-e][1-5]\.$/);
  assert.match(named[1], /^Loses sooner than necessary\. Best was [a-e][1-5]\.$/);
  assert.match(named[2], /^Threw the win away\. Best was b1\.$/);
  await byTest(page, 'best').first().click();
  await until(page, (now) => now.cursor === '7');
  const move = /Best was (\w+)/.exec(named[0])[1];
  await says(page, new RegExp(`^Better: ${move} .*\\. Played: e3, wins later than necessary `));
  await page.waitForFunction(() => document.querySelector('#board .ghost.line'));
  assert.equal((await pageState(page)).plies, '15');
  await assertAccessible(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('one control ends a review that runs; when it opens, its counts are seen without scrolling, in a review of estimates, too', async () => {
  const moves = ['d4', 'f5', 'c6', 'd6', 'a5', 'b5', 'b3', 'c3', 'c1', 'd5'];
  const page = await looking(7, moves);
  const offered = () => page.evaluate(() => ['analyse', 'whole-game', 'review', 'review-close']
    .filter((name) => document.querySelector(`[data-testid="${name}"]`).checkVisibility())
    .map((name) => document.querySelector(`[data-testid="${name}"]`).textContent));
  await byTest(page, 'review').click();
  await says(page, /^Reviewing/);
  assert.deepEqual(await offered(), ['Stop the review']);
  await ended(page);
  assert.deepEqual(await offered(), ['Engine', 'Review', '✕']);
  for (const ply of [moves.length, 0]) {
    await goTo(page, ply);
    await page.waitForFunction((at) => /^Mistakes found/.test(document.querySelector('[data-testid=reviewed]').textContent) === !at, ply);
    const hidden = await byTest(page, 'counts').evaluate((counts) => (
      counts.lastElementChild.getBoundingClientRect().bottom - counts.parentElement.getBoundingClientRect().bottom));
    assert.ok(hidden <= 0, `${hidden} pixels after ${ply}`);
  }
  assert.match(await byTest(page, 'prompt').textContent(), /variation/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the way to a mistake shows the better move and what was played, and says that a click plays nothing', async () => {
  const page = await looking(...SMALL);
  await review(page);
  await goTo(page, 9);
  await byTest(page, 'mistake-next').click();
  await until(page, (now) => now.cursor === '13');
  await says(page, /^Better: b1 \(P2 win.*\)\. Played: b5, threw the win away \(P1 win.*\)\.$/);
  await page.waitForFunction(() => document.querySelectorAll('#board .ghost.line').length === 2
    && document.querySelectorAll('#board .badge.of-wrong').length === 1);
  assert.match(await byTest(page, 'prompt').textContent(), /judged, not played/);
  await clickCell(page, '4,1');
  await says(page, /^b5.*no, not that one/);
  assert.equal((await pageState(page)).cursor, '13');
  assert.ok(await byTest(page, 'mistake-next').isDisabled());
  await byTest(page, 'mistake-before').click();
  await until(page, (now) => now.cursor === '8');
  await picture(page, 'mistake', DESKTOP.viewport);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('what a review found of a move stays in the list while the engine searches on', async () => {
  const page = await looking(9, ['d4', 'f5', 'c6', 'd6', 'a5', 'b5', 'b3']);
  await byTest(page, 'analyse').click();
  await review(page);
  const values = () => page.locator('#history .score, .graph title').allTextContents();
  const found = await values();
  assert.ok(found.length >= 14, String(found));
  await byTest(page, 'analyse').click();
  for (const ply of [7, 6, 5, 4]) {
    await goTo(page, ply);
    await page.waitForFunction(() => document.querySelector('#analysis ol.lines [data-score]'));
    assert.deepEqual(await values(), found);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a review is kept with its game: it is there after a reload, and when the game is opened from the list', async () => {
  const page = await looking(...SMALL);
  await review(page);
  const shown = () => page.evaluate(() => [
    ...document.querySelectorAll('#history .review-mark, #history .score, [data-testid=counts] p, [data-testid=best]'),
  ].map((one) => one.textContent));
  const before = await shown();
  assert.deepEqual(await marks(page), MARKS);
  const again = async () => {
    await page.waitForFunction((all) => document.querySelectorAll('#history .review-mark').length === all, MARKS.length);
    assert.deepEqual(await shown(), before);
    await goTo(page, 0);
    await byTest(page, 'mistake-next').click();
    await until(page, (now) => now.cursor === '7');
    await says(page, /^Better: /);
    assert.equal(await byTest(page, 'review').textContent(), 'Review', 'nothing runs');
  };
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await again();
  await newGame(page, 'isolation', { width: 4, height: 4 });
  await clickCell(page, '0,0');
  await until(page, (now) => now.plies !== '0');
  assert.deepEqual(await marks(page), []);
  await byTest(page, 'library').click();
  await page.locator('[data-own]', { hasText: '15 moves' }).locator('[data-testid=own-open]').click();
  await until(page, (now) => now.plies === '15');
  await again();
  // One that was closed stays closed.
  await byTest(page, 'review-close').click();
  await goTo(page, 3);
  assert.deepEqual(await marks(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the counts of a side have its own marks alone, in the words of `plyd review`, and the time that was spent', async () => {
  const page = await looking(...SMALL);
  await review(page);
  const [first, second, about] = await page.locator('[data-testid=counts] p').allTextContents();
  assert.match(first, /^You: /);
  assert.match(second, /^The opponent: /);
  assert.match(first, /1 loses sooner than necessary/);
  assert.doesNotMatch(first, /wins|later/, 'player 1 won no later than necessary');
  assert.match(second, /1 wins later than necessary/);
  assert.doesNotMatch(second, /lose|loss|sooner/, 'player 2 lost by one move alone');
  assert.match(about, /^Searched for up to 0\.5 s a move; \+ is good for player 1\.$/);
  await goTo(page, 0);
  await says(page, /^Mistakes found: 0 by you, 1 by the opponent\.$/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('in a review the list shows eight lines, and a legend says what the numbers of the book mean', async () => {
  const moves = ['d4', 'f5', 'c6', 'd6', 'a5', 'b5', 'b3'];
  const page = await looking(7, moves);
  await review(page);
  const lines = () => page.evaluate(() => {
    const host = document.getElementById('history');
    const tall = Math.max(...[...host.children].map((entry) => entry.getBoundingClientRect().height));
    return Math.floor(host.clientHeight / (tall + 1));
  });
  assert.ok(await lines() >= 8, `${await lines()} lines`);
  await byTest(page, 'legend').waitFor({ state: 'hidden' });
  await goTo(page, 0);
  await page.waitForFunction(() => document.querySelectorAll('.valued').length === 49);
  assert.match(await byTest(page, 'legend').textContent(), /^Player 1 .*wins.*draws.*loses \(number: .*replies that win\)\.$/);
  assert.match(await page.locator('[data-graph-ply="1"] title').textContent(), /^after 1 ply: /);
  assert.match(await page.locator('[data-graph-ply="2"] title').textContent(), /^after 2 plies: /);
  const legend = await byTest(page, 'legend').boundingBox();
  assert.ok(legend.y > 0 && legend.y + legend.height < 800);
  assert.ok(await lines() >= 8, `${await lines()} lines with a legend`);
  for (const part of ['#strip-p1', '#strip-p2', '.controls', '[data-testid=graph]', '[data-testid=mistake-next]']) {
    const box = await page.locator(part).boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 800, part);
  }
  await picture(page, 'review-legend', DESKTOP.viewport);
  await assertAccessible(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a game that was chosen is there after a restart of the browser, before its first move', async () => {
  const page = await visit(on, DESKTOP);
  await until(page, (now) => now.choice === 'false');
  const context = page.context();
  // A game with a move is in the browser's list.
  await newGame(page, 'isolation', { width: 5, height: 5 });
  await byTest(page, 'pause').click();
  await clickCell(page, '0,0');
  await until(page, (now) => now.plies === '1');
  await newGame(page, 'colosseum', { size: 5, seed: '3' });
  const { text } = await pageState(page);
  await page.waitForFunction(() => localStorage.getItem('plyd.chosen.1')?.includes('colosseum'));
  await page.close();
  // A tab's own memory ends with the browser.
  const again = await openIn(context, on.server.url);
  await until(again, (now) => now.game === 'colosseum' && now.text === text);
  await byTest(again, 'library').click();
  await again.locator('[data-own]').first().waitFor();
  assert.equal(await again.locator('[data-own]').count(), 1, 'and it is not in the list before it has a move');
  assert.match(await again.locator('[data-own] p').first().textContent(), /^1 move · /);
  await byTest(again, 'library-close').click();
  await byTest(again, 'mode-analyse').click();
  await again.locator('#board .target').first().waitFor();
  assert.equal(await byTest(again, 'slider').getAttribute('aria-valuetext'), 'after 0 of 0 plies');
  assert.deepEqual(again.faults, []);
  await context.close();
});
