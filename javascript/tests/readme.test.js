// The README's code does what it says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const blocks = readFileSync(`${root}README.md`, 'utf8').split('```js\n').slice(1).map((block) => block.split('```')[0]);

test('there is code to run', () => assert.equal(blocks.length, 2));

for (const [index, block] of blocks.entries()) {
	test(`block ${index + 1}`, () => {
		const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', block], { cwd: root });
		assert.equal(status, 0, String(stderr));
		assert.ok(stdout.length);
	});
}
