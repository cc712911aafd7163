#!/usr/bin/env bash
# The files of a release for this machine (make dist), each installed into an empty place, where nothing but it and /proc
# is: the version, the licences and a benchmark of the demo; completions and the manual; the wheel in a fresh environment,
# and its module reads the demo's folder into frames of pandas and polars: bash dist.sh.
set -euo pipefail
cd "$(dirname "$0")"
. ../cache.sh deploy
say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*" >&2; exit 1; }
[ "$(go env GOHOSTOS)" = linux ] || { say 'not checked: the files for Linux need Linux'; exit 0; }
arch=$(go env GOHOSTARCH)
made=$cache/made dist=$cache/dist
rm -rf "$made"
mkdir -p "$made"
venv pandas polars
debian rpm rpm
# Without the profile, so that what is compiled is shared with other builds.
go -C "$root/tools" run ./dist -out "$dist" -platforms "linux/$arch" -pgo off
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
[ "$(wc -l <"$dist/SHA256SUMS")" = "$(find "$dist" -type f ! -name SHA256SUMS | wc -l)" ] || fail 'SHA256SUMS lacks files'
version=$(cd "$dist" && echo aiperf_*_linux_"$arch".tar.gz)
version=${version#aiperf_}
version=${version%_linux_*}

# as_root COMMAND... runs a command that makes namespaces: as root, in a namespace of users, or by sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif unshare -r true 2>/dev/null; then unshare -r "$@"
    else sudo "$@"; fi
}

# inside DIR COMMAND... runs a command in a root that is DIR, with /proc and a network of its own that has only loopback.
inside() {
    mkdir -p "$1/proc" "$1/tmp"
    as_root unshare --mount --net --pid --fork --kill-child "$(command -v python3)" up.py "$@"
}

# runs DIR PROGRAM OUT: the version, the licences and a demo of a program in an empty root.
runs() {
    local said
    said=$(inside "$1" "$2" --version)
    [ "$said" = "$version" ] || fail "$2 of $1 is the version $said, not $version"
    inside "$1" "$2" licenses >"$made/licenses"
    diff -q "$made/licenses" "$root/internal/base/licenses/licenses.txt" >/dev/null || fail "the licences of $2 in $1"
    inside "$1" "$2" demo --request-count 20 --artifact-dir "$3" >"$made/demo.txt" 2>&1 || { cat "$made/demo.txt"; fail "the demo of $1"; }
    [ "$(wc -l <"$1/$3/profile_export.jsonl")" = 20 ] || fail "the demo of $1 has no 20 records"
}

say "-- the archive"
mkdir "$made/archive"
tar -xzf "$dist/aiperf_${version}_linux_$arch.tar.gz" -C "$made/archive" --strip-components 1
for file in LICENSE NOTICE THIRD_PARTY_LICENSES.txt README.md completions/aiperf.bash completions/_aiperf completions/aiperf.fish \
    completions/aiperf.ps1 man/man1/aiperf.1 man/man1/aiperf-profile.1 man/man1/aiperf-quick.1; do
    [ -s "$made/archive/$file" ] || fail "the archive lacks $file"
done
runs "$made/archive" /aiperf /run
bash -n "$made/archive/completions/aiperf.bash"
if command -v man >/dev/null; then
    for page in "$made"/archive/man/man1/*.1; do
        MANWIDTH=100 man --warnings -l "$page" >"$made/page.txt" 2>"$made/warnings.txt"
        [ ! -s "$made/warnings.txt" ] || { cat "$made/warnings.txt"; fail "$page"; }
    done
    MANWIDTH=100 man -l "$made/archive/man/man1/aiperf-profile.1" >"$made/page.txt" 2>/dev/null
    grep -q -- '--concurrency' "$made/page.txt" || fail 'aiperf-profile(1) lacks --concurrency'
fi

say "-- the .deb"
package=$(echo "$dist"/*.deb)
if command -v dpkg >/dev/null; then
    mkdir -p "$made/deb/var/lib/dpkg/updates" "$made/deb/var/lib/dpkg/info"
    touch "$made/deb/var/lib/dpkg/status"
    as_root dpkg --root="$made/deb" --log=/dev/null --force-not-root --force-architecture -i "$package" >"$made/deb.log" 2>&1 ||
        { cat "$made/deb.log"; fail 'dpkg refuses the package'; }
    [ "$(dpkg-query --admindir="$made/deb/var/lib/dpkg" -W -f '${Version} ${Status}' aiperf)" = "$version-1 install ok installed" ] ||
        fail 'the package has another version'
    [ -z "$(dpkg-deb -f "$package" Depends)" ] || fail 'the package asks for others'
    for file in usr/bin/aiperf-gpu usr/share/doc/aiperf/copyright usr/share/man/man1/aiperf.1.gz \
        usr/share/bash-completion/completions/aiperf; do
        [ -s "$made/deb/$file" ] || fail "the .deb lacks $file"
    done
    runs "$made/deb" /usr/bin/aiperf /run
fi

say "-- the .rpm"
package=$(echo "$dist"/*.rpm)
[ "$(rpm -qp --qf '%{NAME} %{VERSION} %{LICENSE}' "$package" 2>/dev/null)" = "aiperf $version Apache-2.0" ] || fail 'what the package says'
[ -z "$(rpm -qp --requires "$package" 2>/dev/null | grep -v '^rpmlib(')" ] || fail 'the package asks for others'
rpm -K --nosignature "$package" >/dev/null || fail 'the digests of the package'
mkdir "$made/rpm"
rpm2archive -n - <"$package" | tar -xf - -C "$made/rpm"
[ -s "$made/rpm/usr/share/licenses/aiperf/THIRD_PARTY_LICENSES.txt" ] || fail 'the .rpm lacks the licences'
runs "$made/rpm" /usr/bin/aiperf /run

say "-- the image"
mkdir "$made/image"
python3 layers.py "$dist/aiperf_${version}_image.tar" "$arch" "${version%%+*}" "$made/image"
runs "$made/image" /usr/bin/aiperf /results/run

say "-- the wheel"
python3 -m venv "$made/fresh"
"$made/fresh/bin/pip" install -q --no-index --no-compile "$dist"/*.whl
[ "$("$made/fresh/bin/aiperf" --version) $("$made/fresh/bin/python" -m aiperf_go --version)" = "$version $version" ] ||
    fail 'the version of the wheel'
"$made/fresh/bin/python" -m aiperf_go licenses | diff -q - "$made/licenses" >/dev/null || fail 'the licences of the wheel'
"$made/fresh/bin/pip" show -f aiperf-go >"$made/show.txt"
grep -q 'licenses/THIRD_PARTY_LICENSES.txt' "$made/show.txt" || fail 'the wheel lacks the licences'
(cd "$made" && fresh/bin/python -m aiperf_go demo --request-count 20 --artifact-dir whole >demo.txt 2>&1) ||
    { cat "$made/demo.txt"; fail 'the demo of the wheel'; }
ln -sf "$made/archive/aiperf" "$cache/aiperf"
mock_server "$made/mock.log"
for run in sliced plain; do
    slices=
    [ $run = plain ] || slices='--slice-duration 0.2'
    # shellcheck disable=SC2086 # none or two words
    "$made/fresh/bin/aiperf" profile --model mock-model --tokenizer builtin --url "$url" --streaming --concurrency 10 --osl 20 --request-count 20 $slices \
        --artifact-dir "$made/$run" >"$made/served.txt" 2>&1 || { cat "$made/served.txt"; fail 'the run of the wheel'; }
done
stop
PYTHONPATH=$(echo "$made"/fresh/lib/python3*/site-packages) PYTHONDONTWRITEBYTECODE=1 \
    "$cache/venv/bin/python" frames.py "$made/sliced" "$made/plain"

say "every file for linux/$arch is version $version, has its licences and ran the demo with nothing else there"
