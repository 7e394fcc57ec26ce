#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Under fio: a file that is cut short while jobs run on it. A job of its own does it, once
# the mappings of the others are whole, so nothing here waits for a while and hopes.

# bats file_tags=serial
bats_require_minimum_version 1.5.0

setup_file() {
	BUILD=$(cd "${COPYPATH_BUILD:-build}" && pwd)
	export BUILD SYNC="$BUILD/copypath-sync.so" ASYNC="$BUILD/copypath-async.so"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cat >cutter.sh <<-'SCRIPT'
		# cutter.sh PID N: wait until PID has N mappings of far with all 16m present
		until awk -v n="$2" '/ [^ ]*\/far$/ { far = 1 }
			far && /^Rss:/ { whole += $2 == 16384; far = 0 }
			END { exit whole < n }' "/proc/$1/smaps"; do :; done
		truncate -s 8m far
	SCRIPT
	fio=(fio --output-format=json --output=out.json --thread=1 --bs=64k --size=16m
		--norandommap=1 --time_based=1)
	cutter=(--name=cutter --ioengine=null --time_based=0 --rw=read)
}

# cut PLUGIN JOB_OPTION...: `victim` on the file, `other` on memory; JSON in out.json, the
# victim's own figures in side
cut() {
	local plugin=$1
	shift
	rm -f side
	truncate -s 16m far
	# fio hands $PPID to a shell, whose parent it is
	# shellcheck disable=SC2016
	"${fio[@]}" --runtime=1s \
		--name=victim "--ioengine=external:$plugin" --media=file --filename=far \
		--sidecar=side "$@" \
		--name=other "--ioengine=external:$plugin" --media=anon --rw=randread \
		"${cutter[@]}" '--exec_prerun=sh cutter.sh $PPID 1'
}

# fio puts its remarks before the JSON
jobs() {
	sed -n "/^{/,\$p" out.json | jq -e "[.jobs[] | select(.jobname != \"cutter\")] | $1"
}

# what the other job's figures must be, whatever became of the victim
other_is_whole() {
	jobs '.[1] | .error == 0 and (.total_err // 0) == 0 and .read.total_ios > 0 and
		.read.runtime >= 990'
}

@test "a job goes on over a file that was cut, and counts its errors" {
	while read -r plugin rw more; do
		# shellcheck disable=SC2086
		cut "${!plugin}" "--rw=$rw" --continue_on_error=io $more
		jobs '.[0] | .first_error == 5 and .total_err > 0'
		# half of the file is left
		jq -e '.proof.errors > 0 and .bytes > 0 and .bytes % 65536 == 0' side
		other_is_whole
	done <<-END
		SYNC randread --copy=memcpy
		SYNC randwrite --copy=nt
		ASYNC randread --path=cpu --iodepth=8
		ASYNC randwrite --path=dma --dma=sw --iodepth=8
	END
}

@test "a job ends with an I/O error over a file that was cut, and the others go on" {
	for plugin in "$SYNC" "$ASYNC"; do
		run cut "$plugin" --rw=randread
		[ "$status" -eq 1 ]
		jobs '.[0].error == 5'
		jq -e '.proof.errors > 0' side
		other_is_whole
	done
}

@test "both plug-ins in one process keep their faults apart, whichever ends first" {
	for runtimes in "1 2" "2 1"; do
		read -r first second <<<"$runtimes"
		truncate -s 16m far
		rm -f side side2
		# shellcheck disable=SC2016
		"${fio[@]}" --rw=randread --continue_on_error=io \
			--name=a "--ioengine=external:$SYNC" --media=file --filename=far \
			--sidecar=side "--runtime=$first" \
			--name=b "--ioengine=external:$ASYNC" --media=file --filename=far \
			--sidecar=side2 "--runtime=$second" \
			"${cutter[@]}" '--exec_prerun=sh cutter.sh $PPID 2'
		jq -e '.proof.errors > 0' side
		jq -e '.proof.errors > 0' side2
		jobs 'map(.first_error == 5) | all'
	done
}
