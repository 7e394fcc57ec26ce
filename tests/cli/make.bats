# SPDX-License-Identifier: GPL-2.0-only

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	tmp=$BATS_TEST_TMPDIR
	out=$tmp/fio-version.h
}

# A tree that says it is the source of fio $2, enough for fio-version.sh.
fio_tree() {
	mkdir -p "$1"
	: >"$1/fio.h"
	: >"$1/config-host.h"
	printf 'DEF_VER=%s\n' "$2" >"$1/FIO-VERSION-GEN"
}

# A fio on the PATH that says it is $1.
fake_fio() {
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\necho %s\n' "$1" >"$tmp/bin/fio"
	chmod +x "$tmp/bin/fio"
	PATH=$tmp/bin:$PATH
}

@test "help fits on a screen and names every target a person types" {
	run make -s help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -lt 25 ]
	local target
	for target in all deps bench test test-long test-kernel bench-engine gate report lint format \
		install clean; do
		[[ "$output" == *" $target "* ]]
		grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile
	done
}

@test "gate without its two runs says how to call it" {
	run make gate BASELINE=a
	[ "$status" -eq 2 ]
	[[ "$output" == *"make gate BASELINE=RUN CANDIDATE=RUN"* ]]
}

@test "the version header names the fio that headers and program agree on" {
	fake_fio fio-9.1
	fio_tree "$tmp/src" fio-9.1
	run bash scripts/fio-version.sh "$tmp/src" "$out"
	[ "$status" -eq 0 ]
	grep -qx '#define CP_FIO_VERSION "fio-9.1"' "$out"
}

@test "an unchanged version header is left alone, a changed one is written" {
	fake_fio fio-9.1
	fio_tree "$tmp/src" fio-9.1
	bash scripts/fio-version.sh "$tmp/src" "$out"
	touch -d '2001-01-01' "$out"
	bash scripts/fio-version.sh "$tmp/src" "$out"
	[ "$(stat -c %Y "$out")" = "$(date -d '2001-01-01' +%s)" ]
	fake_fio fio-9.2
	fio_tree "$tmp/src" fio-9.2
	bash scripts/fio-version.sh "$tmp/src" "$out"
	grep -q fio-9.2 "$out"
}

@test "headers of another fio are refused; both are named, and what to do" {
	fake_fio fio-9.2
	fio_tree "$tmp/src" fio-9.1
	run bash scripts/fio-version.sh "$tmp/src" "$out"
	[ "$status" -eq 4 ]
	[[ "$output" == *"fio is 'fio-9.2' but the headers in '$tmp/src' are 'fio-9.1'"* ]]
	[[ "$output" == *"make deps"*FIO_SRC* ]]
	[ ! -e "$out" ]
}

@test "no headers, other things than headers and unconfigured headers are told apart" {
	run bash scripts/fio-version.sh "$tmp/none" "$out"
	[ "$status" -eq 4 ]
	[[ "$output" == *"no fio source in"*"make deps"* ]]
	mkdir "$tmp/empty"
	run bash scripts/fio-version.sh "$tmp/empty" "$out"
	[ "$status" -eq 4 ]
	[[ "$output" == *"not a fio source tree"* ]]
	fio_tree "$tmp/raw" fio-9.1
	rm "$tmp/raw/config-host.h"
	run bash scripts/fio-version.sh "$tmp/raw" "$out"
	[ "$status" -eq 4 ]
	[[ "$output" == *"not configured"* ]]
}

@test "a build against the wrong headers stops before it compiles a plug-in" {
	fake_fio fio-9.2
	fio_tree "$tmp/src" fio-9.1
	local sources=(engines/fio/*.c) object
	object=$tmp/b/obj/${sources[0]%.c}.o
	run make B="$tmp/b" FIO_SRC="$tmp/src" "$object"
	[ "$status" -eq 2 ]
	[[ "$output" == *"fio is 'fio-9.2' but the headers"* ]]
	[ ! -e "$object" ]
}

@test "deps on a complete machine asks no network and changes nothing" {
	[ -f build/fio-src/config-host.h ] || skip "no fetched fio source here (FIO_SRC is used)"
	mkdir -p "$tmp/bin"
	local tool
	for tool in apt-get sudo; do
		printf '#!/bin/sh\necho "%s was called" >&2\nexit 1\n' "$tool" >"$tmp/bin/$tool"
		chmod +x "$tmp/bin/$tool"
	done
	PATH=$tmp/bin:$PATH run bash scripts/deps.sh build/fio-src
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
}

@test "deps without apt lists what is needed and stops" {
	mkdir "$tmp/bin"
	local tool
	for tool in bash sed printf env; do
		ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
	done
	PATH=$tmp/bin run bash scripts/deps.sh build/fio-src
	[ "$status" -eq 1 ]
	[[ "$output" == *"this system has no dpkg-query"* ]]
	[[ "$output" == *libjansson-dev* ]]
}

@test "deps says when the user's own fio source is not there" {
	FIO_SRC_GIVEN=1 run bash scripts/deps.sh "$tmp/none"
	[ "$status" -eq 1 ]
	[[ "$output" == *"FIO_SRC '$tmp/none' is not a folder"* ]]
}

@test "the private source list holds this release's archives as deb-src and no others" {
	local code etc=$tmp/etc
	code=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	mkdir -p "$etc/sources.list.d"
	cat >"$etc/sources.list.d/debian.sources" <<END
Types: deb
# a remark
URIs: http://mirror.example/debian
Suites: $code $code-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://other.example/apt
Suites: nodistro
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: $code
Components: main
END
	cat >"$etc/sources.list" <<END
# deb http://commented.example/debian $code main
deb [arch=amd64 signed-by=/k.gpg] http://line.example/debian $code-security main contrib
deb http://third.example/apt stable-thing main
END
	APT_SOURCE_ETC=$etc APT_SOURCE_LISTS_ONLY=1 run bash scripts/apt-source.sh "$tmp/apt" fio 1
	[ "$status" -eq 0 ]
	run cat "$tmp/apt/sources.d/source.sources" "$tmp/apt/sources.d/source.list"
	echo "$output"
	[[ "$output" == *"Types: deb-src"*"mirror.example"*"Signed-By"* ]]
	[[ "$output" == *"deb-src [arch=amd64 signed-by=/k.gpg] http://line.example/debian $code-security main contrib"* ]]
	[[ "$output" != *other.example* && "$output" != *off.example* ]]
	[[ "$output" != *commented.example* ]]
}

@test "a machine without a Debian archive is told to set FIO_SRC" {
	mkdir -p "$tmp/etc/sources.list.d"
	APT_SOURCE_ETC=$tmp/etc APT_SOURCE_LISTS_ONLY=1 run bash scripts/apt-source.sh "$tmp/apt" fio 1
	[ "$status" -eq 1 ]
	[[ "$output" == *"set FIO_SRC=DIR"* ]]
}

# A tree of tests that end in every way, run by the real test.sh.
fake_tests() {
	mkdir -p "$tmp/t/tests/cli" "$tmp/t/engines/x/t" "$tmp/t/b/engines/x/t"
	mkdir -p "$tmp/t/policies" "$tmp/t/results" "$tmp/t/report" "$tmp/t/bench"
	ln -s "$PWD/scripts" "$tmp/t/scripts"
	cd "$tmp/t" || return 1
}
fake_unit() { # NAME SCRIPT
	: >"engines/x/t/$1_test.c"
	printf '#!/bin/sh\n%s\n' "$2" >"b/engines/x/t/$1_test"
	chmod +x "b/engines/x/t/$1_test"
}
run_fake() {
	run env -u SANITIZE bash scripts/test.sh b
	echo "$output"
}

@test "the counts are the last line; passes and skips with reasons are told apart" {
	fake_tests
	fake_unit a 'echo 1..2; echo ok 1 - x; echo no such hardware; echo "not ok 2 # SKIP y"'
	printf '@test "z" { skip "not here"; }\n@test "w" { true; }\n' >tests/cli/z.bats
	run_fake
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "2 passed, 0 failed, 2 skipped" ]
	[[ "$output" == *"y: no such hardware"* ]]
	[[ "$output" == *"z # skip not here"* ]]
}

@test "a failed test fails the run and its whole output is shown" {
	fake_tests
	fake_unit a 'echo 1..2; echo ok 1 - x; echo not ok 2 - y; echo "# because"; exit 1'
	run_fake
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "1 passed, 1 failed, 0 skipped" ]
	[[ "$output" == *"# because"* ]]
}

@test "a crash, a missing program and a late non-zero exit are failures" {
	fake_tests
	fake_unit crash 'echo 1..3; echo ok 1 - x; kill -SEGV $$'
	fake_unit late 'echo 1..1; echo ok 1 - x; exit 23'
	: >engines/x/t/missing_test.c
	run_fake
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "2 passed, 3 failed, 0 skipped" ]
}

@test "a test that hangs is ended and is a failure" {
	fake_tests
	fake_unit hang 'exec tail -f /dev/null'
	TEST_TIMEOUT=0.2 run_fake
	[ "$status" -eq 1 ]
	[[ "$output" == *"took too long"* ]]
}

@test "no test at all is not a pass" {
	fake_tests
	run_fake
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "0 passed, 0 failed, 0 skipped" ]
}

@test "long tests run only when they are asked for" {
	fake_tests
	printf '@test "a" { true; }\n# bats test_tags=long\n@test "b" { true; }\n' >tests/cli/a.bats
	run_fake
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
	LONG=1 run_fake
	[ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
}

# A make that says how its tests went: $1 is what it prints, $2 its exit status.
fake_make() {
	mkdir -p "$tmp/bin" "$tmp/clone/.ci"
	printf '#!/bin/sh\n%s\nexit %s\n' "$1" "$2" >"$tmp/bin/make"
	chmod +x "$tmp/bin/make"
	cp .ci/run "$tmp/clone/.ci/run"
	PATH=$tmp/bin:$PATH
}

@test "ci: a green run ends with the counts, has no stdin and knows that it is ci" {
	# shellcheck disable=SC2016 # for the fake to expand
	fake_make 'read -r x && echo stdin; echo "CI=$CI"; echo 5 passed, 0 failed, 1 skipped' 0
	run bash "$tmp/clone/.ci/run" <<<"words"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "5 passed, 0 failed, 1 skipped" ]
	[[ "$output" == *CI=true* && "$output" != *stdin* ]]
}

@test "ci: a red run ends with the counts, below what make says of it" {
	fake_make 'echo 5 passed, 2 failed, 1 skipped; echo "make: *** Error 1" >&2' 2
	run bash "$tmp/clone/.ci/run"
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "5 passed, 2 failed, 1 skipped" ]
}

@test "ci: a run that never came to the tests is a failed one" {
	fake_make 'echo no compiler >&2' 2
	run bash "$tmp/clone/.ci/run"
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
}

# A copypath that exits with $2 for the verb $1 and leaves a run as `run` does.
fake_copypath() {
	mkdir -p "$tmp/w/b" "$tmp/w/results/runs/r1"
	cat >"$tmp/w/b/copypath" <<END
#!/bin/sh
echo "verb \$*"
[ "\$1" != run ] || ln -sfn r1 results/runs/last
[ "\$1" != "$1" ] || exit $2
END
	chmod +x "$tmp/w/b/copypath"
	bench=$PWD/scripts/bench.sh
	cd "$tmp/w" || return 1
}

@test "bench: measures, learns into the run, reports, and says where" {
	fake_copypath none 0
	run bash "$bench" b
	[ "$status" -eq 0 ]
	[[ "$output" == *"verb run configs/workloads/quick.yaml"* ]]
	[[ "$output" == *"verb learn results/runs/r1 -o results/runs/r1/policy.yaml"* ]]
	[[ "$output" == *"verb report results/runs/r1"* ]]
	[[ "$output" == *"report   results/runs/r1/report/index.html"* ]]
}

@test "bench: not enough evidence is an answer, and is said" {
	fake_copypath learn 3
	run bash "$bench" b
	[ "$status" -eq 0 ]
	[[ "$output" == *"verb report"*"not enough evidence"* ]]
}

@test "bench: failed samples still give a report, and exit 1" {
	fake_copypath run 1
	run bash "$bench" b
	[ "$status" -eq 1 ]
	[[ "$output" == *"verb report"*"some samples failed"* ]]
}

@test "bench: an interrupted run, bad input or a failed report stop it with their code" {
	local case verb code
	for case in run:130 run:2 run:4 learn:2 learn:4 report:4; do
		verb=${case%:*} code=${case#*:}
		rm -rf "$tmp/w"
		(fake_copypath "$verb" "$code" && run bash "$bench" b && [ "$status" -eq "$code" ])
	done
}
