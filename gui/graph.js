/** The graph of a game's scores over its plies, from player 1's view. Choosing a place goes to its ply. */
import { svg } from './dom.js';
import { count, height, viewWords } from './words.js';

const WIDTH = 300;
const HEIGHT = 90;

/**
 * The score, in thousandths, that is drawn half of the way up: the median of the game's scores, so that any game fills its graph.
 */
export function scaleOf(scores) {
	const seen = Object.values(scores).map((score) => Math.abs(score.eval ?? 0)).filter(Boolean).sort((a, b) => a - b);
	return seen.length ? Math.max(1000, seen[Math.floor(seen.length / 2)]) : 3000;
}

/** How high a score is drawn: a proof is the nearer to the edge, the nearer the end of the game is. */
function levelOf(score, scale, longest) {
	const level = height(score, scale);
	const distance = score.proof?.plies ?? score.proof?.plies_max;
	return Math.abs(level) === 1 && distance !== undefined ? level * (1 - (0.6 * distance) / longest) : level;
}

/** @param {SVGElement} root  an empty svg  @param {Record<number, import('./words.js').Score>} scores  by ply */
export function drawGraph(root, game, scores = game.scores) {
	const plies = Math.max(1, game.moves.length);
	const scale = scaleOf(scores);
	const longest = Math.max(8, ...Object.values(scores).map(({ proof }) => proof?.plies ?? proof?.plies_max ?? 0));
	const x = (ply) => (ply / plies) * WIDTH;
	const y = (level) => HEIGHT / 2 - level * (HEIGHT / 2 - 6);
	const points = Object.entries(scores)
		.map(([ply, score]) => ({ ply: Number(ply), score, level: levelOf(score, scale, longest) }))
		.filter((point) => point.level !== null && point.ply <= game.moves.length)
		.sort((a, b) => a.ply - b.ply);
	root.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
	const out = [svg('path.zero', { d: `M0 ${HEIGHT / 2}H${WIDTH}` })];
	if (points.length) {
		const line = points.map((point, index) => `${index ? 'L' : 'M'}${x(point.ply)} ${y(point.level)}`).join('');
		const area = `${line}L${x(points[points.length - 1].ply)} ${HEIGHT / 2}L${x(points[0].ply)} ${HEIGHT / 2}Z`;
		out.push(svg('path.area', { d: area }), svg('path.line', { d: line }));
	}
	for (const { ply, score, level } of points) {
		out.push(svg('circle', { cx: x(ply), cy: y(level), r: plies > 120 ? 1.2 : 2.6, 'data-graph-ply': ply, class: score.proof ? 'proven' : '' },
			svg('title', {}, `after ${count(ply, 'ply')}: ${viewWords(score)}`)));
	}
	out.push(svg('path.here', { d: `M${x(game.cursor)} 0V${HEIGHT}` }));
	root.replaceChildren(...out);
	root.setAttribute('aria-label', points.length
		? `Scores of ${count(points.length, 'position')}; the last: ${viewWords(points[points.length - 1].score)}`
		: 'No scores yet');
}

/** The ply that is drawn at a place from 0 to 1. */
export const plyAt = (game, part) => Math.round(Math.max(0, Math.min(1, part)) * game.moves.length);
