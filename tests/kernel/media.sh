#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The media's own tests that need a file on DAX and a dax device: those of the scenarios
# before.
# shellcheck shell=dash source=tests/kernel/lib.sh
. /lab/lib.sh

mount -t ext4 -o dax /dev/pmem0 /mnt/dax
COPYPATH_TEST_DAX_FILE=/mnt/dax/far
COPYPATH_TEST_DEVDAX=$(echo /dev/dax*.*)
export COPYPATH_TEST_DAX_FILE COPYPATH_TEST_DEVDAX
unit engines/media/t/dax_test
umount /mnt/dax
finish
