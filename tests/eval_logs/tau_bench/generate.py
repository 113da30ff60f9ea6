# /// script
# dependencies = ["tau_bench @ git+https://github.com/sierra-research/tau-bench"]
# ///
"""Write results of tau-bench, and what the tool says of them, to a folder.

The environment is a shop of our own with six tasks, the user sends its instruction and then stops,
and two models that read it try each task twice. The first model breaks down in one trial.
"""

import contextlib
import io
import json
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from litellm.types.utils import Choices, Message, ModelResponse
from tau_bench import run as tau_run
from tau_bench.agents import tool_calling_agent
from tau_bench.envs import user
from tau_bench.envs.base import Env
from tau_bench.envs.tool import Tool
from tau_bench.types import Action, RunConfig, Task

FRUIT = ["apples", "pears", "plums", "figs", "dates", "limes"]
ORDERED = {"fast": [[1, 1, 0, 1, 0, 1], [1, 0, 0, 1, 0, 1]], "slow": [[1] * 6, [1, 1, 1, 0, 1, 1]]}
BREAKS = ("fast", "limes", 1)  # model, fruit and trial


class Order(Tool):
    """Put a fruit on the list of orders."""

    @staticmethod
    def invoke(data: dict, fruit: str) -> str:
        """Order a fruit."""
        data["orders"].append(fruit)
        return f"{fruit} ordered"

    @staticmethod
    def get_info() -> dict:
        """Describe the tool to a model."""
        return {"type": "function", "function": {"name": "order", "parameters": {}}}


def shop(*_: object, task_index: int | None = None, **settings: str) -> Env:
    """Return the environment; only tasks of even numbers need an answer too."""
    tasks = [
        Task(
            user_id=f"customer_{position}",
            actions=[Action(name="order", kwargs={"fruit": fruit})],
            instruction=f"Order {fruit}",
            outputs=[fruit] if position % 2 == 0 else [],
        )
        for position, fruit in enumerate(FRUIT)
    ]
    return Env(
        data_load_func=lambda: {"orders": []},
        tools=[Order],
        tasks=tasks,
        wiki="Sell fruit.",
        rules=[],
        user_strategy="llm",
        user_model=settings["user_model"],
        user_provider="openai",
        task_index=0 if task_index is None else task_index,
    )


def response(**message: object) -> ModelResponse:
    """Return what a provider would have answered, at no cost."""
    answer = ModelResponse(choices=[Choices(message=Message(role="assistant", **message))])
    answer._hidden_params = {"response_cost": 0.0}
    return answer


def answer_of_user(messages: list[dict], **_: object) -> ModelResponse:
    """Send the instruction, then end the conversation."""
    instruction = re.search(r"Instruction: (.*)", messages[0]["content"])
    is_first = len(messages) == 2
    return response(content=instruction[1] if instruction and is_first else "###STOP###")


def model_of(name: str):
    """Return a model that orders the fruit or not, and answers; it counts its trials."""
    n_trials = dict.fromkeys(FRUIT, 0)

    def complete(messages: list[dict], **_: object) -> ModelResponse:
        fruit = messages[1]["content"].removeprefix("Order ")
        trial = n_trials[fruit]
        if len(messages) == 2 and ORDERED[name][trial][FRUIT.index(fruit)]:
            call = {"name": "order", "arguments": json.dumps({"fruit": fruit})}
            return response(tool_calls=[{"id": "1", "type": "function", "function": call}])
        n_trials[fruit] += 1
        if (name, fruit, trial) == BREAKS:
            raise ConnectionError("the provider is down")
        return response(content=f"Your {fruit} are on their way.")

    return complete


def name_of(log: Path) -> str:
    """Return the name that the tool gave a log, without the time of the run."""
    return re.sub(r"_\d+\.json$", "_0101000000.json", log.name)


def main(folder: Path) -> None:
    """Write the results and their statistics."""
    statistics = []
    user.completion = answer_of_user
    tau_run.get_env = shop
    for name in ORDERED:
        tool_calling_agent.completion = model_of(name)
        config = RunConfig(
            model_provider="openai",
            user_model_provider="openai",
            model=f"lab/{name}",
            user_model="script",
            num_trials=2,
            env="retail",
        )
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            screen = io.StringIO()
            with contextlib.redirect_stdout(screen):
                tau_run.run(config)
            (log,) = Path("results").glob("*.json")
            content = re.sub(r'File \\"[^"]*/', r'File \\"', log.read_text())
            (folder / name_of(log)).write_text(content)
        mean = float(re.search(r"Average reward: ([\d.]+)", screen.getvalue())[1])
        shared = {"files": [name_of(log)], "metric": "reward", "options": {"errors": "fail"}}
        statistics.append({**shared, "statistic": "mean", "value": mean})
        statistics.append({**shared, "statistic": "n", "value": 2 * len(FRUIT)})
    summary = {"tool": "tau-bench", "version": version("tau_bench"), "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
