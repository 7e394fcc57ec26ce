// SPDX-License-Identifier: GPL-2.0-only
/* The pager's thread: reads faults, makes room, pages in, carries out commands. */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "engines/swap/internal.h"

/* Misses that were read together. */
struct misses {
	unsigned nr;
	uint64_t pages[SWAP_FAULTS_MAX];
	bool store[SWAP_FAULTS_MAX];
};

void swap_break(struct cp_swap *swap, int ret)
{
	int none = 0;

	atomic_compare_exchange_strong(&swap->broken, &none, ret);
}

/* Before the thread goes on, so that it can tell. release: pairs with the acquire of who
 * looks; the waking is the kernel's. */
static void count_for(struct cp_swap *swap, int tid)
{
	swap->stats.misses++;
	for (unsigned i = 0; i < CP_SWAP_THREADS_MAX; i++) {
		struct cp_swap_thread *thread = &swap->threads[i];

		if (atomic_load_explicit(&thread->tid, memory_order_acquire) != tid)
			continue;
		atomic_fetch_add_explicit(&thread->misses, 1, memory_order_release);
		return;
	}
}

static void must(struct cp_swap *swap, int ret)
{
	if (ret)
		swap_break(swap, ret);
}

/* A store to a page that was clean, or is being evicted no longer, or is gone. */
static void serve_protected(struct cp_swap *swap, uint64_t page)
{
	void *at = swap_page(swap, page);

	swap->stats.protected_faults++;
	if (swap->flags[page] & SWAP_RESIDENT) {
		swap->flags[page] |= SWAP_DIRTY;
		must(swap, swap_uffd_protect(&swap->uffd, at, CP_SWAP_PAGE, false));
	} else {
		swap->stats.stale++;
		must(swap, swap_uffd_wake(&swap->uffd, at));
	}
}

static void add_miss(struct cp_swap *swap, struct misses *misses, uint64_t page,
		     bool store)
{
	if (swap->flags[page] & (SWAP_RESIDENT | SWAP_BAD)) {
		/* Another thread's fault was served since. */
		must(swap, swap_uffd_wake(&swap->uffd, swap_page(swap, page)));
		return;
	}
	if (swap->flags[page] & SWAP_COMING) { /* wakes all who wait for it */
		for (unsigned i = 0; i < misses->nr; i++)
			if (misses->pages[i] == page)
				misses->store[i] |= store;
		return;
	}
	swap->flags[page] |= SWAP_COMING;
	misses->pages[misses->nr] = page;
	misses->store[misses->nr++] = store;
}

/* It arrived in from. */
static void place(struct cp_swap *swap, uint64_t page, const void *from, bool store)
{
	bool dirty = store || !swap->cfg.clean;
	int ret = swap_uffd_copy(&swap->uffd, swap_page(swap, page), from, !dirty);

	if (ret == -ENOMEM) {
		must(swap, swap_bad_set(swap, page));
		return;
	}
	must(swap, ret);
	if (ret)
		return;
	swap->flags[page] |= (uint8_t)(SWAP_RESIDENT | (dirty ? SWAP_DIRTY : 0));
	swap_push(swap, page);
}

static void page_in(struct cp_swap *swap, const struct misses *misses)
{
	struct cp_io ios[SWAP_FAULTS_MAX], *list[SWAP_FAULTS_MAX];
	unsigned nr = 0;

	for (unsigned i = 0; i < misses->nr; i++) {
		uint64_t page = misses->pages[i];
		unsigned char *buffer = swap->buffers + i * CP_SWAP_PAGE;

		ios[i] = (struct cp_io){.near = buffer,
					.offset = page * CP_SWAP_PAGE,
					.bytes = CP_SWAP_PAGE,
					.dir = CP_DIR_READ};
		if (swap->flags[page] & SWAP_STORED)
			list[nr++] = &ios[i];
		else
			memset(buffer, 0, CP_SWAP_PAGE);
	}
	if (nr)
		cp_sub_run(swap->sub, list, nr);
	for (unsigned i = 0; i < misses->nr; i++) {
		uint64_t page = misses->pages[i];
		bool stored = swap->flags[page] & SWAP_STORED;

		swap->flags[page] &= (uint8_t)~SWAP_COMING;
		if (stored && ios[i].error) {
			swap->stats.in_errors++;
			must(swap, swap_bad_set(swap, page));
			continue;
		}
		swap->stats.page_ins += stored;
		swap->stats.zero_fills += !stored;
		place(swap, page, swap->buffers + i * CP_SWAP_PAGE, misses->store[i]);
	}
}

static void serve_misses(struct cp_swap *swap, const struct misses *misses)
{
	if (!misses->nr)
		return;
	if (swap_make_room(swap, misses->nr)) {
		page_in(swap, misses);
		return;
	}
	for (unsigned i = 0; i < misses->nr && !cp_swap_broken(swap); i++) {
		swap->flags[misses->pages[i]] &= (uint8_t)~SWAP_COMING;
		swap->stats.no_room++;
		must(swap, swap_bad_set(swap, misses->pages[i]));
	}
}

/* Returns whether to go on. */
static bool obey(struct cp_swap *swap)
{
	enum swap_command command =
		atomic_load_explicit(&swap->command, memory_order_acquire);

	switch (command) {
	case SWAP_MEASURE_BEGIN:
		cp_sub_measure_begin(swap->sub);
		break;
	case SWAP_MEASURE_END:
		cp_sub_measure_end(swap->sub);
		break;
	case SWAP_REPORT:
		if (swap->out)
			cp_sub_report(swap->sub, swap->out);
		if (swap->ret_stats)
			*swap->ret_stats = swap->stats;
		break;
	case SWAP_HEAL:
		if (swap->flags[swap->heal_page] & SWAP_BAD)
			must(swap, swap_bad_clear(swap, swap->heal_page));
		break;
	case SWAP_STOP:
		break;
	}
	/* release: what the command wrote is visible to who asked */
	atomic_fetch_add_explicit(&swap->commands_done, 1, memory_order_release);
	int ret = swap_uffd_zero(&swap->uffd, (void *)(uintptr_t)swap->bell);

	must(swap, ret);
	return command != SWAP_STOP;
}

static bool serve(struct cp_swap *swap, const struct uffd_msg *msgs, unsigned nr)
{
	struct misses misses = {0};
	bool rung = false;

	for (unsigned i = 0; i < nr; i++) {
		const struct uffd_msg *msg = &msgs[i];
		uint64_t flags = msg->arg.pagefault.flags;

		if (msg->event != UFFD_EVENT_PAGEFAULT)
			continue;
		uint64_t page = (msg->arg.pagefault.address - (uintptr_t)swap->region) /
				CP_SWAP_PAGE;
		if (page == swap->cfg.nr_pages) {
			rung = true;
			continue;
		}
		if (cp_swap_broken(swap))
			continue;
		if (flags & UFFD_PAGEFAULT_FLAG_WP) {
			serve_protected(swap, page);
		} else {
			count_for(swap, (int)msg->arg.pagefault.feat.ptid);
			add_miss(swap, &misses, page, flags & UFFD_PAGEFAULT_FLAG_WRITE);
		}
	}
	serve_misses(swap, &misses);
	return rung ? obey(swap) : true;
}

static int start(struct cp_swap *swap, struct cp_err *err)
{
	if (swap->cfg.cpu >= 0) {
		cpu_set_t *set = CPU_ALLOC((size_t)swap->cfg.cpu + 1);
		size_t size = CPU_ALLOC_SIZE((size_t)swap->cfg.cpu + 1);

		if (!set)
			return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "out of memory");
		CPU_ZERO_S(size, set);
		CPU_SET_S((size_t)swap->cfg.cpu, size, set);
		int ret = pthread_setaffinity_np(pthread_self(), size, set);

		CPU_FREE(set);
		if (ret)
			return cp_err_set(err, CP_EXIT_INVALID, ret,
					  "the pager cannot run on CPU %d: %s",
					  swap->cfg.cpu, strerror(ret));
	}
	return cp_sub_open(swap->cfg.dev, &swap->sub, err);
}

void *swap_serve(void *arg)
{
	struct cp_swap *swap = arg;
	struct uffd_msg msgs[SWAP_FAULTS_MAX];
	bool go_on = true;

	swap->start_error = start(swap, &swap->start_err);
	go_on = !swap->start_error;
	sem_post(&swap->started);
	while (go_on) {
		ssize_t n = read(swap->uffd.fd, msgs, sizeof(msgs));

		/* Else EINTR or EAGAIN; of a descriptor of our own there is nothing more.
		 */
		if (n > 0)
			go_on = serve(swap, msgs, (unsigned)(n / (ssize_t)sizeof(*msgs)));
	}
	cp_sub_close(swap->sub);
	return NULL;
}
