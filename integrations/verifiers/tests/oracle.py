"""A chat-completions server that plays the gold SQL: it knows the questions' answers, and the environment must not."""

import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sql_grpo.environment import Episode
from sql_grpo.rollout import OraclePolicy
from sql_grpo.world.data import load_tasks

TASKS = {f"Question: {t.question}\n": t for split in ("train", "eval") for t in load_tasks(split=split)}


class Oracle(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = [m for m in body["messages"] if m["role"] != "system"]
        task = next(t for q, t in TASKS.items() if said[0]["content"].startswith(q))
        text = OraclePolicy()._script(task)[min(len(said)//2, 2)]
        reply = dict(index=0, finish_reason="stop", message=dict(role="assistant", content=text))
        usage = dict(prompt_tokens=1, completion_tokens=1, total_tokens=2)
        answer = json.dumps(dict(id="x", object="chat.completion", created=0, model=body["model"],
                                 choices=[reply], usage=usage)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args): pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Oracle)
    print(server.server_address[1], flush=True)
    server.serve_forever()
