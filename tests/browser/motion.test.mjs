// What moves on the board and what is heard, and that both can be off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, inSettings, move, newGame, pageState, quick, stage, turnOf, until, visit } from './support.mjs';

const on = stage();

/** A page that notes what it animates and which tones it plays; a motion lasts as long as it is told. */
async function watched(options = {}, lasts = null) {
  const page = await visit(on, options);
  await page.addInitScript((duration) => {
    globalThis.seen = { motions: [], tones: [] };
    const { animate } = Element.prototype;
    Element.prototype.animate = function noted(frames, timing) {
      globalThis.seen.motions.push({ at: this.dataset.at, kind: this.getAttribute('class'), frames, ms: timing.duration });
      return animate.call(this, frames, duration === null ? timing : { ...timing, duration });
    };
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function noted(...when) {
      globalThis.seen.tones.push(this.frequency.value);
      return start.apply(this, when);
    };
  }, lasts);
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await quick(page, 20);
  return page;
}

const seen = (page) => page.evaluate(() => globalThis.seen);

test('a knight travels 200 ms from where it stood, and its move is heard', async () => {
  const page = await watched();
  await newGame(page, 'isolation', { width: 7, height: 7 }, { moves: 'd4; b2' });
  await page.evaluate(() => { globalThis.seen.motions.length = 0; });
  await move(page, 0);
  assert.ok(await turnOf(page, 'p1', 3));
  const { motions, tones } = await seen(page);
  const [mine, answer] = motions.filter(({ kind }) => kind.includes('kind-token'));
  assert.match(mine.frames[0].transform, /^translate\(-?[12]00px, -?[12]00px\)$/, 'a knight’s jump');
  assert.equal(mine.ms, 200);
  assert.ok(answer, 'the opponent’s travels, too');
  assert.ok(tones.length >= 2, JSON.stringify(tones));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('walls grow, and tiles slide', async () => {
  const page = await watched();
  await newGame(page, 'colosseum', { size: 6, seed: '7' });
  await move(page, 0);
  assert.ok((await seen(page)).motions.some(({ kind, frames }) => kind === 'wall' && frames[0].strokeDashoffset === '1'));
  await newGame(page, 'ijk', { preset: 'v2-4x4' });
  await page.evaluate(() => { globalThis.seen.motions.length = 0; });
  await page.keyboard.press('ArrowRight');
  await until(page, (now) => Number(now.cursor) > 0);
  await page.waitForFunction(() => globalThis.seen.motions.some(({ kind, frames }) => /kind-tile/.test(kind) && frames[0].transform === 'translate(-300px, 0px)'));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a motion delays nothing: the next position ends it', async () => {
  const page = await watched({}, 600_000);
  const running = () => page.evaluate(() => document.getElementById('board').getAnimations({ subtree: true })
    .filter(({ playState }) => playState === 'running').length);
  await newGame(page, 'isolation', {});
  for (let made = 0; made < 2; made += 1) {
    await move(page, made);
    assert.ok(await turnOf(page, 'p1', 2 * made + 1));
  }
  assert.ok(await running() > 0);
  await byTest(page, 'first').click();
  await until(page, (now) => now.cursor === '0');
  assert.equal(await running(), 0);
  await page.context().close();
});

test('motion and sound can be off, which the browser keeps; and the system’s wish is obeyed', async () => {
  const still = await watched({ reducedMotion: 'reduce' });
  const page = await watched();
  await inSettings(page, async () => {
    await byTest(page, 'prefer-motion').uncheck();
    await byTest(page, 'prefer-sound').uncheck();
  });
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  for (const one of [still, page]) {
    await newGame(one, 'isolation', {});
    for (let made = 0; made < 2; made += 1) {
      await move(one, made);
      assert.ok(await turnOf(one, 'p1', 2 * made + 1));
    }
    assert.deepEqual((await seen(one)).motions, []);
  }
  assert.deepEqual((await seen(page)).tones, []);
  assert.notDeepEqual((await seen(still)).tones, [], 'who wants nothing to move may listen');
  await inSettings(page, async () => assert.ok(!await byTest(page, 'prefer-motion').isChecked()));
  assert.equal((await pageState(page)).over, 'false');
  await page.context().close();
  await still.context().close();
});
