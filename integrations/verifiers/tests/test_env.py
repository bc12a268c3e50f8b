"""vf-eval against a local server that plays the gold SQL, and against worse ones: python tests/test_env.py"""

import contextlib, io, json, sys, tempfile, threading, time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sql_grpo.environment import Episode
from sql_grpo.rewards import REWARDS
from sql_grpo.rollout import OraclePolicy
from sql_grpo.world.tasks import load_tasks
from verifiers.v1.cli.eval.main import main

TASKS = {t.id: t for t in load_tasks(split="eval")}
ASKED = {f"Question: {t.question}\nTables: {', '.join(t.database().tables)}": t for t in TASKS.values()}


class Server(BaseHTTPRequestHandler):
    "A chat-completions server; the model's name says how it plays."
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = [m["content"] for m in body["messages"] if m["role"] != "system"]
        task, turn = ASKED[said[0]], len(said)//2 # the judge's side: the environment has sent no more than the question
        if body["model"] == "full" and turn: return self.answer(400, error="maximum context length is 512 tokens")
        if body["model"] == "dies" and turn: return self.close()
        text = "" if body["model"] == "dumb" else OraclePolicy().act([Episode(task, turns=[None]*turn)])[0]
        choice = dict(index=0, finish_reason="stop", message=dict(role="assistant", content=text))
        self.answer(200, id="1", object="chat.completion", created=0, model=body["model"], choices=[choice])

    def answer(self, status, **data):
        data = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def close(self): self.close_connection = True # without a word
    def log_message(self, *args): pass


def play(model, n, *options): # traces, and all that was written
    "The traces of a vf-eval."
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        main(["sql_grpo_env", "-m", model, "-n", str(n), "--client.base-url", URL, "--env.taskset.split", "eval",
              "--no-push", "--no-rich", "-o", folder, *options])
        text = next(Path(folder).rglob("traces.jsonl")).read_text()
    traces = [trace for line in text.splitlines() for trace in json.loads(line)["traces"]]
    assert len(traces) == n, len(traces)
    return traces, text


def test_oracle(n):
    "All is right, and recorded by its name; no row and no prompt has the gold SQL."
    start = time.time()
    traces, _ = play("oracle", n)
    for t in traces:
        task = TASKS[t["task"]["data"]["id"]]
        assert t["metrics"] == dict(correct=1, grounded=1, answered=1, turns=3), t["metrics"]
        assert {k: r["weight"] for k, r in t["rewards"].items()} == {reward.__name__: weight for reward, weight in REWARDS.items()}
        assert t["info"]["outcome"] == "answered" and t["info"]["transcript"].endswith("Answer submitted.")
        assert len(t["nodes"]) == 1 + 2*3, "one conversation, each message once"
        assert (t["task"]["key"], t["task"]["data"]["split"]) == (task.id, "eval")
        read = [m["message"]["content"] for m in t["nodes"] if m["message"]["role"] != "assistant"]
        assert task.query not in json.dumps(t["task"]) and not any(task.query in r for r in read)
    print(f"oracle: {n} of {n} questions right, {3*n/(time.time() - start):.0f} turns a second")


def test_dumb():
    "Empty replies are turns like others, and the gold SQL is nowhere in what is written."
    traces, text = play("dumb", 4, "--env.taskset.task.max-turns", "3", "--env.taskset.instructions", "False")
    assert [t["info"]["outcome"] for t in traces] == ["out_of_turns"]*4
    assert {t["metrics"]["turns"] for t in traces} == {3} and {t["metrics"]["correct"] for t in traces} == {0}
    assert {len(t["nodes"]) for t in traces} == {2*3}
    assert not any(json.dumps(t.query)[1:-1] in text for t in TASKS.values()), "gold SQL in the traces"
    print("dumb: every episode ends when its turns do")


def test_full():
    "A full context ends an episode, and it is judged."
    traces, _ = play("full", 2)
    assert [(t["ok"], t["info"]["outcome"], t["metrics"]["turns"]) for t in traces] == [(True, "out_of_tokens", 1)]*2
    print("full: out of tokens")


def test_dies():
    "A server that breaks off is an error of the trace, in one sentence, and no wrong answer."
    traces, _ = play("dies", 2)
    for t in traces:
        assert not t["ok"] and t["stop_condition"] == "provider_error", t["stop_condition"]
        assert not any(t["rewards"].values()), t["rewards"]
    print("dies:", Counter(e["message"] for t in traces for e in t["errors"]))


def test_bad_input():
    "Refused in a sentence."
    for option, value, wanted in (("split", "test", "unknown split 'test'"), ("data-source", "/none.sqlite", "unknown source"),
                                  ("task.max-turns", "0", "max_turns must be a whole number of at least 1")):
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                main(["sql_grpo_env", "-m", "oracle", "--no-push", "--no-rich", f"--env.taskset.{option}", value])
        except SystemExit as e: said.write(str(e))
        assert wanted in said.getvalue() and "Traceback" not in said.getvalue(), said.getvalue()
    print("bad input: refused")


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20 # read here: vf-eval's main changes the arguments
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    URL = f"http://127.0.0.1:{server.server_address[1]}/v1"
    test_bad_input()
    test_oracle(n)
    test_dumb(), test_full(), test_dies()
