# GRPO with SkyRL 0.3.0, on the embedded questions or on those of DATA_SOURCE: a SQLite
# file or a folder, by a path that all machines share. Start it in SkyRL's folder:
#   git clone --branch skyrl-v0.3.0 https://github.com/NovaSky-AI/SkyRL && cd SkyRL
#   SQL_GRPO=/path/to/sql_grpo NUM_GPUS=4 bash /path/to/sql_grpo/integrations/skyrl/train.sh
# Our package is put on the path, not installed: its own trainer wants other versions
# of the same packages than SkyRL does. After each epoch, and after every 100 steps of
# one, a model for transformers is kept in ~/exports/global_step_N/policy.
set -e
export PYTHONPATH=$SQL_GRPO:$SQL_GRPO/integrations/skyrl SKYRL_PYTHONPATH_EXPORT=true
DATA=$HOME/data/sql_grpo
RUN="uv run --isolated --extra fsdp --with fastcore --with apsw --with sqlglot --with pyarrow python"

$RUN $SQL_GRPO/integrations/skyrl/sql_grpo_skyrl.py "$DATA" "${DATA_SOURCE:-embedded}"
$RUN $SQL_GRPO/integrations/skyrl/main.py \
  data.train_data="['$DATA/train.jsonl']" \
  data.val_data="['$DATA/eval.jsonl']" \
  environment.env_class=sql_grpo \
  trainer.policy.model.path=Qwen/Qwen3-0.6B \
  generator.chat_template_kwargs.enable_thinking=false \
  generator.max_turns=10 \
  generator.max_input_length=4096 \
  generator.sampling_params.max_generate_length=128 \
  generator.n_samples_per_prompt=8 \
  trainer.max_prompt_length=1024 \
  trainer.algorithm.advantage_estimator=grpo \
  trainer.algorithm.use_kl_loss=false \
  trainer.policy.optimizer_config.lr=1.0e-6 \
  trainer.train_batch_size=64 \
  trainer.policy_mini_batch_size=64 \
  trainer.micro_forward_batch_size_per_gpu=8 \
  trainer.micro_train_batch_size_per_gpu=8 \
  trainer.epochs=10 \
  trainer.eval_batch_size=203 \
  trainer.eval_before_train=true \
  trainer.eval_interval=5 \
  trainer.hf_save_interval=100 \
  trainer.strategy=fsdp \
  trainer.placement.colocate_all=true \
  trainer.placement.policy_num_gpus_per_node=$NUM_GPUS \
  generator.inference_engine.num_engines=$NUM_GPUS \
  generator.inference_engine.gpu_memory_utilization=0.8 \
  trainer.logger=console \
  trainer.project_name=sql_grpo \
  trainer.run_name=skyrl \
  "$@"
