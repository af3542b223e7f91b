/**
 * Opponents by name, and how a game against one begins. The server knows the rating of a level; its name is the page's own.
 *
 * @typedef {import('./table.js').Seat} Seat
 * @typedef {{p1: Seat, p2: Seat}} Seats
 */
import { randomSeed } from './form.js';

/** The level until another is chosen: beatable even from the side that loses under perfect play. */
export const FIRST_LEVEL = 1;

const NAMES = [
	'Beginner', 'Learner', 'Casual', 'Improver', 'Regular', 'Club player', 'Skilled', 'Strong', 'Expert', 'Full strength',
];

/** The levels of a game's engine, the weakest first: [level, words]. @param {object} about  as `describe` gives it */
export function levelsOf(about) {
	const option = about.options.find((spec) => spec.name === 'level');
	if (!option) return [];
	const ratings = new Map(about.levels?.ratings.map(({ level, elo }) => [level, elo]));
	return Array.from({ length: option.max - option.min + 1 }, (_, index) => {
		const level = option.min + index;
		const name = option.max - option.min + 1 === NAMES.length ? NAMES[index] : null;
		return [level, [level, name, ratings.get(level)].filter((part) => part !== undefined && part !== null).join(' · ')];
	});
}

const human = () => ({ kind: 'human', options: {} });
const engine = (level) => ({ kind: 'engine', options: { level } });

/** The side that an engine plays against a person; null if people or engines are among themselves. @param {Seats} seats */
export function engineSide({ p1, p2 }) {
	return p1.kind === p2.kind ? null : p1.kind === 'engine' ? 'p1' : 'p2';
}

/** The side of the one person who plays against an engine; null if people or engines are among themselves. @param {Seats} seats */
export function you(seats) {
	const side = engineSide(seats);
	return side && (side === 'p1' ? 'p2' : 'p1');
}

/** The level of a seat's engine, where it is not given the full strength. */
export const levelOf = (seat, about) => seat.options.level ?? about.options.find((spec) => spec.name === 'level')?.max;

/** @param {number} level @param {'p1'|'p2'} side  the engine's */
export const against = (level, side = 'p2') => (
	side === 'p2' ? { p1: human(), p2: engine(level) } : { p1: engine(level), p2: human() });

/** Two people, or two engines. */
export const amongThemselves = (kind, level) => (
	kind === 'human' ? { p1: human(), p2: human() } : { p1: engine(level), p2: engine(level) });

/** Begins a game. If the rules draw something at random, each game gets a new seed, unless a seed or a start is given. */
export async function beginGame(table, about, { rules = {}, position = {}, seats = table.seats }) {
	const seed = about.rules.find((spec) => spec.type === 'seed');
	const drawn = seed && rules[seed.name] === undefined && !position.start ? { [seed.name]: randomSeed() } : {};
	await table.begin(about.name, { ...rules, ...drawn }, position, { seats });
}

/** Begins the game on the table again: from the same start, or from a new one if the rules draw it at random. */
export async function playAgain(table, about, seats) {
	const { rules, start } = table.game;
	const seed = about.rules.find((spec) => spec.type === 'seed')?.name;
	if (seed === undefined || rules[seed] === undefined) return beginGame(table, about, { rules, position: { start }, seats });
	const { [seed]: _, ...others } = rules;
	return beginGame(table, about, { rules: others, seats });
}
