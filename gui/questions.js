/**
 * What a table asks the server about positions, and what it remembers of the answers. It knows neither whose turn it is nor the
 * page.
 */
import { change } from './changes.js';
import { ConnectionLost } from './plyd/errors.js';
import * as record from './record.js';

/** What is asked about each position. */
export const WANT = ['to_move', 'outcome', 'legal', 'chance', 'board', 'text', 'eval', 'decisive'];
/** What some servers lack: it is requested only if the server has the feature of that name. */
const OPTIONAL = ['decisive', 'book'];
/** Positions that are remembered; each holds its board and its moves. */
const KEPT = 200;

/** Whether a request failed because the server is away, or about to go. */
export const isAway = (error) => error instanceof ConnectionLost || error.code === 'shutting_down';

export class Questions {
	/** @type {Map<string, string>} what each open session of the server was opened with */
	#sessions = new Map();
	/** @type {Map<string, Promise<object>>} answers about positions, by position */
	#known = new Map();

	constructor(connection) {
		this.connection = connection;
	}

	/** Begins anew with a game; `node` is what is known of the position that it shows. */
	begin(game, node) {
		this.#known.clear();
		this.#sessions.clear();
		if (node) this.#known.set(keyOf(record.positionOf(game), game), Promise.resolve(node));
	}

	/** No session is open any more, or none that one can be sure of. */
	forgetSessions() {
		this.#sessions.clear();
	}

	/** Asks about a position under the rules of a game. */
	ask({ game, rules }, position, want) {
		const { features } = this.connection.hello ?? { features: [] };
		const taken = want.filter((word) => !OPTIONAL.includes(word) || features.includes(word));
		return this.connection.request('inspect', { game, rules, position, want: taken });
	}

	/** What the server says of a position, remembered. */
	about(position, game) {
		const key = keyOf(position, game);
		let answer = this.#known.get(key);
		if (!answer) {
			answer = this.ask(game, position, WANT);
			this.#known.set(key, answer);
			// A failure is not remembered: the next question goes to the server again.
			answer.catch(() => this.#known.delete(key));
			if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value);
		}
		return answer;
	}

	/**
	 * What each ply of a line changes on the board.
	 * @param {string[]} line  plies from the position
	 */
	async changesAlong({ start, moves }, line, game) {
		const positions = [[], ...line.map((_, index) => line.slice(0, index + 1))];
		const nodes = await Promise.all(positions.map((plies) => this.about({ start, moves: [...moves, ...plies] }, game)));
		return line.map((move, index) => ({
			move, player: nodes[index].to_move, change: change(nodes[index].board, nodes[index + 1].board),
		}));
	}

	/** Opens a session of the server for a game, unless it is open with these options. */
	async ensureSession(session, options, { game, rules }) {
		const key = JSON.stringify([game, rules, options]);
		if (this.#sessions.get(session) === key) return;
		this.#sessions.delete(session);
		await this.connection.request('newgame', { session, game, rules, options });
		this.#sessions.set(session, key);
	}
}

/** The key of a position under the rules of a game, by which answers are remembered. */
const keyOf = (position, { game, rules }) => JSON.stringify([game, rules, position]);
