// Who comes for the first time: a choice of games, opponents by names, and what follows a game.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertAccessible, byTest, inSettings, move, newGame, openIn, openNewGame, pageState, picture, playOut, profile, quick, stage, turnOf, until, visit,
} from './support.mjs';

const on = stage();

/** A page of somebody who was never here. */
async function firstVisit(options = {}) {
  const page = await openIn(await profile(on, options), on.server.url, (fresh) => {
    // What the page sent is what is looked at.
    fresh.sent = [];
    fresh.on('websocket', (socket) => socket.on('framesent', ({ payload }) => fresh.sent.push(JSON.parse(String(payload)))));
  });
  await page.locator('#welcome-dialog .miniature svg').nth(4).waitFor();
  return page;
}

test('a first visit offers the games in pictures; the chosen one is played, against level 1', async () => {
  const page = await firstVisit();
  const cards = await page.locator('#welcome-dialog .card').evaluateAll((all) => all.map((card) => card.textContent));
  assert.equal(cards.length, 5);
  assert.ok(cards.every((text) => text.length > 20), 'each has a line');
  await assertAccessible(page);
  await picture(page, 'welcome');
  await byTest(page, 'welcome-isolation').click();
  await until(page, (now) => now.game === 'isolation' && now.toMove === 'p1');
  assert.ok(await page.locator('#welcome-dialog').isHidden());
  await byTest(page, 'lesson-close').click();
  await move(page, 0);
  assert.ok(await turnOf(page, 'p1', 1));
  const opened = page.sent.filter((request) => request.cmd === 'newgame' && request.session === 'p2').at(-1);
  assert.deepEqual(opened.options, { level: 1 });
  // A tab beside it, and the next visit, are not the first.
  const beside = await openIn(page.context(), on.server.url);
  await until(beside, (now) => now.toMove === 'p1' && now.choice === 'false');
  assert.ok(await beside.locator('#welcome-dialog').isHidden());
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a choice that was put off is not offered again, nor to those whom an address sent', async () => {
  const page = await firstVisit({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
  await picture(page, 'welcome-390x844');
  await byTest(page, 'welcome-close').tap();
  const again = await openIn(page.context(), on.server.url);
  await until(again, (now) => now.toMove === 'p1' && now.choice === 'false');
  assert.ok(await again.locator('#welcome-dialog').isHidden());
  const sent = await visit(on);
  await until(sent, (now) => now.choice === 'false');
  assert.ok(await sent.locator('#welcome-dialog').isHidden());
  await page.context().close();
});

/** Answers of the steps that ask for certain moves, as clicks on the small board: cells, then a tool. */
const LESSONS = {
  isolation: [['0,0'], ['0,1'], ['3,3']],
  sudoku: [['0,3', '4'], ['3,3', '4'], ['3,3', '1']],
  ijk: ['ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown'],
};

for (const [game, answers] of Object.entries(LESSONS)) {
  test(`the lesson of ${game} is played to its end, once`, async () => {
    const page = await firstVisit({ viewport: { width: 1280, height: 800 } });
    await byTest(page, `welcome-${game}`).click();
    const lesson = page.locator('#lesson');
    for (const [step, answer] of answers.entries()) {
      await page.waitForFunction((title) => document.getElementById('lesson-title')?.textContent.startsWith(title), `How to play, ${step + 1} of`);
      await page.waitForFunction(() => document.querySelector('[data-testid="lesson-said"]')?.textContent === '');
      if (step === 0) {
        await assertAccessible(page);
        await picture(page, `lesson-${game}`);
      }
      if (typeof answer === 'string') {
        await byTest(page, 'lesson-next').focus();
        await lesson.locator('.tools [data-move]').first().waitFor();
        await page.keyboard.press(answer);
      } else {
        await lesson.locator(`[data-cell="${answer[0]}"]`).click();
        if (answer[1]) await lesson.locator('.tools button', { hasText: answer[1] }).click();
      }
      await page.waitForFunction(() => /^(Right|You played .+)\./.test(document.querySelector('[data-testid="lesson-said"]')?.textContent));
      await byTest(page, 'lesson-next').click();
    }
    await lesson.waitFor({ state: 'hidden' });
    assert.equal((await pageState(page)).plies, '0', 'the game on the table waited');
    assert.deepEqual(await page.evaluate(() => JSON.parse(localStorage.getItem('plyd.lessons'))), [game]);
    await newGame(page, game);
    assert.ok(await lesson.isHidden());
    await byTest(page, 'how-to-play').click();
    await lesson.locator('.board').waitFor();
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

for (const viewport of [{ width: 1280, height: 800 }, { width: 1024, height: 768 }, { width: 390, height: 844 }]) {
  test(`a lesson’s board has one size in all its steps, in ${viewport.width}x${viewport.height}`, async () => {
    const page = await visit(on, { viewport }, 'colosseum');
    await byTest(page, 'how-to-play').click();
    const lesson = page.locator('#lesson');
    await lesson.locator('.cell.target').first().waitFor();
    const size = () => byTest(page, 'lesson-board').boundingBox();
    const first = await size();
    for (let step = 1; step <= 3; step += 1) {
      await page.waitForFunction((start) => document.getElementById('lesson-title').textContent.startsWith(start), `How to play, ${step} of`);
      await lesson.locator('.cell.target').first().click();
      assert.deepEqual(await size(), first, `walls to choose in step ${step}`);
      await lesson.locator('.tools button').first().click();
      await page.waitForFunction(() => document.querySelector('[data-testid="lesson-said"]').textContent);
      assert.deepEqual(await size(), first, `a verdict in step ${step}`);
      await byTest(page, 'lesson-next').click();
    }
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

test('a move that does not do what a step asks for is shown, and tried again; the answer can be seen', async () => {
  const page = await visit(on, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
  await newGame(page, 'isolation');
  await byTest(page, 'how-to-play').tap();
  const lesson = page.locator('#lesson');
  for (let step = 0; step < 2; step += 1) await byTest(page, 'lesson-next').tap();
  await lesson.locator('.target[data-cell="0,0"]').tap();
  await page.waitForFunction(() => /not what is asked/.test(document.querySelector('[data-testid="lesson-said"]')?.textContent));
  await picture(page, 'lesson-wrong-390x844');
  await byTest(page, 'lesson-again').tap();
  await byTest(page, 'lesson-show').tap();
  await page.waitForFunction(() => /^Right. Player 1 wins/.test(document.querySelector('[data-testid="lesson-said"]')?.textContent));
  await assertAccessible(page);
  await byTest(page, 'lesson-next').tap();
  await lesson.waitFor({ state: 'hidden' });
  assert.deepEqual(page.faults, []);
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
  assert.equal(await byTest(page, 'opponent').inputValue(), '1', 'the one whom a beginner can beat');
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
  await byTest(page, 'time').selectOption({ label: '3 minutes each, plus 2 seconds a move' });
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
  // What is announced says it in the same words.
  await page.waitForFunction(() => (
    document.getElementById('status').textContent.endsWith(document.getElementById('outcome').textContent)));
  await picture(page, 'after-game');
  for (const size of [{ width: 390, height: 844 }, { width: 844, height: 390 }]) {
    await page.setViewportSize(size);
    const inside = await page.evaluate(() => {
      const room = document.querySelector('.now').getBoundingClientRect();
      return [...document.querySelectorAll('#after button')].every((one) => one.getBoundingClientRect().bottom <= room.bottom + 0.5);
    });
    assert.ok(inside, `the offers are cut off at ${size.width}x${size.height}`);
  }
  await picture(page, 'after-game-844x390');
  await page.setViewportSize({ width: 1280, height: 900 });
  await assertAccessible(page);
  await byTest(page, 'review-game').click();
  await until(page, (now) => now.cursor === '0' && now.mode === 'analyse');
  await byTest(page, 'mode-play').click();
  await byTest(page, 'last').click();
  await byTest(page, 'stronger').click();
  await until(page, (now) => now.plies === '0' && now.over === 'false');
  const level = (player) => page.locator(`#strip-${player} .who`).textContent();
  assert.match(await level('p2'), /level 2/);
  assert.equal(await page.locator('[data-cell]').count(), 16, 'the same rules');
  await playOut(page);
  await byTest(page, 'rematch').click();
  await until(page, (now) => now.over === 'false' && now.plies !== undefined);
  assert.match(await level('p1'), /level 2/);
  assert.ok(await turnOf(page, 'p2', 0));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
