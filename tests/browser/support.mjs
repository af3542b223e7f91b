// What the tests of the page share: a server, a browser, and hands for the board. The page is asked by the attributes that
// gui/index.html lists; clicks are clicks of a mouse at places of the screen, so that what covers a cell is noticed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const PLYD = process.env.PLYD_BIN ?? `${root}target/release/plyd`;
/** A folder whose files take the place of those in the binary, to work on the page without building. */
const PAGE = process.env.PLYD_PAGE;
const SCREENSHOTS = `${root}target/screenshots`;
/** The pictures of the docs, which PLYD_PICTURES=1 renews: those that are there. */
const IN_DOCS = `${root}docs/images`;

/** How long a condition is waited for before a test fails; far above what a loaded machine needs. */
export const TIMEOUT = 60_000;

/** A server with its page, on a port of the system's choice or on that one. */
export async function serve(port = 0) {
  const child = spawn(PLYD, ['gui', '--no-open', '--port', String(port), '--threads', '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => { child.on('exit', (code, signal) => resolve({ code, signal })); });
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.on('error', reject);
    ended.then(({ code }) => reject(new Error(`plyd gui ended with ${code}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    /** Ends it and waits for its end. */
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/** A server and a browser for all tests of a file, to be had once they run; a test may put another server in its place. */
export function stage() {
  const on = {};
  before(async () => {
    on.server = await serve();
    on.browser = await launch();
  });
  after(async () => {
    await on.browser?.close();
    await on.server?.stop();
  });
  return on;
}

/** Debian's Chromium, best the one without windows, which takes half the time; or the one that CHROMIUM names. */
export function launch() {
  const executablePath = process.env.CHROMIUM
    ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
  if (!executablePath) throw new Error('no Chromium: install it (apt-get install chromium-headless-shell), or name it in CHROMIUM');
  // Chromium's own sandbox does not work for root, as which containers run.
  const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
  // Files that come from nowhere may not connect to this machine.
  if (PAGE) args.push('--disable-features=LocalNetworkAccessChecks');
  return chromium.launch({ executablePath, args });
}

/**
 * A page in a profile of its own, with the board of a game that the address asks for, so that no choice of games lies over it. What the page throws or is refused is in `page.faults`.
 * @param {{server: object, browser: object}} on  the stage  @param {object} options  of the browser's context  @param {string} game  one that the server has
 */
export async function visit(on, options = {}, game = 'l-game') {
  return openIn(await profile(on, options), `${on.server.url}?game=${game}`);
}

/** A profile of its own, which was never on the page. */
export async function profile({ server: { url }, browser }, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(TIMEOUT);
  if (PAGE) {
    // What the server forbids its page is forbidden to the folder's, too.
    const { headers } = await fetch(url);
    const policy = { 'content-security-policy': headers.get('content-security-policy') };
    await context.route(`${url}**`, (route) => {
      const path = new URL(route.request().url()).pathname;
      const look = /^\/games\/(.+)\.js$/.exec(path);
      if (look) return route.fulfill({ headers: policy, path: `${root}crates/games/${look[1]}/src/look.js` });
      return route.fulfill({ headers: policy, path: `${PAGE}${path === '/' ? '/index.html' : path}` });
    });
  }
  return context;
}

/** They know how to play: no lesson lies over the list of moves. */
const knowsAllGames = (page) => page.addInitScript((games) => localStorage.setItem('plyd.lessons', JSON.stringify(games)), Object.keys(HANDS));

/**
 * A further page in the profile.
 * @param {(page: object) => Promise<void>} prepare  what is done before the address is opened
 */
export async function openIn(context, url, prepare = knowsAllGames) {
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => {
    // The browser itself reports each failed attempt to connect.
    if (message.type() === 'error' && !/WebSocket connection|ERR_CONNECTION/.test(message.text())) {
      page.faults.push(message.text());
    }
  });
  await prepare(page);
  await page.goto(url);
  await page.waitForSelector('html[data-ready]');
  return page;
}

export const byTest = (page, name) => page.locator(`[data-testid="${name}"]`);

/** What the page reports of itself: {game, cursor, plies, toMove, over, text, connection}. */
export const pageState = (page) => page.evaluate(() => ({ ...document.body.dataset }));

/** Waits until what the page reports of itself is so. @param {(now: object) => boolean} is */
export async function until(page, is) {
  const deadline = Date.now() + TIMEOUT;
  for (let now = await pageState(page); !is(now); now = await pageState(page)) {
    if (Date.now() > deadline) throw new Error(`not ${is}, but ${JSON.stringify(now)}`);
    await page.waitForTimeout(30);
  }
}

/**
 * Begins a new game by the dialog.
 * @param {Record<string, string|number>} rules  @param {{start?: string, moves?: string}} position
 */
export async function newGame(page, game, rules = {}, position = {}) {
  await openNewGame(page, game, rules, position);
  await byTest(page, 'start-game').click();
  await page.waitForSelector('#new-dialog', { state: 'hidden' });
  await until(page, (now) => now.game === game && now.toMove !== undefined);
}

/** The same up to the button that starts it. */
export async function openNewGame(page, game, rules = {}, position = {}) {
  await byTest(page, 'new-game').click();
  await byTest(page, 'game-select').selectOption(game);
  // The rules are asked for: those of another game stand there until they come.
  await page.waitForFunction((name) => {
    const select = document.querySelector('[data-testid="game-select"]');
    const about = document.querySelector('#new-dialog form > .help');
    return select.value === name && about.textContent.includes(select.selectedOptions[0].textContent);
  }, game);
  await byTest(page, 'variants').evaluate((details) => { details.open = true; });
  for (const [name, value] of Object.entries(rules)) {
    const field = byTest(page, `rules-${name}`);
    if (await field.evaluate((node) => node.tagName === 'SELECT')) await field.selectOption(String(value));
    else await field.fill(String(value));
  }
  for (const [name, text] of Object.entries(position)) await byTest(page, name).fill(text);
}

/** Opens the settings, does something there, and closes them. */
export async function inSettings(page, act) {
  await byTest(page, 'settings').click();
  await act();
  await byTest(page, 'settings-close').click();
  await page.waitForSelector('#settings-dialog', { state: 'hidden' });
}

/** Sets how long an engine thinks about a move. */
export async function quick(page, ms = 60) {
  await setClock(page, 'per_move', { ms: ms / 1000 });
}

/** Chooses a clock; the fields are in the units that the page shows. */
export async function setClock(page, kind, fields = {}) {
  await inSettings(page, async () => {
    await byTest(page, 'clock-kind').selectOption(kind);
    for (const [name, value] of Object.entries(fields)) {
      const field = byTest(page, `clock-${name}`);
      await field.fill(String(value));
      await field.press('Tab');
    }
  });
}

/** Where on the screen a cell is. */
export async function middle(page, cell) {
  const box = await page.locator(`[data-cell="${cell}"]`).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Clicks a cell with the mouse. */
export async function clickCell(page, cell) {
  await page.mouse.click(...await middle(page, cell));
}

const targets = (page) => page.locator('.cell.target').evaluateAll((cells) => cells.map((cell) => cell.dataset.cell));

/** One of a list, by a number that counts up, so that games differ from move to move and not from run to run. */
const pick = (list, number) => list[(number * 7 + 3) % list.length];

/** How a person enters some legal move of each game with the mouse. @type {Record<string, Function>} */
const HANDS = {
  async isolation(page, number) {
    await clickCell(page, pick(await targets(page), number));
  },

  async colosseum(page, number) {
    await clickCell(page, pick(await targets(page), number));
    const slots = page.locator('#board [data-side]');
    await slots.nth((number * 7 + 3) % await slots.count()).click();
  },

  async sudoku(page, number) {
    await clickCell(page, pick(await targets(page), number));
    const allowed = page.locator('#tools [data-move]:not(.taboo)');
    const values = await allowed.count() ? allowed : page.locator('#tools [data-move]');
    await values.nth(number % await values.count()).click();
  },

  async ijk(page, number) {
    const legal = await page.locator('#tools [data-move]').evaluateAll((all) => all.map((one) => one.dataset.move));
    const move = pick(legal, number);
    if (number % 2) {
      await page.locator(`#tools [data-move="${move}"]`).click();
      return;
    }
    // A swipe from the middle of the board.
    const box = await byTest(page, 'board').boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const [dx, dy] = { U: [0, -1], R: [1, 0], D: [0, 1], L: [-1, 0] }[move];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 90 * dx, y + 90 * dy, { steps: 4 });
    await page.mouse.up();
  },

  async 'l-game'(page, number) {
    await byTest(page, 'l-pick-up').click();
    const cells = await page.locator('[data-cell]').evaluateAll((all) => all.map((cell) => cell.dataset.cell));
    for (let turn = 0; turn < 8; turn += 1) {
      for (const cell of cells) {
        const [x, y] = await middle(page, cell);
        await page.mouse.move(x, y);
        if (await page.locator('#board .ghost.fits').count()) {
          await page.mouse.click(x, y);
          const keep = byTest(page, 'l-keep');
          if (number % 2 === 0 && await keep.count()) await keep.click();
          else await moveToken(page, keep);
          return;
        }
      }
      await byTest(page, turn === 3 ? 'l-flip' : 'l-turn').click();
    }
    throw new Error('the L fits nowhere');
  },
};

/** Takes a token up and puts it down on the first cell that may be chosen, by two clicks. */
async function moveToken(page, keep) {
  const before = (await pageState(page)).cursor;
  await clickCell(page, (await targets(page))[0]);
  const cells = await targets(page);
  await clickCell(page, cells[0]);
  // With two tokens to move, one may be enough.
  if ((await pageState(page)).cursor === before && await keep.count()) await keep.click();
}

/** Plays one move with the mouse and waits until the board shows it. */
export async function move(page, number = 0) {
  const { game, cursor } = await pageState(page);
  await HANDS[game](page, number);
  await until(page, (now) => Number(now.cursor) > Number(cursor));
}

/** Waits until a person may move as this player, or the game is over; returns whether it goes on. */
export async function turnOf(page, player, after = -1) {
  await until(page, (now) => now.over === 'true'
    || (now.toMove === player && Number(now.cursor) > after && now.cursor === now.plies));
  return (await pageState(page)).over !== 'true';
}

/** Plays as player 1 against the engine until the game is over; gives the number of moves made here. */
export async function playOut(page, midway = async () => {}) {
  let made = 0;
  while (await turnOf(page, 'p1')) {
    await move(page, made);
    made += 1;
    if (made === 1) await midway();
  }
  return made;
}

/** Keeps a picture of the page in target/screenshots, taken by a screen of that size if one is given. */
export async function picture(page, name, size) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const before = page.viewportSize();
  if (size) await page.setViewportSize(size);
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, animations: 'disabled' });
  if (size) await page.setViewportSize(before);
  const shown = `${IN_DOCS}/${name}.png`;
  if (process.env.PLYD_PICTURES && existsSync(shown)) copyFileSync(`${SCREENSHOTS}/${name}.png`, shown);
}

const axeSource = () => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails if axe-core finds something on the page that keeps people out: by WCAG, and by its own practices. */
export async function assertAccessible(page) {
  await page.evaluate(axeSource());
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.target).join(', ')}`);
  assert.deepEqual(found, [], page.url());
}
