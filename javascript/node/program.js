/** Lines to and from a program that is started. */
import { spawn } from 'node:child_process';
import { ConnectionLost } from '../src/errors.js';
import { LineReader } from './lines.js';
import { guarded, lost } from './sockets.js';

/**
 * @param {string[]} command
 * @param {import('../src/client.js').Listener} listener
 * @returns {import('../src/client.js').Transport}
 */
export function start([program = '', ...parameters], listener) {
	const child = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
	const lines = new LineReader(listener.line);
	child.stdout.on('data', guarded(child.stdout, (data) => lines.push(data)));
	child.stdout.on('error', (error) => listener.closed(error));
	// Its end says why nothing can be written to it.
	child.stdin.on('error', () => {});
	child.on('error', (error) => listener.closed(lost(error)));
	child.on('close', (code, signal) => listener.closed(
		new ConnectionLost(`the server ended ${signal ? `by ${signal}` : `with exit code ${code}`}`),
	));
	return {
		send: (line) => { child.stdin.write(`${line}\n`); },
		end: () => { child.stdin.end(); },
		destroy: () => { child.kill('SIGKILL'); },
	};
}
