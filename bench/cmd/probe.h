/* SPDX-License-Identifier: GPL-2.0-only */
/* What `probe` finds, as one JSON document; the text is printed from the same. */
#ifndef CP_BENCH_CMD_PROBE_H
#define CP_BENCH_CMD_PROBE_H

#include <jansson.h>

/* New references, never NULL short of memory. Each is one section of the document. */
json_t *cp_probe_fio(void);   /* program, version, headers, plug-ins */
json_t *cp_probe_host(void);  /* CPU, ISA, nodes, caches, memory, kernel settings */
json_t *cp_probe_copy(void);  /* kernels, with calibration figures */
json_t *cp_probe_flush(void); /* flush instructions, and persist: auto */
json_t *cp_probe_media(void); /* media, and persistent memory of this machine */
json_t *cp_probe_pmem(void);  /* regions, namespaces and dax devices of the kernel */
json_t *cp_probe_attrs(void); /* cache attributes, each with what it is on each media */
json_t *cp_probe_bars(void);  /* BARs of PCI devices that are memory */
json_t *cp_probe_dma(void);   /* engines, and channels of the kernel that none drives */
json_t *cp_probe_work_queues(void); /* of Intel DSA, each with its state */
json_t *cp_probe_perf(void);	    /* performance counters */
/* Of media anon with the engines of this machine; null when it cannot be told. */
json_t *cp_probe_fingerprint(void);

#endif
