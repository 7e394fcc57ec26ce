#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: get-kernel.sh DIR
#
# Put Debian's own kernel, unpacked and not installed, into DIR/ABI and print that folder:
# `vmlinux` (or `bzImage`) to boot, lib/modules/ABI with its modules.dep, and `config`. The
# ABI's name changes with every security update, so apt is asked for it, and what was
# unpacked is kept by it. Without an archive the newest that was kept is used. The machine's
# apt configuration and package database are read and left alone.
#
# Exit status: 0; 77 with the reason on stderr when there is no kernel to be had.
set -euo pipefail

dir=$(realpath -m "${1:?usage: get-kernel.sh DIR}")
mkdir -p "$dir"

absent() {
	printf '%s\n' "$*" >&2
	exit 77
}

current_abi() {
	command -v apt-cache >/dev/null || return 0
	apt-cache depends --important linux-image-amd64 2>/dev/null |
		sed -n 's/^ *Depends: linux-image-\([0-9].*\)$/\1/p' | head -n 1
}

# The newest of those kept, or nothing.
kept_abi() {
	find "$dir" -mindepth 2 -maxdepth 2 -name config -printf '%h\n' | sed 's,.*/,,' |
		sort -V | tail -n 1
}

# u8|u32 FILE OFFSET: a number of the header that Documentation/x86/boot.rst lays out
u8() { od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' '; }
u32() { od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '; }

# The kernel inside the image boots in 3 to 4 s here, where unpacking itself takes the
# image 7 to 15 s of emulated CPU. Its last 4 bytes are the unpacked length.
unpack_image() {
	local image=$1 out=$2 start length

	start=$((($(u8 "$image" 497) + 1) * 512 + $(u32 "$image" 584)))
	length=$(u32 "$image" 588)
	tail -c "+$((start + 1))" "$image" | head -c "$((length - 4))" | xz -dc >"$out" 2>/dev/null &&
		[ "$(head -c 4 "$out" | tail -c 3)" = ELF ]
}

fetch() {
	local abi=$1 work

	work=$(mktemp -d "$dir/.fetch.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$work'" EXIT
	# The user that apt would switch to cannot write there.
	(cd "$work" && apt-get -q -o APT::Sandbox::User= download "linux-image-$abi") \
		>"$work/log" 2>&1 || return 1
	dpkg-deb -x "$work"/*.deb "$work/x"
	mkdir "$work/kernel"
	mv "$work/x/lib" "$work/kernel/lib"
	mv "$work/x/boot/config-$abi" "$work/kernel/config"
	mv "$work/x/boot/vmlinuz-$abi" "$work/kernel/bzImage"
	if unpack_image "$work/kernel/bzImage" "$work/kernel/vmlinux"; then
		rm "$work/kernel/bzImage"
	else
		rm -f "$work/kernel/vmlinux" # compressed in another way: as it is, then
	fi
	busybox depmod -b "$work/kernel" "$abi"
	rm -rf "${dir:?}/$abi"
	mv "$work/kernel" "$dir/$abi"
}

exec 9>"$dir/.lock"
flock 9
rm -rf "$dir"/.fetch.??????
abi=$(current_abi)
if [ -n "$abi" ] && [ ! -f "$dir/$abi/config" ]; then
	fetch "$abi" || abi=
fi
[ -n "$abi" ] || abi=$(kept_abi)
[ -n "$abi" ] ||
	absent "apt has no linux-image-amd64 to download; apt-get update (as root) renews its lists"
printf '%s\n' "$dir/$abi"
