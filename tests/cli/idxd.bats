# SPDX-License-Identifier: GPL-2.0-only
#
# DSA work queues as libaccel-config finds them, in a mount namespace where /sys/bus and
# /dev are made up. A device file there is a plain file, so nothing ever answers.
#
# shellcheck disable=SC2154 # stderr is set by run --separate-stderr

bats_require_minimum_version 1.5.0

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	copypath=$build/copypath
	cd "$BATS_TEST_TMPDIR" || return 1
	unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
	cat >world.sh <<'END'
set -e
# world.sh [NODE/ATTRIBUTE=VALUE...] -- COMMAND...: a device with two user queues.
put() { printf '%s\n' "$2" >"$1"; }
mount -t tmpfs none /sys/bus
bus=/sys/bus/dsa/devices/dsa0
mkdir -p /sys/bus/dsa/drivers/idxd "$bus/group0.0" "$bus/engine0.0" "$bus/wq0.0" "$bus/wq0.1"
for pair in cdev_major=240 clients=0 configurable=1 gen_cap=0x40915f0107 max_batch_size=1024 \
	max_engines=1 max_groups=1 max_read_buffers=96 max_transfer_size=2147483648 \
	max_work_queues=2 max_work_queues_size=128 numa_node=0 op_cap=0 pasid_enabled=1 \
	read_buffer_limit=0 state=enabled version=0x100 errors=0 cmd_status=0; do
	put "$bus/${pair%%=*}" "${pair#*=}"
done
for wq in wq0.0 wq0.1; do
	for pair in group_id=0 size=16 mode=dedicated priority=10 block_on_fault=0 \
		state=enabled type=user name=n driver_name=user cdev_minor=0 threshold=0 \
		max_batch_size=32 max_transfer_size=2097152 ats_disable=0 clients=0 occupancy=0; do
		put "$bus/$wq/${pair%%=*}" "${pair#*=}"
	done
done
put "$bus/wq0.1/mode" shared
put "$bus/wq0.1/threshold" 12
while [ "$1" != -- ]; do
	put "$bus/${1%%=*}" "${1#*=}"
	shift
done
shift
mkdir -p dev
mount -t tmpfs none dev
for node in null zero full random urandom; do
	touch "dev/$node"
	mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/shm dev/dsa
ln -s /proc/self/fd dev/fd
truncate -s 4096 dev/dsa/wq0.0 dev/dsa/wq0.1
if [ -n "${NO_FILE:-}" ]; then rm dev/dsa/*; fi
mount --rbind dev /dev
exec "$@"
END
}

in_world() {
	unshare -m bash world.sh "$@"
}

workload() {
	cat >"$1.yaml" <<-END
		schema: 1
		kind: workload
		name: $1
		target: {media: anon, size: 64m}
		workload: {rw: write, bs: 4k}
		arms: [{name: offload, queue_mode: mq, path: dma, dma: "$2", queue_depth: $3}]
		run: {runtime: 100ms, ramp_time: 0, samples: 1}
	END
}

@test "probe finds a DSA work queue that can be used" {
	run in_world wq0.0/state=disabled -- "$copypath" probe
	[ "$status" -eq 0 ]
	grep -qE '^dma +idxd +usable, hardware' <<<"$output"
}

@test "probe and run say the same of a DSA work queue that cannot be used" {
	local change why

	for change in pasid_enabled=0 wq0.0/clients=1 wq0.0/state=disabled wq0.0/size=0 \
		wq0.0/type=kernel state=disabled; do
		why=$(in_world "$change" -- "$copypath" probe --json |
			jq -r '.work_queues[] | select(.name == "wq0.0" and (.usable | not)).why')
		[[ $why = "idxd: "* ]]
		workload same idxd:/dev/dsa/wq0.0 8
		run --separate-stderr in_world "$change" -- "$copypath" run --dry-run same.yaml
		[ "$status" -eq 2 ]
		[[ $stderr = *"'dma' is 'idxd:/dev/dsa/wq0.0': $why"* ]]
	done
	run in_world -- "$copypath" probe --json
	jq -e '.work_queues | length == 2 and all(.usable and .state == "enabled" and
		.type == "user" and .size == 16 and .node == 0 and .why == null)' <<<"$output"
	jq -e '[.work_queues[].mode] == ["dedicated", "shared"]' <<<"$output"
}

# refused NAME SPEC DEPTH WHY CHANGE...
refused() {
	local name=$1 spec=$2 depth=$3 why=$4

	shift 4
	workload "$name" "$spec" "$depth"
	run --separate-stderr in_world "$@" -- "$copypath" run --dry-run "$name.yaml"
	echo "$stderr" # of a failure
	[ "$status" -eq 2 ]
	[[ $stderr = *"'dma' is '$spec': idxd: "*"$why"* ]]
}

@test "run says what keeps each DSA work queue from use" {
	refused off idxd 8 "'/dev/dsa/wq0.0' is disabled; expected 'accel-config enable-wq dsa0/wq0.0'" \
		wq0.{0,1}/state=disabled
	refused kernels idxd 8 "is the kernel's; expected type user" wq0.{0,1}/type=kernel
	refused typeless idxd 8 "is of no type; expected type user" wq0.{0,1}/type=none
	refused device idxd 8 "'accel-config enable-device dsa0'" state=disabled
	refused pasid idxd 8 "intel_iommu=on,sm_on" pasid_enabled=0
	NO_FILE=1 refused files idxd 8 "has no device file here"
}

@test "run refuses work queues that are unknown, disabled or too small, by their names" {
	refused unknown idxd:/dev/dsa/wq3.0 8 \
		"unknown work queue '/dev/dsa/wq3.0'; expected /dev/dsa/wq0."
	refused disabled idxd:/dev/dsa/wq0.1 8 "accel-config enable-wq dsa0/wq0.1" \
		wq0.1/state=disabled
	refused small idxd:/dev/dsa/wq0.0,ring=17 8 "a ring of '17' is above the 16 descriptors"
	refused threshold idxd:/dev/dsa/wq0.1,ring=16 8 "is above the 12 descriptors"
	refused busy idxd:/dev/dsa/wq0.0 8 "is dedicated and in use" wq0.0/clients=1
	workload good idxd:ring=12 12
	run in_world -- "$copypath" run --dry-run good.yaml
	[ "$status" -eq 0 ]
}

@test "queue_depth may be above what a DSA work queue holds" {
	workload deep idxd:/dev/dsa/wq0.0 128
	run in_world -- "$copypath" run --dry-run deep.yaml
	[ "$status" -eq 0 ]
}

@test "a run whose dma auto passes over a DSA device says once why" {
	workload passed auto 128
	run in_world wq0.{0,1}/state=disabled -- "$copypath" run -o out passed.yaml
	[ "$status" -eq 0 ]
	[ "$(grep -o "auto took sw: idxd: '/dev/dsa/wq0.0' is disabled" out/records.jsonl | wc -l)" -eq 1 ]
}

@test "a work queue that does not answer is a failed sample with its name, not a hang" {
	workload deaf idxd:/dev/dsa/wq0.0 8
	run --separate-stderr in_world -- "$copypath" run -o out deaf.yaml
	[ "$status" -eq 1 ]
	[[ $stderr = *"'/dev/dsa/wq0.0' does not answer (status 0x00 after write); expected SVA"* ]]
}
