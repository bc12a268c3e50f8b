"Teach a small language model to answer questions by exploring a SQL database, with GRPO."

__version__ = "0.3.0"

import logging, os

# read when torch is imported: checks before a thread sleeps, kernels that oneDNN keeps
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")
if "IN_TEST" in os.environ:  # nbdev_test runs several pages side by side
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# looks for kernels that nobody here needs, when transformers or peft import it
logging.getLogger("bitsandbytes.backends").setLevel(logging.ERROR)


def load_ipython_extension(ipython):
    "For `%load_ext sql_grpo`: %%ask asks in a notebook."
    from .use.ask import ask_cell

    ipython.register_magic_function(ask_cell, "cell", "ask")
