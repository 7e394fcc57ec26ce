#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: check-includes.sh TABLE ROOT
#
# Every #include under ROOT must be one that TABLE (tests/includes.tbl) lets its room have.
# Prints what is not, as file:line, and exits 1.
set -eu

table=$(realpath "${1:?usage: check-includes.sh TABLE ROOT}")
cd "${2:?usage: check-includes.sh TABLE ROOT}"

find . -name '*.[ch]' -not -path './build/*' -not -path './.git/*' -not -path './kmod/*' |
	sed 's,^\./,,' | LC_ALL=C sort >"${TMPDIR:-/tmp}/cp-includes.$$"
trap 'rm -f "${TMPDIR:-/tmp}/cp-includes.$$"' EXIT
if ! [ -s "${TMPDIR:-/tmp}/cp-includes.$$" ]; then
	echo "error: no C file under '$2'" >&2
	exit 1
fi
# shellcheck disable=SC2046 # names of the tree hold no blanks (checked by lint.sh)
awk -v table="$table" '
function fail(place, text) {
	printf "%s: error: %s\n", place, text
	bad = 1
}
function exists(path,    line, found) {
	found = (getline line < path) >= 0
	close(path)
	return found
}
# The room of a path: the longest row that is a folder above it, or a stem beside it.
function room_of(path,    r, best) {
	best = ""
	for (r in level)
		if (path == r || index(path, r "/") == 1 ||
		    (r == "engines/policy" && path ~ /^engines\/(t\/)?policy[^\/]*$/))
			if (length(r) > length(best))
				best = r
	return best
}
BEGIN {
	while ((getline line < table) > 0) {
		nr++
		n = split(line, word, /[ \t]+/)
		if (line ~ /^#/ || n < 2)
			continue
		level[word[1]] = word[2]
		for (i = 3; i <= n; i++) {
			name = word[i]
			same = sub(/^=/, "", name)
			if (!(name in level))
				fail(table ":" nr, "unknown room \047" name "\047; expected a row above")
			else if (same ? level[name] != word[2] : level[name] >= word[2])
				fail(table ":" nr, "\047" name "\047 is not of a " \
					(same ? "level equal to" : "lower level than") " \047" word[1] "\047")
			may[word[1], name] = 1
		}
	}
	if (!nr) {
		fail(table, "cannot be read, or is empty")
		exit
	}
	# What gives fio away when it is included by another name.
	n = split("fio.h io_u.h ioengines.h optgroup.h thread_options.h config-host.h", word, " ")
	for (i = 1; i <= n; i++)
		fio[word[i]] = 1
}
FNR == 1 {
	room = room_of(FILENAME)
	if (room == "")
		fail(FILENAME ":1", "is in no room; expected a row for it in " table)
}
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
	quoted = $0 ~ /include[ \t]*"/
	path = $0
	sub(/^[^"<]*["<]/, "", path)
	sub(/[">].*$/, "", path)
	base = path
	sub(/^.*\//, "", base)
	to = quoted ? room_of(path) : ""
	if (base in fio && (to == "" || !exists(path)))
		to = "fio"
	else if (!quoted)
		next
	else if (to == "" && path !~ /\// && (room, "fio") in may)
		to = "fio" # whose headers are where the compiler is told to look
	if (to == "")
		fail(FILENAME ":" FNR, "include of \047" path "\047; expected a path from the root of the tree")
	else if (to != room && !((room, to) in may))
		fail(FILENAME ":" FNR, "\047" room "\047 (level " level[room] \
			") may not include \047" path "\047 of \047" to "\047 (level " level[to] ")")
}
END { exit bad }' $(cat "${TMPDIR:-/tmp}/cp-includes.$$")
