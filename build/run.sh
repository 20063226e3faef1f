#!/bin/sh
# run.sh - opens the window where there is a display and what it needs, else
# serves the page. Called by make run when everything is set up.
set -eu
cd "$(dirname "$0")/.."

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname -s)" = Darwin ]; then
	if sh build/need-desktop.sh; then
		make --no-print-directory desktop
		exec bin/atoll
	fi
	echo "The page is served to your browser instead." >&2
else
	echo "There is no display: the page is served to a browser on this machine." >&2
fi
exec bin/atoll serve
