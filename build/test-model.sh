#!/bin/sh
# test-model.sh - the main job, end to end, with real models and no network.
#
# Models and Python libraries are fetched once into a test home in the cache,
# outside the checkout. CI asks the 1.5 B model one question; ATOLL_FULL=1 asks
# for a plot and about a file of 100,003 rows too.
set -eu
cd "$(dirname "$0")/.."

cache=${ATOLL_TEST_HOME:-${ATOLL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/atoll}/test-home}
ATOLL_HOME=$cache bin/atoll setup
ATOLL_HOME=$cache bin/atoll models pull smollm2-135m >/dev/null

home=$(mktemp -d)
stop() {
	[ ! -f "$home/run/host.json" ] || rm "$home/run/host.json" # the host ends when its address is gone
	rm -rf "$home"
}
trap stop EXIT
mkdir -p "$home/models"
ln -s "$cache/python" "$home/python"
ln "$cache"/models/*.gguf* "$home/models/" 2>/dev/null || cp "$cache"/models/*.gguf* "$home/models/"
export ATOLL_HOME="$home" ATOLL_IDLE_EXIT=2m

# Without a network: no namespace, no proof.
if [ "$(id -u)" = 0 ]; then offline="unshare -n"; else offline="unshare -rn"; fi
if ! $offline true 2>/dev/null; then
	echo "NOT PROVED: this machine gives no network namespace; running with the network on" >&2
	offline=
fi

echo "== engine tests with a real model"
ATOLL_TEST_MODEL="$home/models/$(ls "$home/models" | grep -i smol | grep 'gguf$')" ATOLL_ENGINE_DIR="$PWD/bin/engine" \
	go test -count=1 -timeout 10m ./llm/engine/... ./llm/local

echo "== a file, a question, a computed answer"
$offline bin/atoll ask --approve auto --json --file examples/sales.csv \
	"Which region has the highest total revenue, and how much is it?" >"$home/answer.json"
python3 build/check-answer.py "$home/answer.json" --has West --number 52656.00

if [ -n "${ATOLL_FULL:-}" ]; then
	echo "== the same with 100,003 rows"
	python3 build/make-sales.py 100003 >"$home/big.csv"
	$offline bin/atoll ask --approve auto --json --file "$home/big.csv" \
		"Which region has the highest total revenue, and how much is it?" >"$home/answer.json"
	python3 build/check-answer.py "$home/answer.json" --totals "$home/big.csv"

	echo "== a plot leaves a PNG"
	$offline bin/atoll ask --approve auto --json --save "$home/out" --file examples/weather.csv \
		"Plot the temperature of both cities over the year as two lines with a legend." >"$home/answer.json"
	python3 build/check-answer.py "$home/answer.json" --png
fi
