# SPDX-License-Identifier: GPL-2.0-only
# queue_mode page through fio.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	build=${COPYPATH_BUILD:-build}
	[[ $build = /* ]] || build=$root/$build
	cd "$BATS_TEST_TMPDIR" || return 1
}

page() {
	timeout 60 fio --name=page --ioengine=external:"$(realpath "$build")"/copypath-sync.so \
		--queue_mode=page --size=2m --thread=1 "$@"
}

# Description: what pages wrote by DMA fio reads back and verifies.
@test "page: fio verifies what went through sw" {
	run page --path=dma --dma=sw --rw=randwrite --bs=16k --verify=crc32c \
		--verify_fatal=1
	[ "$status" -eq 0 ]
}

# Description: transactions that fail are errors of their I/Os, and nothing that fio
# verifies is wrong.
@test "page: failures of the engine are EIO and never wrong data" {
	run page --path=dma --dma='fault:sw,error=2%,seed=7' --rw=randwrite --bs=16k \
		--verify=crc32c --continue_on_error=io
	[[ "$output" != *"verify: bad"* ]]
	[[ "$output" == *"the DMA engine failed"* ]]
}

# Description: a block size that is no whole number of pages is refused at once.
@test "page: 6k blocks are refused by the plug-in" {
	run page --rw=read --bs=6k
	[ "$status" -ne 0 ]
	[[ "$output" == *"expected multiples of 4096"* ]]
}

# Description: with rw_page=0 the same job goes by bio, and says so.
@test "page: rw_page=0 goes by bio" {
	run page --rw=read --bs=8k --rw_page=0 --sidecar="$PWD/side"
	[ "$status" -eq 0 ]
	grep -q '"off":256' side
	grep -q '"pages":0' side
}
