#!/bin/sh
# The hostile attempts against the sandbox as whoever runs this. From root they
# are made again as an ordinary user, since the two have different rights and only
# the latter has the reduced level.
set -eu
export ATOLL_ESCAPE=1

go test -count=1 -timeout 10m ./sandbox ./sandbox/escape
[ "$(id -u)" = 0 ] || exit 0

user=65534 # nobody, on every Linux
dir=$(mktemp -d /var/tmp/atoll-test-escape-XXXXXX)
trap 'rm -rf "$dir"' EXIT
if command -v setpriv >/dev/null; then
	as="setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all"
elif command -v runuser >/dev/null; then
	as="runuser -u $(id -un $user) --"
else
	echo "NOT TESTED: as an ordinary user; there is neither setpriv nor runuser"
	exit 0
fi
mkdir "$dir/home" "$dir/tmp"
for package in sandbox sandbox/escape; do
	go test -c -o "$dir/$(basename $package).test" ./$package
done
cp -r sandbox/testdata "$dir/"
chown -R $user:$user "$dir"
cd "$dir" # no program may need the folder of the code
for test in sandbox escape; do
	echo "as user $user: $test"
	env HOME="$dir/home" TMPDIR="$dir/tmp" XDG_CACHE_HOME= $as "./$test.test" -test.timeout 10m -test.v >"$dir/log" 2>&1 || {
		grep -vE "^=== |--- PASS|escape_test.go:[0-9]*: [a-z]* *[a-z0-9_]* *(stopped|absent)" "$dir/log"
		exit 1
	}
	grep -E 'NOT TESTED|attempts in' "$dir/log" || true
done
