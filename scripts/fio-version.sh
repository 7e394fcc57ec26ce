#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: fio-version.sh FIO_SRC OUT.h
#
# Write the header that says which fio the plug-ins are built for. FIO_IOOPS_VERSION alone
# is not enough (structures change between releases of the same number), so the release of
# the headers must be that of the fio that will load the plug-ins.
set -eu

die() {
	printf 'error: %s\n' "$*" >&2
	exit 4
}

[ $# -eq 2 ] || die "usage: fio-version.sh FIO_SRC OUT.h"
src=$1
out=$2

[ -d "$src" ] || die "no fio source in '$src'; run 'make deps', or set FIO_SRC=DIR"
[ -f "$src/fio.h" ] || die "'$src' is not a fio source tree (no fio.h); set FIO_SRC=DIR"
[ -f "$src/config-host.h" ] ||
	die "'$src' is not configured; run ./configure --disable-native there, or 'make deps'"

# The order of fio's own FIO-VERSION-GEN, without writing into the tree.
headers=
if [ -f "$src/version" ]; then
	headers=$(cat "$src/version")
elif [ -e "$src/.git" ] && command -v git >/dev/null 2>&1; then
	headers=$(git -C "$src" describe --match 'fio-[0-9]*' --abbrev=4 HEAD 2>/dev/null) ||
		headers=
fi
if [ -z "$headers" ] && [ -f "$src/FIO-VERSION-GEN" ]; then
	headers=$(sed -n 's/^DEF_VER=//p' "$src/FIO-VERSION-GEN" | head -n 1)
fi
headers=${headers#v}
case $headers in
fio-[0-9]*) ;;
*) die "cannot tell which fio '$src' is; expected FIO-VERSION-GEN to say fio-X.Y" ;;
esac

command -v fio >/dev/null 2>&1 || die "fio is not installed; run 'make deps'"
installed=$(fio --version) || die "'fio --version' failed"
[ "$installed" = "$headers" ] ||
	die "fio is '$installed' but the headers in '$src' are '$headers';" \
		"run 'make deps', or set FIO_SRC to the source of $installed"

text=$(
	cat <<END
/* SPDX-License-Identifier: GPL-2.0-only */
/* Written by scripts/fio-version.sh. */
#ifndef CP_FIO_VERSION_H
#define CP_FIO_VERSION_H
#define CP_FIO_VERSION "$headers"
#endif
END
)
# Left alone when unchanged, so that nothing is compiled again.
if [ -f "$out" ] && [ "$(cat "$out")" = "$text" ]; then
	exit 0
fi
mkdir -p "$(dirname "$out")"
printf '%s\n' "$text" >"$out.tmp.$$"
mv "$out.tmp.$$" "$out"
