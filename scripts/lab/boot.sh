#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: boot.sh KERNEL INITRAMFS LOG [QEMU_OPTION...]     (APPEND: more kernel arguments)
#
# Boot a guest and wait for its end. What it says on its second serial port goes to stdout,
# its console to LOG. Emulated, never KVM: /dev/kvm can be there and hang, and emulation needs
# no permission. QEMU's own status is 0 after a panic too, so the guest must have written
# `copypath-lab: done` on its console.
#
# Exit status: 0 the guest came to its end; 1 it did not, and stderr says whether it
# panicked, took longer than LAB_TIMEOUT (400 s), or just stopped.
set -euo pipefail

kernel=${1:?usage: boot.sh KERNEL INITRAMFS LOG [QEMU_OPTION...]}
initramfs=$(realpath "${2:?}")
log=$(realpath -m "${3:?}")
shift 3
limit=${LAB_TIMEOUT:-400}
image=$(realpath "$kernel")/vmlinux
[ -f "$image" ] || image=${image%/*}/bzImage

work=$(mktemp -d "${TMPDIR:-/tmp}/copypath-boot.XXXXXX")
pid=
# timeout hands the signal on to QEMU, and ends with it.
cleanup() {
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true # its status is not ours
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

: >"$log"
: >"$work/results"
append="console=ttyS0 quiet panic=-1 oops=panic softlockup_panic=1 ${APPEND:-}"
status=0
cd "$work" # backing files with relative names are made, and removed, here
timeout -k 5 "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -display none \
	-monitor none -nic none -no-reboot -serial "file:$log" -serial file:results \
	-kernel "$image" -initrd "$initramfs" -append "$append" "$@" \
	</dev/null >qemu.log 2>&1 &
pid=$!
wait "$pid" || status=$?
pid=

tr -d '\r' <results
ended() { tr -d '\r' <"$log" | grep -qx 'copypath-lab: done'; }
fail() {
	{
		printf 'error: %s; the end of its console (%s):\n' "$1" "$log"
		tail -n 30 "$log"
		cat qemu.log
	} >&2
	exit 1
}
if grep -qE 'Kernel panic|Attempted to kill init' "$log"; then
	fail 'the guest panicked'
elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
	fail "the guest took longer than $limit s and was ended"
elif [ "$status" -ne 0 ]; then
	fail "qemu-system-x86_64 ended with status $status"
elif ! ended; then
	fail 'the guest stopped before its end'
fi
