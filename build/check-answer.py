"""Checks the last line of `atoll ask --json`: the text, and that code computed it."""
import argparse
import collections
import csv
import json
import re
import sys

p = argparse.ArgumentParser()
p.add_argument("file")
p.add_argument("--has", action="append", default=[], help="a word of the answer")
p.add_argument("--number", type=float, help="a number of the answer")
p.add_argument("--totals", help="CSV whose best region and total are the answer")
p.add_argument("--png", action="store_true", help="a PNG artifact was saved")
a = p.parse_args()

answer = json.loads(open(a.file, encoding="utf-8").read().splitlines()[-1])
print("answer:", answer["text"])
print("steps:", [s["status"] for s in answer["steps"]], "usage:", answer["usage"])
if a.totals:
    totals = collections.Counter()
    for row in csv.DictReader(open(a.totals, encoding="utf-8")):
        totals[row["region"]] += round(float(row["revenue"]) * 100)
    region, cents = totals.most_common(1)[0]
    a.has.append(region)
    a.number = cents / 100
faults = []
if answer["type"] != "answer" or not any(s["status"] == "ok" for s in answer["steps"]):
    faults.append("no code was run to its end")
for word in a.has:
    if word.lower() not in answer["text"].lower():
        faults.append(f"the answer does not name {word}")
if a.number is not None:
    numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", answer["text"])]
    if not any(abs(n - a.number) < 0.51 for n in numbers):
        faults.append(f"the answer does not say {a.number}")
if a.png:
    pngs = [f for f in answer["artifacts"] if f.get("mime") == "image/png"]
    if not pngs or open(pngs[0]["path"], "rb").read(8) != b"\x89PNG\r\n\x1a\n":
        faults.append("there is no PNG")
sys.exit("; ".join(faults) or 0)
