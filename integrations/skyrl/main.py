"SkyRL's training, with our environment: its example main_multiply.py, at version 0.3.0."
import sys

import ray
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.entrypoints.main_base import BasePPOExp, validate_cfg
from skyrl.train.utils import initialize_ray

from sql_grpo_skyrl import register

@ray.remote(num_cpus=1)
def train(cfg: SkyRLTrainConfig) -> None:
    register()
    BasePPOExp(cfg).run()

def main(argv: list) -> None:
    cfg = SkyRLTrainConfig.from_cli_overrides(argv)
    validate_cfg(cfg)
    initialize_ray(cfg)
    ray.get(train.remote(cfg))

if __name__ == "__main__": main(sys.argv[1:])
