/** The page's connection to the server that it came from, opened while the other modules still load. */
import { Connection } from './connection.js';

const url = new URL('ws', location.href);
url.protocol = url.protocol.replace('http', 'ws');

export const connection = new Connection(url.href);
connection.connect();
