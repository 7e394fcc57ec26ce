# SPDX-License-Identifier: GPL-2.0-only
#
# Media with attributes of their own: bar and memattr. What can be refused is refused on any
# machine; what needs a BAR (COPYPATH_TEST_BAR=/sys/.../resource2, of memory that may be
# written) or the module cp_memattr is skipped without.

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
}

engine() {
	fio --output-format=json --output=out.json \
		"--ioengine=external:$build/copypath-sync.so" --name=t --thread=1 \
		--sidecar=side "$@"
}

# workload TARGET WORKLOAD ARM
workload() {
	cat >w.yaml <<-END
		schema: 1
		kind: workload
		name: w
		target: {$1}
		workload: {$2}
		arms: [{name: a, $3}]
		run: {runtime: 50ms, ramp_time: 0s, samples: 1}
	END
}

need_bar() {
	[ -n "${COPYPATH_TEST_BAR:-}" ] || skip "COPYPATH_TEST_BAR names no BAR to test with"
	attrs=uc
	[ ! -e "${COPYPATH_TEST_BAR}_wc" ] || attrs="uc wc"
}

need_module() {
	[ -c /dev/cp_memattr ] || skip "the module cp_memattr is not loaded"
}

@test "fio: what is no BAR, or has no such attribute, is refused by name before any I/O" {
	truncate -s 1m far
	run engine --rw=read --media=bar --attr=uc --copy=memcpy --filename=far --size=1m
	[ "$status" -ne 0 ]
	[[ $output = *"'far' is not in sysfs; expected a BAR"* ]]
	run engine --rw=read --media=bar --copy=memcpy --filename=far --size=1m
	[ "$status" -ne 0 ]
	[[ $output = *"attr 'wb' cannot be had on this media"*"expected attr uc or wc"* ]]
	run engine --rw=read --media=bar --attr=uc --copy=memcpy --size=1m \
		'--filename=/sys/bus/pci/devices/ffff\:00\:00.0/resource0'
	[ "$status" -ne 0 ]
	[[ $output = *"'/sys/bus/pci/devices/ffff:00:00.0/resource0' does not exist; expected a BAR"* ]]
	[ ! -e side ]
}

@test "fio: a colon that is not escaped is said to be one" {
	run engine --rw=read --media=file --filename=a:b --size=4k
	[ "$status" -ne 0 ]
	[[ $output = *"2 files in one job; expected one"*"write a ':' in a name as '\\:'"* ]]
}

@test "a file with colons in its name is made, named to fio escaped, and read" {
	workload "media: file, size: 1m, filename: '0000:00:04.0'" 'rw: read, bs: 4k' \
		'queue_mode: bio, path: cpu, copy: memcpy'
	run -0 "$copypath" run w.yaml -o run
	[ "$(stat -c %s 0000:00:04.0)" -eq $((1 << 20)) ]
	grep -qF '/0000\:00\:04.0' run/jobs/*
	[ "$(jq '.failed' run/records.jsonl)" != true ]
	engine --rw=read --media=file '--filename=0000\:00\:04.0' --size=1m --bs=4k
	[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
}

@test "memattr leaves a device of something else alone" {
	workload "media: memattr, filename: /dev/null, size: 1m" 'rw: read, bs: 4k' 'copy: memcpy'
	run -2 "$copypath" run --dry-run w.yaml
	[[ $output = *"'/dev/null' is the device of something else"*"('null' to the kernel)"* ]]
	run engine --rw=read --media=memattr --filename=/dev/null --copy=memcpy --size=1m
	[ "$status" -ne 0 ]
	[[ $output = *"'/dev/null' is the device of something else"* ]]
	command -v strace || return 0
	strace -f -o trace "$copypath" run --dry-run w.yaml || :
	run ! grep -E "open.*\"/dev/null\".*O_RDWR|_IOC.*0xcb" trace
}

@test "memattr without the module says that it is not part of this version, in a workload and in fio" {
	[ ! -e /dev/cp_memattr ] || skip "the module cp_memattr is loaded"
	workload 'media: memattr, size: 1m, attr: [wb, uc, wc, wt], attr_native: true' \
		'rw: write, bs: 4k' 'queue_mode: bio, path: cpu, copy: nt'
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"'/dev/cp_memattr' does not exist"*"not part of this version"* ]]
	[ ! -e run ]
	run engine --rw=write --media=memattr --attr=wt --copy=nt --size=1m
	[ "$status" -ne 0 ]
	[[ $output = *"'/dev/cp_memattr' does not exist"*"not part of this version"* ]]
	run engine --rw=write --media=memattr --attr=wt --copy=nt --size=1m --filename=/dev/null
	[[ $output = *"'/dev/null' is the device of something else"* ]]
	run engine --rw=write --media=memattr --attr=wt --copy=nt --filename=/dev/null
	[[ $output = *"media 'memattr' needs size= in bytes"* ]]
}

@test "copy auto is refused under an attribute that is real, with what to write" {
	run engine --rw=write --media=memattr --attr=uc --size=1m
	[ "$status" -ne 0 ]
	[[ $output = *"copy 'auto' was calibrated on write-back memory"*"expected a copy by name"* ]]
	workload 'media: [anon, memattr], size: 1m, attr: wc' 'rw: write, bs: 4k' \
		'queue_mode: mq, path: dma, dma: sw'
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"w.yaml:6:"*"'dma' of arm 'a' is 'sw', which would go around"* ]]
	[[ $output = *"w.yaml:6:"*"copy 'auto' was calibrated"* ]]
}

@test "probe lists each attribute on each media, and the BARs" {
	run -0 "$copypath" probe
	grep -qE '^attr on +anon +wb native; uc, wc, wt (emulated|absent)$' <<<"$output"
	grep -qE '^attr on +bar +uc, wc native; wb, wt absent' <<<"$output"
	grep -qE '^attr on +memattr +wb, uc, wc, wt native' <<<"$output"
	grep -qE '^bar +[0-9]+ usable, [0-9]+ not' <<<"$output"
	run --separate-stderr -0 "$copypath" probe --json
	jq -e '(.media.kinds | length) as $nr | .attrs | all(.media | length == $nr)' \
		<<<"$output"
	jq -e '.attrs[] | .media[] | select(.state == "absent") | .why | length > 0' <<<"$output"
	jq -e '.attrs[] | select(.name == "wt") | .media[] | select(.media == "bar") |
		.state == "absent" and .usable == false' <<<"$output"
	jq -e '.bars | all(.usable or (.why | length > 0))' <<<"$output"
}

@test "a BAR carries bytes under each attribute, in bio, mq and by sw, labelled native" {
	need_bar
	for attr in $attrs; do
		for copy in memcpy nt nt-both; do
			workload "media: bar, size: 64k, attr: $attr, attr_native: true,
				allow_overwrite: true, filename: '$COPYPATH_TEST_BAR'" \
				'rw: [randread, randwrite], bs: 4k' \
				"queue_mode: [bio, mq], path: cpu, copy: $copy"
			rm -rf run
			run -0 "$copypath" run w.yaml -o run
			[ "$(jq -r '.provenance.attr' run/records.jsonl | sort -u)" = native ]
		done
		engine --rw=write --media=bar "--attr=$attr" --copy=memcpy --size=64k --bs=4k \
			"--filename=${COPYPATH_TEST_BAR//:/\\:}" --verify=crc32c --verify_fatal=1
		[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
	done
}

@test "a BAR is written only with allow_overwrite" {
	need_bar
	workload "media: bar, size: 64k, attr: uc, filename: '$COPYPATH_TEST_BAR'" \
		'rw: write, bs: 4k' 'queue_mode: bio, path: cpu, copy: memcpy'
	run -2 "$copypath" run w.yaml -o run
	[[ $output = *"is a device and the workload writes; expected 'allow_overwrite: true'"* ]]
}

@test "memattr carries bytes under all four attributes, in bio, mq and by sw, labelled native" {
	need_module
	for copy in memcpy nt nt-both; do
		workload 'media: memattr, size: 256k, attr: [wb, uc, wc, wt], attr_native: true' \
			'rw: [randread, randwrite], bs: 4k' \
			"queue_mode: [bio, mq], path: cpu, copy: $copy"
		rm -rf run
		run -0 "$copypath" run w.yaml -o run
		[ "$(jq -r '.provenance.attr' run/records.jsonl | sort -u)" = native ]
	done
	for attr in wb uc wc wt; do
		rm -f side
		fio --output-format=json --output=out.json --name=t --thread=1 --sidecar=side \
			"--ioengine=external:$build/copypath-async.so" --rw=randwrite \
			--media=memattr "--attr=$attr" --copy=memcpy --path=dma --dma=sw \
			--size=256k --bs=4k --verify=crc32c --verify_fatal=1
		[ "$(jq '.jobs[0].error' out.json)" -eq 0 ]
		[ "$(jq -r '.provenance | .attr + " " + .dma' side)" = "native software" ]
	done
}
