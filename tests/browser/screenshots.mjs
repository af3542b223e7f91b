// Pictures of the page to be looked at: each game at its start, in the middle, at its end and in review, light and dark, on a
// desktop and on a phone. `node screenshots.mjs FOLDER [GAME…]` takes all eighty, or those of some games, in a few minutes;
// `sheets` in the place of games puts those that are there on sheets. Nothing passes or fails: one looks at them.
// PLYD_BIN and PLYD_PAGE are those of the tests.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { byTest, launch, PLYD, serve, until, visit } from './support.mjs';

/** Rules under which a game ends before a review of it takes long, and who plays it. @type {Record<string, {rules?: string, player: string}>} */
const GAMES = {
  'l-game': { rules: 'max_plies=12', player: 'random,nodes=1' },
  isolation: { player: 'default,level=3,nodes=2000' },
  sudoku: { rules: 'm=2,n=3', player: 'default,level=3,nodes=2000' },
  colosseum: { rules: 'seed=7', player: 'default,level=3,nodes=2000' },
  ijk: { rules: 'max_plies=60', player: 'default,level=3,nodes=2000' },
};
const STATES = ['start', 'middle', 'end', 'review'];
const SCREENS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};
const COLOURS = ['light', 'dark'];

/** A whole game of two engines, as its record. */
async function played(game) {
  const { rules, player } = GAMES[game];
  const folder = await mkdtemp(join(tmpdir(), 'plyd-'));
  try {
    const file = join(folder, 'game.jsonl');
    await promisify(execFile)(PLYD, ['arena', game, ...rules ? ['--rules', rules] : [], '--player', player, '--player', player,
      '--games', '2', '--seed', '5', '--record', file]);
    const { record, rules: inForce, start, moves } = JSON.parse((await readFile(file, 'utf8')).split('\n')[0]);
    return { record, game, rules: inForce, start, moves };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function load(page, record) {
  await byTest(page, 'load').click();
  await byTest(page, 'load-text').fill(JSON.stringify(record));
  await byTest(page, 'load-submit').click();
  await page.waitForSelector('#load-dialog', { state: 'hidden' });
  await byTest(page, 'last').click({ timeout: 500 }).catch(() => {});
  await until(page, (now) => now.game !== undefined && now.cursor === now.plies);
}

/** How one comes to a state. @type {Record<string, (page: object, record: object) => Promise<void>>} */
const REACH = {
  start: (page, record) => load(page, { ...record, moves: [] }),
  // A person is to move.
  middle: (page, record) => load(page, { ...record, moves: record.moves.slice(0, 2 * Math.floor(record.moves.length / 4)) }),
  end: load,
  // At the first mistake.
  async review(page) {
    await byTest(page, 'review-game').click();
    await page.waitForFunction(() => /^Mistakes found|^No move/.test(document.querySelector('[data-testid=reviewed]')?.textContent));
    if (await byTest(page, 'mistake-next').isEnabled()) await byTest(page, 'mistake-next').click();
    await page.waitForTimeout(1500);
  },
};

async function takeAll(page, game, state, folder) {
  const devtools = await page.context().newCDPSession(page);
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: screen === 'phone' });
    for (const colorScheme of COLOURS) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `${game}-${state}-${colorScheme}-${screen}.png`), animations: 'disabled' });
    }
  }
  await page.setViewportSize(SCREENS.desktop);
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  await devtools.detach();
}

/** Puts the pictures of each screen and colour on a sheet: a row a game. */
async function sheets(browser, folder) {
  for (const screen of Object.keys(SCREENS)) {
    for (const colour of COLOURS) {
      const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
      const width = screen === 'desktop' ? 400 : 250;
      const files = Object.keys(GAMES).flatMap((game) => STATES.map((state) => join(folder, `${game}-${state}-${colour}-${screen}.png`)));
      await page.setContent(`<body style="margin:0;display:grid;grid-template-columns:repeat(4,${width}px)">${files.filter(existsSync)
        .map((file) => `<img width="${width - 4}" src="data:image/png;base64,${readFileSync(file).toString('base64')}">`).join('')}`);
      await page.locator('body').screenshot({ path: join(folder, `sheet-${colour}-${screen}.png`) });
      await page.close();
    }
  }
}

const [target, ...wanted] = process.argv.slice(2);
if (!target) throw new Error('usage: node screenshots.mjs FOLDER [GAME… | sheets]');
const folder = resolve(target);
mkdirSync(folder, { recursive: true });
const on = { server: await serve(), browser: await launch() };
try {
  for (const game of wanted.includes('sheets') ? [] : wanted.length ? wanted : Object.keys(GAMES)) {
    const record = await played(game);
    const page = await visit(on, { viewport: { width: 1280, height: 800 } });
    for (const state of STATES) {
      await REACH[state](page, record);
      await takeAll(page, game, state, folder);
    }
    await page.context().close();
  }
  await sheets(on.browser, folder);
} finally {
  await on.browser.close();
  await on.server.stop();
}
