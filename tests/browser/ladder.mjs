// The pages of a ladder: an owner follows a link, registers a bot, joins by the commands that the page shows, and watches a game
// to its end; on a desktop, on a phone, and without scripts; nothing keeps anybody out. PLYD_BIN names a plyd with the feature `ladder`.
// PLYD_PICTURES=1 renews the pictures in docs/images.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { assertAccessible, byTest, launch, picture, PLYD, TIMEOUT } from './support.mjs';

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark', hasTouch: true };

const folder = mkdtempSync(join(tmpdir(), 'plyd-ladder-'));
const started = [];
let url;
let browser;
/** When the ladder was begun: how long a first game takes from then on is printed. */
let begun;

/** A command on the ladder: what it prints. */
const ladder = (...args) => execFileSync(PLYD, ['ladder', ...args, '--db', join(folder, 'ladder.db')], { encoding: 'utf8' }).trim();

function start(args, stderr = 'ignore') {
  const child = spawn(PLYD, args, { stdio: ['ignore', 'ignore', stderr], cwd: folder });
  started.push({ child, ended: new Promise((resolve) => { child.on('exit', resolve); }) });
  return child;
}

/** A bot that takes its time, so that its games can be watched, and plays any move. */
const SLOW = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { id, cmd, x_legal: legal } = JSON.parse(line);
    const say = (message) => console.log(JSON.stringify({ id, ...message }));
    if (cmd !== 'go') say({ type: 'error', code: 'unknown_cmd', message: 'this bot only plays' });
    else setTimeout(() => say({ type: 'bestmove', move: legal[legal.length >> 1] }), 250);
  });`;

/** A bot that plays any move at once, and one in nine that is none. */
const FAULTY = `
  let asked = 0;
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, cmd, x_legal: legal } = JSON.parse(line);
    const say = (message) => console.log(JSON.stringify({ id, ...message }));
    if (cmd !== 'go') say({ type: 'error', code: 'unknown_cmd', message: 'this bot only plays' });
    else say({ type: 'bestmove', move: (asked += 1) % 9 ? legal[0] : 'z99' });
  });`;

/** A bot that dials in, as the owner's page says. */
const connect = (token, dial, ...how) => start(['connect', dial, '--token-file', token, ...how]);

/** Lets a bot join by its token. */
function enter(name, token, ...how) {
  writeFileSync(join(folder, `${name}.token`), token, { mode: 0o600 });
  connect(`${name}.token`, url.replace('http', 'ws'), ...how);
}

before(async () => {
  begun = performance.now();
  ladder('init');
  ladder('pool', 'add', 'quick', '--game', 'isolation', '--rules', 'preset=7x7', '--clock', 'tc=10s+0.1s');
  const house = ['player=random', 'player=greedy', 'level=2'].flatMap((options) => ['--player', options]);
  ladder('calibrate', 'quick', '--games', '8', '--nodes', '100', ...house);
  const child = start(['ladder', 'serve', '--http', '127.0.0.1:0', '--round-ms', '50', '--house-after-ms', '500', '--db', join(folder, 'ladder.db')], 'pipe');
  url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /listening on (http:\/\/\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`plyd ladder serve ended with ${code}`)));
  });
  browser = await launch();
  enter('rival', ladder('bot', 'new', 'rival', '--owner', 'bob'), '--option', 'level=2');
  enter('hasty', ladder('bot', 'new', 'hasty', '--owner', 'dan'), '--option', 'level=1');
  enter('faulty', ladder('bot', 'new', 'faulty', '--owner', 'erin'), '--legal', '--', process.execPath, '-e', FAULTY);
});

after(async () => {
  await browser?.close();
  // A bot that is asked to end goes on with its games, and dials a ladder that is gone for as long.
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  rmSync(folder, { recursive: true });
});

/** A page in a profile of its own. What it throws or is refused is in `page.faults`. */
async function visit(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(TIMEOUT);
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') page.faults.push(message.text());
  });
  await page.goto(path.startsWith('http') ? path : url + path);
  return page;
}

/**
 * Opens a game of a bot from the list, which fills itself, while it is played. Not one with the bot that plays illegal moves:
 * it can end with the third move.
 */
async function openPlaying(page, bot, press = 'click') {
  for (;;) {
    await page.goto(`${url}/games`);
    const row = page.locator('#playing tr[data-game]', { hasText: bot }).filter({ hasNotText: 'faulty' }).first();
    await row.locator('a').first()[press]();
    await page.locator('#viewer').waitFor();
    // It may have ended meanwhile.
    if (await page.locator('#viewer[data-playing]').count()) return;
  }
}

/** Nothing is wider than the screen, and nothing went wrong. */
async function assertFits(page) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wider <= 0, `${page.url()} is ${wider} px wider than the screen`);
  assert.deepEqual(page.faults, []);
}

/** Each column of the standings can be seen without scrolling. */
async function assertColumnsFit(page) {
  for (const cell of await page.locator('.standings thead th').all()) {
    const box = await cell.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= page.viewportSize().width, `${await cell.textContent()}: ${JSON.stringify(box)}`);
  }
}

// The whole way on either screen: by a mouse, and by fingers.
for (const [screen, owner, bot, press, options] of [['desktop', 'ann', 'kari', 'click', {}], ['phone', 'fay', 'pocket', 'tap', PHONE]]) {
  test(`an owner registers a bot, it joins, and a game is watched to its end: ${screen}`, async (t) => {
    const page = await visit(ladder('invite', owner, '--url', url), options);
    await byTest(page, 'join')[press]();
    await byTest(page, 'name').fill(bot);
    await byTest(page, 'register')[press]();
    const token = await byTest(page, 'token').textContent();
    const commands = await page.locator('.steps code').allTextContents();
    assert.ok(commands[0].includes(token), commands[0]);
    if (screen === 'desktop') await picture(page, 'ladder-token');
    await assertFits(page);

    enter(bot, token, '--legal', '--', process.execPath, '-e', SLOW);
    // The bot's games take long enough to be watched.
    await openPlaying(page, bot, press);
    if (screen === 'desktop') t.diagnostic(`from \`plyd ladder init\` to a new bot's first game: ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    const viewer = page.locator('#viewer');
    await page.waitForFunction(() => {
      const { live, shown, plies } = document.getElementById('viewer').dataset;
      return live && shown === plies && Number(plies) > 4;
    });
    if (screen === 'desktop') await picture(page, 'ladder-live', { width: 904, height: 560 });
    await page.waitForFunction(() => document.getElementById('viewer').dataset.live === 'over'
      && !document.querySelector('#outcome[data-live]'));
    const outcome = await page.locator('#outcome').textContent();
    assert.match(outcome, /wins|draw/);
    // The page itself says the same.
    const written = await page.evaluate(async (address) => (await fetch(address)).text(), page.url());
    assert.ok(written.includes(`<bdi>${outcome}</bdi>`), outcome);
    // What was shown as it was played is what the record has.
    const record = await page.evaluate(async (id) => (await fetch(`/api/v1/games/${id}/record`)).json(),
      await viewer.getAttribute('data-game'));
    assert.deepEqual(await page.locator('#moves bdi').allTextContents(), record.moves);
    await assertFits(page);
    await page.context().close();
  });
}

test('a game is stepped through with the mouse and with keys', async () => {
  const page = await visit('/game/1');
  await page.waitForSelector('#viewer[data-shown] .board');
  const plies = await page.locator('#moves tr').count();
  await page.locator('#first').click();
  await page.waitForSelector('#viewer[data-shown="0"]');
  await page.keyboard.press(']');
  await page.waitForSelector('#viewer[data-shown="1"]');
  await page.locator('[data-ply="4"]').click();
  await page.waitForSelector('#viewer[data-shown="4"]');
  assert.equal(await page.locator('#moves [aria-current] td').first().textContent(), '4');
  await page.locator('#slider').press('End');
  await page.waitForSelector(`#viewer[data-shown="${plies}"]`);
  assert.ok(await page.locator('#board [data-at]').count() >= 2);
  await picture(page, 'ladder-game');
  await assertFits(page);
  await page.context().close();
});

test('all pages fit a phone, in the dark', async () => {
  const page = await visit(ladder('invite', 'ann', '--url', url), PHONE);
  await byTest(page, 'join').tap();
  await byTest(page, 'name').waitFor();
  await assertFits(page);
  for (const path of ['/', '/pool/1', '/bot/1', '/games', '/game/1', '/api']) {
    await page.goto(url + path);
    await assertFits(page);
  }
  await page.goto(`${url}/game/1`);
  await page.waitForSelector('#viewer[data-shown] .board');
  // The whole board is on the screen, and what one taps is large enough.
  const board = await page.locator('.board').boundingBox();
  assert.ok(board.width > 300 && board.x >= 0 && board.x + board.width <= 360, JSON.stringify(board));
  for (const button of await page.locator('.transport a').all()) {
    const { height, width } = await button.boundingBox();
    assert.ok(height >= 36 && width >= 36, `${height} by ${width}`);
  }
  await page.context().close();
});

/** What the API answers. */
const api = async (path) => (await fetch(`${url}/api/v1${path}`)).json();

/** What becomes true some time. */
async function until(is) {
  for (const end = Date.now() + TIMEOUT; Date.now() < end; await new Promise((resolve) => { setTimeout(resolve, 50); })) {
    const found = await is();
    if (found) return found;
  }
  throw new Error(`never ${is}`);
}

test('a forfeited game shows the fault, and its bot why it is disabled', async () => {
  const faulty = (await api('/bots')).bots.find(({ name }) => name === 'faulty').id;
  const { why } = await until(async () => (await api(`/bots/${faulty}`)).disabled);
  const page = await visit(`/bot/${faulty}`);
  assert.ok((await page.locator('.alert').textContent()).includes(why));
  await page.locator('.games tr', { hasText: 'forfeit: illegal' }).first().locator('a').first().click();
  assert.match(await page.locator('#outcome').textContent(), /faulty forfeits: illegal/);
  // Whoever comes for the fault does not have to look for it.
  const [last, box] = await Promise.all(['.conversation li:last-child', '.conversation'].map((one) => page.locator(one).boundingBox()));
  assert.match(await page.locator('.conversation li:last-child').textContent(), /"z99"/);
  assert.ok(last.y >= box.y && last.y + last.height <= box.y + box.height + 1, JSON.stringify({ last, box }));
  await picture(page, 'ladder-forfeit');
  await assertFits(page);
  await page.context().close();
});

test('the standings and a bot are what one came for, on a phone, too', async () => {
  const rival = (await api('/bots')).bots.find(({ name }) => name === 'rival').id;
  await until(async () => (await api(`/bots/${rival}/curve?pool=1`)).points.length > 19);
  for (const [options, height] of [[{ viewport: { width: 820, height: 560 } }, 560], [PHONE, PHONE.viewport.height]]) {
    const page = await visit('/', options);
    const width = page.viewportSize().width;
    await assertColumnsFit(page);
    if (height === 560) await picture(page, 'ladder-standings');
    // Whatever stands in them.
    await page.locator('.standings tbody tr').first().evaluate((row) => {
      const tags = ['anchor', 'disabled', 'not yet rated', 'apart'].map((tag) => `<span class="tag">${tag}</span>`);
      row.cells[1].insertAdjacentHTML('beforeend', ` ${tags.join(' ')}`);
      ['\u22121234', '\u22121434 to \u22121034', '123456', '100 %'].forEach((text, at) => {
        row.cells[at + 2].textContent = text;
      });
    });
    await assertColumnsFit(page);
    await page.goto(`${url}/bot/${rival}`);
    assert.match(await page.locator('main').textContent(), /Rank \d+ in the table by all games/);
    if (height === 560) await picture(page, 'ladder-bot', { width: 820, height: 588 });
    await page.goto(`${url}/games`);
    const result = await page.locator('.games .result').first().boundingBox();
    assert.ok(result.x + result.width <= width, JSON.stringify(result));
    await page.context().close();
  }
});

for (const [screen, shape] of [['desktop', {}], ['phone', { viewport: { width: 375, height: 760 }, hasTouch: true }]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`no page keeps anybody out: ${screen}, ${colorScheme}`, async () => {
      const page = await visit(ladder('invite', 'erin', '--url', url), { ...shape, colorScheme });
      const check = async () => {
        await assertAccessible(page);
        await assertFits(page);
      };
      await check();
      await byTest(page, 'join').click();
      await byTest(page, 'name').waitFor();
      await check();
      await byTest(page, 'name').fill(`another-${screen}-${colorScheme}`);
      await byTest(page, 'register').click();
      await byTest(page, 'token').waitFor();
      await check();
      const faulty = (await api('/bots')).bots.find(({ name }) => name === 'faulty').id;
      const forfeit = (await api(`/bots/${faulty}/games?forfeits=true`)).games[0].id;
      for (const path of ['/', '/pool/1', '/bot/1', `/bot/${faulty}`, '/games', '/game/1', `/game/${forfeit}`, '/api']) {
        await page.goto(url + path);
        if (path.startsWith('/game/')) await page.waitForSelector('#viewer[data-shown] .board');
        await check();
      }
      await openPlaying(page, 'kari');
      await page.waitForSelector('#viewer[data-shown] .board');
      await check();
      if (screen === 'phone' && colorScheme === 'dark') await picture(page, 'ladder-phone');
      await page.context().close();
    });
  }
}

test('a page whose events are refused goes on, and asks again', async () => {
  const page = await visit('/games');
  const refused = { game: 0, list: 0 };
  const refuse = (what, most) => (route) => {
    refused[what] += 1;
    if (refused[what] > most) return route.continue();
    return route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"code":"too_many_spectators"}' });
  };
  await page.route('**/api/v1/games/*/live', refuse('game', 2));
  await page.route('**/api/v1/live', refuse('list', 2));
  await openPlaying(page, 'kari');
  await page.waitForFunction(() => document.getElementById('viewer').dataset.live);
  assert.ok(refused.game > 2 || await page.locator('#viewer').getAttribute('data-live') === 'over', JSON.stringify(refused));
  await page.waitForFunction(() => document.getElementById('viewer').dataset.live === 'over');
  assert.match(await page.locator('#outcome').textContent(), /wins|draw|count/);
  await page.goto(`${url}/games`);
  await until(() => refused.list > 2);
  await page.context().close();
});

test('without scripts a game has its board and its links', async () => {
  const page = await visit('/game/1?ply=3', { javaScriptEnabled: false });
  assert.match(await page.locator('.plain-board caption').textContent(), /after 3 of/);
  await page.locator('#forward').click();
  assert.match(await page.locator('.plain-board caption').textContent(), /after 4 of/);
  await page.context().close();
});

test('an owner logs out, and the link is used up', async () => {
  const link = ladder('invite', 'carol', '--url', url);
  const page = await visit(link);
  await byTest(page, 'join').click();
  await byTest(page, 'log-out').click();
  await page.goto(`${url}/owner`);
  assert.match(await page.locator('main').textContent(), /not logged in/);
  await page.goto(link);
  await byTest(page, 'join').click();
  assert.match(await page.locator('main').textContent(), /each works once/);
  await page.context().close();
});
