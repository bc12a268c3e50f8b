"""Questions about databases that nobody has shown the model: sql_grpo as an environment of verifiers."""

import asyncio
from functools import lru_cache
from typing import Any

import httpx
import openai
import verifiers.v1 as vf
from pydantic import model_validator
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.harnesses.utils.compaction import is_context_overflow

try: import sql_grpo
except ModuleNotFoundError as e: raise ImportError("sql_grpo is not installed: its README says how") from e

from sql_grpo.environment import Rules
from sql_grpo.judge.results import is_grounded
from sql_grpo.judge.games import INSTRUCTIONS, new_environment
from sql_grpo.rewards import REWARDS, correctness, operational, progress
from sql_grpo.world.tasks import load_tasks

__all__ = ["SQLTaskset", "SQLEnv", "SQLHarness"]


@lru_cache
def our_tasks(
    source: str,
    split: str,
    path: str | None,
) -> dict: # by id
    "The tasks with their gold SQL. They stay on our side: a row has only the id."
    tasks = load_tasks(source, split=split, path=path)
    if not tasks: raise ValueError(f"there are no questions in {source}, split {split}")
    return {t.id: t for t in tasks}


async def beside(
    task, # whose database is used
    f, # called in a thread, for a query may take seconds
    *args,
):
    "What `f` returns. The thread's connection is closed: there may be many threads, and many databases."
    def call():
        try: return f(*args)
        finally: task.database().close()
    return await asyncio.to_thread(call)


class SQLTaskConfig(vf.TaskConfig):
    "By what rules an episode is played and judged."
    max_turns: int = Rules.max_turns
    """Actions in an episode, the ANSWER included."""
    max_obs_rows: int = Rules.max_obs_rows
    """Rows of a result that an observation shows."""
    max_obs_chars: int = Rules.max_obs_chars
    """Characters that it shows."""
    require_grounded: bool = Rules.require_grounded
    """Is a guess wrong, even if it is right?"""

    @property
    def rules(self) -> Rules:
        return Rules(max_turns=self.max_turns, max_obs_rows=self.max_obs_rows,
                     max_obs_chars=self.max_obs_chars, require_grounded=self.require_grounded)


class SQLTasksetConfig(vf.TasksetConfig):
    "Which questions."
    data_source: str = "embedded"
    """As in `sql_grpo.world.tasks.load_tasks`: embedded, spider, bird, context, sqlite, or a path."""
    data_path: str | None = None
    """The folder or file, where the source needs one."""
    split: str = "train"
    """train, dev, eval, eval_train_dbs or eval_heldout_dbs."""
    instructions: bool = True
    """Is the model told the four actions? The embedded model was trained without."""
    task: SQLTaskConfig = SQLTaskConfig()

    @property
    def tasks(self) -> dict:
        return our_tasks(self.data_source, self.split, self.data_path)

    def task_of(self, id: str):
        if id not in self.tasks: raise ValueError(f"there is no question {id!r} in {self.data_source}, split {self.split}")
        return self.tasks[id]

    @model_validator(mode="after")
    def check(self):
        "What cannot be played is one sentence, before anything is played."
        try: self.tasks, self.task.rules
        except OSError as e: raise ValueError(str(e)) from e
        return self


class SQLData(vf.TaskData):
    "What is known of a question outside: not its gold SQL, and not its answer."
    split: str
    db_id: str
    difficulty: str


class SQLState(vf.State):
    episode: Any = None # is not written to the trace


class SQLTask(vf.Task[SQLData, SQLState, SQLTaskConfig]):
    "The judge, with the three rewards and their weights as in training."
    @property
    def key(self) -> str: return self.data.id

    @vf.reward(weight=REWARDS[correctness])
    async def correctness(self, trace: vf.Trace) -> float:
        ep = trace.state.episode
        return await beside(ep.task, correctness, ep, self.config.require_grounded)

    @vf.reward(weight=REWARDS[progress])
    async def progress(self, trace: vf.Trace) -> float:
        ep = trace.state.episode
        return await beside(ep.task, progress, ep, self.config.require_grounded)

    @vf.reward(weight=REWARDS[operational])
    async def operational(self, trace: vf.Trace) -> float:
        ep = trace.state.episode
        return await beside(ep.task, operational, ep)

    @vf.metric
    async def outcome(self, trace: vf.Trace) -> dict[str, float]:
        ep = trace.state.episode
        return dict(correct=await self.correctness(trace), grounded=await beside(ep.task, is_grounded, ep),
                    answered=ep.terminated, turns=len(ep.turns))


class SQLTaskset(vf.Taskset[SQLTask, SQLTasksetConfig]):
    def load(self):
        config = self.config.task
        for t in self.config.tasks.values():
            start = new_environment(config.rules).reset(t)
            yield SQLTask(SQLData(id=t.id, split=t.split, db_id=t.db_id, difficulty=t.difficulty, prompt=start.text,
                                  system_prompt=INSTRUCTIONS if self.config.instructions else None), config)


class SQLEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"}) # no sandbox: the harness starts nothing


class SQLEnv(vf.Env[SQLEnvConfig]):
    async def run(self, task: SQLTask, agents: vf.Agents) -> None:
        "One episode: the model's replies are actions, the observations are the user's turns."
        env, ours = new_environment(task.config.rules), self.taskset.config.task_of(task.data.id)
        await beside(ours, env.reset, ours)
        async with agents.player.interaction(task) as player:
            player.trace.state.episode = ep = env.episode
            said = await player.turn()
            while not said.terminated:
                obs = await beside(ours, env.step, said.last_reply)
                if obs.done: break
                said = await player.turn(obs.text)
            if player.trace.errors: return # the endpoint failed: nothing is judged
            if not ep.done: ep.outcome = "out_of_tokens"
            player.trace.info.update(outcome=ep.outcome, transcript=ep.transcript())


CERTIFICATES = httpx.create_ssl_context() # read once: in each turn, it would take longer than all the rest


class SQLHarnessConfig(vf.HarnessConfig):
    pass


class SQLHarness(vf.Harness[SQLHarnessConfig]):
    "One request for each turn, sent from this process."
    APPENDS_SYSTEM_PROMPT = SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data) -> vf.ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt
        if system: messages = [vf.SystemMessage(content=system), *messages]
        http = openai.DefaultAsyncHttpxClient(verify=CERTIFICATES)
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=http) as client:
            try: await client.chat.completions.create(model=ctx.model, messages=[message_to_wire(m) for m in messages])
            except openai.APIStatusError as e:
                if not is_context_overflow(e): raise # a full context ends an episode, and is no failure
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
