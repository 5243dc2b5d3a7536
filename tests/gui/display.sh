#!/bin/sh
# display.sh COMMAND... - runs it on a screen of its own, with a session bus, what AT-SPI needs and a window manager.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="${HOME:-$work}" XDG_CONFIG_HOME="$work/config" XDG_RUNTIME_DIR="$work/run" XDG_CACHE_HOME="$work/cache"
export GTK_A11Y=atspi GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1 GDK_BACKEND=x11 LC_ALL=C.UTF-8 NO_AT_BRIDGE=0
mkdir -m 700 "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME"
cat >"$work/inner" <<'INNER'
openbox >"$1/openbox.log" 2>&1 &
/usr/libexec/at-spi-bus-launcher --launch-immediately >"$1/at-spi.log" 2>&1 &
shift
"$@"
status=$?
kill %1 %2 2>/dev/null
exit $status
INNER
mkfifo "$work/number"
Xvfb -displayfd 3 -screen 0 "${SCREEN:-1280x800}x24" -nolisten tcp 3>"$work/number" >"$work/xvfb.log" 2>&1 &
screen=$!
trap 'kill $screen 2>/dev/null; rm -rf "$work"' EXIT
read -r number <"$work/number"
DISPLAY=:$number dbus-run-session -- sh "$work/inner" "$work" "$@"
