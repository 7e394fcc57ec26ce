# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests of the plug-ins under fio itself: to be loaded by a bats file.

setup_file() {
	BUILD=$(cd "${COPYPATH_BUILD:-build}" && pwd)
	export BUILD SYNC="$BUILD/copypath-sync.so" ASYNC="$BUILD/copypath-async.so"
}

# engine PLUGIN OPTION...: one fio job, JSON in $json, its figures in $side
engine() {
	local plugin=$1
	shift
	# shellcheck disable=SC2154 # a test's setup() names json and side
	fio --output-format=json "--output=$json" "--ioengine=external:$plugin" --name=t \
		--thread=1 "--sidecar=$side" "$@"
}
