#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: lint.sh [CHECK...]      (default: all of them; B = build folder)
#
# Checks: files includes shell format cppcheck tidy. Each runs though an earlier one
# failed; exit 1 when any did. clang-tidy is slow, so a file is checked again only when it
# or a header it includes has changed (hashes in BUILD/lint).
set -uo pipefail

build=${B:-build}
stamps=$build/lint
mkdir -p "$stamps"
fio_src=${FIO_SRC:-build/fio-src}

tree() {
	find . \( -path ./build -o -path ./.git -o -path ./results/runs \) -prune -o \
		-type f "$@" -print | sed 's,^\./,,' | LC_ALL=C sort
}
mapfile -t sources < <(tree -name '*.[ch]')
mapfile -t scripts < <(tree \( -name '*.sh' -o -name '*.boot' -o -path ./.ci/run \))
mapfile -t bats < <(tree -name '*.bats')

need() {
	command -v "$1" >/dev/null 2>&1 && return 0
	printf 'lint: %s is not installed; run make deps\n' "$1" >&2
	return 1
}

# Licence line in everything that can hold a comment; lengths; nothing that only makes
# sense on the machine it was written on.
lint_files() {
	local file lines bad=0

	while read -r file; do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' || {
			printf '%s:1: error: no SPDX line in the first three\n' "$file"
			bad=1
		}
	done < <(tree \( -name '*.[ch]' -o -name '*.sh' -o -name '*.bats' -o -name '*.yaml' \
		-o -name '*.gp' -o -name '*.tbl' -o -name '*.1' -o -name Makefile \
		-o -path ./.ci/run -o -name '*.awk' -o -name '*.boot' \) ! -path './configs/bad/*')
	for file in "${sources[@]}" "${scripts[@]}"; do
		lines=$(wc -l <"$file")
		if [ "$lines" -gt 600 ]; then
			printf '%s: error: %d lines; 600 is the limit\n' "$file" "$lines"
			bad=1
		elif [ "$lines" -gt 300 ]; then
			printf '%s: warning: %d lines; should it be two?\n' "$file" "$lines"
		fi
	done
	# The pattern does not match itself.
	if tree ! -name '*.png' | tr '\n' '\0' |
		xargs -0 grep -nIE '(^|[^[:alnum:]_.])/(work|home|root)/[[:alnum:]]' /dev/null; then
		printf 'error: a path of one machine\n'
		bad=1
	fi
	if tree | grep -n '[[:space:]]'; then
		printf 'error: a blank in a file name\n'
		bad=1
	fi
	return "$bad"
}

lint_includes() {
	bash scripts/check-includes.sh tests/includes.tbl .
}

# In bats files the @test lines are not shell, and every test runs in a subshell.
lint_shell() {
	local bad=0

	need shellcheck || return 1
	shellcheck "${scripts[@]}" || bad=1
	[ "${#bats[@]}" -eq 0 ] || shellcheck -s bats -e SC2030,SC2031 "${bats[@]}" || bad=1
	return "$bad"
}

lint_format() {
	need clang-format-14 && clang-format-14 --dry-run -Werror "${sources[@]}"
}

flags_of() {
	local flags=(-std=gnu17 -I. "-I$build" -D_GNU_SOURCE '-DCP_VERSION="0"'
		'-DCP_PREFIX="/usr/local"' '-DCP_LIBDIR="/usr/local/lib"')

	[ "$1" = engines/base/err.c ] || flags+=(-Wno-unused-value -include scripts/analysis.h)
	case $1 in
	engines/fio/*) flags+=(-isystem "$fio_src" -include "$fio_src/config-host.h") ;;
	*) flags+=(-include engines/base/banned.h) ;;
	esac
	printf '%s\n' "${flags[@]}"
}

# missingInclude*: system headers are not given to it. internalAstError: its own parser, on
# compound literals. uninitvar: takes an array that a loop fills for unset; gcc and clang look
# for the same. nullPointerArithmetic...: does not see that two conditions are one. Tests are
# left out: it does not know that a failed assertion does not return.
lint_cppcheck() {
	local files

	need cppcheck || return 1
	mapfile -t files < <(tree -name "*.c" ! -path "./engines/fio/*" ! -path "*/t/*")
	mkdir -p "$stamps/cppcheck"
	cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability \
		--inline-suppr --error-exitcode=1 -j 2 --cppcheck-build-dir="$stamps/cppcheck" \
		--suppress=missingInclude --suppress=missingIncludeSystem \
		--suppress=internalAstError --suppress=uninitvar \
		--suppress=nullPointerArithmeticRedundantCheck -I . -I "$build" -D_GNU_SOURCE -D__x86_64__ \
		'-DCP_VERSION="0"' '-DCP_PREFIX="/"' '-DCP_LIBDIR="/"' \
		--template='{file}:{line}:{column}: {severity}: {message} [{id}]' \
		"${files[@]}"
}

# One file, for xargs: nothing to do when all it is made of is as it was when it passed.
tidy_one() {
	local file=$1 stamp flags hash deps checks=
	stamp=$stamps/${file//\//_}.tidy
	mapfile -t flags < <(flags_of "$file")
	hash=
	if deps=$("${CC:-gcc}" "${flags[@]}" -MM "$file" 2>/dev/null); then
		hash=$(grep -oE "[^ ]+\.[ch]( |$)" <<<"$deps" | sort -u |
			xargs sha256sum .clang-tidy | sha256sum)
	fi
	if [ -n "$hash" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$hash" ]; then
		return 0
	fi
	# A failed assertion of cmocka does not return, but its header does not say so.
	case $file in */t/*) checks="-clang-analyzer-*" ;; esac
	clang-tidy-14 --quiet --checks="$checks" "$file" -- "${flags[@]}" 2>"$stamp.err" || {
		grep -v 'warnings\? generated' "$stamp.err"
		rm -f "$stamp" "$stamp.err"
		return 1
	}
	rm -f "$stamp.err"
	[ -z "$hash" ] || printf "%s\n" "$hash" >"$stamp"
}

lint_tidy() {
	need clang-tidy-14 || return 1
	printf '%s\n' "${sources[@]}" | grep '\.c$' |
		xargs -n 1 -P 2 bash scripts/lint.sh --tidy-one
}

if [ "${1:-}" = --tidy-one ]; then
	tidy_one "$2"
	exit
fi
[ $# -gt 0 ] || set -- files includes shell format cppcheck tidy
failed=()
for check in "$@"; do
	printf 'lint: %s\n' "$check" >&2
	"lint_$check" || failed+=("$check")
done
if [ "${#failed[@]}" -gt 0 ]; then
	printf 'lint: failed: %s\n' "${failed[*]}" >&2
	exit 1
fi
echo 'lint: clean' >&2
