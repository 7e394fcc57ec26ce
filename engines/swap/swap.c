// SPDX-License-Identifier: GPL-2.0-only
/* A pager's life, and the commands to its thread. */
#include "engines/swap/swap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/swap/internal.h"

static uint64_t mapped_bytes(const struct cp_swap *swap)
{
	return (swap->cfg.nr_pages + 1) * CP_SWAP_PAGE;
}

static int no_memory(struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
}

static int map_region(struct cp_swap *swap, struct cp_err *err)
{
	void *at = mmap(NULL, mapped_bytes(swap), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return no_memory(err);
	swap->region = at;
	swap->bell = swap->region + swap->cfg.nr_pages * CP_SWAP_PAGE;
	/* A huge page would bring in pages that nobody asked for. A kernel without them
	 * has no such advice. */
	madvise(at, mapped_bytes(swap), MADV_NOHUGEPAGE);
	int ret = swap_uffd_register(&swap->uffd, at, mapped_bytes(swap));

	if (ret)
		return cp_err_set(
			err, CP_EXIT_INVALID, -ret,
			"userfaultfd does not take memory to write-protect: %s; "
			"expected a kernel with CONFIG_HAVE_ARCH_USERFAULTFD_WP",
			strerror(-ret));
	return 0;
}

static int start_thread(struct cp_swap *swap, struct cp_err *err)
{
	int ret = pthread_create(&swap->thread, NULL, swap_serve, swap);

	if (ret)
		return cp_err_set(err, CP_EXIT_INVALID, ret,
				  "cannot start the pager's thread: %s", strerror(ret));
	while (sem_wait(&swap->started) && errno == EINTR)
		;
	if (!swap->start_error) {
		swap->running = true;
		return 0;
	}
	pthread_join(swap->thread, NULL);
	*err = swap->start_err;
	return swap->start_error;
}

static int open_parts(struct cp_swap *swap, struct cp_err *err)
{
	const struct cp_swap_cfg *cfg = &swap->cfg;
	int ret = swap_uffd_open(&swap->uffd, err);

	if (ret)
		return ret;
	if (cfg->sigbus == CP_SWAP_SIGBUS_MAP)
		swap->uffd.poison = false;
	swap->flags = calloc(cfg->nr_pages, sizeof(*swap->flags));
	swap->fifo = calloc(cfg->resident, sizeof(*swap->fifo));
	swap->buffers = aligned_alloc(CP_SWAP_PAGE, SWAP_FAULTS_MAX * CP_SWAP_PAGE);
	if (!swap->flags || !swap->fifo || !swap->buffers)
		return no_memory(err);
	memset(swap->buffers, 0, SWAP_FAULTS_MAX * CP_SWAP_PAGE);
	ret = map_region(swap, err);
	return ret ? ret : start_thread(swap, err);
}

int cp_swap_open(const struct cp_swap_cfg *cfg, struct cp_swap **ret_swap,
		 struct cp_err *err)
{
	assert(cfg->resident >= CP_SWAP_RESIDENT_MIN && cfg->resident <= cfg->nr_pages &&
	       cfg->batch && cfg->batch <= CP_SWAP_BATCH_MAX);
	size_t size = (sizeof(struct cp_swap) + 63) / 64 * 64;
	struct cp_swap *swap = aligned_alloc(64, size);

	if (!swap)
		return no_memory(err);
	memset(swap, 0, size);
	swap->cfg = *cfg;
	swap->uffd.fd = -1;
	swap->empty_fd = -1;
	pthread_mutex_init(&swap->command_lock, NULL);
	pthread_mutex_init(&swap->join_lock, NULL);
	sem_init(&swap->started, 0, 0);
	int ret = open_parts(swap, err);

	if (ret) {
		cp_swap_close(swap);
		return ret;
	}
	*ret_swap = swap;
	return 0;
}

/* The caller holds command_lock. Returns when it has been carried out. */
static void ring(struct cp_swap *swap, enum swap_command command)
{
	unsigned done = atomic_load_explicit(&swap->commands_done, memory_order_relaxed);

	/* release: its arguments, to the pager's thread */
	atomic_store_explicit(&swap->command, command, memory_order_release);
	do {
		madvise((void *)(uintptr_t)swap->bell, CP_SWAP_PAGE, MADV_DONTNEED);
		(void)*swap->bell;
		/* acquire: what it wrote */
	} while (atomic_load_explicit(&swap->commands_done, memory_order_acquire) ==
		 done);
}

void cp_swap_close(struct cp_swap *swap)
{
	if (!swap)
		return;
	if (swap->running) {
		pthread_mutex_lock(&swap->command_lock);
		ring(swap, SWAP_STOP);
		pthread_mutex_unlock(&swap->command_lock);
		pthread_join(swap->thread, NULL);
	}
	if (swap->uffd.fd >= 0)
		close(swap->uffd.fd);
	if (swap->empty_fd >= 0)
		close(swap->empty_fd);
	if (swap->region)
		munmap(swap->region, mapped_bytes(swap));
	free(swap->flags);
	free(swap->fifo);
	free(swap->buffers);
	pthread_mutex_destroy(&swap->command_lock);
	pthread_mutex_destroy(&swap->join_lock);
	sem_destroy(&swap->started);
	free(swap);
}

void *cp_swap_region(const struct cp_swap *swap)
{
	return swap->region;
}

const char *cp_swap_sigbus_name(const struct cp_swap *swap)
{
	return swap->uffd.poison ? "poison" : "map";
}

struct cp_swap_thread *cp_swap_join(struct cp_swap *swap)
{
	struct cp_swap_thread *got = NULL;

	pthread_mutex_lock(&swap->join_lock);
	for (unsigned i = 0; i < CP_SWAP_THREADS_MAX && !got; i++) {
		struct cp_swap_thread *thread = &swap->threads[i];

		if (atomic_load_explicit(&thread->tid, memory_order_relaxed))
			continue;
		atomic_store_explicit(&thread->misses, 0, memory_order_relaxed);
		/* release: the pager's thread that sees the tid sees 0 misses */
		atomic_store_explicit(&thread->tid, (int)gettid(), memory_order_release);
		got = thread;
	}
	pthread_mutex_unlock(&swap->join_lock);
	return got;
}

void cp_swap_leave(struct cp_swap_thread *thread)
{
	atomic_store_explicit(&thread->tid, 0, memory_order_release);
}

static void command(struct cp_swap *swap, enum swap_command what)
{
	pthread_mutex_lock(&swap->command_lock);
	ring(swap, what);
	pthread_mutex_unlock(&swap->command_lock);
}

void cp_swap_heal(struct cp_swap *swap, uint64_t page)
{
	pthread_mutex_lock(&swap->command_lock);
	swap->heal_page = page;
	ring(swap, SWAP_HEAL);
	pthread_mutex_unlock(&swap->command_lock);
}

void cp_swap_measure_begin(struct cp_swap *swap)
{
	command(swap, SWAP_MEASURE_BEGIN);
}

void cp_swap_measure_end(struct cp_swap *swap)
{
	command(swap, SWAP_MEASURE_END);
}

void cp_swap_report(struct cp_swap *swap, struct cp_sidecar_job *out,
		    struct cp_swap_stats *ret_stats)
{
	pthread_mutex_lock(&swap->command_lock);
	swap->out = out;
	swap->ret_stats = ret_stats;
	ring(swap, SWAP_REPORT);
	pthread_mutex_unlock(&swap->command_lock);
}

int cp_swap_broken(const struct cp_swap *swap)
{
	return atomic_load_explicit(&swap->broken, memory_order_relaxed);
}
