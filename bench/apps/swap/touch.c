// SPDX-License-Identifier: GPL-2.0-only
#include "bench/apps/swap/touch.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/random.h"

#define LINE_WORDS 8U
#define LINES	   64U
#define TRIES_MAX  100 /* SIGBUS in a row at one touch */

static_assert(LINES * LINE_WORDS * sizeof(uint64_t) == CP_SWAP_PAGE, "words of a page");
static_assert(CP_SWAP_THREADS_MAX <= LINES, "a line for each thread");

typedef _Atomic uint64_t word;

static _Thread_local struct toucher *self;
static struct touch_load *caught; /* whose region's faults are ours */

static word *words_of(const struct touch_load *load, uint64_t page)
{
	return (word *)((unsigned char *)cp_swap_region(load->swap) +
			page * CP_SWAP_PAGE);
}

/* Of word i: 32 bits of page, 32 of version, differing from word to word. */
static inline uint64_t value_of(uint64_t page, uint32_t version, unsigned i)
{
	return ((page + 1) << 32 | version) ^ (i * CP_RANDOM_GOLDEN);
}

/* The k-th of a thread's own words; LINES * LINE_WORDS or more: it has no more. */
static inline unsigned own_word(const struct toucher *me, unsigned k)
{
	unsigned line = k / LINE_WORDS * me->load->nr_threads + me->id;

	return line * LINE_WORDS + k % LINE_WORDS;
}

static void mismatch(struct toucher *me, uint64_t page, unsigned i, uint64_t got,
		     uint64_t expected)
{
	if (!me->mismatches++)
		snprintf(me->what, sizeof(me->what),
			 "page %" PRIu64 " word %u holds %016" PRIx64
			 "; expected %016" PRIx64,
			 page, i, got, expected);
	atomic_store(&me->load->phase, TOUCH_STOP);
}

/* All words of all threads. of == NULL: only `me` knows its versions, of the others the
 * page is checked. */
static void check_page(struct toucher *me, uint64_t page, const struct toucher *of)
{
	const word *words = words_of(me->load, page);
	unsigned threads = me->load->nr_threads;

	for (unsigned line = 0; line < LINES; line++) {
		unsigned owner = line % threads;
		bool known = of || owner == me->id;
		uint32_t version = of ? of[owner].versions[page] : me->versions[page];

		for (unsigned k = 0; k < LINE_WORDS; k++) {
			unsigned i = line * LINE_WORDS + k;
			uint64_t got =
				atomic_load_explicit(&words[i], memory_order_relaxed);
			uint64_t off = got ^ value_of(page, version, i);

			if (__builtin_expect(off >> 32 || (known && off), 0)) {
				mismatch(me, page, i, got, value_of(page, version, i));
				return;
			}
		}
	}
}

/* The first access of a touch, which is the one that faults. */
static inline void first_access(struct toucher *me, uint64_t page, bool store)
{
	word *words = words_of(me->load, page);
	unsigned i = own_word(me, 0);
	uint64_t got, expected = value_of(page, me->versions[page], i);

	if (store) { /* one instruction, so that it is a fault of a store */
		got = atomic_exchange_explicit(&words[i],
					       value_of(page, me->versions[page] + 1, i),
					       memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		me->at = 1;
	} else {
		got = atomic_load_explicit(&words[i], memory_order_relaxed);
	}
	if (__builtin_expect(got != expected, 0))
		mismatch(me, page, i, got, expected);
}

/* The words behind the first. me->at says which are stored already: a SIGBUS in between
 * goes on there. */
static void store_rest(struct toucher *me, uint64_t page)
{
	word *words = words_of(me->load, page);
	uint32_t version = me->versions[page];

	for (unsigned k = me->at, i; (i = own_word(me, k)) < LINES * LINE_WORDS; k++) {
		uint64_t got = atomic_load_explicit(&words[i], memory_order_relaxed);

		if (__builtin_expect(got != value_of(page, version, i), 0))
			mismatch(me, page, i, got, value_of(page, version, i));
		atomic_store_explicit(&words[i], value_of(page, version + 1, i),
				      memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		me->at = k + 1;
	}
	me->versions[page] = version + 1;
}

/* After a SIGBUS. false: give the page up. */
static bool recover(struct toucher *me, uint64_t page)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	sigaddset(&set, SIGSEGV);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* it was left by a jump */
	me->sigbus++;
	cp_swap_heal(me->load->swap, page);
	if (++me->tries < TRIES_MAX)
		return true;
	me->gave_up = true;
	if (!me->what[0])
		snprintf(me->what, sizeof(me->what),
			 "page %" PRIu64 " raised SIGBUS %d times in a row", page,
			 TRIES_MAX);
	atomic_store(&me->load->phase, TOUCH_STOP);
	return false;
}

static uint64_t misses(const struct toucher *me)
{
	return me->slot ? atomic_load_explicit(&me->slot->misses, memory_order_acquire)
			: 0;
}

static void count_fault(struct toucher *me, uint64_t ticks)
{
	struct touch_load *load = me->load;
	uint64_t nr =
		1 + atomic_fetch_add_explicit(&load->faults, 1, memory_order_relaxed);

	if (load->faults_max && nr > load->faults_max)
		return; /* beside the last one */
	cp_hist_add(&me->faults, cp_ticks_to_ns(ticks));
	if (nr == load->faults_max) {
		atomic_store(&load->end_ns, cp_now_ns());
		atomic_store(&load->phase, TOUCH_STOP);
	}
}

static void touch(struct toucher *me, uint64_t page, bool counting)
{
	bool store = me->load->store;

	me->at = 0;
	me->stored = false;
	me->tries = 0;
	if (sigsetjmp(me->env, 0) && !recover(me, page))
		return;
	if (!me->at) {
		uint64_t before = misses(me), start = cp_ticks();

		first_access(me, page, store);
		uint64_t ticks = cp_ticks_since(start, cp_ticks());

		if (misses(me) != before && counting)
			count_fault(me, ticks);
	}
	if (store && !me->stored) {
		store_rest(me, page);
		me->stored = true;
	}
	if (!store || me->load->nr_threads > 1)
		check_page(me, page, NULL);
	me->touches += counting;
}

static void run(struct toucher *me)
{
	struct touch_load *load = me->load;
	uint64_t state = load->seed + (uint64_t)me->id * CP_RANDOM_GOLDEN;
	uint64_t page = load->nr_pages * me->id / load->nr_threads;
	int phase;

	while ((phase = atomic_load_explicit(&load->phase, memory_order_relaxed)) !=
	       TOUCH_STOP) {
		if (load->random)
			page = cp_random_next(&state) % load->nr_pages;
		touch(me, page, phase == TOUCH_COUNT);
		page = page + 1 < load->nr_pages ? page + 1 : 0;
	}
}

static void fill(struct toucher *me, uint64_t page)
{
	word *words = words_of(me->load, page);

	me->tries = 0;
	if (sigsetjmp(me->env, 0) && !recover(me, page))
		return;
	for (unsigned i = 0; i < LINES * LINE_WORDS; i++)
		atomic_store_explicit(&words[i], value_of(page, 0, i),
				      memory_order_relaxed);
}

static void check(struct toucher *me, uint64_t page)
{
	me->tries = 0;
	if (sigsetjmp(me->env, 0) && !recover(me, page))
		return;
	check_page(me, page, me - me->id);
}

/* Where the pager and the touchers run is what a sample measures: a thread elsewhere is
 * none of it. */
static void pin(struct toucher *me)
{
	int rc = EINVAL;
	cpu_set_t set;

	if (me->cpu < 0)
		return;
	if (me->cpu < CPU_SETSIZE) {
		CPU_ZERO(&set);
		CPU_SET((unsigned)me->cpu, &set);
		rc = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	}
	if (!rc)
		return;
	me->gave_up = true;
	snprintf(me->what, sizeof(me->what), "thread %u cannot run on CPU %d: %s", me->id,
		 me->cpu, strerror(rc));
}

static void *live(void *arg)
{
	struct toucher *me = arg;
	struct touch_load *load = me->load;

	self = me;
	pin(me);
	me->slot = cp_swap_join(load->swap);
	if (load->job == TOUCH_RUN && !me->gave_up)
		run(me);
	for (uint64_t page = 0; load->job != TOUCH_RUN && page < load->nr_pages &&
				!me->gave_up && !me->mismatches;
	     page++) {
		if (load->job == TOUCH_FILL)
			fill(me, page);
		else
			check(me, page);
	}
	if (me->slot)
		cp_swap_leave(me->slot);
	me->slot = NULL;
	self = NULL;
	atomic_fetch_add(&load->nr_done, 1);
	return NULL;
}

static bool is_ours(uintptr_t at)
{
	uintptr_t region =
		caught && caught->swap ? (uintptr_t)cp_swap_region(caught->swap) : 0;

	return self && region && at >= region &&
	       at < region + caught->nr_pages * CP_SWAP_PAGE;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (is_ours((uintptr_t)info->si_addr)) {
		if (number == SIGBUS)
			siglongjmp(self->env, 1);
		sched_yield(); /* another thread's page is being healed: again */
		return;
	}
	signal(number, SIG_DFL); /* and it is raised again when we return */
}

int touch_catch(struct touch_load *load, struct cp_err *err)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	caught = load;
	if (!sigaction(SIGBUS, &action, NULL) && !sigaction(SIGSEGV, &action, NULL))
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot catch SIGBUS: %s",
			  strerror(errno));
}

int touch_start(struct touch_load *load, struct toucher *touchers, unsigned nr,
		struct cp_err *err)
{
	atomic_store(&load->nr_done, 0);
	atomic_store(&load->phase, TOUCH_RAMP);
	for (unsigned i = 0; i < nr; i++) {
		int ret = pthread_create(&touchers[i].thread, NULL, live, &touchers[i]);

		if (!ret)
			continue;
		atomic_store(&load->phase, TOUCH_STOP);
		touch_join(touchers, i);
		return cp_err_set(err, CP_EXIT_INVALID, ret, "cannot start a thread: %s",
				  strerror(ret));
	}
	return 0;
}

void touch_join(struct toucher *touchers, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		pthread_join(touchers[i].thread, NULL);
}
