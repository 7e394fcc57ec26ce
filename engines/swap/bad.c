// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages whose access gets SIGBUS, since they could not be read. By UFFDIO_POISON (Linux
 * 6.6), or by a mapping without backing: a shared one of a file of no bytes.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/swap/internal.h"

static int map_empty(struct cp_swap *swap, uint64_t page)
{
	if (swap->empty_fd < 0)
		swap->empty_fd = memfd_create("copypath-swap", MFD_CLOEXEC);
	if (swap->empty_fd < 0)
		return -errno;
	void *at = mmap(swap_page(swap, page), CP_SWAP_PAGE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED, swap->empty_fd, 0);

	return at == MAP_FAILED ? -errno : 0;
}

int swap_bad_set(struct cp_swap *swap, uint64_t page)
{
	int ret = swap->uffd.poison ? swap_uffd_poison(&swap->uffd, swap_page(swap, page))
				    : map_empty(swap, page);

	if (!ret)
		ret = swap_uffd_wake(&swap->uffd, swap_page(swap, page));
	if (!ret)
		swap->flags[page] |= SWAP_BAD;
	return ret;
}

/* Memory that nobody watches yet must not be seen, it would read as zeros: it becomes
 * accessible only when it is registered. */
static int map_again(struct cp_swap *swap, void *at)
{
	if (mmap(at, CP_SWAP_PAGE, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return -errno;
	madvise(at, CP_SWAP_PAGE, MADV_NOHUGEPAGE);
	int ret = swap_uffd_register(&swap->uffd, at, CP_SWAP_PAGE);

	if (!ret && mprotect(at, CP_SWAP_PAGE, PROT_READ | PROT_WRITE))
		ret = -errno;
	return ret;
}

int swap_bad_clear(struct cp_swap *swap, uint64_t page)
{
	void *at = swap_page(swap, page);
	int ret;

	if (swap->uffd.poison)
		ret = madvise(at, CP_SWAP_PAGE, MADV_DONTNEED) ? -errno : 0;
	else
		ret = map_again(swap, at);
	if (!ret)
		swap->flags[page] &= (uint8_t)~SWAP_BAD;
	return ret;
}
