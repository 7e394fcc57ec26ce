#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Anonymous memory in pages that this guest has reserved: 32 of 2m, one of 1g.
# shellcheck shell=dash source=tests/kernel/lib.sh
. /lab/lib.sh

# reserved PAGE KIB: a job has such pages while it runs, says so, and gives them back
reserved() {
	during "until_true some_pages_in_use $2" "--ioengine=external:$SYNC" \
		"--media=anon:page=$1" --rw=randwrite && [ "$(pages_in_use "$2")" -eq 0 ] &&
		side ".proof.page_bytes == $2 * 1024" "--media=anon:page=$1" --copy=memcpy
}

check 'anon:page=2m is in reserved pages of 2m' reserved 2m 2048
check 'anon:page=1g is in a reserved page of 1g' reserved 1g 1048576
check 'anon:page=2m: crc32c' fio_verify "$ASYNC" --media=anon:page=2m
check 'two pages of 1g are refused, as one is reserved' refused \
	"needs 2 reserved ones and 1 are free" fio --name=two "--ioengine=external:$SYNC" \
	--media=anon:page=1g --rw=read --bs=1m --size=1025m --thread=1
finish
