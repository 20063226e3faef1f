#!/bin/sh
# Tests the real window on a display of its own: the page in WebKitGTK, the
# bridge, a drop from another program, approval, a host that dies.
#   build/test-window.sh [BIN]     BIN holds atoll and atoll-desktop; default bin
# ATOLL_SKIP_WINDOW=1 skips it, loudly. KEEP=1 keeps its folder, where
# failed.png shows the display at a failure. IMAGES=docs/images takes the
# pictures of the documentation anew.
set -eu
cd "$(dirname "$0")/.."

if [ -n "${ATOLL_SKIP_WINDOW:-}" ]; then
  echo "SKIPPED: the window is not tested (ATOLL_SKIP_WINDOW is set)" >&2
  exit 0
fi

bin=$(realpath "${1:-bin}")
for program in atoll atoll-desktop; do
  [ -x "$bin/$program" ] || { echo "test-window: $bin/$program is missing; run make build" >&2; exit 1; }
done
missing=
need() { command -v "$1" >/dev/null || missing="$missing $2"; }
need Xvfb xvfb
need openbox openbox
need dbus-daemon dbus
need xdotool xdotool
need import imagemagick
need WebKitWebDriver webkit2gtk-driver
need cc build-essential
need pkg-config pkg-config
need fc-list fontconfig
if [ -z "$missing" ]; then
  pkg-config --exists webkit2gtk-4.1 || missing="$missing libwebkit2gtk-4.1-dev"
  [ -n "$(fc-list)" ] || missing="$missing fonts-dejavu-core"
fi
if [ -n "$missing" ]; then
  echo "test-window: these packages are missing: apt-get install -y --no-install-recommends$missing" >&2
  echo "test-window: or leave this test out: ATOLL_SKIP_WINDOW=1" >&2
  exit 1
fi
command -v node >/dev/null || { echo "test-window: node is missing" >&2; exit 1; }

work=$(mktemp -d /tmp/atoll-window.XXXXXX) # short: sockets lie in it
started=
finish() {
  status=$?
  trap - EXIT INT TERM
  for pid in $(cat "$work/app.pid" 2>/dev/null) $(grep -o '"pid":[0-9]*' "$work/home/run/host.json" 2>/dev/null | cut -d: -f2); do
    case $(readlink "/proc/$pid/exe") in "$bin"/*) kill "$pid" || true ;; esac
  done
  for pid in $started; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  if [ $status -ne 0 ]; then
    echo "test-window: FAILED; what the window and the host said:" >&2
    tail -n 20 "$work/window.log" "$work/home/run/host.log" 2>/dev/null >&2 || true
  fi
  if [ -n "${KEEP:-}" ]; then echo "kept $work"; else rm -rf "$work"; fi
  exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

# shellcheck disable=SC2046 # several words are meant
cc -O1 -Wall build/window-test/automate.c -shared -fPIC -o "$work/automate.so" $(pkg-config --cflags --libs webkit2gtk-4.1)
# shellcheck disable=SC2046
cc -O1 -Wall build/window-test/drag.c -o "$work/drag" $(pkg-config --cflags --libs gtk+-3.0)

mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run XDG_DATA_HOME=$work/xdg/data XDG_CONFIG_HOME=$work/xdg/config XDG_CACHE_HOME=$work/xdg/cache
export NO_AT_BRIDGE=1 GTK_A11Y=none LIBGL_ALWAYS_SOFTWARE=1 GTK_THEME=Adwaita LANG=C.UTF-8
unset LC_ALL LC_MESSAGES WAYLAND_DISPLAY

Xvfb -displayfd 3 -screen 0 1500x900x24 -nolisten tcp >/dev/null 2>"$work/xvfb.log" 3>"$work/display" &
started="$started $!"
for _ in $(seq 300); do [ -s "$work/display" ] && break; sleep 0.1; done
[ -s "$work/display" ] || { echo "test-window: Xvfb did not start" >&2; cat "$work/xvfb.log" >&2; exit 1; }
DISPLAY=:$(cat "$work/display")
export DISPLAY

dbus-daemon --session --nofork --print-address=4 --address="unix:path=$work/run/bus" 4>"$work/bus" 2>/dev/null &
started="$started $!"
for _ in $(seq 300); do [ -s "$work/bus" ] && break; sleep 0.1; done
DBUS_SESSION_BUS_ADDRESS=$(cat "$work/bus")
export DBUS_SESSION_BUS_ADDRESS

openbox >/dev/null 2>&1 &
started="$started $!"

cp build/window-test/script.json "$work/script.json"
export WORK="$work" WINDOW="$bin/atoll-desktop" IMAGES="${IMAGES:-$work}"
export ATOLL_HOME=$work/home ATOLL_SCRIPT=$work/script.json ATOLL_MODEL=script/model ATOLL_IDLE_EXIT=1m
# The driver adds flags of its own, which are not for the window.
launcher() {
  cat >"$work/$1" <<LAUNCH
#!/bin/sh
echo \$\$ >"$work/app.pid"
export LD_PRELOAD="$work/automate.so" $2
exec "$WINDOW" $3 2>>"$work/window.log"
LAUNCH
  chmod +x "$work/$1"
}
launcher launch "" "$work/second.csv"
launcher launch-broken "ATOLL_HOME=/dev/null/atoll" ""
node build/window-test/drive.mjs
