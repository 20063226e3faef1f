"""Compares the product's engine with llama-cpp-python on the same model file,
threads and numbers of tokens, in rounds that alternate between the two, so
that what else the machine does hits both.

    python3 -m venv /tmp/bench && /tmp/bench/bin/pip install llama-cpp-python==0.3.36
    ATOLL_ENGINE_DIR=$PWD/bin/engine /tmp/bench/bin/python build/bench/engine.py MODEL.gguf

Run it from the top of the checkout. The figure to compare on a busy machine is
tokens per second of the processor; on a quiet one wall time tells more.
Goal: a ratio of at least 0.98 in both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def ours(binary, a):
    out = subprocess.run(
        [binary, "-model", a.model, "-threads", str(a.threads), "-prompt", str(a.prompt), "-output", str(a.output)],
        check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def theirs(a, tokens):
    """In its own process, as ours is."""
    out = subprocess.run(
        [sys.executable, __file__, "--child", "--tokens", str(tokens), "--threads", str(a.threads), "--output", str(a.output), a.model],
        check=True, stdout=subprocess.PIPE, env=dict(os.environ, OMP_WAIT_POLICY="passive")).stdout
    return json.loads(out.splitlines()[-1])


def child(a):
    import llama_cpp
    import numpy
    from llama_cpp import Llama

    llm = Llama(a.model, n_ctx=2048, n_threads=a.threads, n_threads_batch=a.threads, n_gpu_layers=0, verbose=False, flash_attn=True)
    words = llm.tokenize(b"the tide comes in and the tide goes out while ", add_bos=False)
    prompt = (words * (a.tokens // len(words) + 1))[: a.tokens]
    r = {"promptTokens": len(prompt)}
    wall, cpu = time.perf_counter(), time.process_time()
    llm.eval(prompt)
    r["promptWall"], r["promptCPU"] = time.perf_counter() - wall, time.process_time() - cpu
    wall, cpu = time.perf_counter(), time.process_time()
    for n in range(a.output):
        # Greedy, as ours; its own sample() dies outside of its chat loop.
        logits = llama_cpp.llama_get_logits_ith(llm.ctx, -1)
        token = int(numpy.ctypeslib.as_array(logits, shape=(llm.n_vocab(),)).argmax())
        if n < a.output - 1:
            llm.eval([token])
    r["output"] = a.output
    r["outputWall"], r["outputCPU"] = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps(r))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--prompt", type=int, default=128, help="tokens")
    p.add_argument("--output", type=int, default=32, help="tokens")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only-ours", action="store_true", help="without llama-cpp-python")
    p.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--tokens", type=int, help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.child:
        return child(a)
    with tempfile.TemporaryDirectory() as d:
        binary = os.path.join(d, "engine")
        subprocess.run(["go", "build", "-o", binary, "./build/bench/engine"], check=True, env=dict(os.environ, CGO_ENABLED="0"))
        rounds = []
        for n in range(a.rounds):
            us = ours(binary, a)
            them = None if a.only_ours else theirs(a, us["promptTokens"])
            rounds.append((us, them))
            print(json.dumps({"round": n, "ours": us, "llama-cpp-python": them}), file=sys.stderr)

    def rate(r, what, tokens, clock):
        return r[tokens] / max(r[what + clock], 1e-9)

    for what, tokens in ("prompt", "promptTokens"), ("output", "output"):
        for clock in "CPU", "Wall":
            us = statistics.median(rate(r[0], what, tokens, clock) for r in rounds)
            line = f"{what:6} tokens per second ({clock}): ours {us:8.2f}"
            if not a.only_ours:
                them = statistics.median(rate(r[1], what, tokens, clock) for r in rounds)
                ratio = statistics.median(rate(r[0], what, tokens, clock) / rate(r[1], what, tokens, clock) for r in rounds)
                line += f"  llama-cpp-python {them:8.2f}  ratio, median of rounds {ratio:.3f}"
            print(line)


if __name__ == "__main__":
    main()
