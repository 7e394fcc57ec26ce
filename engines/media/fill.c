// SPDX-License-Identifier: GPL-2.0-only
/* First contents of memory that has none, for media that are not files. */
#include <string.h>

#include "engines/base/random.h"
#include "engines/copy/flush.h"
#include "engines/media/kinds.h"

void cp_media_fill(unsigned char *base, size_t bytes, size_t page)
{
	for (size_t at = 0; at < bytes; at += page) {
		uint64_t word = cp_random_mix(at / page + 1);

		for (size_t line = 0; line < page; line += CP_LINE_BYTES) {
			uint64_t words[CP_LINE_BYTES / sizeof(word)];

			for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
				words[i] = word;
				word += CP_RANDOM_GOLDEN;
			}
			/* A line at once, in the widest stores of the build: under uc
			 * each store is a bus transaction. */
			memcpy(base + at + line, words, sizeof(words));
		}
	}
}
