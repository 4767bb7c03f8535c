"""Physics steps per second, from bare MuJoCo up: python experiments/bench/throughput.py [--seconds 10] [--json FILE]"""

from qes_jax.commands.bench.throughput import main

if __name__ == "__main__":
    raise SystemExit(main())
