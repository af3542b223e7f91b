/** The result of a match in one sentence. */
import { counted, elo, points, pointsOf } from './figures.js';

/** @param {object} report  as `plyd arena --json` prints it */
export function headline({ players, scores, ratings, summary }) {
  if (!summary.games) return 'No game was played';
  const over = `over ${counted(summary.games, 'game')}`;
  return players.length === 2 ? ofTwo(players, scores[0], summary, over) : ofMany(players, ratings, summary, over);
}

function ofTwo(players, { elo: difference }, summary, over) {
  const { made, played } = pointsOf(summary, 0);
  const leads = 2 * made >= played;
  const [first, second] = leads ? players : players.toReversed();
  const most = leads ? made : played - made;
  if (!difference) {
    return most === played ? `${first} won all of ${counted(played, 'game')} against ${second}`
      : `${first} scored ${points(most)} of ${points(played)} points against ${second}, too one-sided for a difference in Elo`;
  }
  const ahead = leads ? difference : { ...difference, value: -difference.value };
  // If all pairs had the same result, the error cannot be estimated.
  if (!difference.error) {
    const result = difference.value === 0 ? `${players[0]} and ${players[1]} are level`
      : `${first} is ${elo(ahead, 0).split(' ')[0]} Elo ahead of ${second}`;
    return `${result} ${over}, with the same result in every pair`;
  }
  if (Math.abs(difference.value) <= difference.error || difference.value === 0) {
    return `${players[0]} and ${players[1]} are level within the error ${over}: ${elo(difference, 0)} Elo`;
  }
  return `${first} is ${elo(ahead, 0)} Elo ahead of ${second} ${over}`;
}

function ofMany(players, ratings, summary, over) {
  const [best] = ratings;
  const { made, played } = pointsOf(summary, best.player);
  const name = players[best.player];
  return best.elo ? `${name} leads ${players.length} players with ${elo(best.elo, 0)} Elo ${over}`
    : `${name} leads ${players.length} players with ${points(made)} of ${points(played)} points ${over}`;
}
