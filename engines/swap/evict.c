// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making room: write-protect, copy out, drop, in that order and never another. What is
 * stored before the protection is in the copy; what is stored after it faults, and finds
 * the page again as it was copied.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "engines/base/clock.h"
#include "engines/swap/internal.h"

struct victims {
	unsigned nr;
	uint64_t pages[CP_SWAP_BATCH_MAX];
	bool keep[CP_SWAP_BATCH_MAX]; /* its page-out failed */
};

static bool is_dirty(const struct cp_swap *swap, uint64_t page)
{
	return !swap->cfg.clean || swap->flags[page] & SWAP_DIRTY;
}

/* Clean ones are protected since their page-in. Neighbours, as touching in order brings
 * them, are one call. */
static int protect(const struct cp_swap *swap, const struct victims *victims)
{
	const uint64_t *pages = victims->pages;

	for (unsigned i = 0, n; i < victims->nr; i += n) {
		n = 1;
		if (!is_dirty(swap, pages[i]))
			continue;
		while (i + n < victims->nr && pages[i + n] == pages[i] + n &&
		       is_dirty(swap, pages[i + n]))
			n++;
		int ret = swap_uffd_protect(&swap->uffd, swap_page(swap, pages[i]),
					    n * CP_SWAP_PAGE, true);
		if (ret)
			return ret;
	}
	return 0;
}

static void copy_out(struct cp_swap *swap, struct victims *victims)
{
	struct cp_io ios[CP_SWAP_BATCH_MAX], *list[CP_SWAP_BATCH_MAX];
	unsigned index[CP_SWAP_BATCH_MAX], nr = 0;

	for (unsigned i = 0; i < victims->nr; i++) {
		uint64_t page = victims->pages[i];

		victims->keep[i] = false;
		if (!is_dirty(swap, page)) {
			swap->stats.dropped_clean++;
			continue;
		}
		ios[nr] = (struct cp_io){.near = swap_page(swap, page),
					 .offset = page * CP_SWAP_PAGE,
					 .bytes = CP_SWAP_PAGE,
					 .dir = CP_DIR_WRITE};
		list[nr] = &ios[nr];
		index[nr++] = i;
	}
	if (nr)
		cp_sub_run(swap->sub, list, nr);
	for (unsigned i = 0; i < nr; i++) {
		victims->keep[index[i]] = ios[i].error != 0;
		if (ios[i].error) {
			/* The device may have some of both: what it had is lost, and
			 * the page in memory is all there is. */
			swap->flags[victims->pages[index[i]]] &= (uint8_t)~SWAP_STORED;
			swap->stats.out_errors++;
		} else {
			swap->flags[victims->pages[index[i]]] |= SWAP_STORED;
			swap->stats.page_outs++;
		}
	}
}

static int keep(struct cp_swap *swap, uint64_t page)
{
	swap->flags[page] |= SWAP_DIRTY;
	swap_push(swap, page);
	return swap_uffd_protect(&swap->uffd, swap_page(swap, page), CP_SWAP_PAGE, false);
}

static int drop(struct cp_swap *swap, const struct victims *victims)
{
	const uint64_t *pages = victims->pages;
	int ret = 0;

	for (unsigned i = 0, n; i < victims->nr && !ret; i += n) {
		n = 1;
		if (victims->keep[i]) {
			ret = keep(swap, pages[i]);
			continue;
		}
		while (i + n < victims->nr && pages[i + n] == pages[i] + n &&
		       !victims->keep[i + n])
			n++;
		if (madvise(swap_page(swap, pages[i]), n * CP_SWAP_PAGE, MADV_DONTNEED))
			ret = -errno;
		for (unsigned k = 0; k < n && !ret; k++)
			swap->flags[pages[i] + k] &=
				(uint8_t) ~(SWAP_RESIDENT | SWAP_DIRTY);
	}
	return ret;
}

static void gap(uint64_t ns)
{
	uint64_t start_ns = cp_now_ns();

	while (cp_now_ns() - start_ns < ns)
		cp_cpu_relax();
}

/* Returns how many were looked at. */
static unsigned evict(struct cp_swap *swap)
{
	struct victims victims = {0};
	bool bare = swap->cfg.unprotected_gap_ns != 0;
	int ret = 0;

	while (victims.nr < swap->cfg.batch && swap->nr_resident)
		victims.pages[victims.nr++] = swap_pop(swap);
	if (!bare)
		ret = protect(swap, &victims);
	if (!ret) {
		copy_out(swap, &victims);
		if (bare)
			gap(swap->cfg.unprotected_gap_ns);
		ret = drop(swap, &victims);
	}
	if (ret)
		swap_break(swap, ret);
	return victims.nr;
}

bool swap_make_room(struct cp_swap *swap, unsigned n)
{
	uint64_t looked = 0, all = swap->nr_resident;

	/* Each page once: that all of them fail twice proves no more. */
	while (swap->nr_resident + n > swap->cfg.resident && looked < all &&
	       !cp_swap_broken(swap))
		looked += evict(swap);
	return swap->nr_resident + n <= swap->cfg.resident;
}
