/**
 * What scores say of a position or a move: proofs before estimates, seen from one ply earlier, and as likelihoods. These
 * are the rules of the server's reviews, for a page that judges by searches of its own. Pure: scores are the protocol's.
 *
 * @typedef {import('./words.js').Score} Score
 * @typedef {import('./words.js').Proof} Proof
 */
import { flipped } from './words.js';

const RANK = { loss: -1, draw: 0, win: 1 };

/** @param {Score} [score]  @returns {Proof|null} what it proves of the result */
export function proofOf(score) {
	const proof = score?.proof;
	if (!proof) return null;
	const enough = { win: score.bound !== 'upper', draw: score.bound === 'exact', loss: score.bound !== 'lower' };
	return enough[proof.outcome] ? proof : null;
}

/** The result of a proof as a number: 1, 0, -1. */
export const resultOf = (proof) => RANK[proof.outcome];

/** The value of a game's end for a side. @returns {Score} */
export function ofEnd({ winner, scores }, player) {
	const outcome = winner === null ? 'draw' : winner === player ? 'win' : 'loss';
	const margin = scores && (player === 'p1' ? scores[0] - scores[1] : scores[1] - scores[0]);
	// Games that score have no distances.
	if (scores) return { bound: 'exact', eval: 1000 * margin, proof: { outcome, margin } };
	return { bound: 'exact', proof: outcome === 'draw' ? { outcome } : { outcome, plies: 0 } };
}

/** A value as it is seen so many plies earlier; `turns` if by the other side. @returns {Score} */
function seenFrom(score, turns, by) {
	const out = turns ? flipped(score) : { ...score };
	if (out.proof) {
		out.proof = { ...out.proof };
		for (const name of ['plies', 'plies_max']) if (out.proof[name] !== undefined) out.proof[name] = Math.max(0, out.proof[name] + by);
	}
	return out;
}

/** The value of a move from that of the position after it; `turns` if the other side is to move there. */
export const earlier = (score, turns) => seenFrom(score, turns, 1);

/** The value of the position after a move from that of the move: the inverse of `earlier`. */
export const later = (score, turns) => seenFrom(score, turns, -1);

/** The value that holds for every move of a position that is proven lost: each loses, and no later than the best. @returns {Score|null} */
export function ofAnyMove(position) {
	const found = proofOf(position);
	return found?.outcome === 'loss' ? lostWithin(found.plies ?? found.plies_max) : null;
}

/** The value of a position in which one move loses, and so does the best of all others. @returns {Score|null} */
export function ofLost(one, other) {
	const [first, second] = [ofAnyMove(one)?.proof, ofAnyMove(other)?.proof];
	if (!first || !second) return null;
	const most = Math.max(first.plies_max ?? Infinity, second.plies_max ?? Infinity);
	return lostWithin(most === Infinity ? undefined : most);
}

const lostWithin = (most) => ({ bound: 'exact', proof: { outcome: 'loss', ...most === undefined ? {} : { plies_max: most } } });

/** Of two values of the same thing the one that says more: an exact proof, a proof, an estimate, of which the first counts. */
export function surer(first, second) {
	if (!first || !second) return first ?? second;
	const [known, also] = [proofOf(first), proofOf(second)];
	if (!known) return also ? second : first;
	return also && known.outcome === also.outcome && saysMore(also, known) ? second : first;
}

const isToThePly = ({ plies, margin }) => plies !== undefined || margin !== undefined;

/** Whether a score proves a result with its distance or margin, so that there is no more to know. */
export function isExact(score) {
	const proof = proofOf(score);
	return Boolean(proof && score.bound === 'exact' && isToThePly(proof));
}

function saysMore(proof, than) {
	if (isToThePly(proof) !== isToThePly(than)) return isToThePly(proof);
	if (isToThePly(proof) || proof.plies_max === undefined) return false;
	return than.plies_max === undefined || proof.plies_max < than.plies_max;
}

const bothHave = (name, one, other) => one[name] !== undefined && other[name] !== undefined;

/** The value of a position, raised to that of one of its moves if that is higher. @returns {Score} */
export function atLeast(position, move) {
	if (!position || !move) return position ?? move;
	const [from, to] = [proofOf(position), proofOf(move)];
	if (!from) {
		if (!to) return (move.eval ?? -Infinity) > (position.eval ?? -Infinity) ? asPosition(move) : position;
		// That no other move is better is not proven.
		if (to.outcome === 'draw') return position.eval > 0 ? position : { bound: 'lower', eval: 0 };
		return to.outcome === 'win' ? asPosition(move) : position;
	}
	// What is proven to be no better than this stays; an estimate does not raise it.
	if (!to) return position;
	if (from.outcome !== to.outcome) return resultOf(to) > resultOf(from) ? move : position;
	if (bothHave('margin', from, to)) return to.margin > from.margin ? move : position;
	const isWin = to.outcome === 'win';
	if (bothHave('plies', from, to)) {
		return (isWin ? to.plies < from.plies : to.plies > from.plies) ? move : position;
	}
	return isWin ? quicker(position, from, to) : position;
}

/** A move's value as a bound on that of the position: another move may win sooner. */
function asPosition(move) {
	const found = proofOf(move);
	if (found?.outcome !== 'win' || found.plies === 1) return move;
	const { plies, margin, ...rest } = found;
	const most = plies ?? found.plies_max;
	const bound = move.eval === undefined ? move.bound : 'lower';
	return { ...move, bound, proof: most === undefined ? rest : { ...rest, plies_max: most } };
}

/** The value of a won position in which a move is won, too. */
function quicker(position, from, to) {
	const reached = to.plies ?? to.plies_max;
	if (from.plies !== undefined || from.margin !== undefined || reached === undefined) return position;
	return { ...position, proof: { ...from, plies_max: Math.min(reached, from.plies_max ?? Infinity) } };
}

/**
 * How likely the mover wins, a draw as half a win; null if nothing is known.
 * @param {Score} score  @param {number} decisive  the advantage with which most games are won, in thousandths
 */
export function likelihood(score, decisive) {
	const proof = proofOf(score);
	if (proof) return (1 + resultOf(proof)) / 2;
	return score?.eval === undefined ? null : 0.5 + 0.5 * Math.tanh(score.eval / Math.max(1, decisive));
}
