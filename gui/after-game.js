/** What is offered after a game: the same once more with the sides swapped, a look back, an opponent of another strength. */
import { byId, el } from './dom.js';
import { against, engineSide, levelOf, playAgain } from './opponents.js';

/**
 * Shows the offers.
 * @param {object} about  what the server said of the game  @param {(() => void)|null} review  null where it is open
 */
export function showAfter(table, about, review) {
	const host = byId('after');
	// After the outcome if there is one; else after the tools of the position, which come first.
	if (table.outcome) byId('outcome').after(host);
	else byId('tools').after(host);
	host.hidden = false;
	const { seats } = table;
	const side = engineSide(seats);
	const key = JSON.stringify([about.name, seats, table.connection.isOpen, Boolean(review)]);
	if (host.dataset.key === key) return;
	host.dataset.key = key;
	const offer = (name, label, title, act, disabled = !table.connection.isOpen) => el('button', { testid: name, title, disabled, onclick: act }, label);
	const swapped = { p1: seats.p2, p2: seats.p1 };
	const offers = [
		offer('rematch', 'Rematch', 'Play again with the sides swapped', () => playAgain(table, about, swapped)),
		...review ? [offer('review-game', 'Review', 'Mark each move: what it kept, what it gave away', review, false)] : [],
	];
	if (side) {
		const level = levelOf(seats[side], about);
		const { min, max } = about.options.find((spec) => spec.name === 'level') ?? {};
		const other = (name, label, next) => offer(name, label, `Play against level ${next}`,
			() => playAgain(table, about, against(next, side)), !table.connection.isOpen || !(next >= min && next <= max));
		offers.push(other('weaker', 'Weaker', level - 1), other('stronger', 'Stronger', level + 1));
	}
	host.replaceChildren(...offers);
}
