# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	build=${COPYPATH_BUILD:-build}
	dest=$BATS_TEST_TMPDIR/dest
	# What is built already is what is installed: nothing is compiled here.
	make=(make -s B="$build" DESTDIR="$dest" -o all)
}

@test "install puts program, plug-ins, man pages and data where they belong" {
	[ -x "$build/copypath" ] || skip "the program is not built"
	"${make[@]}" install PREFIX=/opt/cp
	[ -x "$dest/opt/cp/bin/copypath" ]
	[ -f "$dest/opt/cp/lib/copypath/copypath-sync.so" ]
	[ -f "$dest/opt/cp/lib/copypath/copypath-async.so" ]
	[ -f "$dest/opt/cp/share/man/man1/copypath.1" ]
	[ -f "$dest/opt/cp/share/copypath/policies/default.yaml" ]
	[ -f "$dest/opt/cp/share/copypath/configs/workloads/quick.yaml" ]
	[ -f "$dest/opt/cp/share/copypath/report/plots/attributes.gp" ]
	[ -f "$dest/opt/cp/share/copypath/results/published/elliott-2015-cache-attributes.csv" ]
	[ ! -e "$dest/opt/cp/share/copypath/configs/bad" ]
}

@test "LIBDIR is honoured" {
	[ -x "$build/copypath" ] || skip "the program is not built"
	"${make[@]}" install PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
	[ -f "$dest/usr/lib/x86_64-linux-gnu/copypath/copypath-async.so" ]
}

@test "the installed program runs" {
	[ -x "$build/copypath" ] || skip "the program is not built"
	"${make[@]}" install PREFIX=/usr
	run "$dest/usr/bin/copypath" --version
	[ "$status" -eq 0 ]
	[[ "$output" == copypath* ]]
}

@test "the installed program draws a report from installed data" {
	[ -x "$build/tests/helpers/report_records" ] || skip "the helper report_records is not built"
	command -v gnuplot >/dev/null || skip "gnuplot is not there"
	"${make[@]}" install PREFIX=/usr
	"$build/tests/helpers/report_records" attributes >"$BATS_TEST_TMPDIR/records.jsonl"
	cd "$BATS_TEST_TMPDIR" || return 1
	COPYPATH_DATA=$dest/usr/share/copypath "$dest/usr/bin/copypath" report records.jsonl -o out
	[ -s out/figures/attributes-1.svg ]
	grep -q 'Robert Elliott' out/report.md
}

@test "uninstall takes away what install put there and leaves other files" {
	[ -x "$build/copypath" ] || skip "the program is not built"
	"${make[@]}" install PREFIX=/usr
	echo mine >"$dest/usr/share/copypath/policies/mine.yaml"
	"${make[@]}" uninstall PREFIX=/usr
	run find "$dest" -type f
	[ "$output" = "$dest/usr/share/copypath/policies/mine.yaml" ]
}

@test "a path with a blank works" {
	[ -x "$build/copypath" ] || skip "the program is not built"
	dest="$BATS_TEST_TMPDIR/with blank"
	make -s B="$build" DESTDIR="$dest" -o all install PREFIX=/usr
	[ -x "$dest/usr/bin/copypath" ]
}

@test "every man page renders without a warning" {
	local page
	for page in docs/man/*.1; do
		man --warnings -E UTF-8 -l "$page" >/dev/null 2>"$BATS_TEST_TMPDIR/said"
		cat "$BATS_TEST_TMPDIR/said"
		[ ! -s "$BATS_TEST_TMPDIR/said" ]
	done
}

@test "every verb has a man page" {
	local verb
	for verb in probe run learn tune explain emit gate compare report export; do
		[ -f "docs/man/copypath-$verb.1" ]
	done
}
