// SPDX-License-Identifier: GPL-2.0-only
/*
 * On which NUMA nodes a media's pages are. All of them would be asked of at 0.2 us each
 * (65 ms for 1g of 4k pages, a second for 16g), so one page of each 4096th part of the
 * range is, 1 ms whatever the size, and between two that differ the border is searched
 * for, to the page. Pages of another node that no sample meets, and that fill less than
 * two such parts, can be missed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engines/media/kinds.h"

#define SAMPLES_MAX 4096
#define NODES_MAX   1024
#define WORDS_MAX   8

struct scan {
	const struct cp_media *media;
	cp_media_ask_fn ask;
	size_t page, nr_pages;
	unsigned nr; /* samples */
	size_t at[SAMPLES_MAX];
	int node[SAMPLES_MAX];
	unsigned counts[NODES_MAX], found;
	struct cp_node_extent extents[CP_MEDIA_EXTENTS_MAX];
	unsigned nr_extents;
	bool interleaved; /* more borders than extents are kept */
};

int cp_media_ask(const struct cp_media *media, unsigned long nr, void **pages,
		 int *ret_nodes)
{
	(void)media;
	/* nodes NULL: a query, nothing moves */
	return syscall(SYS_move_pages, 0, nr, pages, NULL, ret_nodes, 0) < 0 ? -1 : 0;
}

/* Somewhere in its part of the range: at even steps, pages that alternate between nodes
 * would look as if all were on one. */
static size_t sample_page(const struct scan *scan, unsigned i)
{
	size_t first = scan->nr_pages * i / scan->nr;
	size_t len = scan->nr_pages * (i + 1) / scan->nr - first;

	return first + (i * 2654435761U >> 7) % len; /* Knuth's multiplicative hash */
}

static bool sample(struct scan *scan)
{
	void *pages[SAMPLES_MAX];

	for (unsigned i = 0; i < scan->nr; i++) {
		scan->at[i] = sample_page(scan, i);
		pages[i] = scan->media->base + scan->at[i] * scan->page;
	}
	if (scan->ask(scan->media, scan->nr, pages, scan->node))
		return false;
	for (unsigned i = 0; i < scan->nr; i++) {
		/* negative: not in memory (yet) */
		if (scan->node[i] < 0 || scan->node[i] >= NODES_MAX) {
			scan->node[i] = -1;
			continue;
		}
		scan->found++;
		scan->counts[scan->node[i]]++;
	}
	return true;
}

/* The node of one page; one that is unknown is taken for `otherwise`. */
static int page_node(const struct scan *scan, size_t at, int otherwise)
{
	void *page = scan->media->base + at * scan->page;
	int node;

	if (scan->ask(scan->media, 1, &page, &node) || node < 0 || node >= NODES_MAX)
		return otherwise;
	return node;
}

static void add_extent(struct scan *scan, size_t end_page, int node)
{
	uint64_t end = (uint64_t)end_page * scan->page;

	if (scan->nr_extents == CP_MEDIA_EXTENTS_MAX) {
		scan->interleaved = true;
		return;
	}
	scan->extents[scan->nr_extents++] = (struct cp_node_extent){
		.end = end < scan->media->bytes ? end : scan->media->bytes,
		.node = node,
	};
}

/* From page `at`, of *node, to page `to`, of another node: an extent for each border on
 * the way. Of two borders back and forth one search sees neither. */
static void find_borders(struct scan *scan, size_t at, size_t to, int *node, int to_node)
{
	while (*node != to_node && !scan->interleaved) {
		size_t low = at, high = to;
		int beyond = to_node;

		while (high - low > 1) {
			size_t mid = low + (high - low) / 2;
			int found = page_node(scan, mid, *node);

			if (found == *node) {
				low = mid;
			} else {
				high = mid;
				beyond = found;
			}
		}
		add_extent(scan, high, *node);
		at = high;
		*node = beyond;
	}
}

static void find_extents(struct scan *scan)
{
	size_t at = 0;
	int node = -1;

	for (unsigned i = 0; i < scan->nr && !scan->interleaved; i++) {
		if (scan->node[i] < 0)
			continue;
		if (node >= 0)
			find_borders(scan, at, scan->at[i], &node, scan->node[i]);
		node = scan->node[i];
		at = scan->at[i];
	}
	if (node >= 0)
		add_extent(scan, scan->nr_pages, node);
}

/* Of a share that is neither nothing nor all. */
static const char *pct_words(uint64_t part, uint64_t all, char buf[16])
{
	double pct = 100.0 * (double)part / (double)all;

	if (pct < 1 || pct > 99)
		return pct < 1 ? "under 1" : "over 99";
	snprintf(buf, 16, "%.0f", pct);
	return buf;
}

char *cp_node_extents_words(const struct cp_node_extent *extents, unsigned nr, char *buf,
			    size_t size)
{
	uint64_t bytes[NODES_MAX] = {0}, start = 0, all = nr ? extents[nr - 1].end : 0;
	unsigned nr_nodes = 0, told = 0;
	size_t used = 0;
	char pct[16];

	buf[0] = '\0';
	for (unsigned i = 0; i < nr; start = extents[i++].end) {
		if (extents[i].node < 0 || extents[i].node >= NODES_MAX)
			continue;
		nr_nodes += !bytes[extents[i].node];
		bytes[extents[i].node] += extents[i].end - start;
	}
	if (nr_nodes < 2)
		return buf;
	for (unsigned n = 0; n < NODES_MAX && told < WORDS_MAX && used < size; n++) {
		if (!bytes[n])
			continue;
		const char *between = !told ? "" : told + 1 == nr_nodes ? " and " : ", ";

		told++;
		used += (size_t)snprintf(buf + used, size - used, "%s%u (%s %%)", between,
					 n, pct_words(bytes[n], all, pct));
	}
	if (told < nr_nodes && used < size)
		snprintf(buf + used, size - used, " and %u more", nr_nodes - told);
	return buf;
}

/* What is worth saying of more nodes than one. */
static void note_nodes(struct cp_media *media, const struct scan *scan)
{
	struct cp_node_extent shares[CP_MEDIA_EXTENTS_MAX];
	unsigned nr = 0;
	uint64_t end = 0;
	char words[128];

	if (!scan->interleaved) {
		cp_node_extents_words(scan->extents, scan->nr_extents, words,
				      sizeof(words));
		snprintf(media->node_note, sizeof(media->node_note),
			 "media lies on nodes %s", words);
		return;
	}
	for (unsigned n = 0; n < NODES_MAX && nr < CP_MEDIA_EXTENTS_MAX; n++) {
		if (!scan->counts[n])
			continue;
		end += scan->counts[n];
		shares[nr++] = (struct cp_node_extent){.end = end, .node = (int)n};
	}
	cp_node_extents_words(shares, nr, words, sizeof(words));
	snprintf(media->node_note, sizeof(media->node_note),
		 "media is interleaved over nodes %s", words);
}

/* The node with the most bytes. */
static void set_node(struct cp_media *media, const struct scan *scan)
{
	uint64_t bytes[NODES_MAX] = {0}, all = scan->found, start = 0;

	for (unsigned n = 0; n < NODES_MAX && scan->interleaved; n++)
		bytes[n] = scan->counts[n];
	if (!scan->interleaved && scan->nr_extents)
		all = scan->extents[scan->nr_extents - 1].end;
	for (unsigned i = 0; i < scan->nr_extents && !scan->interleaved; i++) {
		bytes[scan->extents[i].node] += scan->extents[i].end - start;
		start = scan->extents[i].end;
	}
	for (unsigned n = 0; n < NODES_MAX; n++) {
		if (bytes[n] && (media->node < 0 || bytes[n] > bytes[media->node]))
			media->node = (int)n;
	}
	if (media->node >= 0)
		media->node_pct = (unsigned)(bytes[media->node] * 100 / all);
}

void cp_media_nodes_find(struct cp_media *media, cp_media_ask_fn ask)
{
	struct scan *scan = calloc(1, sizeof(*scan));

	media->node = -1;
	media->node_pct = 0;
	if (!scan)
		return; /* unknown, as where the kernel does not tell */
	scan->media = media;
	scan->ask = ask;
	scan->page = (size_t)sysconf(_SC_PAGESIZE);
	scan->nr_pages = cp_media_map_bytes(media->bytes) / scan->page;
	scan->nr = scan->nr_pages < SAMPLES_MAX ? (unsigned)scan->nr_pages : SAMPLES_MAX;
	if (sample(scan) && scan->found)
		find_extents(scan);
	set_node(media, scan);
	if (scan->interleaved || scan->nr_extents > 1)
		note_nodes(media, scan);
	if (scan->nr_extents > 1 && !scan->interleaved) {
		size_t size = scan->nr_extents * sizeof(scan->extents[0]);

		media->extents = malloc(size);
		if (media->extents) {
			memcpy(media->extents, scan->extents, size);
			media->nr_extents = scan->nr_extents;
		}
	}
	free(scan);
}
