/** Where a server is, as all clients of plyd write it. */

/** @typedef {'ca' | 'cert' | 'key'} FileName */

/** @typedef {{ path: string, host?: undefined }} UnixAddress */

/**
 * @typedef {object} HostAddress
 * @property {string} host
 * @property {number} port
 * @property {Partial<Record<FileName, string>>} [files]  over TLS, if it is there
 * @property {true} [web]  over WebSocket, if it is there
 */

const WRITTEN = 'tcp://HOST:PORT, ws://HOST:PORT, tls://HOST:PORT, wss://HOST:PORT or unix=PATH';

/**
 * Reads `tcp://HOST:PORT`, `ws://HOST:PORT`, `tls://HOST:PORT`, `wss://HOST:PORT` (each also with `=` for the
 * `://`) or `unix=PATH`; null for anything else, which is a program. Behind an address of TLS may stand
 * `?ca=FILE` (the authorities to trust, PEM; without it those that Node trusts) and `?cert=FILE&key=FILE`
 * (what to show a server that wants a certificate).
 * @param {string} text
 * @returns {UnixAddress | HostAddress | null}
 */
export function readAddress(text) {
	const [start, way] = /^(tcp|tls|wss?)(?:=|:\/\/)|^unix=/.exec(text) ?? [];
	if (start === undefined) return null;
	const rest = text.slice(start.length);
	if (!way && rest) return { path: rest };
	const [isWeb, isSecure] = [way?.startsWith('ws'), way === 'tls' || way === 'wss'];
	const [place = '', ...options] = isSecure ? rest.split(/\?(.*)/s, 2) : [rest];
	const [, host, port, path = ''] = /^(\[[^\s/\]]+\]|[^\s/]+):(\d{1,5})((?:\/ws)?\/?)$/.exec(place) ?? [];
	if (!way || !host || Number(port) > 65535 || (path.length > 1 && !isWeb)) {
		throw new TypeError(`no address of this client: ${text}; give ${WRITTEN}`);
	}
	const at = { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
	return { ...at, ...(isSecure && { files: readFiles(options.join()) }), ...(isWeb && { web: /** @type {const} */ (true) }) };
}

/** @param {string} options */
function readFiles(options) {
	/** @type {Partial<Record<FileName, string>>} */
	const files = {};
	for (const option of options.split('&').filter(Boolean)) {
		const [, name, file] = /^([^=]*)=?(.*)$/s.exec(option) ?? [];
		if (name !== 'ca' && name !== 'cert' && name !== 'key') {
			throw new TypeError(`\`${name}\`: give ?ca=FILE, ?cert=FILE&key=FILE or all three`);
		}
		if (!file || name in files) throw new TypeError(`\`${name}\`: give one file, as in ${name}=FILE`);
		files[name] = file;
	}
	if ('cert' in files !== 'key' in files) {
		throw new TypeError('a certificate and its key go together: cert=FILE&key=FILE');
	}
	return files;
}
