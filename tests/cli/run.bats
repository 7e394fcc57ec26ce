# SPDX-License-Identifier: GPL-2.0-only
#
# copypath run: a run from its plan to its records.

# shellcheck disable=SC2154 # stderr is set by run --separate-stderr
bats_require_minimum_version 1.5.0

load run.bash

@test "hardware queues that are fewer than asked for are said once a plan, and in records" {
	# any machine has fewer CPUs than 1024 a node
	sed -i 's/mq, path: dma, dma: sw}/mq, path: cpu, copy: nt, q_per_node: 1024}/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	[ "$(grep -c 'q_per_node 1024 x .* capped to .* hardware queue' <<<"$stderr")" -eq 1 ]
	run --separate-stderr "$copypath" run w.yaml -o r --filter queue_mode=mq
	[ "$status" -eq 0 ]
	[ "$(grep -c 'warning: .*capped' <<<"$stderr")" -eq 1 ]
	[ "$(jq -s 'map(select(.notes | contains("q_per_node 1024 x"))) | length' r/records.jsonl)" -eq 2 ]
	# the default asks for nothing
	sed -i 's/, q_per_node: 1024//' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[[ $stderr != *capped* ]]
}

@test "a run stores every planned sample and says where" {
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "$output" = r ]
	[ "$(records r)" -eq 4 ]
	grep -q '"complete": *true' r/manifest.json
	run ! grep -q '"failed"' r/records.jsonl
}

@test "without -o the run is below results/runs and last points at it" {
	run --separate-stderr "$copypath" run w.yaml --quiet --filter rw=read --filter arm=cpu
	[ "$status" -eq 0 ]
	[ -z "$stderr" ] || [[ $stderr = *"last-level cache"* ]]
	[ "$(cd results/runs/last && pwd -P)" = "$(cd "$output" && pwd -P)" ]
	[ "$(records results/runs/last)" -eq 1 ]
}

@test "a run that -o puts into results/runs is the newest there" {
	"$copypath" run w.yaml -q --filter rw=read --filter arm=cpu
	run --separate-stderr "$copypath" run w.yaml -q --filter rw=read --filter arm=cpu -o results/runs/mine
	[ "$status" -eq 0 ]
	[ "$(readlink results/runs/last)" = mine ]
	"$copypath" run w.yaml -q --filter rw=read --filter arm=cpu -o elsewhere
	[ "$(readlink results/runs/last)" = mine ]
	rm results/runs/last
	run "$copypath" run w.yaml -o results/runs/last
	[ "$status" -eq 2 ]
	[[ $output = *"is the link to the newest run"* ]]
	[ ! -e results/runs/last ]
}

@test "a target inside the last-level cache is warned of once" {
	workload 'target: {media: anon, size: 256k}' 'workload: {rw: read, bs: 64k}'
	run --separate-stderr "$copypath" run w.yaml -o r
	[ "$status" -eq 0 ]
	[[ $stderr = *"last-level cache"* ]] || skip "no last-level cache is known here"
	[ "$(grep -c "last-level cache" <<<"$stderr")" -eq 1 ]
}

@test "where SIGCHLD is ignored a fio that fails is still seen to fail" {
	# shellcheck disable=SC2016 # for the script
	fake_fio "$("${COPYPATH_FIO:-fio}" --version)" '[ "$1" = --parse-only ] && exit 7; exit 0'
	run bash -c 'trap "" CHLD; exec "$0" run w.yaml -o r' "$copypath"
	[ "$status" -eq 4 ]
	[[ $output = *"fio refused the job"* ]]
}

@test "a sample that was not verified as asked is failed" {
	local fio=${COPYPATH_FIO:-fio}
	workload 'target: {media: anon, size: 4m}' 'workload: {rw: write, bs: 4k}' 1 'verify: crc32c'
	fake_fio "$("$fio" --version)" "sed -i '/verify/d' \"\$2\"; exec $fio \"\$@\""
	run "$copypath" run w.yaml -o r
	[ "$status" -eq 1 ]
	[ "$(grep -c "\"failed\":\"verify was 'off'; expected 'crc32c'\"" r/records.jsonl)" -eq 2 ]
}

@test "a dry run prints cells, samples and time and makes nothing" {
	run --separate-stderr "$copypath" run --dry-run w.yaml -o r
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
	[[ ${lines[4]} = "w: 4 cells x 1 samples = 4 samples, about 0 min 02 s" ]]
	[ ! -e r ]
	[ ! -e results ]
}

@test "the lines of a dry run differ, and each of their words is a filter" {
	workload 'target: {media: anon, size: 16m}' \
		'workload: {rw: [read, write], bs: 64k, misalign_near: [0, 8], misalign_far: 4}'
	sed -i 's/copy: memcpy}/copy: memcpy, persist: [none, auto]}/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | sed 's/^[^ ]* *//' | sort | uniq -d | wc -l)" -eq 0 ]
	[[ $output = *" misalign_near=8 misalign_far=4 "*" persist=auto"* ]]
	for word in ${lines[0]#* }; do
		run "$copypath" run --dry-run w.yaml --filter "$word"
		[ "$status" -eq 0 ]
	done
}

@test "a dry run says what an arm has that it would not have by itself" {
	sed -i 's/, dma: sw}/, dma: sw, max_merge: 1g, queue_depth: 16, q_per_node: 1, completion: irq}/; /bio/d' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	for word in max_merge=1g queue_depth=16 q_per_node=1 completion=irq; do
		[[ ${lines[0]} = *" $word"* ]]
	done
	sed -i 's/max_merge: 1g, queue_depth: 16, q_per_node: 1, completion: irq/max_merge: 0, queue_depth: 128, completion: poll/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml
	[ "$status" -eq 0 ]
	for word in max_merge queue_depth q_per_node completion; do
		[[ ${lines[0]} != *" $word="* ]]
	done
}

@test "a time that is less than a second is said as one" {
	sed -i 's/20ms/10ms/' w.yaml
	run --separate-stderr "$copypath" run --dry-run w.yaml --filter rw=read --filter arm=cpu
	[[ $output = *"= 1 samples, about 0 min 01 s" ]]
	run --separate-stderr "$copypath" run w.yaml --filter rw=read --filter arm=cpu -o r
	[[ $stderr = *"1 samples of 1 cells, about 0 min 01 s"* ]]
}

@test "a sample that took much longer than its runtime says so" {
	sed -i 's/dma: sw}/dma: "model:setup=1200ms"}/' w.yaml
	run --separate-stderr "$copypath" run w.yaml -o r --filter rw=read
	jq -es 'map({(.arm.name): .notes}) | add |
		(.offload | test("ran 1[.][2-9]s for a runtime of 20ms")) and
		(.cpu // "" | contains("ran ") | not)' r/records.jsonl
}

@test "filters: a key twice means either, two keys mean both" {
	run "$copypath" run --dry-run w.yaml --filter rw=read --filter rw=write --filter dma=sw
	[ "$status" -eq 0 ]
	[[ $output = *"w: 2 cells"* ]]
	[[ $output != *"cpu "* ]]
}

@test "a filter with an unknown key or without a match is bad input" {
	run "$copypath" run --dry-run w.yaml --filter iodeph=1
	[ "$status" -eq 2 ]
	[[ $output = *"unknown key 'iodeph' in --filter; expected 'iodepth'"* ]]
	run "$copypath" run --dry-run w.yaml --filter foo=1
	[ "$status" -eq 2 ]
	[[ $output = *"expected arm, rw, bs,"*" attr, media,"*" misalign_far, driver,"*" handler, queue_mode,"*" persist,"*" or policy_force"* ]]
	run "$copypath" run --dry-run w.yaml --filter bs=4k
	[ "$status" -eq 2 ]
	[[ $output = *"no cell matches filter 'bs=4k'"* ]]
}

@test "usage errors are exit 2 and name what was meant" {
	run "$copypath" run --dryrun w.yaml
	[ "$status" -eq 2 ]
	[[ $output = *"unknown option '--dryrun'; expected '--dry-run'"* ]]
	run "$copypath" run
	[ "$status" -eq 2 ]
	[[ $output = *"no CONFIG"* ]]
	run "$copypath" run --resume r w.yaml
	[ "$status" -eq 2 ]
	run "$copypath" run --json w.yaml
	[ "$status" -eq 2 ]
	[[ $output = *"option '--json' is of 'copypath tune'"* ]]
}

@test "help is under 25 lines" {
	run "$copypath" run --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
}

@test "a workload that is not there is said to be one" {
	run "$copypath" run nosuch.yaml
	[ "$status" -eq 2 ]
	[[ $output = *"'nosuch.yaml'"*"; expected a workload file" ]]
}

@test "the smoke workload passes" {
	run "$copypath" run "$root/configs/workloads/smoke.yaml" -o r
	[ "$status" -eq 0 ]
	[ "$(records r)" -eq 16 ]
}

@test "the quick workload asks for at most 150 samples" {
	run "$copypath" run --dry-run "$root/configs/workloads/quick.yaml"
	[ "$status" -eq 0 ]
	local nr
	nr=$(grep -o '= [0-9]* samples' <<<"$output" | tr -dc 0-9)
	[ "$nr" -le 150 ]
}

@test "dma-offload plans every context of the published table, by CPU and by DMA" {
	run "$copypath" run --dry-run "$root/configs/workloads/dma-offload.yaml"
	[ "$status" -eq 0 ]
	while IFS=, read -r op bs jobs depth path _; do
		size=$([ "$bs" = 65536 ] && echo 64k || echo 2m)
		grep -q "rw=$op bs=$size numjobs=$jobs iodepth=$depth .* path=$path " <<<"$output"
	done < <(grep -v '^#\|^op' "$root/results/published/jiang-2017-dma.csv")
}
