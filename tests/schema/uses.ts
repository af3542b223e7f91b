// Uses the generated types as a client does; `tsc` judges. What follows `@ts-expect-error` must not compile.
import type { BestMove, HelloResult, Line, Message } from './plyd_messages';
import type { Go, PerMoveClock, Request } from './plyd_requests';

/** A message is known by its tags. */
export function told(message: Message): string {
  switch (message.type) {
    case 'bestmove': {
      const lines: Line[] = message.lines;
      const evaluation: number | undefined = lines[0]?.score?.eval;
      return `${message.move} ${evaluation} ${message.ponder ?? ''} ${message.timing.decided_us}`;
    }
    case 'info':
      return `${message.event} ${message.move ?? ''} ${message.stats.nodes}`;
    case 'error':
      return `${message.code} ${message.id ?? ''} ${message.retry_ms ?? 0} ${message.fatal}`;
    case 'notice':
      return message.message;
    case 'result':
      return message.of === 'hello' ? greeting(message) : message.of;
  }
}

function greeting(hello: HelloResult): string {
  return `${hello.server.name} ${hello.features.join()} ${hello.limits.threads}`;
}

/** Open lists take words of later versions, closed ones do not. */
export function words(best: BestMove, message: Message): void {
  best.reason = 'proven';
  best.reason = 'a-later-word';
  if (message.type === 'info') {
    message.event = 'best';
    // @ts-expect-error: the list is closed
    message.event = 'a-later-word';
  }
  // @ts-expect-error: no such field
  best.mvoe = 'a1';
}

const clock: PerMoveClock = { kind: 'per_move', ms: 100 };
const go: Go = { id: '1', cmd: 'go', game: 'isolation', position: { moves: ['d4', 'b3'] }, clock, multipv: 3 };
export const sent: Request[] = [
  go,
  { id: '2', cmd: 'stop', target: '1' },
  { id: '3', cmd: 'newgame', session: 's', game: 'ijk', rules: { mode: 'nondet' }, options: { level: 3 } },
];
// @ts-expect-error: a misspelt field
export const misspelt: Go = { id: '1', cmd: 'go', position: {}, multipvv: 3 };
// @ts-expect-error: no such command
export const unknown: Request = { id: '1', cmd: 'fly' };
// @ts-expect-error: a clock has its own fields
export const mixed: Go = { ...go, clock: { kind: 'per_move', inc_ms: 1 } };
