// SPDX-License-Identifier: GPL-2.0-only
#include "engines/media/pmemlib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef void *map_fn(const char *path, size_t len, int flags, mode_t mode,
		     size_t *ret_len, int *ret_is_pmem);
typedef int unmap_fn(void *addr, size_t len);

enum cp_pmemlib cp_pmemlib_ask(const char *library, const char *path,
			       const char **ret_why)
{
	map_fn *map = NULL;
	unmap_fn *unmap = NULL;
	size_t len = 0;
	int is_pmem = 0;

	/* libpmem read it when it was loaded, maybe by somebody else */
	if (getenv("PMEM_IS_PMEM_FORCE")) {
		*ret_why = "PMEM_IS_PMEM_FORCE is set, libpmem's word does not count";
		return CP_PMEMLIB_SILENT;
	}
	/* Stays loaded: a copy kernel may be using it. */
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *symbols[2] = {handle ? dlsym(handle, "pmem_map_file") : NULL,
			    handle ? dlsym(handle, "pmem_unmap") : NULL};

	if (!symbols[0] || !symbols[1]) {
		*ret_why = "libpmem is not here to agree";
		return CP_PMEMLIB_SILENT;
	}
	/* POSIX says that a function fits in a void *, ISO C has no cast for it */
	memcpy(&map, &symbols[0], sizeof(map));
	memcpy(&unmap, &symbols[1], sizeof(unmap));
	/* length and flags 0: an existing file, as long as it is */
	void *addr = map(path, 0, 0, 0, &len, &is_pmem);

	if (!addr) {
		*ret_why = "libpmem cannot map it";
		return CP_PMEMLIB_SILENT;
	}
	unmap(addr, len);
	return is_pmem ? CP_PMEMLIB_YES : CP_PMEMLIB_NO;
}
