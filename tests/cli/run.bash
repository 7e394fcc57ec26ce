# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of `copypath run` share: a workload of two arms, and a fio of their own.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
	workload 'target: {media: anon, size: 16m}' 'workload: {rw: [read, write], bs: 64k}'
}

# w.yaml with that target and workload, two short samples of two arms.
workload() {
	printf '%s\n' 'schema: 1' 'kind: workload' 'name: w' "$1" "$2" 'arms:' \
		'  - {name: cpu, queue_mode: bio, path: cpu, copy: memcpy}' \
		'  - {name: offload, queue_mode: mq, path: dma, dma: sw}' \
		"run: {runtime: 20ms, samples: ${3:-1}${4:+, $4}}" >w.yaml
}

# A fio that says it is version $1 and otherwise does $2 (shell text).
fake_fio() {
	# shellcheck disable=SC2016 # for the script, not for us
	printf '#!/bin/sh\n[ "$1" = --version ] && { echo %s; exit 0; }\n%s\n' "$1" "$2" >fio
	chmod +x fio
	export COPYPATH_FIO=$PWD/fio
}

records() {
	wc -l <"$1/records.jsonl"
}

