/* SPDX-License-Identifier: GPL-2.0-only */
/* Words against lists of words: the nearest one, and the list as text. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/yaml.h"

#define WORD_LEN_MAX 63

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b, letter case aside. */
static unsigned edit_distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	unsigned rows[3][WORD_LEN_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (unsigned j = 0; j <= len_b; j++)
		last[j] = j;
	for (unsigned i = 1; i <= len_a; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= len_b; j++) {
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);

			row[j] =
				min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		unsigned *oldest = before;

		before = last;
		last = row;
		row = oldest;
	}
	return last[len_b];
}

const char *cp_nearest_word(const char *text, const char *const *words)
{
	size_t len = strlen(text);
	unsigned best = len >= 5 ? 3 : 2; /* one more than what is still near */
	const char *nearest = NULL;

	if (len < 2 || len > WORD_LEN_MAX)
		return NULL;
	for (; *words; words++) {
		size_t word_len = strlen(*words);

		if (word_len > WORD_LEN_MAX)
			continue;
		unsigned distance = edit_distance(text, len, *words, word_len);

		if (distance < best) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

char *cp_words_join(const char *const *words, char *buf, size_t size)
{
	static const char more[] = ", ...";
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; words[i]; i++) {
		const char *gap = !i ? "" : words[i + 1] ? ", " : " or ";
		size_t need = strlen(gap) + strlen(words[i]);
		size_t left = size - used;

		/* No word is cut: it would be taken for another. */
		if (need + (words[i + 1] ? sizeof(more) - 1 : 0) >= left) {
			snprintf(buf + used, left, "%s", i ? more : more + 2);
			break;
		}
		snprintf(buf + used, left, "%s%s", gap, words[i]);
		used += need;
	}
	return buf;
}
