// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: bare_bench CPU COPY BYTES MEDIA_BYTES SECONDS
 *
 * A bare copy loop, to stand beside the `sw` engine's thread: random blocks of BYTES by
 * the kernel COPY out of anonymous memory of MEDIA_BYTES into 16 buffers by turns, on
 * CPU, in pieces of 128 segments of 4k as a channel gets them. Prints bytes a second by
 * the wall clock, bytes a second of CPU time, and the kernel's name.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/clock.h"
#include "engines/base/random.h"
#include "engines/base/units.h"
#include "engines/copy/copy.h"
#include "engines/media/media.h"

#define BUFFERS 16U
#define BATCH	4U /* blocks between two looks at the clock */
/* What a transaction holds at most: a copy of 2m is another, slower one in some
 * libraries. */
#define PIECE (128UL << 12)

static void die(const char *text, int code)
{
	fprintf(stderr, "error: %s\n", text);
	exit(code);
}

static void loop(const struct cp_media *media, cp_copy_fn fn, size_t bytes,
		 uint64_t duration_ns, const char *name)
{
	unsigned char *near = aligned_alloc(4096, BUFFERS * bytes);
	uint64_t state = CP_RANDOM_XORSHIFT_START, blocks = 0;

	if (!near)
		die("out of memory", CP_EXIT_INVALID);
	memset(near, 1, BUFFERS * bytes);
	uint64_t start_ns = cp_now_ns(), start_cpu_ns = cp_thread_cpu_ns(), elapsed_ns;

	do {
		for (unsigned i = 0; i < BATCH; i++, blocks++) {
			unsigned char *to = near + blocks % BUFFERS * bytes;
			const unsigned char *from =
				media->base + cp_random_xorshift(&state) %
						      (media->bytes / bytes) * bytes;

			for (size_t at = 0; at < bytes; at += PIECE)
				fn(to + at, from + at,
				   bytes - at < PIECE ? bytes - at : PIECE, CP_DIR_READ,
				   CP_ATTR_WB);
		}
		elapsed_ns = cp_now_ns() - start_ns;
	} while (elapsed_ns < duration_ns);
	double moved = (double)blocks * (double)bytes * 1e9;

	printf("%.0f %.0f %s\n", moved / (double)elapsed_ns,
	       moved / (double)(cp_thread_cpu_ns() - start_cpu_ns), name);
	free(near);
}

static void pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
		die("no such CPU", CP_EXIT_USAGE);
}

int main(int argc, char **argv)
{
	struct cp_copy_opts opts;
	struct cp_copy_bound bound;
	struct cp_media media;
	struct cp_err err;
	uint64_t bytes, media_bytes;

	if (argc != 6 || cp_size_parse(argv[3], &bytes) ||
	    cp_size_parse(argv[4], &media_bytes) || !bytes || media_bytes < bytes)
		die("usage: bare_bench CPU COPY BYTES MEDIA_BYTES SECONDS",
		    CP_EXIT_USAGE);
	pin((unsigned)strtoul(argv[1], NULL, 10));
	cp_copy_opts_init(&opts);
	if (cp_copy_bind_sizes(argv[2], CP_DIR_READ, &opts, &bound, &err))
		die(err.msg, (int)err.exit);
	const struct cp_media_cfg cfg = {
		.spec = "anon", .bytes = media_bytes, .writable = true, .fault_in = true};

	if (cp_media_open(&cfg, &media, &err))
		die(err.msg, (int)err.exit);
	unsigned class = cp_copy_class(bytes < PIECE ? bytes : PIECE);

	loop(&media, bound.fn[class], bytes, (uint64_t)(strtod(argv[5], NULL) * 1e9),
	     bound.ops[class]->name);
	cp_media_close(&media);
	return 0;
}
