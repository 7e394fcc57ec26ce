#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-only
#
# The first process of a guest: run the scenarios that the kernel's command line names after
# `--`, one after the other, then say so and switch off. The console is for the kernel and
# for `copypath-lab: done`; the scenarios' TAP goes to the second serial port as one
# sequence of numbers with its plan at the end.
export PATH=/bin HOME=/ LC_ALL=C.UTF-8
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
ln -s /proc/self/fd /dev/fd # what udev does
mkdir -p /dev/shm /var/tmp
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
stty -F /dev/ttyS1 -opost

for module in nfit nd_pmem dax_pmem device_dax ext4 crc32c_generic; do
	modprobe "$module" || echo "copypath-lab: no module $module"
done

# Numbers anew; a program that ends before its plan is fulfilled has failed.
number() {
	awk -v unit="$1" -v from="$2" '
	/^1\.\.[0-9]+/ { plan += substr($1, 4); next }
	/^(not )?ok [0-9]+/ {
		seen++
		n = from + seen
		bad = $1 == "not"
		sub(/^(not )?ok [0-9]+/, (bad ? "not " : "") "ok " n)
	}
	{ print; fflush() }
	END {
		if (seen < plan || !plan) {
			seen++
			printf "not ok %d - %s ended before its last test\n", from + seen, unit
		}
		print from + seen >"/tmp/number"
	}'
}

total=0
for scenario in "$@"; do
	begin=$(date +%s)
	cd /tmp || exit 1
	sh "/lab/${scenario##*/}" 2>&1 </dev/null | number "$scenario" "$total"
	read -r total </tmp/number
	echo "# $scenario took $(($(date +%s) - begin)) s"
done >/dev/ttyS1
echo "1..$total" >/dev/ttyS1
echo 'copypath-lab: done'
poweroff -f
