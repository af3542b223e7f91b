// A match that is watched while it is played: `plyd arena --watch` of the real binary, in a browser. PLYD_BIN names a plyd.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { assertAccessible, byTest, launch, picture, PLYD, TIMEOUT } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'plyd-watch-'));
/** A bot that takes its time, so that its games can be watched, and plays the same in each. */
const SLOW = join(folder, 'slow');
writeFileSync(SLOW, `#!${process.execPath}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, cmd, x_legal: legal } = JSON.parse(line);
  const say = (message) => console.log(JSON.stringify({ id, ...message }));
  if (cmd !== 'go') say({ type: 'error', code: 'unknown_cmd', message: 'this bot only plays' });
  else setTimeout(() => say({ type: 'bestmove', move: legal[legal.length >> 1] }), 200);
});`);
chmodSync(SLOW, 0o700);

let browser;
const started = new Set();
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** A match that begins: where it is watched, if it is, and its report. */
async function arena(...args) {
  const child = spawn(PLYD, ['arena', ...args, '--margin', '60s', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.add(child);
  let json = '';
  child.stdout.on('data', (data) => { json += data; });
  const ended = once(child, 'close').then(([code]) => {
    started.delete(child);
    assert.equal(code, 0);
    return JSON.parse(json);
  });
  // Whoever is told nothing by the one is told by the other.
  ended.catch(() => {});
  const lines = createInterface({ input: child.stderr });
  const url = await new Promise((resolve) => {
    lines.on('line', (line) => {
      const found = /^watch at (http:\/\/127\.0\.0\.1:\d+\/)$/.exec(line);
      if (found) resolve(found[1]);
    });
    lines.on('close', () => resolve(null));
  });
  return { url, ended };
}

/** The match's page in a profile of its own. */
async function watch(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(TIMEOUT);
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  await page.goto(url);
  return page;
}

/** Somebody who asks for the events and reads none of them. */
async function neverReading(url) {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  return socket;
}

const number = (text) => Number(text ?? -1);

const LONG = ['isolation', '--player', 'default,nodes=2000', '--player', `cmd=${SLOW},legal=true`, '--games', '4', '--seed', 'a1'];

/** What of a result does not depend on how fast the machine is. */
const played = ({ summary: { players, ...summary }, ...report }) => ({ report, summary, answers: players.map((player) => player.answers) });

test('watchers, also one that never reads, change no result and see the match to its report', async () => {
  const alone = await (await arena(...LONG)).ended;
  const { url, ended } = await arena(...LONG, '--watch=0');
  assert.ok(url, 'an address is printed');
  const stuck = await neverReading(url);
  const page = await watch(url);
  // A board changes by itself, and shows what was played.
  const table = page.locator('[data-table="0"]');
  await table.waitFor();
  const [game, plies] = [await table.getAttribute('data-game'), number(await table.getAttribute('data-plies'))];
  await page.waitForFunction(([before, count]) => {
    const { game: now, plies: shown } = document.querySelector('[data-table="0"]')?.dataset ?? {};
    return now !== before || Number(shown) > count;
  }, [game, plies]);
  assert.ok(await table.locator('[data-at]').count() >= 2, 'pieces stand on the board');
  // One who comes late sees the results that there were.
  await page.locator('[data-result="1"]').waitFor();
  const late = await watch(url);
  await late.locator('[data-result="1"]').waitFor();
  assert.match(await byTest(late, 'played').textContent(), /^[1-4] of 4 games$/);
  await assertAccessible(late);
  await picture(late, 'watch');
  // Somebody who leaves costs nothing.
  await late.context().close();
  // The report takes the place of the page, and agrees with what the command says.
  await page.waitForURL(/\/report$/);
  await page.waitForSelector('html[data-ready]');
  const sentence = await byTest(page, 'headline').textContent();
  const report = await ended;
  assert.deepEqual(played(report), played(alone));
  assert.ok(sentence.includes('games'), sentence);
  assert.equal(await page.locator('.list tbody tr').count(), 4);
  assert.deepEqual(page.faults, []);
  stuck.destroy();
  await page.context().close();
});

test('games that are played at once stand beside each other, on a phone below each other', async () => {
  const { url, ended } = await arena('colosseum', '--player', 'random,tc=9s+0.2s', '--player', `cmd=${SLOW},legal=true,tc=9s+0.2s`, '--games', '6', '--concurrency', '2', '--watch=0');
  const page = await watch(url, { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true, isMobile: true });
  // The tables come as their games begin, in whatever order.
  for (const table of [0, 1]) await page.locator(`[data-table="${table}"] .board`).waitFor();
  const [one, other] = await Promise.all([0, 1].map((table) => page.locator(`[data-table="${table}"]`).boundingBox()));
  assert.ok(other.y >= one.y + one.height && one.width > 340, JSON.stringify([one, other]));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  // The clock of the player who thinks runs.
  await page.waitForFunction(() => {
    const shown = document.querySelector('[data-table="0"] [data-thinks] .time')?.textContent ?? '';
    const isSame = document.querySelector('[data-table="0"]').dataset.plies === window.plies;
    const runs = isSame && window.shown && shown !== window.shown;
    window.plies = document.querySelector('[data-table="0"]').dataset.plies;
    window.shown = shown;
    return runs && /^0:0\d\.\d$/.test(shown);
  });
  await assertAccessible(page);
  await picture(page, 'watch-phone');
  await page.setViewportSize({ width: 1280, height: 800 });
  const [left, right] = await Promise.all([0, 1].map((table) => page.locator(`[data-table="${table}"]`).boundingBox()));
  assert.ok(Math.abs(left.y - right.y) < 2 && right.x >= left.x + left.width, JSON.stringify([left, right]));
  await picture(page, 'watch-two');
  await page.waitForURL(/\/report$/);
  await ended;
  await page.context().close();
});

test('a page of strangers gets nothing', async () => {
  const { url, ended } = await arena('isolation', '--player', 'random', '--player', `cmd=${SLOW},legal=true`, '--games', '2', '--watch=0');
  const ask = (path, host) => new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let said = '';
    socket.on('data', (data) => {
      said += data;
      if (said.includes('\r\n')) socket.destroy();
    });
    socket.on('close', () => resolve(Number(said.split(' ')[1])));
    socket.on('error', reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  });
  for (const path of ['/', '/events', '/report', '/games/isolation.js']) assert.equal(await ask(path, 'evil.example'), 403, path);
  assert.equal(await ask('/', new URL(url).host), 200);
  assert.equal(await ask('/Cargo.toml', new URL(url).host), 404);
  await ended;
});
