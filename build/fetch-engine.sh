#!/bin/sh
# fetch-engine.sh [PLATFORM] DEST - puts the llama.cpp libraries into DEST.
#
# PLATFORM is a word of build/llama.lock; without it, this machine's. The
# package is fetched by npm with this machine's own settings, kept in
# ${ATOLL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/atoll}/engine and checked against
# the lock file, so a second run needs no network. Nothing is done when DEST
# already holds what the lock file asks for.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lock=$here/llama.lock

die() { echo "fetch-engine: $*" >&2; exit 1; }

machine() {
	case "$(uname -s)/$(uname -m)" in
	Linux/x86_64) echo linux-x64 ;;
	Linux/aarch64) echo linux-arm64 ;;
	Darwin/arm64) echo mac-arm64-metal ;;
	Darwin/x86_64) echo mac-x64 ;;
	MINGW*/x86_64 | MSYS*/x86_64) echo win-x64 ;;
	*) die "there are no libraries for $(uname -s) $(uname -m); name one of: $(platforms)" ;;
	esac
}

platforms() { awk '$1 == "package" { printf "%s ", $2 }' "$lock"; }
value() { awk -v word="$1" '$1 == word { print $NF }' "$lock"; }

sha512() {
	if command -v sha512sum >/dev/null; then sha512sum "$1"; else shasum -a 512 "$1"; fi | cut -d' ' -f1
}

case $# in
1) platform=$(machine) dest=$1 ;;
2) platform=$1 dest=$2 ;;
*) die "usage: fetch-engine.sh [PLATFORM] DEST" ;;
esac
[ -n "$platform" ] || exit 1

package=$(awk -v p="$platform" '$1 == "package" && $2 == p { print $3 }' "$lock")
want=$(awk -v p="$platform" '$1 == "package" && $2 == p { print $4 }' "$lock")
[ -n "$package" ] || die "build/llama.lock has no platform $platform; it has $(platforms)"
npm_version=$(value npm)

version="llama.cpp $(value llama.cpp)
binding $(value binding)
package $package@$npm_version
sha512 $want"

if [ -f "$dest/VERSION" ] && [ "$(cat "$dest/VERSION")" = "$version" ]; then
	exit 0
fi
# DEST is replaced as a whole, so it must be ours or empty.
if [ -e "$dest" ] && [ ! -f "$dest/VERSION" ] && [ -n "$(ls -A "$dest" 2>/dev/null || echo file)" ]; then
	die "$dest exists and was not made by this script; choose another folder or empty it"
fi

cache=${ATOLL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/atoll}/engine
tarball=$cache/$(echo "$package" | tr -d @ | tr / -)-$npm_version.tgz
mkdir -p "$cache"
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [ ! -f "$tarball" ]; then
	command -v npm >/dev/null || die "npm is needed once to fetch $package $npm_version; install Node.js 20 or later (Debian, Ubuntu: apt install nodejs npm)"
	work=$(mktemp -d "$cache/.fetch-XXXXXX")
	echo "fetch-engine: fetching $package $npm_version"
	npm pack --silent --ignore-scripts --pack-destination "$work" "$package@$npm_version" >/dev/null ||
		die "npm could not fetch $package $npm_version (see above); nothing was changed, run again when the registry can be reached"
	mv "$work"/*.tgz "$tarball"
	rmdir "$work"
	work=
fi

got=$(sha512 "$tarball")
if [ "$got" != "$want" ]; then
	rm -f "$tarball"
	die "$package $npm_version has SHA-512 $got, build/llama.lock says $want; the file was deleted, run again to fetch it"
fi

mkdir -p "$(dirname "$dest")"
work=$(mktemp -d "$(dirname "$dest")/.engine-XXXXXX")
tar -xzf "$tarball" -C "$work"
mkdir "$work/out"
mv "$work"/package/bins/*/* "$work/out/"
# Left out: the addon for Node.js and what only it needs (C++ symbols that the
# binding cannot use).
rm -f "$work"/out/llama-addon.* "$work"/out/_nlcBuildMetadata.json "$work"/out/*llama-common*
cp "$here/licenses/llama.cpp.txt" "$work/out/LICENSE.llama.cpp"
cp "$work/package/LICENSE" "$work/out/LICENSE.node-llama-cpp"

# The binding opens libllama and libggml; the files carry the version in their
# names. Windows gets no alias: a copy would load ggml twice.
for name in llama ggml; do
	for file in "$work"/out/lib$name.*.so "$work"/out/lib$name.*.dylib; do
		[ -f "$file" ] || continue
		ln -s "$(basename "$file")" "$work/out/lib$name.${file##*.}"
	done
done
case $platform in
linux-* | mac-*)
	set -- "$work"/out/libllama.so "$work"/out/libllama.dylib
	[ -f "$1" ] || [ -f "$2" ] || die "$package $npm_version holds no libllama; build/llama.lock and this script do not fit"
	;;
esac
printf '%s\n' "$version" >"$work/out/VERSION"
chmod 755 "$work/out"
rm -rf "$dest"
mv "$work/out" "$dest"
echo "fetch-engine: llama.cpp $(value llama.cpp) for $platform is in $dest"
