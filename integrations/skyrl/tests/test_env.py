"""Episodes as SkyRL plays them, beside our own: python tests/test_env.py (needs skyrl-gym, no GPU)"""

import json, os, re, sqlite3, sys, tempfile
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

import skyrl_gym
from sql_grpo.rollout import OraclePolicy, RandomPolicy, rollout
from sql_grpo.world.tasks import load_tasks
from sql_grpo_skyrl import SQLGRPOEnv, register, rows, write_data

TASKS = load_tasks("embedded", "eval")
ROWS = rows("embedded", "eval")


def play(row, policy): # a `SQLGRPOEnv`, when its episode is over
    "An episode as SkyRL plays it, with a policy of ours instead of its engine."
    env = skyrl_gym.make("sql_grpo", extras=row | dict(max_turns=10))
    env.init(row["prompt"])
    policy.begin([env.env.episode])
    done = False
    while not done: done = env.step(policy.act([env.env.episode])[0])["done"]
    return env


def test_oracle():
    "All is right; no prompt has the gold SQL."
    metrics = [play(row, OraclePolicy()).get_metrics() for row in ROWS]
    assert all(m["correctness"] == m["progress"] == 1.0 and m["turns"] == 3 for m in metrics)
    assert SQLGRPOEnv.aggregate_metrics(metrics)["correctness"] == 1.0
    assert not any(t.query in json.dumps(row["prompt"]) for t, row in zip(TASKS, ROWS))
    print(f"oracle: {len(metrics)} of {len(ROWS)} questions right")


def test_random():
    "The random policy does what it does in our own loop, word by word."
    policy = RandomPolicy(seed=1)
    theirs = [play(row, policy).env.episode.transcript() for row in ROWS]
    assert theirs == [ep.transcript() for ep in rollout(policy, TASKS)]
    print("random: the same episodes as in our loop")


def test_budget():
    "The last turn ends the episode."
    env = skyrl_gym.make("sql_grpo", extras=ROWS[0] | dict(max_turns=1))
    env.init(ROWS[0]["prompt"])
    out = env.step("SAMPLE harbours")
    assert out["done"] and out["reward"] < 0 and env.env.episode.outcome == "out_of_turns"
    print("budget: out of turns")


def test_own_data():
    "A database of one's own, named by a path from here."
    with tempfile.TemporaryDirectory() as folder:
        with closing(sqlite3.connect(Path(folder)/"my.sqlite")) as con:
            con.executescript("CREATE TABLE a (x); INSERT INTO a VALUES (1)")
        asked = [dict(question=f"What is x + {i}?", query=f"SELECT x + {i} FROM a") for i in range(5)]
        (Path(folder)/"my.json").write_text(json.dumps(asked))
        write_data(folder, os.path.relpath(Path(folder)/"my.sqlite"))
        lines = [line for split in ("train", "eval") for line in (Path(folder)/f"{split}.jsonl").open()]
        mine = [json.loads(line) for line in lines]
        assert len(mine) == 5 and all(os.path.isabs(row["task"]["source"]) for row in mine)
        assert all(play(row, OraclePolicy()).get_metrics()["correctness"] == 1.0 for row in mine)
    print("own data: right")


def test_command():
    "No option of the command stands there twice."
    options = re.findall(r"^  (\S+?)=", (HERE/"train.sh").read_text(), re.M)
    assert options and len(options) == len(set(options))
    compile((HERE/"main.py").read_text(), "main.py", "exec")
    print("command: read")


if __name__ == "__main__":
    register()
    test_oracle(), test_random(), test_budget(), test_own_data(), test_command()
