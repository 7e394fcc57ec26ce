#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: run.sh BUILD BOOT
#
# Boot one guest (BOOT: a file of tests/kernel/*.boot) and run its scenarios there. Their
# TAP goes to stdout under one numbering, the console to BUILD/lab/NAME.console.
#
# A boot file sets: qemu=(options), append=(kernel arguments), scenarios=(files beside it,
# run by the guest's init in this order), programs=(of BUILD, for them to run), and
# panics=1 when the guest has to panic, for the test of that.
#
# Exit status: 0; 1 when a scenario did not end; 77 with the reason when none can run here.
set -euo pipefail

build=$(realpath "${1:?usage: run.sh BUILD BOOT}")
boot=${2:?}
here=$(dirname "${BASH_SOURCE[0]}")
name=$(basename "$boot" .boot)
log=$build/lab/$name.console

absent() {
	printf '%s\n' "$*"
	exit 77
}

[ -z "${SANITIZE:-}" ] || absent "a sanitizer's runtime is not taken into the guest"
[ "$(uname -m)" = x86_64 ] || absent "the guest is x86-64 and this machine is $(uname -m)"
for tool in qemu-system-x86_64 busybox jq fio mkfs.ext4 dpkg-deb apt-get xz; do
	command -v "$tool" >/dev/null || absent "$tool is not installed; make deps LAB=1"
done
kernel=$(bash "$here/get-kernel.sh" "${LAB_KERNELS:-build/lab}" 2>&1) || {
	status=$?
	[ "$status" -eq 77 ] && absent "$kernel"
	printf '%s\n' "$kernel"
	exit "$status"
}

qemu=() append=() scenarios=() programs=() panics=0
# shellcheck source=/dev/null
. "$boot"
files=("$here/init.sh" tests/kernel/lib.sh)
for file in "${scenarios[@]}"; do
	files+=("$(dirname "$boot")/$file")
done
for file in "${programs[@]}"; do
	files+=("$build/$file")
done
mkdir -p "$build/lab"
work=$(mktemp -d "${TMPDIR:-/tmp}/copypath-lab.XXXXXX")
child=
# shellcheck disable=SC2317 # called by trap
cleanup() {
	if [ -n "$child" ]; then
		kill "$child" 2>/dev/null || true
		wait "$child" 2>/dev/null || true # its status is not ours
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A guest that is to panic needs nothing to run.
if [ "$panics" = 1 ]; then
	(cd "$here" && echo init.sh | busybox cpio -o -H newc 2>/dev/null) >"$work/initramfs"
else
	bash "$here/make-initramfs.sh" "$kernel" "$build" "$work/initramfs" "${files[@]}"
fi
# In the background, so that a signal is heard while the guest runs.
status=0
APPEND="${append[*]} -- ${scenarios[*]}" bash "$here/boot.sh" "$kernel" \
	"$work/initramfs" "$log" "${qemu[@]}" >"$work/tap" 2>"$work/why" &
child=$!
wait "$child" || status=$?
child=
if [ "$panics" = 1 ]; then
	printf '1..1\n'
	if [ "$status" -eq 1 ] && grep -q '^error: the guest panicked' "$work/why"; then
		printf 'ok 1 - a guest that panics is a failure, and is called so\n'
		exit 0
	fi
	printf 'not ok 1 - a guest that panics is a failure, and is called so\n'
	cat "$work/why"
	exit 1
fi
cat "$work/tap" "$work/why"
exit "$status"
