// That nothing is wider than the window, whatever game is on the table, and that a lost server is said in whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest, newGame, serve, stage, until, visit } from './support.mjs';

const on = stage();

const GAMES = { isolation: {}, colosseum: { size: 8, seed: '7' }, sudoku: { m: 3, n: 3 }, ijk: { preset: 'v2-4x4' }, 'l-game': {} };
const WINDOWS = [[1280, 800], [1024, 768], [920, 700], [390, 844]];

const widths = (page) => page.evaluate(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  return { scrollWidth, clientWidth };
});

for (const [width, height] of WINDOWS) {
  test(`nothing scrolls sideways in ${width}x${height}, and the message of a lost server is whole`, async () => {
    const phone = width < 500 ? { hasTouch: true, isMobile: true } : {};
    const page = await visit(on, { viewport: { width, height }, ...phone });
    const fits = async (when) => {
      const { scrollWidth, clientWidth } = await widths(page);
      assert.ok(scrollWidth <= clientWidth, `${when}: ${scrollWidth} of ${clientWidth}`);
    };
    for (const [game, rules] of Object.entries(GAMES)) {
      await newGame(page, game, rules);
      await fits(game);
      const cut = await page.locator('.actions button').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
      assert.deepEqual(cut, [], `${game}: words of buttons that are cut off`);
      await byTest(page, 'mode-analyse').click();
      await fits(`${game}, in Analyse`);
      await byTest(page, 'mode-play').click();
    }
    // The last game is the L Game, which has the longest title.
    await on.server.stop('SIGKILL');
    await until(page, (now) => now.connection === 'lost');
    await fits('without a server');
    const seen = await page.evaluate(() => {
      const said = document.getElementById('connection-text');
      const range = document.createRange();
      range.selectNodeContents(said);
      const { left, top, right, bottom } = range.getBoundingClientRect();
      const at = [[left + 2, top + 2], [right - 2, bottom - 2]].map(([x, y]) => said.contains(document.elementFromPoint(x, y)));
      return { at, text: said.textContent, inside: left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight };
    });
    assert.match(seen.text, /The game is kept\.$/);
    assert.deepEqual([seen.inside, seen.at], [true, [true, true]], JSON.stringify(seen));
    const reconnect = await byTest(page, 'reconnect').boundingBox();
    assert.ok(reconnect.x >= 0 && reconnect.x + reconnect.width <= width && reconnect.y + reconnect.height <= height, 'the button is in the window');
    // An address that only a server could show is refused in words, and they hide nothing of the message.
    await page.evaluate(() => { location.hash = '#game=ijk'; });
    await byTest(page, 'alert').waitFor();
    assert.match(await byTest(page, 'alert').textContent(), /^The server is away\. /);
    const [alert, lost] = await Promise.all(['#alert', '#connection'].map((part) => page.locator(part).boundingBox()));
    assert.ok(alert.y + alert.height <= lost.y, JSON.stringify([alert, lost]));
    await page.waitForFunction(() => location.hash.startsWith('#game=l-game'));
    on.server = await serve(on.server.port);
    await until(page, (now) => now.connection === 'open');
    await fits('with the server again');
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}
