#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: make-initramfs.sh KERNEL BUILD OUT FILE...
#
# Pack what a guest needs into OUT: busybox, fio, jq, mkfs.ext4, the program and plug-ins of
# BUILD, the modules of KERNEL (as get-kernel.sh left it) with those that they depend on,
# every library that any of it loads, and each FILE: a program below BUILD is put at the
# same place below /build, anything else into /lab under its own name.
set -euo pipefail

kernel=${1:?usage: make-initramfs.sh KERNEL BUILD OUT FILE...}
build=$(realpath "${2:?}")
out=$(realpath -m "${3:?}")
shift 3
abi=$(basename "$kernel")
modules=(nfit libnvdimm nd_pmem dax_pmem device_dax ext4 crc32c_generic pci-stub)
tools=(fio jq mkfs.ext4)

root=$(mktemp -d "${TMPDIR:-/tmp}/copypath-initramfs.XXXXXX")
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,dev,proc,sys,tmp,mnt,lab,build,"lib/modules/$abi"}

# Debug information is most of a program and nobody reads it there.
put_program() {
	mkdir -p "$(dirname "$root/$2")"
	strip -g -o "$root/$2" "$1" 2>/dev/null || cp "$1" "$root/$2"
	chmod 755 "$root/$2"
}

# Modules are named with - or _, in files with either.
put_modules() {
	local list=$kernel/lib/modules/$abi name file

	for name in "${modules[@]}"; do
		grep -qE "/${name//[-_]/[-_]}\.ko$" "$list/modules.builtin" && continue
		grep -E "/${name//[-_]/[-_]}\.ko:" "$list/modules.dep" || {
			printf 'error: the kernel %s has no module %s\n' "$abi" "$name" >&2
			return 1
		}
	done | tr -d : | tr ' ' '\n' | sort -u | while read -r file; do
		[ -z "$file" ] || (cd "$list" && cp --parents "$file" "$root/lib/modules/$abi")
	done
	busybox depmod -b "$root" "$abi"
}

# libpmem is opened at run time by its name, libgcc_s by the C library when a thread ends.
libraries() {
	{
		find "$root/bin" "$root/build" -type f -exec ldd {} + 2>/dev/null || true
		ldconfig -p | grep -E '^[[:space:]]*(libpmem\.so\.1|libgcc_s\.so\.1) .*x86-64' |
			sed 's/.*=> //' | while read -r file; do
			printf '\t%s\n' "$file"
			ldd "$file"
		done
	} | grep -oE '/[^ :]+\.so[^ :)]*' | sort -u
}

put_program "$(command -v busybox)" bin/busybox
for tool in "${tools[@]}"; do
	put_program "$(command -v "$tool")" "bin/$tool"
done
for file in "$build/copypath" "$build"/copypath-{sync,async}.so "$@"; do
	case $(realpath "$file") in
	"$build"/*) put_program "$file" "build/$(realpath --relative-to="$build" "$file")" ;;
	*) install -m 755 "$file" "$root/lab/" ;;
	esac
done
put_modules
libraries | while read -r file; do
	mkdir -p "$root$(dirname "$file")"
	cp -L "$file" "$root$file"
done
mv "$root/lab/init.sh" "$root/init"
mkdir -p "$(dirname "$out")"
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$out.tmp"
mv "$out.tmp" "$out"
