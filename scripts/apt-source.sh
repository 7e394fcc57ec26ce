#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: apt-source.sh APTDIR PACKAGE VERSION
#
# Download a source package into APTDIR/src. The archives are those this machine already
# uses for its release, as deb-src in a private list; nothing outside APTDIR is written.
set -euo pipefail

apt=$(realpath -m "${1:?usage: apt-source.sh APTDIR PACKAGE VERSION}")
package=${2:?}
version=${3:?}
etc=${APT_SOURCE_ETC:-/etc/apt} # a test has its own
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

# A deb822 stanza of this release's suites, as deb-src. Comments and unknown fields stay.
stanzas_to_source() {
	awk -v code="$codename" '
	function flush() {
		if (binary && ours && !off)
			printf "%s\n", text
		text = ""; binary = ours = off = 0
	}
	/^[ \t]*$/ { flush(); next }
	/^#/ { next }
	{ lower = tolower($0) }
	lower ~ /^types:/ { if ($0 ~ /deb/) binary = 1; $0 = "Types: deb-src" }
	lower ~ /^enabled:[ \t]*(no|false|off|0)/ { off = 1 }
	lower ~ /^suites:/ {
		for (i = 2; i <= NF; i++)
			if (index($i, code) == 1 || $i ~ /^(old)*stable(-|$)/)
				ours = 1
	}
	{ text = text $0 "\n" }
	END { flush() }' "$@"
}

# One-line entries of the same suites, as deb-src.
lines_to_source() {
	awk -v code="$codename" '
	$1 == "deb" || $1 == "deb-src" {
		i = 2
		if ($2 ~ /^\[/)
			while (i <= NF && $(i++) !~ /\]$/)
				;
		suite = $(i + 1)
		if (index(suite, code) == 1 || suite ~ /^(old)*stable(-|$)/) {
			sub(/#.*/, "")
			$1 = "deb-src"
			print
		}
	}' "$@"
}

write_lists() {
	local deb822=() lines=() file

	for file in "$etc"/sources.list.d/*.sources; do
		[ ! -f "$file" ] || deb822+=("$file")
	done
	for file in "$etc"/sources.list "$etc"/sources.list.d/*.list; do
		[ ! -f "$file" ] || lines+=("$file")
	done
	rm -rf "$apt/sources.d"
	mkdir -p "$apt/sources.d"
	# A blank line between files: a stanza may end without one.
	if [ "${#deb822[@]}" -gt 0 ]; then
		for file in "${deb822[@]}"; do
			stanzas_to_source "$file"
		done >"$apt/sources.d/source.sources"
	fi
	if [ "${#lines[@]}" -gt 0 ]; then
		lines_to_source "${lines[@]}" | sort -u >"$apt/sources.d/source.list"
	fi
	if [ -z "$(cat "$apt/sources.d/"*)" ]; then
		echo "error: no Debian archive of '$codename' in '$etc'; set FIO_SRC=DIR" >&2
		exit 1
	fi
}

# Read after the machine's own configuration: hooks that touch the system are cleared, and
# as root nothing is handed to a user that cannot read this folder.
write_conf() {
	cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources.d";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
Dir::Log "$apt";
APT::Sandbox::User "root";
APT::Get::Only-Source "true";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
}

mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/src"
write_lists
[ "${APT_SOURCE_LISTS_ONLY:-0}" = 0 ] || exit 0
write_conf
apt-get -q -c "$apt/apt.conf" update >"$apt/log" 2>&1 || {
	cat "$apt/log" >&2
	exit 1
}
cd "$apt/src"
apt-get -q -c "$apt/apt.conf" source --download-only "$package=$version" >"$apt/log" 2>&1 || {
	cat "$apt/log" >&2
	exit 1
}
