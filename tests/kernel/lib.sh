# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2034,SC2154
#
# What the scenarios share. They run under the guest's busybox and speak TAP: `check NAME
# COMMAND...` is a test, `unit PROGRAM` takes over the tests of a program, `finish` writes
# the plan. Nothing here asserts a speed: an emulated CPU has none.

SYNC=/build/copypath-sync.so
ASYNC=/build/copypath-async.so
tests_done=0

report() {
	tests_done=$((tests_done + 1))
	printf '%s %d - %s\n' "$1" "$tests_done" "$2"
}

# check NAME COMMAND...: passes when the command does; its output is shown otherwise
check() {
	local name=$1 status=0
	shift
	"$@" >/tmp/check.out 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		report ok "$name"
	else
		report 'not ok' "$name"
		printf '# status %d of: %s\n' "$status" "$*"
		sed 's/^/# /' /tmp/check.out
	fi
}

skip() {
	tests_done=$((tests_done + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tests_done" "$1" "$2"
}

# refused WORDS COMMAND...: fails, and says WORDS
refused() {
	local words=$1
	shift
	"$@" >/tmp/refused.out 2>&1 && {
		echo 'was not refused'
		return 1
	}
	grep -qF -- "$words" /tmp/refused.out || {
		cat /tmp/refused.out
		return 1
	}
}

# unit PROGRAM: its tests are ours. What it says before a skip is the reason.
unit() {
	local status=0
	CMOCKA_MESSAGE_OUTPUT=TAP LONG=1 "/build/$1" >/tmp/unit.out 2>&1 || status=$?
	awk -v from="$tests_done" -v unit="$1" -v status="$status" '
	/^1\.\.[0-9]+/ { plan = substr($1, 4); next }
	/^(not )?ok [0-9]+/ {
		seen++
		bad = $1 == "not" && tolower($0) !~ /# skip/
		failed += bad
		sub(/^(not )?ok [0-9]+/, ($1 == "not" ? "not " : "") "ok " (from + seen))
	}
	{ print }
	END {
		if (seen < plan || !plan || (status && !failed)) {
			seen++
			printf "not ok %d - %s ended with status %d after %d of %d tests\n", \
				from + seen, unit, status, seen - 1, plan
		}
		print seen + 0 >"/tmp/unit.seen"
	}' /tmp/unit.out
	tests_done=$((tests_done + $(cat /tmp/unit.seen)))
}

finish() {
	printf '1..%d\n' "$tests_done"
}

# fio_verify PLUGIN OPTION...: write with checksums, read back, compare
fio_verify() {
	local plugin=$1
	shift
	fio --name=verify "--ioengine=external:$plugin" --thread=1 --rw=randwrite --bs=4k \
		--size=4m --verify=crc32c --verify_fatal=1 "$@"
}

# Wait for something that another process is about to bring about: N tries, each of which
# takes about the time of a process.
until_true() {
	local tries=500
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
	done
}

nd=/sys/bus/nd

# The first region with memory of NODE: their numbers do not follow the nodes'.
region_of_node() {
	local region
	for region in "$nd"/devices/region*; do
		if [ "$(cat "$region/numa_node")" = "$1" ]; then
			basename "$region"
			return
		fi
	done
	return 1
}

# make_namespace NODE KIND DRIVER: the raw namespace of the NVDIMM of NODE becomes what the
# seed of KIND (pfn, dax) makes of it, with its pages' descriptions in the NVDIMM itself
make_namespace() {
	local region seed number
	region=$(region_of_node "$1") || return
	seed=$(cat "$nd/devices/$region/$2_seed")
	number=${region#region}
	echo "namespace$number.0" >"$nd/drivers/nd_pmem/unbind"
	cat /proc/sys/kernel/random/uuid >"$nd/devices/$seed/uuid"
	echo pmem >"$nd/devices/$seed/mode"
	echo 2097152 >"$nd/devices/$seed/align"
	echo "namespace$number.0" >"$nd/devices/$seed/namespace"
	echo "$seed" >"$nd/drivers/$3/bind"
	number=$(find "$nd/devices/$seed/" \( -path '*/block/pmem*' -o -path '*/dax*/dax*.*' \) \
		-maxdepth 4 | head -n 1)
	echo "/dev/${number##*/}"
}

# fsdax_mount NODE DIR: an ext4 with DAX on the NVDIMM of NODE
fsdax_mount() {
	local device
	device=$(make_namespace "$1" pfn nd_pmem) || return
	mkfs.ext4 -q -b 4096 "$device" && mkdir -p "$2" && mount -t ext4 -o dax "$device" "$2"
}

make_file() {
	dd if=/dev/zero of="$1" bs=1M count="$2"
}

# The last page of PID's mapping of FILE is there, so that all are: they come in upwards.
# A mapping of DAX is not counted in Rss, so the page table is asked (bit 63 of an entry).
mapped_whole() {
	local end top
	end=$(awk -v file="$2" '$NF == file { split($1, at, "-"); end = at[2] }
		END { print end }' "/proc/$1/maps")
	[ -n "$end" ] || return 1
	top=$(dd if="/proc/$1/pagemap" bs=8 skip=$((0x$end / 4096 - 1)) count=1 2>/dev/null |
		od -An -tx1 | awk '{ print $8 }')
	case $top in [89a-f]?) ;; *) return 1 ;; esac
}

# mapped_with FLAG PID FILE: the kernel says so of the mapping (VmFlags of smaps)
mapped_with() {
	awk -v flag="$1" -v file="$3" '/^[0-9a-f]+-/ { ours = $NF == file }
		ours && /^VmFlags:/ && $0 " " ~ " " flag " " { found = 1 }
		END { exit !found }' "/proc/$2/smaps"
}

during_at=${TMPDIR:-/tmp}

# beside EXITALL 'COMMAND' OPTION...: a job with OPTION... runs while COMMAND looks at it or
# meddles with it; in COMMAND $pid is fio. With EXITALL 1 the job ends when COMMAND has,
# however long that took; with 0 it has to end by itself. Its runtime is longer than a guest
# lives, so that no look has to be quicker than it. Fails when either does.
beside() {
	local exitall=$1 command=$2
	shift 2
	[ "$exitall" = 1 ] || exitall= # fio takes the option for set whatever its value is
	rm -f "$during_at/during.ok"
	cat >"$during_at/during.sh" <<-END
		. ${LAB_LIB:-/lab/lib.sh}
		pid=\$1
		$command && : >$during_at/during.ok
		exit 0
	END
	# shellcheck disable=SC2016 # $PPID is of the shell that fio starts
	fio --output-format=json --output="$during_at/during.json" --thread=1 --bs=4k \
		--size=16m --norandommap=1 --name=job "$@" --time_based=1 --runtime=1000 \
		--name=other --ioengine=null --rw=read --time_based=0 ${exitall:+--exitall} \
		"--exec_prerun=sh $during_at/during.sh \$PPID" &&
		[ -e "$during_at/during.ok" ]
}

during() {
	beside 1 "$@"
}

# jq over the JSON of the last job, which fio's remarks may precede
during_says() {
	sed -n '/^{/,$p' "$during_at/during.json" | jq -e "$1"
}

# Reserved pages of KIB each that somebody has.
pages_in_use() {
	local pool=/sys/kernel/mm/hugepages/hugepages-$1kB
	echo $(($(cat "$pool/nr_hugepages") - $(cat "$pool/free_hugepages")))
}

some_pages_in_use() {
	[ "$(pages_in_use "$1")" -gt 0 ]
}

# side WORDS OPTION...: what a short writing job says of itself passes the jq filter WORDS
side() {
	local words="$1"
	shift
	rm -f /tmp/side
	fio --name=side "--ioengine=external:$SYNC" --thread=1 --rw=write --bs=4k --size=1m \
		--sidecar=/tmp/side "$@" &&
		jq -e "$words" /tmp/side
}
