// What the tests share: the engine, servers of it, and programs that only seem to be one.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const PLYD = process.env.PLYD_BIN ?? 'plyd';

/** A folder that goes with the test. */
export function folder(t) {
	const path = mkdtempSync(join(tmpdir(), 'plyd-test-'));
	t.after(() => rmSync(path, { recursive: true }));
	return path;
}

/** A program that goes with the test: this script, of Node unless another interpreter is named. */
export function program(t, script, interpreter = process.execPath) {
	const path = join(folder(t), 'server');
	writeFileSync(path, `#!${interpreter}\n${script}`);
	chmodSync(path, 0o755);
	return path;
}

/** A program that answers each request by what the body of a function of `request` returns, or by nothing. */
export function answering(t, body) {
	return program(t, `
		const answer = (request) => { ${body} };
		require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
			const request = JSON.parse(line);
			const message = request.cmd === 'go' ? answer(request) : { type: 'result', of: request.cmd };
			if (message) console.log(JSON.stringify({ seq: 1, t_us: 1, id: request.id, ...message }));
		});
	`);
}

/** Starts `plyd serve` with these flags; it ends with the test. */
export async function serve(t, ...flags) {
	const server = spawn(PLYD, ['serve', ...flags], { stdio: ['ignore', 'inherit', 'pipe'] });
	const ended = new Promise((resolve) => { server.on('exit', resolve); });
	const kill = () => {
		server.kill('SIGKILL');
		return ended;
	};
	t.after(kill);
	const lines = [];
	for await (const line of createInterface({ input: server.stderr })) {
		lines.push(line);
		const [, port] = /listening on 127\.0\.0\.1:(\d+)/.exec(line) ?? [];
		if (port) {
			// What it logs from now on is nobody's, but has to go somewhere.
			server.stderr.resume();
			return { port: Number(port), kill };
		}
	}
	throw new Error(lines.join('\n'));
}
