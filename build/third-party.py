#!/usr/bin/env python3
"""Prints THIRD_PARTY.md: what Atoll ships or fetches, with versions and licences.

    python3 build/third-party.py SITE > THIRD_PARTY.md

SITE is a folder with the Python libraries as `atoll setup` installs them; their
licences are read from it. Licences of Go modules are recognised from their
licence files, those of npm packages are what the lock file says. A licence that
is not recognised ends the program: somebody has to look at it.
"""

import email
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent

# Sentences that occur in exactly one licence, after spaces are folded.
MARKS = [
    ("Apache-2.0", "Apache License Version 2.0"),
    ("Apache-2.0", "Licensed under the Apache License, Version 2.0"),
    ("MPL-2.0", "Mozilla Public License Version 2.0"),
    ("MIT", "Permission is hereby granted, free of charge"),
    ("BSD-2-Clause", "Redistributions in binary form must reproduce"),
    ("ISC", "Permission to use, copy, modify, and"),
]

# What makes a BSD licence one of three clauses.
ENDORSE = "used to endorse or promote products"

# Modules whose licence file has a text of its own; read by a person.
READ = {
    "kernel.org/pub/linux/libs/security/libcap/psx": "BSD-3-Clause OR GPL-2.0-only",
}

# Ways in which Python packages write a licence.
SPELLINGS = {
    "MIT License": "MIT", "The MIT License": "MIT", "BSD License": "BSD-3-Clause", "BSD 3-Clause License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0", "Apache License, Version 2.0": "Apache-2.0", "Apache License 2.0": "Apache-2.0", "Apache 2.0": "Apache-2.0",
    "Dual License": "Apache-2.0 OR BSD-3-Clause", "Python Software Foundation License": "PSF-2.0",
    "Historical Permission Notice and Disclaimer (HPND)": "HPND",
}


def recognise(text: str) -> str:
    """The licence that the text begins with: licences of parts come after it."""
    text = " ".join(text.split()).lower()
    found = sorted((text.index(mark.lower()), name) for name, mark in MARKS if mark.lower() in text)
    if not found:
        return ""
    at, name = found[0]
    if name == "BSD-2-Clause" and ENDORSE in text[at:at + 1000]:
        return "BSD-3-Clause"
    return name


def go_modules() -> list:
    """Modules that are linked into a program for any system."""
    rows = {}
    targets = [(s, a, t) for s, a in (("linux", "amd64"), ("linux", "arm64"), ("windows", "amd64"), ("darwin", "arm64"))
               for t in ("", "desktop,production,webkit2_41")]
    for system, arch, tags in targets:
        env = dict(os.environ, GOOS=system, GOARCH=arch, CGO_ENABLED="1" if tags and system != "windows" else "0")
        out = subprocess.run(
            ["go", "list", "-e", "-deps", "-tags", tags, "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}", "."],
            cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            if line and not line.startswith("atoll\t"):
                path, version, folder = line.split("\t")
                rows[path] = (version, pathlib.Path(folder))
    result = []
    for path, (version, folder) in sorted(rows.items()):
        files = [f for f in sorted(folder.iterdir()) if re.match(r"(?i)(licen[sc]e|copying)", f.name) and f.is_file()]
        # A dual licence may be in several files; one that is recognised is enough to know the terms.
        found = READ.get(path) or next((r for f in files if (r := recognise(f.read_text("utf-8", "replace")))), "")
        if not found:
            sys.exit(f"third-party: the licence of {path} {version} is not recognised; look at {folder}")
        result.append((path, version, found))
    return result


def npm_packages() -> list:
    """Packages that are bundled into the page."""
    lock = json.loads((ROOT / "frontend/package-lock.json").read_text("utf-8"))
    rows = set()
    for path, package in lock["packages"].items():
        if path and not package.get("dev") and not package.get("optional"):
            rows.add((path.split("node_modules/")[-1], package["version"], package["license"]))
    return sorted(rows)


def python_packages(site: pathlib.Path) -> list:
    rows = []
    for file in site.glob("*.dist-info/METADATA"):
        meta = email.message_from_string(file.read_text("utf-8"))
        licence = meta["License-Expression"] or ""
        if not licence:
            trove = [c.split(" :: ")[-1] for c in meta.get_all("Classifier", []) if c.startswith("License :: ")]
            text = (meta["License"] or "").strip()
            trove = [t for t in trove if t != "OSI Approved"]
            licence = " AND ".join(SPELLINGS.get(t, t) for t in trove)
            if licence in ("", "BSD-3-Clause"):  # the classifier does not tell the clauses apart; the text does
                texts = [f.read_text("utf-8", "replace") for f in sorted(file.parent.rglob("*"), key=lambda f: (len(f.parts), f)) if re.match(r"(?i)(licen[sc]e|copying)", f.name) and f.is_file()]
                licence = next((r for t in [text] + texts if (r := recognise(t))), "") or SPELLINGS.get(text, text if len(text) < 40 else "") or licence
        if not licence:
            sys.exit(f"third-party: the licence of {meta['Name']} is not recognised; look at {file.parent}")
        rows.append((meta["Name"], meta["Version"], licence))
    return sorted(rows, key=lambda r: r[0].lower())


def lock_value(word: str) -> str:
    for line in (ROOT / "build/llama.lock").read_text().splitlines():
        if line.startswith(word + " "):
            return line.split()[-1]
    sys.exit(f"third-party: build/llama.lock has no {word}")


def table(title: str, text: str, heads: list, rows: list) -> None:
    print(f"\n## {title}\n\n{text}\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main() -> None:
    if len(sys.argv) != 2 or not list(pathlib.Path(sys.argv[1]).glob("*.dist-info")):
        sys.exit("usage: third-party.py SITE > THIRD_PARTY.md, where SITE holds the installed Python libraries")
    catalog = json.loads((ROOT / "llm/catalog/catalog.json").read_text("utf-8"))
    go = subprocess.run(["go", "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout.strip()
    rows = go_modules()

    print("# Third-party components\n")
    print("Atoll itself is under the Apache License 2.0 (LICENSE). This list is written by `build/third-party.py`; do not edit it.")
    table("In the programs", "Linked into `atoll` or `atoll-desktop` on at least one system.", ["Go module", "version", "licence"],
          [("Go standard library and runtime", go, "BSD-3-Clause")] + rows)
    table("In the page", "Bundled into the page by Vite, or needed to compile what is. Tools that only build or test it are not in the programs and not listed.",
          ["npm package", "version", "licence"], npm_packages())
    table("Beside the programs", "Fetched while building, by the hashes of `build/llama.lock`; the licence texts lie in the same folder.",
          ["component", "version", "licence"], [
              ("llama.cpp (libllama, libggml)", lock_value("llama.cpp"), "MIT, © 2023-2026 The ggml authors"),
              ("@node-llama-cpp packages (they hold the built libraries)", lock_value("npm"), "MIT, © 2024 Gilad S."),
          ])
    table("Fetched by `atoll setup`: Python libraries",
          "Installed by pip with the hashes of `sandbox/toolchain/python.lock`, for the code that models write. Wheels hold native "
          "libraries under licences of their own, listed inside them. Another Python version gets other versions of some.",
          ["Python package", "version", "licence"], python_packages(pathlib.Path(sys.argv[1])))
    table("Fetched on request: models", "Pinned by size and SHA-256 in `llm/catalog/catalog.json`; licences as their publishers state them.",
          ["model", "origin", "licence"], [(e["title"], e["origin"], e["license"]) for e in catalog["entries"]])


if __name__ == "__main__":
    main()
