#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: deps.sh FIO_SRC        (FIO_SRC_GIVEN=1: the user's own tree, not fetched;
#                               LAB=1: also what the kernel lab needs)
#
# Install the Debian packages that are missing, and put the source of exactly the
# installed fio into FIO_SRC, because no package ships fio's headers. The machine's apt
# configuration is read and left alone: list, index and cache of the source archive live
# under build/apt.
set -euo pipefail

src=${1:?usage: deps.sh FIO_SRC}
packages=(
	gcc libc6-dev make dpkg-dev xz-utils # the compiler, and unpacking a source package
	fio libpmem-dev libyaml-dev libjansson-dev libhwloc-dev libgsl-dev libmd-dev libsqlite3-dev
	gnuplot-nox linux-perf               # figures, profiles
	libcmocka-dev bats jq man-db tidy    # tests
	clang-format-14 clang-tidy-14 cppcheck shellcheck # make lint
)
# Work queues of DSA, which only these processors have.
[ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ] || packages+=(libaccel-config-dev uuid-dev)
if [ "${LAB:-0}" = 1 ]; then
	packages+=(qemu-system-x86 e2fsprogs)
	# The dynamic one does too, and the two exclude each other.
	command -v busybox >/dev/null || packages+=(busybox-static)
fi

say() { printf 'deps: %s\n' "$*" >&2; }
die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

os_field() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" /etc/os-release 2>/dev/null; }

# What is not installed, one a line.
missing_packages() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
		sed -n 's/^installed //p' | sort -u |
		comm -13 - <(printf '%s\n' "${packages[@]}" | sort -u) || true
}

list_and_stop() {
	say "$1; these Debian 12 packages, or what they hold, are needed:"
	printf '  %s\n' "${packages[@]}" >&2
	say "and fio's source, configured, of exactly the installed fio: FIO_SRC=DIR"
	say "then 'make DEPS=0 ...' leaves the packages to you"
	exit 1
}

install_packages() {
	local run=(env DEBIAN_FRONTEND=noninteractive)

	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null 2>&1 ||
			die "not root and no sudo; as root: apt-get install $*"
		run=(sudo "${run[@]}")
	fi
	say "installing $*"
	"${run[@]}" apt-get -q -o DPkg::Lock::Timeout=120 update >&2 ||
		say "'apt-get update' failed; trying with the lists there are"
	"${run[@]}" apt-get -q -y -o DPkg::Lock::Timeout=120 --no-install-recommends \
		install "$@" >&2 || die "apt-get could not install: $*"
}

# The version a tree was unpacked from; "" when it is not whole. Only a configured tree
# is renamed into place, so config-host.h is what tells.
tree_version() {
	[ -f "$1/config-host.h" ] && [ -f "$1/fio.h" ] || return 0
	sed -n '1s/^fio (\([^)]*\)).*/\1/p' "$1/debian/changelog" 2>/dev/null || true
}

fetch_fio() {
	local version=$1 apt=$PWD/build/apt work

	mkdir -p build
	exec 9>build/.deps.lock
	flock 9
	[ "$(tree_version "$src")" != "$version" ] || return 0
	say "fetching the source of fio $version"
	bash scripts/apt-source.sh "$apt" fio "$version" ||
		die "the archive has no source of fio $version (is the installed fio outdated?" \
			"'apt-get install fio' updates it); or set FIO_SRC=DIR"
	rm -rf "$(dirname "$src")"/.fio-src.?????? # of a run that was killed
	work=$(mktemp -d "$(dirname "$src")/.fio-src.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$work'" EXIT
	if ! (
		dpkg-source --no-check -x "$apt/src/fio_${version#*:}.dsc" "$work/tree" &&
			cd "$work/tree" && ./configure --disable-native
	) >"$work/log" 2>&1; then
		cat "$work/log" >&2
		die "the source of fio $version could not be unpacked and configured"
	fi
	[ ! -e "$src" ] || mv "$src" "$work/old"
	mv "$work/tree" "$src"
	say "fio $version is in $src"
}

for tool in dpkg-query apt-get; do
	command -v "$tool" >/dev/null 2>&1 || list_and_stop "this system has no $tool"
done
mapfile -t missing < <(missing_packages)
if [ "${#missing[@]}" -gt 0 ]; then
	[ "$(os_field ID) $(os_field VERSION_ID)" = "debian 12" ] ||
		list_and_stop "this is '$(os_field PRETTY_NAME)', not Debian 12"
	install_packages "${missing[@]}"
fi
if [ -n "${FIO_SRC_GIVEN:-}" ]; then
	[ -d "$src" ] || die "FIO_SRC '$src' is not a folder"
	exit 0
fi
version=$(dpkg-query -W -f '${source:Version}' fio)
[ "$(tree_version "$src")" = "$version" ] || fetch_fio "$version"
