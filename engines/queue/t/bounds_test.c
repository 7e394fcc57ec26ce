// SPDX-License-Identifier: GPL-2.0-only
/* Which I/Os are let through to a copy. That others fail whole: queue_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/queue/internal.h"

#define BYTES 16384U

/* Description: an I/O whose buffer shares a byte with the part of the media it asks for
 * is out of bounds, since no copy takes ranges that overlap; one beside it is not. */
static void overlap_is_out_of_bounds(void **state)
{
	static const struct {
		uint64_t near, offset, bytes; /* near: counted from the media's base */
		bool good;
	} cases[] = {
		{0, 0, 4096, false},	   {4095, 0, 4096, false},
		{4096, 8191, 4096, false}, {8192, 4096, 4096, true},
		{0, 4096, 4096, true},	   {BYTES - 1, BYTES - 1, 1, false},
		{0, BYTES - 1, 1, true},   {0, 0, 0, true},
		{0, BYTES - 1, 2, false}, /* behind the end */
	};
	static unsigned char media[BYTES];
	struct cp_dev dev = {.far = media, .far_bytes = BYTES};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_io io = {
			.near = media + cases[i].near,
			.offset = cases[i].offset,
			.bytes = cases[i].bytes,
		};

		if (cp_io_in_bounds(&dev, &io) != cases[i].good)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlap_is_out_of_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
