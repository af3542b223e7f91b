/** Lines over sockets, with TLS or without. */
import { readFileSync } from 'node:fs';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { ConnectionLost } from '../src/errors.js';
import { LineReader } from './lines.js';

/**
 * @typedef {import('./address.js').UnixAddress} UnixAddress
 * @typedef {import('./address.js').HostAddress} HostAddress
 * @typedef {import('../src/client.js').Listener} Listener
 * @typedef {import('../src/client.js').Transport} Transport
 * @typedef {{ ca?: string, cert?: string, key?: string }} Credentials
 */

/**
 * What an address of TLS says about certificates.
 * @param {UnixAddress | HostAddress} address
 * @returns {Credentials | null} null without TLS
 * @throws for a file that cannot be read, or that has something else in it
 */
export function credentials(address) {
	if (!('files' in address) || !address.files) return null;
	const { ca, cert, key } = address.files;
	return { ca: pem(ca, 'CERTIFICATE'), cert: pem(cert, 'CERTIFICATE'), key: pem(key, 'PRIVATE KEY') };
}

/**
 * @param {string | undefined} file
 * @param {string} what
 */
function pem(file, what) {
	if (file === undefined) return undefined;
	const text = readFileSync(file, 'utf8');
	if (!text.includes(`${what}-----`)) throw new TypeError(`${file}: there is no ${what.toLowerCase()} in it (PEM)`);
	return text;
}

/**
 * A socket to an address.
 * @param {UnixAddress | HostAddress} address
 * @param {Credentials | null} secure
 * @returns {net.Socket}
 */
export function connect(address, secure) {
	const at = address.host === undefined ? { path: address.path } : { host: address.host, port: address.port };
	if (secure) return tls.connect({ ...at, ...secure, minVersion: 'TLSv1.3', rejectUnauthorized: true }).setNoDelay();
	return net.connect({ ...at, noDelay: true });
}

/**
 * Lines over a socket.
 * @param {net.Socket} socket
 * @param {Listener} listener
 * @returns {Transport}
 */
export function linesOver(socket, listener) {
	const lines = new LineReader(listener.line);
	socket.on('data', guarded(socket, (data) => lines.push(data)));
	socket.on('error', (error) => listener.closed(lost(error)));
	socket.on('close', () => listener.closed());
	return {
		send: (line) => { socket.write(`${line}\n`); },
		end: () => { socket.end(); },
		destroy: () => { socket.destroy(); },
	};
}

/**
 * A reader of bytes whose errors end their stream.
 * @param {import('node:stream').Readable} stream
 * @param {(data: Buffer) => void} take
 * @returns {(data: Buffer) => void}
 */
export function guarded(stream, take) {
	return (data) => {
		try {
			take(data);
		} catch (error) {
			stream.destroy(/** @type {Error} */ (error));
		}
	};
}

/**
 * What to do about errors of TLS: by their code and their text, as the text alone has what OpenSSL says.
 * @type {[RegExp, string][]}
 */
const ADVICE = [
	[/UNABLE_TO_(GET_ISSUER|VERIFY)|SELF_SIGNED/, "name its authority's certificate behind the address, ?ca=FILE"],
	[/CERTIFICATE_REQUIRED|certificate required/, 'the server wants a certificate of ours: ?cert=FILE&key=FILE'],
	[/wrong version|packet length|record layer failure|before secure TLS connection/, 'is TLS served there?'],
];

/**
 * An error of a socket, with what to do about it.
 * @param {Error & { code?: string }} error
 */
export function lost(error) {
	// One of ours says what is wrong.
	if (!error.code) return error;
	const [, hint] = ADVICE.find(([pattern]) => pattern.test(`${error.code} ${error.message}`)) ?? [];
	return new ConnectionLost([error.message.trim(), ...(hint ? [hint] : [])].join('; '), { cause: error });
}
