// Recorded games to step through, on the first page of the book. `.ci/book` puts the games there: for each its name,
// its result, and for each ply the move with the picture of the board after it.
'use strict';

{
  const place = document.getElementById('replay');

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  /** The boards of these games with what steps through them. */
  const show = (games) => {
    let game;
    let ply = 0;
    const board = make('img', { width: 360, height: 360 });
    const caption = make('p', { ariaLive: 'polite' });
    const slider = make('input', { type: 'range', min: 0, ariaLabel: 'Move', oninput: () => go(Number(slider.value)) });

    const go = (to) => {
      ply = Math.max(0, Math.min(to, game.boards.length - 1));
      const { move, picture } = game.boards[ply];
      board.src = picture;
      board.alt = `${game.title} after ${ply} plies`;
      const isOver = ply === game.boards.length - 1;
      caption.textContent = `${ply === 0 ? 'The game begins' : `${ply}. ${move}`}${isOver ? ` (${game.result})` : ''}`;
      slider.value = ply;
      back.disabled = ply === 0;
      next.disabled = isOver;
      // The next one is there when it is asked for.
      if (!isOver) new Image().src = game.boards[ply + 1].picture;
    };
    const back = make('button', { textContent: '‹ Back', onclick: () => go(ply - 1) });
    const next = make('button', { textContent: 'Next ›', onclick: () => go(ply + 1) });

    const choices = games.map((one) => make('button', { textContent: one.title, onclick: () => choose(one) }));
    const choose = (one) => {
      game = one;
      choices.forEach((choice, index) => { choice.ariaPressed = String(games[index] === one); });
      slider.max = one.boards.length - 1;
      go(0);
    };
    choose(games[0]);
    place.replaceChildren(make('div', { className: 'games' }, ...choices), board, make('div', {}, back, slider, next), caption);
  };

  // Every page of the book loads this file.
  if (place) show(JSON.parse(place.querySelector('script').textContent));
}
