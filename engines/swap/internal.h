/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of this room share. Nobody else includes it. */
#ifndef CP_ENGINES_SWAP_INTERNAL_H
#define CP_ENGINES_SWAP_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>

#include "engines/swap/swap.h"

#define SWAP_FAULTS_MAX 16 /* read at once */

/* Of a page; the pager's thread's alone. */
enum swap_flags {
	SWAP_RESIDENT = 1 << 0,
	SWAP_DIRTY = 1 << 1,  /* stored to since the page-in, as far as is known */
	SWAP_STORED = 1 << 2, /* the device has it */
	SWAP_BAD = 1 << 3,    /* an access gets SIGBUS */
	SWAP_COMING = 1 << 4, /* its page-in is among those being made */
};

enum swap_command {
	SWAP_MEASURE_BEGIN,
	SWAP_MEASURE_END,
	SWAP_REPORT,
	SWAP_HEAL,
	SWAP_STOP,
};

/* What userfaultfd gave. */
struct swap_uffd {
	int fd;
	bool poison; /* UFFDIO_POISON */
};

struct cp_swap {
	struct cp_swap_cfg cfg;
	struct swap_uffd uffd;
	int empty_fd; /* a file of no bytes; -1: not needed yet */
	unsigned char *region;
	/* Behind the region: a page whose fault is a command, for a thread that sleeps in
	 * read() hears of nothing else. */
	volatile unsigned char *bell;
	pthread_t thread;
	bool running;
	sem_t started;
	int start_error;
	struct cp_err start_err;
	_Atomic int broken;

	/* one command at a time; its arguments are written before the bell is touched */
	pthread_mutex_t command_lock;
	_Atomic enum swap_command command;
	_Atomic unsigned commands_done;
	uint64_t heal_page;
	struct cp_sidecar_job *out;
	struct cp_swap_stats *ret_stats;

	pthread_mutex_t join_lock;
	struct cp_swap_thread threads[CP_SWAP_THREADS_MAX];

	/* the pager's thread's from here on */
	struct cp_sub *sub;
	uint8_t *flags; /* [nr_pages] */
	uint64_t *fifo; /* [resident], a ring */
	uint64_t fifo_head, nr_resident;
	unsigned char *buffers; /* [SWAP_FAULTS_MAX] pages, where page-ins arrive */
	struct cp_swap_stats stats;
};

/* uffd.c: userfaultfd, in words where it says no. All of 0 or negative errno. */
int swap_uffd_open(struct swap_uffd *ret_uffd, struct cp_err *err);
int swap_uffd_register(const struct swap_uffd *uffd, void *start, uint64_t bytes);
int swap_uffd_copy(const struct swap_uffd *uffd, void *page, const void *from,
		   bool protect);
int swap_uffd_zero(const struct swap_uffd *uffd, void *page);
int swap_uffd_protect(const struct swap_uffd *uffd, void *start, uint64_t bytes, bool on);
int swap_uffd_wake(const struct swap_uffd *uffd, void *page);
int swap_uffd_poison(const struct swap_uffd *uffd, void *page);

/* bad.c: an access to the page gets SIGBUS, and no longer. */
int swap_bad_set(struct cp_swap *swap, uint64_t page);
int swap_bad_clear(struct cp_swap *swap, uint64_t page);

/* evict.c: room for n pages more. false: there is none to be had. */
bool swap_make_room(struct cp_swap *swap, unsigned n);

/* serve.c: the pager's thread. */
void *swap_serve(void *swap);
void swap_break(struct cp_swap *swap, int ret);

static inline void *swap_page(const struct cp_swap *swap, uint64_t page)
{
	return swap->region + page * CP_SWAP_PAGE;
}

static inline void swap_push(struct cp_swap *swap, uint64_t page)
{
	swap->fifo[(swap->fifo_head + swap->nr_resident) % swap->cfg.resident] = page;
	swap->nr_resident++;
}

static inline uint64_t swap_pop(struct cp_swap *swap)
{
	uint64_t page = swap->fifo[swap->fifo_head];

	swap->fifo_head = (swap->fifo_head + 1) % swap->cfg.resident;
	swap->nr_resident--;
	return page;
}

#endif
