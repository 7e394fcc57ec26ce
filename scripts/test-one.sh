#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: test-one.sh BUILD UNIT         (UNIT: a *_test.c, a *.bats or a *.boot)
#
# Run one unit of test.sh. Its log, counts, skips and failures go to BUILD/test-logs; what
# a person needs to see goes to stdout in one piece. All kinds speak TAP, but cmocka
# 1.1.5 writes a skip as `not ok N # SKIP name`.
set -euo pipefail

build=${1:?usage: test-one.sh BUILD UNIT}
unit=${2:?}
base=$build/test-logs/${unit//\//_}
status=0
limit=()

case $unit in
*.bats)
	filter=()
	[ "${LONG:-0}" = 1 ] || filter=(--filter-tags '!long')
	run=(bats --tap "${filter[@]}" "$unit")
	;;
*.boot)
	run=(bash scripts/lab/run.sh "$build" "$unit")
	# It ends a guest that is too slow by itself, and hears Ctrl-C.
	limit=(--foreground)
	TEST_TIMEOUT=3600
	;;
*)
	run=("$build/${unit%.c}")
	;;
esac
start=$SECONDS
timeout "${limit[@]}" -k 5 "${TEST_TIMEOUT:-170}" "${run[@]}" \
	>"$base.log" 2>&1 </dev/null || status=$?

# -> PASSED FAILED SKIPPED, and the names of what was skipped and what failed. Written
# aside, so that a result is there only when the unit came to its end.
awk -v unit="$unit" -v status="$status" -v skips="$base.skips" -v fails="$base.failures" '
function failure(text) {
	failed++
	printf "  %s: %s\n", unit, text >>fails
}
/^1\.\.[0-9]+/ { planned = substr($1, 4) + 0; has_plan = 1 }
/^(not )?ok [0-9]+/ {
	name = $0
	seen++
	if (tolower($0) ~ /# skip/) {
		skipped++
		sub(/^(not )?ok [0-9]+ ?/, "", name)
		if (name ~ /^# /)
			name = substr(name, 8) (said == "" ? "" : ": " said)
		printf "  %s: %s\n", unit, name >>skips
	} else if ($1 == "ok") {
		passed++
	} else {
		sub(/^not ok [0-9]+ ?/, "", name)
		sub(/^- /, "", name)
		failure(name)
	}
	said = ""
	next
}
!/^(#|1\.\.)/ { said = $0 }
END {
	if (status == 77 && !seen) {
		skipped++
		printf "  %s: %s\n", unit, said >>skips
	} else if (status == 124 || status == 137) {
		failure("took too long and was ended")
	} else if (!has_plan || seen < planned) {
		failure("ended before its last test, status " status ", " seen + 0 " of " \
			planned + 0 " tests reported")
	} else if (status != 0 && !failed) {
		failure("exit status " status " though no test failed")
	}
	printf "%d %d %d\n", passed, failed, skipped
}' "$base.log" >"$base.tmp"
read -r passed failed skipped <"$base.tmp"

if [ "$failed" -gt 0 ]; then
	{
		printf -- '---- %s: %d failed\n' "$unit" "$failed"
		cat "$base.log"
		printf -- '----\n'
	} >"$base.shown"
	cat "$base.shown"
else
	text="$passed passed"
	[ "$skipped" -eq 0 ] || text="$text, $skipped skipped"
	printf '  %-44s %s, %d s\n' "$unit" "$text" "$((SECONDS - start))"
fi
mv "$base.tmp" "$base.result"
