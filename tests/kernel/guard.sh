#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The fault guard under a kernel that can poison a page: all of its tests.
# shellcheck shell=dash source=tests/kernel/lib.sh
. /lab/lib.sh

unit engines/copy/t/guard_test
unit engines/copy/t/guard_signal_test
finish
