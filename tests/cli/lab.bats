#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel lab's own scripts, with a shell script in the emulator's place: a guest that
# does not come to its end is a failure, and nothing is left behind. The real thing is
# `make test-kernel`.

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	tmp=$BATS_TEST_TMPDIR
	mkdir -p "$tmp/bin" "$tmp/kernel" "$tmp/tmp"
	: >"$tmp/kernel/vmlinux"
	: >"$tmp/initramfs"
}

# An emulator that does what its standard input says; $console and the file `results` are
# the guest's two serial ports.
fake_qemu() {
	{
		cat <<-'END'
			#!/bin/bash
			for word in "$@"; do
				case $word in file:*/*) console=${word#file:} ;; esac
			done
		END
		cat
	} >"$tmp/bin/qemu-system-x86_64"
	chmod +x "$tmp/bin/qemu-system-x86_64"
}

boot() {
	PATH=$tmp/bin:$PATH TMPDIR=$tmp/tmp run --separate-stderr \
		bash scripts/lab/boot.sh "$tmp/kernel" "$tmp/initramfs" "$tmp/console" "$@"
	# whatever became of it
	[ -z "$(ls "$tmp/tmp")" ]
}

@test "a job that a scenario looks at ends when the look has, be that quick or slow" {
	cat >"$tmp/scenario.sh" <<-'END'
		. tests/kernel/lib.sh
		during 'test -d /proc/$pid' --ioengine=null --rw=read &&
			during_says '.jobs[0] | .error == 0 and .["job options"].runtime == "1000" and
				.read.runtime < 1000000' &&
			! during false --ioengine=null --rw=read
	END
	LAB_LIB=tests/kernel/lib.sh TMPDIR=$tmp run sh "$tmp/scenario.sh"
	[ "$status" -eq 0 ]
}

@test "a job that has to end by itself is not ended by the look" {
	cat >"$tmp/fio" <<-'END'
		#!/bin/sh
		printf '%s\n' "$@" >>"$TMPDIR/args"
		: >"$TMPDIR/during.ok"
	END
	chmod +x "$tmp/fio"
	cat >"$tmp/scenario.sh" <<-'END'
		. tests/kernel/lib.sh
		beside 0 true && ! grep -q exitall "$TMPDIR/args" && during true &&
			grep -q '^--exitall$' "$TMPDIR/args"
	END
	PATH=$tmp:$PATH TMPDIR=$tmp run sh "$tmp/scenario.sh"
	[ "$status" -eq 0 ]
}

@test "what a guest says on its second port is the output, without carriage returns" {
	fake_qemu <<-'END'
		printf 'ok 1 - one\r\n1..1\r\n' >results
		printf 'copypath-lab: done\r\n' >"$console"
	END
	boot
	[ "$status" -eq 0 ]
	[ "$output" = $'ok 1 - one\n1..1' ]
}

@test "options go to the emulator, kernel arguments and scenarios to the guest" {
	fake_qemu <<-'END'
		printf '%s\n' "$@" >results
		echo 'copypath-lab: done' >"$console"
	END
	APPEND='hugepages=2 -- a.sh b.sh' boot -m 512M
	[ "$status" -eq 0 ]
	grep -qx 'console=ttyS0 .*panic=-1 .*hugepages=2 -- a.sh b.sh' <<<"$output"
	grep -qx -- -m <<<"$output"
	grep -qx 'tcg,thread=multi' <<<"$output"
}

@test "a guest that panics, stops early or says nothing is a failure, called by name" {
	while IFS='|' read -r console words; do
		fake_qemu <<-END
			echo '1..1' >results
			echo '$console' >"\$console"
		END
		boot
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"error: $words"* ]]
		[[ "$stderr" == *"$console"* ]] # the end of its console is shown
	done <<-'END'
		[ 1.5] Kernel panic - not syncing: No working init found|the guest panicked
		Attempted to kill init!|the guest panicked
		copypath-lab: done soon|the guest stopped before its end
		|the guest stopped before its end
	END
}

@test "an emulator that fails is a failure, with what it said" {
	fake_qemu <<-'END'
		echo 'no such machine' >&2
		exit 3
	END
	boot
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"ended with status 3"* ]]
	[[ "$stderr" == *"no such machine"* ]]
}

@test "a guest that takes too long is ended" {
	fake_qemu <<<'exec tail -f /dev/null'
	LAB_TIMEOUT=1 boot
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"took longer than 1 s"* ]]
}

@test "a lab that is ended takes its guest with it and leaves nothing" {
	fake_qemu <<-END
		echo \$\$ >"$tmp/pid.new"
		mv "$tmp/pid.new" "$tmp/pid"
		exec tail -f /dev/null
	END
	PATH=$tmp/bin:$PATH TMPDIR=$tmp/tmp bash scripts/lab/boot.sh "$tmp/kernel" \
		"$tmp/initramfs" "$tmp/console" 3>&- &
	local lab=$! status=0
	until [ -s "$tmp/pid" ]; do :; done
	kill "$lab"
	wait "$lab" || status=$?
	[ "$status" -eq 143 ]
	run ! kill -0 "$(cat "$tmp/pid")"
	[ -z "$(ls "$tmp/tmp")" ]
}

@test "without an emulator the lab is skipped, with the reason and what would help" {
	for tool in bash dirname basename realpath uname; do
		ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
	done
	PATH=$tmp/bin run bash scripts/lab/run.sh build tests/kernel/panic.boot
	[ "$status" -eq 77 ]
	[ "$output" = 'qemu-system-x86_64 is not installed; make deps LAB=1' ]
	SANITIZE=address run bash scripts/lab/run.sh build tests/kernel/panic.boot
	[ "$status" -eq 77 ]
	[[ "$output" == *sanitizer* ]]
}

@test "without an archive the newest kernel that was kept is used, without one it says so" {
	printf '#!/bin/sh\n' >"$tmp/bin/apt-cache"
	chmod +x "$tmp/bin/apt-cache"
	PATH=$tmp/bin:$PATH run bash scripts/lab/get-kernel.sh "$tmp/kept"
	[ "$status" -eq 77 ]
	[[ "$output" == *"apt-get update"* ]]
	for abi in 6.1.0-9-amd64 6.1.0-57-amd64; do
		mkdir -p "$tmp/kept/$abi"
		: >"$tmp/kept/$abi/config"
	done
	PATH=$tmp/bin:$PATH run bash scripts/lab/get-kernel.sh "$tmp/kept"
	[ "$status" -eq 0 ]
	[ "$output" = "$tmp/kept/6.1.0-57-amd64" ]
}
