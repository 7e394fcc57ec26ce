// SPDX-License-Identifier: GPL-2.0-only
/* Copies that fault: what is left of them, for every kernel, side and kind of fault. */
#include "engines/copy/t/broken.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "engines/copy/guard.h"

#define SRC_SALT 3U
#define DST_SALT 90U

/* Inside the test, as cmocka has handlers of its own around each. */
static void guard_up(void)
{
	struct cp_err err;

	assert_int_equal(cp_guard_get(&err), 0);
}

struct fault {
	enum broken_way src, dst;
	size_t len, at; /* the byte of the copy that is the first to fail */
	size_t skew;	/* alignment of the other side */
};

/* One copy that fails at byte `at`; what it claims must have arrived, and be as much as
 * its kernel promises. */
static void check(const struct cp_copy_ops *ops, cp_copy_fn fn, enum cp_dir dir,
		  const struct fault *f)
{
	struct broken src = broken_make(f->src, SRC_SALT);
	struct broken dst = broken_make(f->dst, DST_SALT);
	unsigned char *from = src.edge - (f->src ? f->at : f->len + f->skew);
	unsigned char *to = dst.edge - (f->dst ? f->at : f->len + f->skew);
	size_t from_edge = (size_t)(src.edge - from);
	size_t to_edge = (size_t)(dst.edge - to);
	size_t least = ops->order && f->at > ops->order ? f->at - ops->order : 0;
	size_t most = ops->order ? f->at : 0;
	size_t residue = cp_guard_copy(fn, to, from, f->len, dir, CP_ATTR_WB);
	size_t claim = f->len - residue;

	if (residue > f->len || claim < least || claim > most)
		fail_msg("%s: len %zu at %zu: residue %zu, expected %zu to %zu",
			 ops->name, f->len, f->at, residue, f->len - most,
			 f->len - least);
	for (size_t i = 0; i < claim; i++) {
		if (to[i] != broken_byte(from_edge - i, SRC_SALT))
			fail_msg("%s: len %zu at %zu: byte %zu is claimed and not there",
				 ops->name, f->len, f->at, i);
	}
	assert_int_equal(to[-1], broken_byte(to_edge + 1, DST_SALT));
	assert_int_equal(cp_guard_take_side(), f->src ? CP_GUARD_SRC : CP_GUARD_DST);
	assert_int_equal(cp_guard_take_side(), CP_GUARD_NONE);
	broken_free(&src);
	broken_free(&dst);
}

static void each_fault(const struct cp_copy_ops *ops, enum cp_dir dir)
{
	static const struct {
		enum broken_way src, dst;
	} ways[] = {
		{BROKEN_TRUNCATED, BROKEN_NOT}, {BROKEN_NOT, BROKEN_TRUNCATED},
		{BROKEN_PROTECTED, BROKEN_NOT}, {BROKEN_NOT, BROKEN_PROTECTED},
		{BROKEN_UNMAPPED, BROKEN_NOT},	{BROKEN_NOT, BROKEN_READ_ONLY},
	};
	static const size_t lengths[] = {1, 64, 300, 4096, 40001};

	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
			size_t len = lengths[l];
			/* first, middle, last, and beside a line and a step */
			const size_t ats[] = {0,    1,	  63,	   64,	    191,     1023,
					      1024, 1025, len / 2, len - 1, len - 65};

			for (size_t a = 0; a < sizeof(ats) / sizeof(ats[0]); a++) {
				struct fault f = {.src = ways[w].src,
						  .dst = ways[w].dst,
						  .len = len,
						  .at = ats[a],
						  .skew = a % 3 * 7};
				if (f.at < len)
					check(ops, ops->fn, dir, &f);
			}
		}
	}
}

/* Description: at every fault, the residue of every kernel is exact to what its row says,
 * nothing that is claimed is missing, and the side is the one that failed. */
static void residue_is_true(void **state)
{
	unsigned nr = 0;
	char why[128];

	(void)state;
	guard_up();
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (ops->virtual_)
			continue;
		if (!ops->present()) {
			print_message("not asserted: '%s': %s\n", ops->name,
				      cp_copy_why_absent(ops, why, sizeof(why)));
			continue;
		}
		if (ops->read)
			each_fault(ops, CP_DIR_READ);
		if (ops->write)
			each_fault(ops, CP_DIR_WRITE);
		nr++;
	}
	cp_guard_put();
	assert_true(nr > 0);
}

/* Where a turn of most lines ends and its order says so, on either side. */
static void each_turn(const struct cp_copy_ops *ops, cp_copy_fn fn, enum cp_dir dir)
{
	static const enum broken_way ways[][2] = {{BROKEN_TRUNCATED, BROKEN_NOT},
						  {BROKEN_NOT, BROKEN_PROTECTED}};
	static const size_t ats[] = {700, 1024, 1025, 1536, 1599, 2100, 4095};

	for (size_t i = 0; i < 2 * sizeof(ats) / sizeof(ats[0]); i++) {
		struct fault f = {.src = ways[i % 2][0],
				  .dst = ways[i % 2][1],
				  .len = 4096,
				  .at = ats[i / 2],
				  .skew = i * 9 % 64};

		check(ops, fn, dir, &f);
	}
}

/* Description: that is so with every unroll, and with a prefetch at its least and most,
 * and what a setting picks has its kernel's order. */
static void variants_are_true(void **state)
{
	/* of those with a hint a process has CP_COPY_AHEAD_MAX in all */
	static const struct {
		uint32_t unroll;
		const char *prefetch;
	} settings[] = {{1, "none"}, {2, "none"}, {4, "none"},
			{8, "none"}, {1, "nta"},  {8, "nta:distance=4096"},
			{1, "t0"},   {8, "t0"}};

	(void)state;
	guard_up();
	for (const struct cp_copy_ops *ops = cp_copy_table; ops->name; ops++) {
		if (!ops->variants || !ops->present())
			continue;
		for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
			enum cp_dir dir = ops->write ? CP_DIR_WRITE : CP_DIR_READ;
			const struct cp_copy_ops *bound;
			struct cp_copy_opts opts;
			struct cp_err err;
			cp_copy_fn fn;

			if (cp_copy_opts_parse(settings[i].unroll, settings[i].prefetch,
					       &opts, &err) != 0 ||
			    cp_copy_bind_opts(ops->name, dir, &opts, &bound, &fn, &err) !=
				    0)
				fail_msg("%s", err.msg);
			assert_int_equal(cp_copy_order(fn), ops->order);
			each_turn(ops, fn, dir);
		}
	}
	cp_guard_put();
}

/* Description: what auto runs for each size and direction, with a fence and without, has
 * the order of the kernel it is, so a copy that faults claims as much as that kernel's.
 */
static void auto_is_true(void **state)
{
	struct cp_copy_opts opts;

	(void)state;
	guard_up();
	cp_copy_opts_init(&opts);
	for (unsigned i = 0; i < 4 * CP_COPY_CLASSES; i++) {
		enum cp_dir dir = i % 2 ? CP_DIR_WRITE : CP_DIR_READ;
		unsigned class = i / 4;
		struct cp_copy_bound bound;
		struct cp_err err;

		opts.unfenced = i & 2;

		if (cp_copy_bind_sizes("auto", dir, &opts, &bound, &err) != 0)
			fail_msg("%s", err.msg);
		assert_int_equal(cp_copy_order(bound.fn[class]), bound.ops[class]->order);
		each_turn(bound.ops[class], bound.fn[class], dir);
	}
	cp_guard_put();
}

/* Description: a copy that does not fault returns what its kernel returns, and no
 * side. */
static size_t leave_seven(void *dst, const void *src, size_t len, enum cp_dir dir,
			  enum cp_attr attr)
{
	assert_int_equal(dir, CP_DIR_WRITE);
	assert_int_equal(attr, CP_ATTR_WB);
	memcpy(dst, src, len - 7);
	return 7;
}

static void good_copy_is_plain(void **state)
{
	unsigned char src[64], dst[64] = {0};

	(void)state;
	guard_up();
	memset(src, 5, sizeof(src));
	assert_int_equal(
		cp_guard_copy(leave_seven, dst, src, 64, CP_DIR_WRITE, CP_ATTR_WB), 7);
	assert_int_equal(dst[56], 5);
	assert_int_equal(dst[57], 0);
	assert_int_equal(cp_guard_take_side(), CP_GUARD_NONE);
	cp_guard_put();
}

/* As bad a kernel as the ABI allows: every register it must give back is in use. */
static size_t spoil_registers(void *dst, const void *src, size_t len, enum cp_dir dir,
			      enum cp_attr attr)
{
	(void)dst;
	(void)len;
	(void)dir;
	(void)attr;
#if defined(__x86_64__) && !CP_GUARD_SETJMP
	uint64_t loaded;

	__asm__ volatile("pushq %%rbp\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "movq $-1, %%rbx\n\t"
			 "movq $-1, %%r12\n\t"
			 "movq $-1, %%r13\n\t"
			 "movq $-1, %%r14\n\t"
			 "movq $-1, %%r15\n\t"
			 "subq $256, %%rsp\n\t"
			 "std\n\t"
			 "movq (%[src]), %[loaded]\n\t"
			 "cld\n\t"
			 "addq $256, %%rsp\n\t"
			 "popq %%rbp"
			 : [loaded] "=a"(loaded)
			 : [src] "D"(src)
			 : "rbx", "r12", "r13", "r14", "r15", "memory", "cc");
	return loaded ? 0 : 1;
#else
	return *(const volatile unsigned char *)src ? 0 : 1;
#endif
}

/* Description: the caller's variables are what they were, whatever the kernel had done to
 * registers, stack and direction flag when it faulted. */
static void registers_survive(void **state)
{
	struct broken src = broken_make(BROKEN_PROTECTED, 0);
	uint64_t a = (uint64_t)(uintptr_t)state, b = a * 3, c = b ^ 5, d = c + a,
		 e = d * 7, f = e ^ b;

	guard_up();
	for (unsigned i = 0; i < 1000; i++) {
		/* opaque, so that they live in registers across the call */
		__asm__ volatile(""
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
		assert_int_equal(cp_guard_copy(spoil_registers, src.base, src.edge, 64,
					       CP_DIR_READ, CP_ATTR_WB),
				 64);
	}
	cp_guard_put();
	uint64_t first = (uint64_t)(uintptr_t)state;

	assert_true(a == first && b == a * 3 && c == (b ^ 5) && d == c + a &&
		    e == d * 7 && f == (e ^ b));
	broken_free(&src);
}

/* Description: after a fault the thread's signal mask is what it was. */
static void mask_survives(void **state)
{
	struct broken src = broken_make(BROKEN_TRUNCATED, 0);
	sigset_t before, after;

	(void)state;
	guard_up();
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	cp_guard_copy(cp_copy_find("memcpy")->fn, src.base, src.edge, 64, CP_DIR_READ,
		      CP_ATTR_WB);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	cp_guard_put();
	for (int sig = 1; sig < SIGRTMIN; sig++)
		assert_int_equal(sigismember(&after, sig), sig == SIGUSR1);
	sigemptyset(&before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	broken_free(&src);
}

struct victim {
	pthread_barrier_t *start;
	struct broken mem;
	size_t len;
	unsigned wrong;
};

static void *fault_often(void *arg)
{
	struct victim *v = arg;
	cp_copy_fn copy = cp_copy_find("memcpy")->fn;
	unsigned char near[512];

	pthread_barrier_wait(v->start);
	for (unsigned i = 0; i < 300; i++) {
		v->wrong += cp_guard_copy(copy, near, v->mem.edge - 8, v->len,
					  CP_DIR_READ, CP_ATTR_WB) != v->len;
		v->wrong += cp_guard_take_side() != CP_GUARD_SRC;
		v->wrong += cp_guard_copy(copy, near, v->mem.edge - v->len, v->len,
					  CP_DIR_READ, CP_ATTR_WB) != 0;
		v->wrong += near[0] != broken_byte(v->len, 0);
	}
	return NULL;
}

/* Description: threads that fault at the same time each get their own residue, and their
 * good copies in between are good. */
static void threads_are_apart(void **state)
{
	static const enum broken_way ways[] = {BROKEN_TRUNCATED, BROKEN_PROTECTED,
					       BROKEN_TRUNCATED};
	struct victim victims[3];
	pthread_t threads[3];
	pthread_barrier_t start;

	(void)state;
	guard_up();
	pthread_barrier_init(&start, NULL, 3);
	for (unsigned i = 0; i < 3; i++) {
		victims[i] = (struct victim){
			.start = &start, .mem = broken_make(ways[i], 0), .len = 100 + i};
		assert_int_equal(
			pthread_create(&threads[i], NULL, fault_often, &victims[i]), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(victims[i].wrong, 0);
		broken_free(&victims[i].mem);
	}
	cp_guard_put();
	pthread_barrier_destroy(&start);
}

/* Description: a page with a memory error under a copy is a residue. */
static void poisoned_page(void **state)
{
#if defined(MADV_HWPOISON)
	const char *longer = getenv("LONG");
	unsigned char near[64];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	if (!longer || strcmp(longer, "1") != 0) {
		print_message(
			"skipped: takes a page of this machine's memory out of use; "
			"make test-long does it\n");
		skip();
	}
	unsigned char *map = mmap(NULL, page, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	if (madvise(map, page, MADV_HWPOISON) != 0) {
		print_message("skipped: MADV_HWPOISON: %m (needs CAP_SYS_ADMIN and "
			      "CONFIG_MEMORY_FAILURE)\n");
		munmap(map, page);
		skip();
	}
	guard_up();
	assert_int_equal(cp_guard_copy(cp_copy_find("memcpy")->fn, near, map + 100, 64,
				       CP_DIR_READ, CP_ATTR_WB),
			 64);
	assert_int_equal(cp_guard_take_side(), CP_GUARD_SRC);
	cp_guard_put();
	munmap(map, page);
#else
	(void)state;
	print_message("skipped: no MADV_HWPOISON in this C library\n");
	skip();
#endif
}

/* Stands for a machine check: the signal that the kernel sends when this thread touches a
 * bad page. Its address is the page's, which is below where the range starts. */
static size_t check_machine(void *dst, const void *src, size_t len, enum cp_dir dir,
			    enum cp_attr attr)
{
	siginfo_t info = {.si_signo = SIGBUS, .si_code = BUS_MCEERR_AR};

	(void)dst;
	(void)len;
	(void)dir;
	(void)attr;
	info.si_addr = (void *)((uintptr_t)src & ~(uintptr_t)4095);
	info.si_addr_lsb = 12;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGBUS, &info);
	return 0;
}

/* Description: a memory error is matched by its page, not by its first byte. */
static void memory_error_is_a_page(void **state)
{
	struct broken src = broken_make(BROKEN_NOT, 0);
	unsigned char near[64];

	(void)state;
	guard_up();
	assert_int_equal(cp_guard_copy(check_machine, near, src.base + 4096 + 100, 64,
				       CP_DIR_READ, CP_ATTR_WB),
			 64);
	assert_int_equal(cp_guard_take_side(), CP_GUARD_SRC);
	cp_guard_put();
	broken_free(&src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(residue_is_true),
		cmocka_unit_test(variants_are_true),
		cmocka_unit_test(auto_is_true),
		cmocka_unit_test(good_copy_is_plain),
		cmocka_unit_test(registers_survive),
		cmocka_unit_test(mask_survives),
		cmocka_unit_test(threads_are_apart),
		cmocka_unit_test(poisoned_page),
		cmocka_unit_test(memory_error_is_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
