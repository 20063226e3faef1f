#!/bin/sh
# test-browser.sh - drives the page in Chromium: against the mock host, then
# against the real program with a scripted model.
set -eu
cd "$(dirname "$0")/.."

chromium=${ATOLL_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ]; then
	echo "test-browser: there is no Chromium: sudo apt install chromium (or set ATOLL_CHROMIUM)" >&2
	exit 1
fi
export ATOLL_CHROMIUM="$chromium"

(cd frontend && ATOLL_URL='' npx playwright test)

home=$(mktemp -d)
stop() {
	[ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
	[ ! -f "$home/run/host.json" ] || rm "$home/run/host.json"
	rm -rf "$home"
}
trap stop EXIT
export ATOLL_HOME="$home" ATOLL_IDLE_EXIT=2m ATOLL_SCRIPT="$PWD/frontend/e2e/script.json" ATOLL_MODEL=script/model
bin/atoll serve >"$home.log" 2>&1 &
server=$!
for _ in $(seq 100); do
	ATOLL_URL=$(sed -n 's/^ *\(http:.*\)/\1/p' "$home.log")
	[ -z "$ATOLL_URL" ] || break
	sleep 0.2
done
[ -n "$ATOLL_URL" ] || { cat "$home.log" >&2; exit 1; }
export ATOLL_URL
cd frontend
npx playwright test host
rm -f "$home.log"
