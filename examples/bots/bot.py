"""A bot for every game: it plays any legal move. `python3 bot.py`"""

import json
import random
import sys

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "type": "error", "code": "unknown_cmd"}
    if request["cmd"] == "go":
        answer = {"id": request["id"], "type": "bestmove", "move": random.choice(request["x_legal"])}
    print(json.dumps(answer), flush=True)
