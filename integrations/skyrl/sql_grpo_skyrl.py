"""Questions about databases that nobody has shown the model: sql_grpo as an environment of SkyRL."""

import json, sys
from functools import lru_cache
from pathlib import Path

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from sql_grpo.environment import Rules
from sql_grpo.rewards import correctness, operational, progress, total_reward
from sql_grpo.judge.games import INSTRUCTIONS, new_environment
from sql_grpo.rollout import task_messages
from sql_grpo.world.tasks import load_tasks


@lru_cache(maxsize=8)
def tasks_by_id(
    source: str, # embedded, or a path that all machines see
    split: str,
) -> dict:
    return {t.id: t for t in load_tasks(source, split)}


def rows(
    source: str,
    split: str,
    instructions: str = INSTRUCTIONS, # the system message; none if empty
) -> list[dict]:
    "A row of SkyRL's data for each task: the environment finds the task by its id."
    if source != "embedded": source = str(Path(source).expanduser().resolve())
    env = new_environment(Rules())
    return [dict(data_source=source, env_class="sql_grpo", prompt=task_messages(env.reset(task), instructions),
                 reward_spec=dict(method="rule", ground_truth=task.query), # SkyRL asks for it; ours needs it not
                 task=dict(source=source, split=split, id=id))
            for id, task in tasks_by_id(source, split).items()]


def write_data(
    folder: str, # where train.jsonl and eval.jsonl are written
    source: str,
) -> None:
    "Write the questions for training and those for evaluation."
    Path(folder).mkdir(parents=True, exist_ok=True)
    for split in ("train", "eval"):
        lines = "".join(json.dumps(row) + "\n" for row in rows(source, split))
        (Path(folder)/f"{split}.jsonl").write_text(lines, encoding="utf-8")


class SQLGRPOEnv(BaseTextEnv):
    "A question about a database, as SkyRL plays it."
    def __init__(self,
        env_config=None, # SkyRL has none for environments of others
        extras: dict = {}, # a row without its prompt, and SkyRL's `max_turns`
    ):
        super().__init__()
        where = extras["task"]
        self.task = tasks_by_id(where["source"], where["split"])[where["id"]]
        self.env = new_environment(Rules(max_turns=extras.get("max_turns", Rules.max_turns)))

    def init(self, prompt: list) -> tuple: # the prompt, and nothing about it
        self.env.reset(self.task)
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        obs = self.env.step(action)
        reward = total_reward(self.env.episode) if obs.done else 0.0
        self.env.db.close() # of this thread: SkyRL plays in many, on many databases
        said = [] if obs.done else [dict(role="user", content=obs.text)]
        return dict(observations=said, reward=reward, done=obs.done, metadata={})

    def get_metrics(self) -> dict:
        "What SkyRL averages."
        ep = self.env.episode
        return dict(correctness=correctness(ep), progress=progress(ep), operational=operational(ep),
                    turns=len(ep.turns))


def register() -> None:
    'Make the environment known as "sql_grpo" in this process; in each process of a cluster once.'
    if "sql_grpo" not in skyrl_gym.registry:
        skyrl_gym.register(id="sql_grpo", entry_point="sql_grpo_skyrl:SQLGRPOEnv")


if __name__ == "__main__": write_data(*sys.argv[1:])
