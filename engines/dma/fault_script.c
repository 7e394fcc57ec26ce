// SPDX-License-Identifier: GPL-2.0-only
/*
 * A script of the fault engine: a line for each transaction that is to fare otherwise.
 *
 *	N full [TIMES]			told "full" so often (1), then passed on
 *	N error [read|write|aborted]	else by chance
 *	N short [SIZE]			so many bytes move, at most all but one
 *	N never [TIME]			withheld so long (never_for)
 *	N prep_error
 *	N pass				left alone, whatever chance says
 *
 * Blank lines, and what follows a #, mean nothing. Lines may come in any order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/file.h"
#include "engines/base/units.h"
#include "engines/base/yaml.h"
#include "engines/dma/fault.h"

#define SCRIPT_BYTES_MAX (16U << 20)
#define FULL_TIMES_MAX	 1000000U

const char *const fault_action_names[FAULT_ACTIONS + 1] = {
	[FAULT_PASS] = "pass",
	[FAULT_ERROR] = "error",
	[FAULT_SHORT] = "short",
	[FAULT_NEVER] = "never",
	[FAULT_PREP_ERROR] = "prep_error",
	[FAULT_FULL] = "full",
};

static const char *const results[] = {"read", "write", "aborted", NULL};

struct reader {
	const char *path, *line; /* its first character */
	unsigned nr;		 /* of the line */
	struct cp_err *err;
};

static int refuse(struct reader *reader, const char *at, const char *what,
		  const char *word, const char *expected)
{
	return cp_err_set(reader->err, CP_EXIT_USAGE, EINVAL,
			  "%s:%u:%zu: %s '%s'; expected %s", reader->path, reader->nr,
			  (size_t)(at - reader->line) + 1, what, word, expected);
}

/* The next word, with a NUL put behind it; "" at the end of the line. */
static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t\r");
	size_t len = strcspn(word, " \t\r");

	*text = word + len;
	if (word[len]) {
		word[len] = '\0';
		(*text)++;
	}
	return word;
}

static int word_index(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], word))
			return i;
	}
	return -1;
}

static int arg_read(struct reader *reader, const char *word, struct fault_step *step)
{
	int result;

	switch (step->action) {
	case FAULT_FULL:
		if (cp_uint_parse(word, FULL_TIMES_MAX, &step->arg))
			return refuse(reader, word, "full", word, "a number of times");
		return 0;
	case FAULT_ERROR:
		result = word_index(word, results);
		if (result < 0)
			return refuse(reader, word, "unknown error", word,
				      "read, write or aborted");
		step->arg = (uint64_t)result + CP_DMA_READ_FAILED;
		return 0;
	case FAULT_SHORT:
		if (cp_size_parse(word, &step->arg))
			return refuse(reader, word, "short", word,
				      "a size: the bytes that move");
		return 0;
	case FAULT_NEVER:
		if (cp_time_parse(word, &step->arg) || step->arg > FAULT_NEVER_MAX_NS)
			return refuse(reader, word, "never", word, "a time up to 1h");
		return 0;
	case FAULT_PASS:
	case FAULT_PREP_ERROR:
	case FAULT_ACTIONS:
		break;
	}
	return refuse(reader, word, "a word too many:", word, "the end of the line");
}

static int step_read(struct reader *reader, char *number, char *text,
		     struct fault_step *step)
{
	char list[96];

	*step = (struct fault_step){0};
	if (cp_uint_parse(number, UINT64_MAX, &step->number) || !step->number)
		return refuse(reader, number, "no transaction", number,
			      "its number, from 1");
	char *word = next_word(&text);
	int action = word_index(word, fault_action_names);

	if (action < 0)
		return refuse(reader, word, "unknown action", word,
			      cp_words_join(fault_action_names, list, sizeof(list)));
	step->action = (enum fault_action)action;
	word = next_word(&text);
	if (!*word)
		return 0;
	int rc = arg_read(reader, word, step);

	if (rc)
		return rc;
	step->has_arg = true;
	word = next_word(&text);
	return *word ? refuse(reader, word, "a word too many:", word,
			      "the end of the line")
		     : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct fault_step *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int check_twice(const char *path, struct fault_step *steps, size_t nr,
		       struct cp_err *err)
{
	qsort(steps, nr, sizeof(*steps), by_number);
	for (size_t i = 1; i < nr; i++) {
		if (steps[i].number == steps[i - 1].number)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "%s: transaction '%llu' has two lines; "
					  "expected one",
					  path, (unsigned long long)steps[i].number);
	}
	return 0;
}

static int lines_read(const char *path, char *text, struct fault_step *steps,
		      size_t *ret_nr, struct cp_err *err)
{
	struct reader reader = {.path = path, .err = err};
	size_t nr = 0;

	while (text) {
		char *line = strsep(&text, "\n");

		reader.line = line;
		reader.nr++;
		line[strcspn(line, "#")] = '\0';
		char *number = next_word(&line);
		int rc = *number ? step_read(&reader, number, line, &steps[nr]) : 0;

		if (rc)
			return rc;
		nr += *number != '\0';
	}
	*ret_nr = nr;
	return check_twice(path, steps, nr, err);
}

int fault_script_read(const char *path, struct fault_step **ret_steps, size_t *ret_nr,
		      struct cp_err *err)
{
	size_t len, lines = 1, nr = 0;
	char *text;
	int rc = cp_file_read(path, SCRIPT_BYTES_MAX, &text, &len, err);

	if (rc) {
		cp_err_prefix(err, "fault: script");
		return rc;
	}
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	struct fault_step *steps = calloc(lines, sizeof(*steps));

	rc = steps ? lines_read(path, text, steps, &nr, err)
		   : cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "fault: out of memory");
	free(text);
	if (rc) {
		free(steps);
		return rc;
	}
	*ret_steps = steps;
	*ret_nr = nr;
	return 0;
}
