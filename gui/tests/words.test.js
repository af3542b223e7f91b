import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	boardWords, clockWords, count, flipped, height, nameWords, outcomeWords, plural, recordName, renamed, scoreWords, seatName, viewWords,
} from '../words.js';

test('scores are named', () => {
	const cases = [
		[undefined, '–'],
		[{ bound: 'exact', eval: 1234 }, '+1.23'],
		[{ bound: 'lower', eval: -500 }, '≥ −0.50'],
		[{ bound: 'exact', eval: 0 }, '0.00'],
		[{ bound: 'exact', eval: 250_000 }, '+250'],
		[{ bound: 'exact', wdl: [310_000, 480_000, 210_000] }, '31 % win, 48 % draw'],
		[{ bound: 'exact', proof: { outcome: 'win', plies: 9 } }, 'win in 9'],
		[{ bound: 'exact', proof: { outcome: 'loss', plies_max: 48 } }, 'loss in at most 48'],
		[{ bound: 'exact', proof: { outcome: 'draw' }, eval: 0 }, 'draw'],
		[{ bound: 'exact', proof: { outcome: 'win', margin: 5, plies: 3 } }, 'win by 5 in 3'],
		[{ bound: 'exact', proof: { outcome: 'loss', margin: -2 } }, 'loss by 2'],
		[{ bound: 'exact', proof: { outcome: 'draw', margin: 0 } }, 'draw'],
		[{ bound: 'lower', proof: { outcome: 'win', margin: 5 } }, 'win by at least 5'],
		[{ bound: 'upper', proof: { outcome: 'loss', margin: -5 } }, 'loss by at least 5'],
		[{ bound: 'lower', proof: { outcome: 'win' } }, 'win'],
		[{ bound: 'lower', proof: { outcome: 'draw' } }, 'at least a draw'],
		[{ bound: 'upper', proof: { outcome: 'draw' } }, 'at most a draw'],
	];
	for (const [score, words] of cases) assert.equal(scoreWords(score), words);
});

test('the other side sees the same score the other way round', () => {
	const score = { bound: 'lower', eval: 100, wdl: [1, 2, 999_997], proof: { outcome: 'win', margin: 4, plies_max: 7 } };
	assert.deepEqual(flipped(score), {
		bound: 'upper', eval: -100, wdl: [999_997, 2, 1], proof: { outcome: 'loss', margin: -4, plies_max: 7 },
	});
	assert.deepEqual(flipped(flipped(score)), score);
});

test('heights keep their order, and only what is proven reaches the ends', () => {
	const scores = [
		{ bound: 'exact', proof: { outcome: 'loss' } },
		{ bound: 'exact', eval: -1_000_000 },
		{ bound: 'exact', eval: -100 },
		{ bound: 'exact', proof: { outcome: 'draw' } },
		{ bound: 'exact', eval: 2000 },
		{ bound: 'exact', eval: 90_000_000 },
		{ bound: 'lower', proof: { outcome: 'win' } },
	].map((score) => height(score, 2000));
	assert.deepEqual(scores, [...scores].sort((a, b) => a - b));
	assert.equal(scores[0], -1);
	assert.equal(scores.at(-1), 1);
	assert.ok(scores[1] > -1 && scores[5] < 1);
	assert.equal(height(undefined, 2000), null);
});

test('outcomes name the winner first, and the side to move that lost', () => {
	const by = [
		{ name: 'full', about: 'Every cell has a value; more points win.' }, { name: 'stuck', about: 'No move is left: the side to move loses.' },
		{ name: 'shut', about: 'The L of the side to move has no other place: it loses.' }, { name: 'k', about: 'A K is on the board: the rule `win` says whose counts.' },
		{ name: 'won', about: 'The side to move has three in a row: the side to move wins.' },
	];
	const full = { winner: 'p2', by: 'full', scores: [1, 35] };
	assert.equal(outcomeWords(full, by), 'Player 2 wins, 35 to 1: every cell has a value.');
	assert.equal(outcomeWords(full, by, 'p1'), 'The engine wins, 35 to 1: every cell has a value.');
	assert.equal(outcomeWords(full, by, 'p2'), 'You win, 35 to 1: every cell has a value.');
	assert.equal(outcomeWords({ winner: null, by: 'odd_end', scores: [1, 2] }, by, 'p2'), 'A draw, 2 to 1: odd end.');
	assert.equal(outcomeWords({ winner: 'p1', by: 'k' }, by, 'p1'), 'You win: a K is on the board.');
	const stuck = { winner: 'p1', by: 'stuck' };
	assert.equal(outcomeWords(stuck, by), 'Player 1 wins: no move is left, and player 2 loses.');
	assert.equal(outcomeWords(stuck, by, 'p1'), 'You win: no move is left, and player 2 (the engine) loses.');
	assert.equal(outcomeWords(stuck, by, 'p2'), 'The engine wins: no move is left, and player 2 loses.');
	assert.equal(outcomeWords({ winner: 'p1', by: 'shut' }, by, 'p1'), 'You win: the L of player 2 (the engine) has no other place.');
	// Nobody is named by a rule under which the side to move wins.
	assert.doesNotMatch(outcomeWords({ winner: 'p1', by: 'won' }, by), /player 2/);
});

test('one is one, and several have their plural', () => {
	assert.deepEqual([0, 1, 2].map((n) => count(n, 'game')), ['0 games', '1 game', '2 games']);
	assert.deepEqual([1, 2].map((n) => count(n, 'ply')), ['1 ply', '2 plies']);
	assert.deepEqual([1, 2].map((n) => count(n, 'day')), ['1 day', '2 days']);
	assert.deepEqual([1, 2].map((n) => plural(n, 'wins', 'win')), ['wins', 'win']);
});

test('the figure of a player is the player', () => {
	const grid = { rows: 1, cols: 2 };
	const words = boardWords({ grid, pieces: [{ piece: 'player', owner: 'p1', label: '1', cell: [0, 0] }, { piece: 'token', owner: 'p2', cell: [0, 1] }] });
	assert.match(words.join(' '), /: Player 1\. .*: Player 2's token\./);
});

test('a board is described in words', () => {
	const board = {
		grid: { rows: 2, cols: 2, row_labels: ['1', '2'], col_labels: ['a', 'b'] },
		pieces: [{ cell: [0, 0], also: [[1, 0]], piece: 'l', owner: 'p1' }, { cell: [1, 1], piece: 'tile', label: 'C' }],
		walls: [{ cell: [0, 1], side: 'down' }],
		scores: [3, 4],
	};
	assert.deepEqual(boardWords(board), [
		'A board of 2 rows and 2 columns.',
		'Player 1 has 3, player 2 has 4.',
		'a1: Player 1\'s l. b1: wall down.',
		'a2: Player 1\'s l. b2: tile C.',
	]);
});

test('a clock shows tenths when they count', () => {
	assert.deepEqual([180_000, 61_001, 9_990, 40, -5].map(clockWords), ['3:00', '1:02', '0:09.9', '0:00.0', '0:00.0']);
});

test('whoever is to move, a score is from player 1’s view and a proof names the winner', () => {
	const cases = [
		[{ bound: 'exact', eval: -1500 }, '−1.50'],
		[{ bound: 'exact', proof: { outcome: 'loss', plies: 5 } }, 'P2 win in 5'],
		[{ bound: 'exact', proof: { outcome: 'loss', plies: 0 } }, 'P2 has won'],
		[{ bound: 'exact', proof: { outcome: 'win', plies_max: 47 } }, 'P1 win in at most 47'],
		[{ bound: 'exact', proof: { outcome: 'draw' } }, 'draw'],
		[{ bound: 'lower', proof: { outcome: 'draw' } }, 'P1 at least a draw'],
		[undefined, '–'],
	];
	for (const [score, words] of cases) assert.equal(viewWords(score), words);
});

test('an outcome that no rule made says whose time is up, or who resigned', () => {
	const resigned = { winner: 'p2', by: 'resignation' };
	assert.equal(outcomeWords(resigned), 'Player 2 wins: player 1 resigned.');
	assert.equal(outcomeWords(resigned, [], 'p1'), 'The engine wins: you resigned.');
	for (const by of ['late', 'time']) {
		assert.match(outcomeWords({ winner: 'p1', by }), /^Player 1 wins: player 2’s time is up\.$/);
	}
	for (const kind of ['illegal', 'crash', 'silence', 'protocol']) {
		assert.match(outcomeWords({ winner: 'p2', by: kind }), /^Player 2 wins: player 1’?s? [a-z ]+\.$/);
	}
});

test('players have names that `plyd play` reads, and are shown in words', () => {
	const engine = (options) => ({ kind: 'engine', options });
	const cases = [
		[{ kind: 'human', options: {} }, 'me', 'Human'],
		[engine({}), 'default', 'Engine'],
		[engine({ level: undefined }), 'default', 'Engine'],
		[engine({ level: 1 }), 'default,level=1', 'Engine, level 1'],
		[engine({ level: 4, player: 'minimax', eval: 'race' }), 'minimax,level=4,eval=race', 'Engine, minimax, race, level 4'],
	];
	for (const [seat, name, words] of cases) {
		assert.deepEqual([recordName(seat), seatName(seat), nameWords(name)], [name, words, words]);
		assert.equal(nameWords(renamed(words)), words, 'earlier versions wrote the words');
	}
	assert.equal(recordName(engine({ solver: false, threads: 2 })), 'default,solver=false,threads=2');
	assert.deepEqual(['Human', 'Engine', 'Engine, level 10', 'Engine, tree, level 3', 'Engine, tree, offensive+near+mobility'].map(renamed),
		['me', 'default', 'default,level=10', 'tree,level=3', 'tree,eval=offensive+near+mobility']);
	// Names of people and of a match stay; a player that was given a name in a match is called by it.
	for (const name of ['Ann', 'Ann, the second', 'Engineer', 'random', 'cmd=./bot', 'cmd=./bot,level=3', 'tcp=host:7117,eval=x', 'default,nodes=1000', '']) {
		assert.deepEqual([renamed(name), nameWords(name)], [name, name]);
	}
	assert.equal(nameWords('cmd=./bot,name=ann'), 'ann');
});

test('a line without a score has none from the other side either', () => {
	assert.equal(viewWords(flipped(undefined)), viewWords(undefined));
});
