// SPDX-License-Identifier: GPL-2.0-only
/*
 * libpmem's own copies: what fio's libpmem engine runs with direct=1 (non-temporal
 * stores) and direct=0 (ordinary ones, which the library flushes out of the cache
 * itself), for comparison. The library is loaded when first asked for, so that neither
 * the plug-ins nor the command need it on machines that have none.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engines/copy/kernels.h"

/* libpmem.h has them too, but this file is to build without it; they are its ABI. */
#define PMEM_F_MEM_NODRAIN     (1U << 0)
#define PMEM_F_MEM_NONTEMPORAL (1U << 1)
#define PMEM_F_MEM_TEMPORAL    (1U << 2)

static struct {
	void *(*memcpy_)(void *dst, const void *src, size_t len, unsigned flags);
	void (*drain)(void);
} pmem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Stays loaded: kernels that were bound may run until the process ends. */
static void load(void)
{
	void *library = dlopen(CP_COPY_LIBPMEM, RTLD_NOW | RTLD_LOCAL);
	void *memcpy_, *drain;

	if (!library)
		return;
	memcpy_ = dlsym(library, "pmem_memcpy");
	drain = dlsym(library, "pmem_drain");
	if (!memcpy_ || !drain) {
		dlclose(library);
		return;
	}
	/* POSIX says that a function fits in a void *, ISO C has no cast for it */
	memcpy(&pmem.memcpy_, &memcpy_, sizeof(memcpy_));
	memcpy(&pmem.drain, &drain, sizeof(drain));
}

bool cp_copy_libpmem_present(void)
{
	pthread_once(&once, load);
	return pmem.memcpy_ != NULL;
}

/* Whatever they are set to, and whatever the library, which reads them when it is loaded,
 * makes of one without the other: all lines are flushed then, which is never wrong. */
bool cp_copy_libpmem_is_bent(void)
{
	return getenv("PMEM_NO_MOVNT") || getenv("PMEM_NO_FLUSH");
}

static size_t copy(void *dst, const void *src, size_t len, unsigned how)
{
	pmem.memcpy_(dst, src, len, how | PMEM_F_MEM_NODRAIN);
	/* One for all of it (an SFENCE on x86): the NT stores above must be visible to
	 * any thread that sees the completion the caller is about to publish, and flushes
	 * of ordinary stores must be done. */
	pmem.drain();
	return 0;
}

size_t cp_copy_libpmem(void *dst, const void *src, size_t len, enum cp_dir dir,
		       enum cp_attr attr)
{
	(void)dir;
	(void)attr;
	return copy(dst, src, len, PMEM_F_MEM_NONTEMPORAL);
}

size_t cp_copy_libpmem_temporal(void *dst, const void *src, size_t len, enum cp_dir dir,
				enum cp_attr attr)
{
	(void)dir;
	(void)attr;
	return copy(dst, src, len, PMEM_F_MEM_TEMPORAL);
}
