# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	copypath=${COPYPATH_BUILD:-build}/copypath
	[ -x "$copypath" ] || skip "the program is not built"
	records=$BATS_TEST_TMPDIR/r.jsonl
	record 0 '"iops":123456.75' '' >"$records"
	record 1 '"iops":null' ',"failed":"fio said \"no\", twice"' >>"$records"
}

# record SAMPLE METRIC MORE: one line of the format.
record() {
	printf '{"schema":1,"run":"r","sample":%s,"t":"t0","host":"h","context":{"rw":"read",' "$1"
	printf '"bs":65536,"numjobs":1,"iodepth":1,"media":"anon"},"arm":{"name":"a,b",'
	printf '"queue_mode":"bio","path":"cpu","copy":"nt"},"provenance":{"media":"native",'
	printf '"attr":"native","dma":"none"},"metrics":{"bytes":65536,%s},' "$2"
	printf '"proof":{"bytes_cpu":65536}%s}\n' "$3"
}

# Standard output alone, so that warnings cannot pass for rows.
export_csv() {
	"$copypath" export "$@" 2>"$BATS_TEST_TMPDIR/err"
}

# column NAME: the second field under that name, of a row without quoted cells before it.
column() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		NR == 2 { print $at }'
}

@test "one header and one row a sample" {
	run export_csv "$records" --format csv
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[0]} == run,sample,t,host,rw,bs,numjobs,iodepth,segments,* ]]
	[[ ${lines[0]} == *,arm,queue_mode,path,copy,* ]]
	[[ ${lines[0]} == *,provenance_dma,bytes,elapsed_ns,bw_bytes_per_s,iops,* ]]
	[[ ${lines[0]} == *,proof_bytes_cpu,*,failed,notes ]]
}

@test "every row has as many cells as the header" {
	record 0 '"iops":1' '' | sed 's/a,b/ab/' >"$records"
	run export_csv "$records"
	[ "$(awk -F, '{ print NF }' <<<"$output" | uniq | wc -l)" -eq 1 ]
}

@test "cells with commas and quotes are quoted" {
	run export_csv "$records"
	[[ ${lines[1]} == *',"a,b",bio,cpu,nt,'* ]]
	[[ ${lines[2]} == *',"fio said ""no"", twice",' ]]
	record 0 '"iops":1' ',"notes":"ndctl says so; aligned"' >"$records"
	run export_csv "$records"
	[[ ${lines[1]} == *',,ndctl says so; aligned' ]]
}

@test "sizes are bytes, and what was not measured is empty" {
	record 0 '"iops":123456.75' '' | sed 's/a,b/ab/' >"$records"
	export_csv "$records" >"$BATS_TEST_TMPDIR/csv"
	[ "$(column bs <"$BATS_TEST_TMPDIR/csv")" = 65536 ]
	[ "$(column iops <"$BATS_TEST_TMPDIR/csv")" = 123456.75 ]
	[ "$(column elapsed_ns <"$BATS_TEST_TMPDIR/csv")" = "" ]
	[ "$(column proof_node <"$BATS_TEST_TMPDIR/csv")" = "" ]
	[ "$(column proof_page_bytes <"$BATS_TEST_TMPDIR/csv")" = "" ]
}

@test "failed samples are included, alone or left out as asked" {
	[ "$(export_csv "$records" --failed | wc -l)" -eq 3 ]
	[ "$(export_csv "$records" --failed=only | cut -d, -f2 | tr '\n' ' ')" = "sample 1 " ]
	[ "$(export_csv "$records" --failed=exclude | cut -d, -f2 | tr '\n' ' ')" = "sample 0 " ]
}

@test "a sample that its proof fails has the reason" {
	record 0 '"iops":1' '' | sed 's/"bytes_cpu":65536/"bytes_cpu":65536,"errors":2/' >"$records"
	run export_csv "$records"
	[[ ${lines[1]} == *",2 i/o errors; expected 0," ]]
}

@test "a run directory stands for its records, and several are joined" {
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$records" "$BATS_TEST_TMPDIR/run/records.jsonl"
	run export_csv "$BATS_TEST_TMPDIR/run" "$records"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
}

@test "-o writes the whole table, or leaves the old file" {
	out=$BATS_TEST_TMPDIR/out.csv
	export_csv "$records" -o "$out"
	[ "$(wc -l <"$out")" -eq 3 ]
	echo '{"schema":1}' >"$BATS_TEST_TMPDIR/bad.jsonl"
	run export_csv "$records" "$BATS_TEST_TMPDIR/bad.jsonl" -o "$out"
	[ "$status" -eq 4 ]
	[ "$(wc -l <"$out")" -eq 3 ]
	[ "$(find "$BATS_TEST_TMPDIR" -name 'out.csv*' | wc -l)" -eq 1 ]
}

@test "a bad line is named with file and line" {
	echo '{"schema":1}' >>"$records"
	run export_csv "$records"
	[ "$status" -eq 4 ]
	[[ $(<"$BATS_TEST_TMPDIR/err") == "$records:3:1: error: 'run' is missing; expected a text" ]]
}

@test "a torn last line is dropped with a warning" {
	printf '{"schema":1,"run' >>"$records"
	run export_csv "$records"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	[[ $(<"$BATS_TEST_TMPDIR/err") == *"warning: '$records', line 3: torn last line dropped" ]]
}

@test "records that are not there are named before anything is printed" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	for args in none.jsonl "$records none.jsonl" "$BATS_TEST_TMPDIR/empty"; do
		# shellcheck disable=SC2086 # words on purpose
		run export_csv $args
		[ "$status" -ne 0 ]
		[ "$output" = "" ]
		[[ $(<"$BATS_TEST_TMPDIR/err") == *error:* ]]
	done
}

@test "bad usage is exit 2 and says what would work" {
	for args in "" "--format=xml $records" "--failed=maybe $records" "--nope" \
		"$BATS_TEST_TMPDIR/none.jsonl"; do
		# shellcheck disable=SC2086 # words on purpose
		run export_csv $args
		[ "$status" -eq 2 ]
		[ "$output" = "" ] || [[ $output != *$'\n'* ]]
		[[ $(<"$BATS_TEST_TMPDIR/err") == *error:* ]]
	done
	[[ $(<"$BATS_TEST_TMPDIR/err") == *"expected a run directory or a .jsonl file"* ]]
}

@test "a full disk is exit 4" {
	[ -w /dev/full ] || skip "no /dev/full"
	run bash -c '"$0" export "$1" >/dev/full' "$copypath" "$records"
	[ "$status" -eq 4 ]
	[[ $output == *error:* ]]
}

@test "--help is short and names the exit codes" {
	run "$copypath" export --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
	[[ $output == *"exit status"* ]]
}

@test "counters of perf are columns, empty where they are not supported; pages too" {
	make_records=${COPYPATH_BUILD:-build}/tests/helpers/report_records
	[ -x "$make_records" ] || skip "the helper report_records is not built"
	"$make_records" paths >"$BATS_TEST_TMPDIR/paths.jsonl"
	"$copypath" export "$BATS_TEST_TMPDIR/paths.jsonl" -o "$BATS_TEST_TMPDIR/paths.csv"
	head -1 "$BATS_TEST_TMPDIR/paths.csv" |
		grep -q ',proof_pages,.*,proof_pages_off,perf_task-clock,perf_context-switches,perf_instructions,'
	# irq has two of the three counters, and no pages
	grep -q ',mq-model/irq,.*,,,,,,1200000000,[0-9]*,,,$' "$BATS_TEST_TMPDIR/paths.csv"
}
