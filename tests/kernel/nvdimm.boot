# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2054
#
# Two nodes with an NVDIMM each. A power loss takes what is in the CPU's caches with it.
qemu=(
	-machine pc,nvdimm=on,nvdimm-persistence=mem-ctrl -m 1280M,slots=4,maxmem=8G
	-smp 2,sockets=2,cores=1,threads=1
	-object memory-backend-ram,id=ram0,size=768M -numa node,nodeid=0,cpus=0,memdev=ram0
	-object memory-backend-ram,id=ram1,size=512M -numa node,nodeid=1,cpus=1,memdev=ram1
	-numa dist,src=0,dst=1,val=21
	# without the alignment the second one's namespaces cannot be made
	-object memory-backend-file,id=pmem0,share=on,mem-path=pmem0,size=384M,align=128M
	-object memory-backend-file,id=pmem1,share=on,mem-path=pmem1,size=384M,align=128M
	-device nvdimm,id=nv0,memdev=pmem0,node=0
	-device nvdimm,id=nv1,memdev=pmem1,node=1
)
append=(lab_domain=memory_controller)
scenarios=(fsdax.sh devdax.sh probe.sh media.sh)
programs=(engines/media/t/dax_test)
