/* SPDX-License-Identifier: GPL-2.0-only */
/* On which nodes a media's pages are, told by a fake kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "engines/media/kinds.h"

#define PAGES_MAX 300000U

/* Of a range that is never touched: pages up to borders[i] are on nodes[i]. */
static struct {
	size_t page;
	unsigned char *base;
	size_t borders[6];
	int nodes[6];
	unsigned interleave; /* > 0: page p is on node p % interleave */
	unsigned asked;	     /* pages */
} fake;

static int fake_ask(const struct cp_media *media, unsigned long nr, void **pages,
		    int *ret_nodes)
{
	fake.asked += (unsigned)nr;
	for (unsigned long i = 0; i < nr; i++) {
		size_t at = (size_t)((unsigned char *)pages[i] - media->base) / fake.page;
		unsigned k = 0;

		assert_true(at < PAGES_MAX);
		while (at >= fake.borders[k])
			k++;
		ret_nodes[i] =
			fake.interleave ? (int)(at % fake.interleave) : fake.nodes[k];
	}
	return 0;
}

static int no_ask(const struct cp_media *media, unsigned long nr, void **pages,
		  int *ret_nodes)
{
	(void)media;
	(void)nr;
	(void)pages;
	(void)ret_nodes;
	return -1;
}

static struct cp_media scan(uint64_t bytes, cp_media_ask_fn ask)
{
	/* an address that nobody reads */
	struct cp_media media = {.base = fake.base, .bytes = bytes};

	fake.asked = 0;
	cp_media_nodes_find(&media, ask);
	return media;
}

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.page = (size_t)sysconf(_SC_PAGESIZE);
	fake.base = (unsigned char *)(uintptr_t)(UINT64_C(1) << 40);
	return 0;
}

/* Description: borders between nodes are found to the page, with few pages asked of. */
static void test_borders(void **state)
{
	static const struct {
		size_t pages, borders[6];
		int nodes[6];
		unsigned nr;
		int node;
		unsigned pct;
		const char *note;
	} cases[] = {
		{262144, {262144}, {3}, 0, 3, 100, ""},
		{262144,
		 {131073, 262144},
		 {0, 1},
		 2,
		 0,
		 50,
		 "media lies on nodes 0 (50 %) and 1 (50 %)"},
		{262144,
		 {1234, 262144},
		 {1, 0},
		 2,
		 0,
		 99,
		 "media lies on nodes 0 (over 99 %) and 1 (under 1 %)"},
		{262144,
		 {100000, 162144, 262144},
		 {0, 2, 0},
		 3,
		 0,
		 76,
		 "media lies on nodes 0 (76 %) and 2 (24 %)"},
		{8,
		 {1, 3, 8},
		 {2, 1, 0},
		 3,
		 0,
		 62,
		 "media lies on nodes 0 (62 %), 1 (25 %) and 2 (12 %)"},
		{1, {1}, {1}, 0, 1, 100, ""},
	};
	(void)state;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		memcpy(fake.borders, cases[c].borders, sizeof(fake.borders));
		memcpy(fake.nodes, cases[c].nodes, sizeof(fake.nodes));
		struct cp_media media = scan(cases[c].pages * fake.page, fake_ask);

		assert_int_equal(media.node, cases[c].node);
		assert_int_equal(media.node_pct, cases[c].pct);
		assert_int_equal(media.nr_extents, cases[c].nr);
		for (unsigned i = 0; i < cases[c].nr; i++) {
			assert_int_equal(media.extents[i].end,
					 cases[c].borders[i] * fake.page);
			assert_int_equal(media.extents[i].node, cases[c].nodes[i]);
		}
		assert_string_equal(media.node_note, cases[c].note);
		assert_true(fake.asked < 4096 + 64);
		free(media.extents);
	}
}

/* Description: a range that ends inside a page has its last extent end there too. */
static void test_odd_length(void **state)
{
	struct cp_media media;
	(void)state;

	fake.borders[0] = 5;
	fake.borders[1] = 10;
	fake.nodes[1] = 1;
	media = scan(9 * fake.page + 17, fake_ask);
	assert_int_equal(media.nr_extents, 2);
	assert_int_equal(media.extents[1].end, 9 * fake.page + 17);
	free(media.extents);
}

/* Description: pages that alternate are told as interleaved, whatever power of two the
 * range is, and have no extents. */
static void test_interleaved(void **state)
{
	(void)state;
	fake.borders[0] = PAGES_MAX;
	for (unsigned nodes = 2; nodes <= 4; nodes++) {
		fake.interleave = nodes;
		struct cp_media media = scan(262144 * fake.page, fake_ask);

		assert_int_equal(media.nr_extents, 0);
		assert_null(media.extents);
		assert_true(media.node >= 0 && media.node < (int)nodes);
		assert_in_range(media.node_pct, 100 / nodes, 100 / nodes + 5);
		assert_memory_equal(media.node_note, "media is interleaved over nodes 0",
				    33);
	}
}

/* Description: what the kernel does not tell is unknown; pages that are not in memory
 * belong to the extent before them. */
static void test_unknown(void **state)
{
	struct cp_media media = scan(1000 * fake.page, no_ask);
	(void)state;

	assert_int_equal(media.node, -1);
	assert_int_equal(media.nr_extents, 0);
	fake.borders[0] = 1000;
	fake.nodes[0] = -14;
	media = scan(1000 * fake.page, fake_ask);
	assert_int_equal(media.node, -1);
	assert_int_equal(media.nr_extents, 0);
	fake.borders[0] = 300;
	fake.borders[1] = 600;
	fake.borders[2] = 1000;
	fake.nodes[0] = 0;
	fake.nodes[1] = -14;
	fake.nodes[2] = 1;
	media = scan(1000 * fake.page, fake_ask);
	assert_int_equal(media.nr_extents, 2);
	assert_int_equal(media.extents[0].end, 600 * fake.page);
	free(media.extents);
}

/* Description: many nodes are listed up to the eighth. */
static void test_words(void **state)
{
	struct cp_node_extent extents[10];
	char words[160];
	(void)state;

	for (unsigned i = 0; i < 10; i++)
		extents[i] = (struct cp_node_extent){.end = i + 1, .node = (int)i};
	assert_string_equal(cp_node_extents_words(extents, 10, words, sizeof(words)),
			    "0 (10 %), 1 (10 %), 2 (10 %), 3 (10 %), 4 (10 %), 5 (10 %), "
			    "6 (10 %), 7 (10 %) and 2 more");
	assert_string_equal(cp_node_extents_words(extents, 1, words, sizeof(words)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_borders, setup),
		cmocka_unit_test_setup(test_odd_length, setup),
		cmocka_unit_test_setup(test_interleaved, setup),
		cmocka_unit_test_setup(test_unknown, setup),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
