"""Uses the generated classes as a client does; `mypy --strict` judges. What it is told to ignore must be an error."""

from plyd_messages import BestMove, ErrorMessage, HelloResult, Info, Line, Message, Notice
from plyd_requests import Go, PerMoveClock, Position, Request, Stop


def told(line: str) -> str:
    message = Message.model_validate_json(line).root
    if isinstance(message, BestMove):
        lines: list[Line] = message.lines
        score = lines[0].score
        return f"{message.move} {score.eval if score else None} {message.ponder} {message.timing.decided_us}"
    if isinstance(message, Info):
        return f"{message.event} {message.move} {message.stats.nodes}"
    if isinstance(message, ErrorMessage):
        return f"{message.code} {message.id} {message.retry_ms} {message.fatal}"
    if isinstance(message, Notice):
        return message.message
    if isinstance(message, HelloResult):
        return f"{message.server.name} {message.features} {message.limits.threads}"
    return message.of


def asked() -> list[str]:
    clock = PerMoveClock(kind="per_move", ms=100)
    go = Go(id="1", cmd="go", game="isolation", position=Position(moves=["d4", "b3"]), clock=clock, multipv=3)
    stop = Stop(id="2", cmd="stop", target="1")
    return [Request(request).model_dump_json(exclude_unset=True) for request in (go, stop)]


def wrong(best: BestMove) -> None:
    print(best.mvoe)  # type: ignore[attr-defined]
    Stop(id="2", cmd="fly")  # type: ignore[arg-type]
    Stop(id="2", cmd="stop", targett="1")  # type: ignore[call-arg]
