"""Renders testdata/templates with Python's Jinja2 under the rules of Hugging
Face's transformers, and writes templates/*.json: the conversations and what
they must look like. Run it when a template is added: python3 testdata/render.py
"""

import json
import pathlib

from jinja2.sandbox import ImmutableSandboxedEnvironment

CASES = [
    [{"role": "user", "content": "Hello"}],
    [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "2+3?"}],
    [
        {"role": "system", "content": "  Spaces \n"},
        {"role": "user", "content": "\n\nstarts and ends with newlines\n\n"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nFive."},
        {"role": "user", "content": "Ünï 模型 😀 {{ not }} {% code %} {# here #} <b>&amp;</b> 'q' \"d\" \\n"},
    ],
    [
        {"role": "user", "content": "run it"},
        {"role": "assistant", "content": "```python\nprint(1)\n```"},
        {"role": "tool", "content": "1\n"},
        {"role": "tool", "content": "2\n"},
        {"role": "user", "content": "and again"},
    ],
    [{"role": "user", "content": ""}],
]


def fail(message):
    raise ValueError(message)


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
env.globals["raise_exception"] = fail
for path in sorted((pathlib.Path(__file__).parent / "templates").glob("*.jinja")):
    template = env.from_string(path.read_text(encoding="utf-8"))
    out = []
    for messages in CASES:
        text = template.render(messages=messages, add_generation_prompt=True, bos_token="<BOS>", eos_token="<EOS>")
        out.append({"messages": messages, "want": text})
    path.with_suffix(".json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
