# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2054
#
# An NVDIMM on a platform that flushes the CPU's caches when power is lost.
qemu=(
	-machine pc,nvdimm=on,nvdimm-persistence=cpu -m 1G,slots=4,maxmem=8G -smp 2
	-object memory-backend-ram,id=ram0,size=1G -numa node,nodeid=0,memdev=ram0
	-object memory-backend-file,id=pmem0,share=on,mem-path=pmem0,size=384M,align=128M
	-device nvdimm,id=nv0,memdev=pmem0,node=0
)
append=(lab_domain=cpu_cache)
scenarios=(fsdax.sh)
programs=()
