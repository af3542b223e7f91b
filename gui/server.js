/** The page's connection to the server that it came from, opened while the other modules still load. */
import { Engine } from './plyd/web.js';

const url = new URL('ws', location.href);
url.protocol = url.protocol.replace('http', 'ws');

export const connection = new Engine(url, { client: { name: 'plyd-gui', version: '1' }, reconnect: true });
