/* SPDX-License-Identifier: GPL-2.0-only */
/* libpmem's opinion, as a check on ours. Loaded when asked, never needed. */
#ifndef CP_ENGINES_MEDIA_PMEMLIB_H
#define CP_ENGINES_MEDIA_PMEMLIB_H

enum cp_pmemlib { CP_PMEMLIB_NO, CP_PMEMLIB_YES, CP_PMEMLIB_SILENT };

/*
 * Does libpmem (library: CP_COPY_LIBPMEM but in tests) take the file for persistent
 * memory? It maps all of it once more, touches nothing and unmaps it; it opens for
 * reading and writing, and never changes its length. SILENT, with why in *ret_why
 * (static): no library, a file that it cannot map, or PMEM_IS_PMEM_FORCE is set and makes
 * it say what it is told.
 */
enum cp_pmemlib cp_pmemlib_ask(const char *library, const char *path,
			       const char **ret_why);

#endif
