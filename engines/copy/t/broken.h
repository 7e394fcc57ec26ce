/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that fails from an edge on: BROKEN_GOOD good bytes, then as many that fault. */
#ifndef CP_ENGINES_COPY_T_BROKEN_H
#define CP_ENGINES_COPY_T_BROKEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#define BROKEN_GOOD 65536U

enum broken_way {
	BROKEN_NOT,
	BROKEN_TRUNCATED, /* SIGBUS */
	BROKEN_PROTECTED, /* SIGSEGV, SEGV_ACCERR */
	BROKEN_UNMAPPED,  /* SIGSEGV, SEGV_MAPERR */
	BROKEN_READ_ONLY, /* SIGSEGV, of stores only */
};

struct broken {
	unsigned char *base;
	unsigned char *edge; /* the first byte that fails */
};

/* Every good byte is salt plus a function of its distance from the edge. */
static inline unsigned char broken_byte(size_t before_edge, unsigned salt)
{
	return (unsigned char)((before_edge * 131 + salt) ^ (before_edge >> 8));
}

static inline void broken_fill(struct broken *mem, unsigned salt)
{
	for (size_t i = 1; i <= BROKEN_GOOD; i++)
		mem->edge[-(ptrdiff_t)i] = broken_byte(i, salt);
}

static inline struct broken broken_make(enum broken_way way, unsigned salt)
{
	struct broken mem;
	int fd = memfd_create("broken", 0);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 * BROKEN_GOOD), 0);
	void *map =
		mmap(NULL, 2 * BROKEN_GOOD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	mem.base = map;
	mem.edge = mem.base + BROKEN_GOOD;
	broken_fill(&mem, salt);
	if (way == BROKEN_TRUNCATED)
		assert_int_equal(ftruncate(fd, BROKEN_GOOD), 0);
	if (way == BROKEN_PROTECTED)
		assert_int_equal(mprotect(mem.edge, BROKEN_GOOD, PROT_NONE), 0);
	if (way == BROKEN_UNMAPPED)
		assert_int_equal(munmap(mem.edge, BROKEN_GOOD), 0);
	if (way == BROKEN_READ_ONLY)
		assert_int_equal(mprotect(mem.edge, BROKEN_GOOD, PROT_READ), 0);
	close(fd);
	return mem;
}

static inline void broken_free(struct broken *mem)
{
	munmap(mem->base, 2 * BROKEN_GOOD);
}

#endif
