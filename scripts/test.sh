#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: test.sh BUILD          (LONG=1: also bats tests tagged long; KERNEL=also|only: also, or
#                              only, the guests of tests/kernel; SANITIZE, FIO_SRC, CC)
#
# Run every test and say how it went; the last line of stdout is
# `N passed, N failed, N skipped`. Each program, each bats file and each guest is one unit
# with its log in BUILD/test-logs. One unit more than there are CPUs runs at a time, as
# they sleep a lot; bats files tagged `serial` (they measure) run alone afterwards, then the
# guests, two at a time.
set -euo pipefail

build=$(realpath "${1:?usage: test.sh BUILD}")
logs=$build/test-logs
LONG=${LONG:-0}
KERNEL=${KERNEL:-no}
export LC_ALL=C.UTF-8 LONG COPYPATH_BUILD=$build
export CMOCKA_MESSAGE_OUTPUT=TAP
trap 'exit 130' INT # and not on to the next unit
unset MAKEFLAGS MFLAGS MAKELEVEL # a test that calls make is its own make
export TEST_TIMEOUT=${TEST_TIMEOUT:-$([ "$LONG" = 1 ] && echo 3600 || echo 170)}

# A plug-in built with a sanitizer needs its runtime in the fio that loads it.
wrap_fio() {
	local lib=libasan.so fio

	case $SANITIZE in *thread*) lib=libtsan.so ;; esac
	fio=$(command -v fio) || return 0
	lib=$("${CC:-gcc}" -print-file-name="$lib")
	mkdir -p "$build/bin"
	# Leaks of fio itself are not ours to report.
	cat >"$build/bin/fio" <<END
#!/bin/sh
LD_PRELOAD='$lib' ASAN_OPTIONS="detect_leaks=0:\$ASAN_OPTIONS" exec '$fio' "\$@"
END
	chmod +x "$build/bin/fio"
	PATH=$build/bin:$PATH
	export ASAN_OPTIONS=${ASAN_OPTIONS-abort_on_error=1}
	export UBSAN_OPTIONS=${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1}
	export TSAN_OPTIONS=${TSAN_OPTIONS-halt_on_error=1}
}
[ -z "${SANITIZE:-}" ] || wrap_fio

units() { find engines policies results report bench tests -path "$1" | LC_ALL=C sort; }
is_serial() { grep -q '^# bats file_tags=.*serial' "$1"; }

rm -rf "$logs"
mkdir -p "$logs"
if [ "$KERNEL" = only ]; then
	units() { :; }
fi
# The bats files take longest, so they go first.
together=() alone=() guests=()
while read -r file; do
	if is_serial "$file"; then alone+=("$file"); else together+=("$file"); fi
done < <(units 'tests/*.bats')
while read -r file; do
	together+=("$file")
done < <(units '*/t/*_test.c'; units 'tests/*_test.c')
[ "${#together[@]}" -eq 0 ] || printf '%s\0' "${together[@]}" |
	xargs -0 -n 1 -P "$(($(nproc) + 1))" bash scripts/test-one.sh "$build" || true
for file in "${alone[@]}"; do
	bash scripts/test-one.sh "$build" "$file" || true
done
if [ "$KERNEL" != no ]; then
	guests=(tests/kernel/*.boot)
	printf '%s\0' "${guests[@]}" |
		xargs -0 -n 1 -P "$(($(nproc) + 1))" bash scripts/test-one.sh "$build" || true
fi

# A unit without a result did not come to its end.
passed=0 failed=0 skipped=0
for file in "${together[@]}" "${alone[@]}" "${guests[@]}"; do
	result=$logs/${file//\//_}.result
	if [ -f "$result" ]; then
		read -r p f s <"$result"
	else
		p=0 f=1 s=0
		printf '  no result from %s\n' "$file"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
if [ "$skipped" -gt 0 ]; then
	printf '\nskipped, which is not passed:\n'
	cat "$logs"/*.skips
fi
if [ "$failed" -gt 0 ]; then
	printf '\nfailed:\n'
	cat "$logs"/*.failures 2>/dev/null || true
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
