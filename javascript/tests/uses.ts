// Uses the package's types as programs do; `tsc` judges. What follows `@ts-expect-error` must not compile.
import { ConnectionLost, Engine, ProtocolError, Search, ServerError } from 'plyd';
import type { BestMove, Info } from 'plyd/messages';
import type { Position } from 'plyd/requests';
import { Engine as WebEngine } from 'plyd/web';

export async function uses(engine: Engine | WebEngine): Promise<string> {
  const { games, limits } = await engine.request('hello', { protocol: { min: 1, max: 1 } });
  const position: Position = { moves: ['d4'] };
  const { legal = [], outcome } = await engine.request('inspect', { game: 'isolation', position });
  const winner: 'p1' | 'p2' | null | undefined = outcome?.winner;
  const { echo } = await engine.request('ping');
  const search: Search = engine.analyse({ game: 'isolation', position: {}, multipv: 3 });
  for await (const info of search) {
    const news: Info = info;
    const evaluation: number | undefined = news.lines[0]?.score?.eval;
    if (info.stats.depth > 5 || evaluation === 0) break;
  }
  const best: BestMove = await search;
  const { effect } = await search.stop({ discard: true });
  const { move, reason } = await engine.go({ session: 's', position: {}, clock: { kind: 'per_move', ms: 100 } });
  engine.addEventListener('lost', ({ detail: { error, retryMs } }) => console.log(error.message, retryMs ?? 'for good'));
  engine.addEventListener('notice', ({ detail }) => console.log(detail.kind));
  return [games, limits.threads, legal, winner, echo, best.hash, effect, move, reason, engine.hello?.server.name].join();
}

export function says(error: unknown): string {
  if (error instanceof ServerError) return `${error.code} ${error.pointer} ${error.retryMs ?? 0} ${error.outcome?.by}`;
  if (error instanceof ConnectionLost || error instanceof ProtocolError) return error.message;
  return '';
}

export const engines = [
  new Engine(), new Engine('plyd'), new Engine(['plyd', 'serve']), new Engine('tcp://localhost:1', { token: 't', reconnect: true }),
];
export const web = new WebEngine('ws://localhost/ws', { require: ['analyse'] });

export function wrong(engine: Engine): void {
  // @ts-expect-error: no such command
  void engine.request('fly');
  // @ts-expect-error: a field is missing
  void engine.request('inspect', { game: 'isolation' });
  // @ts-expect-error: so are all
  void engine.request('newgame');
  // @ts-expect-error: a misspelt field
  void engine.go({ position: {}, multipvv: 3 });
  // @ts-expect-error: a clock has its own fields
  void engine.go({ position: {}, clock: { kind: 'per_move', inc_ms: 1 } });
  // @ts-expect-error: the client sees to the id
  void engine.go({ id: '1', position: {} });
  // @ts-expect-error: no such event
  engine.addEventListener('closed', () => {});
}
