#!/bin/sh
# need-desktop.sh - says what is missing to build the window on Linux.
[ "$(uname -s)" = Linux ] || exit 0
if ! command -v pkg-config >/dev/null || ! pkg-config --exists gtk+-3.0 webkit2gtk-4.1 || ! command -v cc >/dev/null; then
	echo "The window needs a C compiler and the headers of GTK 3 and WebKitGTK 4.1:" >&2
	echo "  sudo apt install build-essential pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev" >&2
	exit 1
fi
