"""Questions about databases that nobody has shown the model: sql_grpo as an environment of verifiers."""

import asyncio
from functools import lru_cache
from typing import Any

import openai
import verifiers.v1 as vf
from pydantic import model_validator
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.harnesses.utils.compaction import is_context_overflow

from sql_grpo.environment import Rules, SQLEnvironment
from sql_grpo.judge.results import is_grounded
from sql_grpo.rewards import REWARD_WEIGHTS, correctness, operational, progress
from sql_grpo.rollout import INSTRUCTIONS
from sql_grpo.world.data import load_tasks

__all__ = ["SQLTaskset", "SQLEnv", "SQLHarness"]


@lru_cache
def our_tasks(source: str, split: str, path: str | None) -> dict: # by id
    "The tasks with their gold SQL: they stay on our side."
    tasks = load_tasks(source, split=split, path=path)
    if not tasks: raise ValueError(f"there are no questions in {source}, split {split}")
    return {t.id: t for t in tasks}


class SQLTaskConfig(vf.TaskConfig):
    "By what rules an episode is played and judged."
    max_turns: int = Rules.max_turns
    max_obs_rows: int = Rules.max_obs_rows
    max_obs_chars: int = Rules.max_obs_chars
    require_grounded: bool = Rules.require_grounded

    @property
    def rules(self) -> Rules:
        return Rules(max_turns=self.max_turns, max_obs_rows=self.max_obs_rows,
                     max_obs_chars=self.max_obs_chars, require_grounded=self.require_grounded)


class SQLTasksetConfig(vf.TasksetConfig):
    "Which questions."
    data_source: str = "embedded"
    data_path: str | None = None
    split: str = "train"
    instructions: bool = True
    "Is the model told the four actions? Not needed by one that was trained without."
    task: SQLTaskConfig = SQLTaskConfig()

    @property
    def tasks(self) -> dict:
        return our_tasks(self.data_source, self.split, self.data_path)

    @model_validator(mode="after")
    def check(self):
        "A wrong split, a missing data set and impossible rules are one sentence, before anything is played."
        try: self.tasks, self.task.rules
        except OSError as e: raise ValueError(str(e)) from e
        return self


class SQLData(vf.TaskData):
    "What is known of a question outside: no gold SQL, no answer."
    split: str
    db_id: str
    difficulty: str


class SQLState(vf.State):
    episode: Any = None


class SQLTask(vf.Task[SQLData, SQLState, SQLTaskConfig]):
    @property
    def key(self) -> str: return self.data.id

    @vf.reward(weight=REWARD_WEIGHTS[0])
    async def correctness(self, trace: vf.Trace) -> float:
        return await asyncio.to_thread(correctness, trace.state.episode, self.config.require_grounded)

    @vf.reward(weight=REWARD_WEIGHTS[1])
    async def progress(self, trace: vf.Trace) -> float:
        return await asyncio.to_thread(progress, trace.state.episode, self.config.require_grounded)

    @vf.reward(weight=REWARD_WEIGHTS[2])
    async def operational(self, trace: vf.Trace) -> float:
        return await asyncio.to_thread(operational, trace.state.episode)

    @vf.metric
    async def outcome(self, trace: vf.Trace) -> dict[str, float]:
        ep = trace.state.episode
        correct = await self.correctness(trace)
        grounded = await asyncio.to_thread(is_grounded, ep)
        return dict(correct=correct, grounded=grounded, answered=ep.terminated, turns=len(ep.turns))


class SQLTaskset(vf.Taskset[SQLTask, SQLTasksetConfig]):
    def load(self):
        for t in self.config.tasks.values():
            start = SQLEnvironment(rules=self.config.task.rules).reset(t)
            yield SQLTask(SQLData(id=t.id, split=t.split, db_id=t.db_id, difficulty=t.difficulty, prompt=start.text,
                                  system_prompt=INSTRUCTIONS if self.config.instructions else None), self.config.task)


class SQLEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


class SQLEnv(vf.Env[SQLEnvConfig]):
    async def run(self, task: SQLTask, agents: vf.Agents) -> None:
        "The model's replies are actions, and the observations are the user's turns."
        env = SQLEnvironment(rules=task.config.rules)
        await asyncio.to_thread(env.reset, self.taskset.config.tasks[task.data.id])
        async with agents.player.interaction(task) as player:
            player.trace.state.episode = env.episode
            said = await player.turn()
            while not said.terminated:
                obs = await asyncio.to_thread(env.step, said.last_reply)
                if obs.done: break
                said = await player.turn(obs.text)
            env.episode.outcome = env.episode.outcome or "out_of_tokens"
            player.trace.info.update(outcome=env.episode.outcome, transcript=env.episode.transcript())


class SQLHarnessConfig(vf.HarnessConfig):
    id: str = "sql_grpo_env"


class SQLHarness(vf.Harness[SQLHarnessConfig]):
    "One request for each turn, from this process: nothing is installed, and nothing is started."
    APPENDS_SYSTEM_PROMPT = SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data) -> vf.ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt
        if system: messages = [vf.SystemMessage(content=system), *messages]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            try: await client.chat.completions.create(model=ctx.model, messages=[message_to_wire(m) for m in messages])
            except openai.APIStatusError as e:
                if not is_context_overflow(e): raise # a full context ends the episode, it is no failure
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
