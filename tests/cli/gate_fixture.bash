# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Seeded runs for the tests of gate and compare.

copypath() {
	local build="${COPYPATH_BUILD:-build}"

	# tests change directory; a relative build folder is below the root of the source
	[[ "$build" == /* ]] || build="$BATS_TEST_DIRNAME/../../$build"
	"$build/copypath" "$@"
}

# make_records RUN SAMPLES SEED [BW-FACTOR]: records of one cell on stdout, noise 0.5 %
make_records() {
	awk -v run="$1" -v n="$2" -v seed="$3" -v factor="${4:-1}" '
	function noise() { return 1 + 0.005 * (rand() + rand() + rand() + rand() - 2) }
	BEGIN {
		srand(seed)
		for (s = 0; s < n; s++) {
			printf "{\"schema\":1,\"run\":\"%s\",\"sample\":%d,\"host\":\"h\",", run, s
			printf "\"t\":\"2026-11-30T12:00:%02dZ\",", s % 60
			printf "\"context\":{\"rw\":\"read\",\"bs\":65536,\"numjobs\":1,"
			printf "\"iodepth\":16,\"segments\":16,\"numa\":\"local\","
			printf "\"layer\":\"none\",\"attr\":\"wb\",\"media\":\"anon\","
			printf "\"corunner\":\"none\"},"
			printf "\"arm\":{\"name\":\"cpu/nt\",\"queue_mode\":\"bio\","
			printf "\"path\":\"cpu\",\"copy\":\"nt\"},"
			printf "\"provenance\":{\"media\":\"native\",\"attr\":\"native\","
			printf "\"dma\":\"none\"},\"metrics\":{\"bytes\":1000000000,"
			printf "\"elapsed_ns\":1000000000,"
			printf "\"bw_bytes_per_s\":%.3f,", 5e9 * factor * noise()
			printf "\"iops\":%.3f,", 76000 * noise()
			printf "\"lat_ns_mean\":%.3f,", 13000 * noise()
			printf "\"lat_ns_p50\":%.3f,", 12000 * noise()
			printf "\"lat_ns_p99\":%.3f,", 19000 * noise()
			printf "\"lat_ns_p999\":%.3f,", 45000 * noise()
			printf "\"cpu_ns\":%d},\"proof\":null,\"perf\":null}\n", \
				1e9 * noise()
		}
	}'
}

# make_run DIR SAMPLES SEED [BW-FACTOR [FINGERPRINT [COMPLETE]]]
make_run() {
	mkdir -p "$1"
	make_records "$(basename "$1")" "$2" "$3" "${4:-1}" >"$1/records.jsonl"
	cat >"$1/manifest.json" <<-MANIFEST
	{"schema":1,"kind":"run","run":"$(basename "$1")","t":"2026-11-30T12:00:00Z",
	 "host":"h","tool":{"copypath":"0.1.0","fio":"fio-3.33"},"config":{},
	 "config_hash":"sha256:c","fingerprint":{"hash":"sha256:${5:-f}",
	 "hard":{"kernel":"${5:-f}"},"soft":{}},"planned":$2,"complete":${6:-true},
	 "argv":[]}
	MANIFEST
}
