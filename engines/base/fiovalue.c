// SPDX-License-Identifier: GPL-2.0-only
#include "engines/base/fiovalue.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *noun, *bad, *list;
} kinds[] = {
	[CP_FIO_VALUE_TEXT] = {"a value", "#;$%'", "# ; $ % '"},
	[CP_FIO_VALUE_PATH] = {"a path", "#;$%", "# ; $ %"},
	[CP_FIO_VALUE_FILENAME] = {"a path", "#;$%\\", "# ; $ % \\"},
};

char *cp_fio_filename_escape(const char *name, char *buf, size_t size)
{
	size_t at = 0;

	for (; *name && at + 2 < size; name++) {
		if (*name == ':')
			buf[at++] = '\\';
		buf[at++] = *name;
	}
	if (size)
		buf[at] = '\0';
	return buf;
}

int cp_fio_value_check(enum cp_fio_value kind, const char *what, const char *text,
		       struct cp_err *err)
{
	const char *noun = kinds[kind].noun, *list = kinds[kind].list;
	size_t len = strlen(text), colons = 0;

	if (!len)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL, "%s is empty; expected %s",
				  what, noun);
	for (const char *c = text; kind == CP_FIO_VALUE_FILENAME && *c; c++)
		colons += *c == ':'; /* each is written as two characters */
	if (len + colons > CP_FIO_VALUE_MAX)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s is too long for a fio job file; expected %s of at "
				  "most %d characters",
				  what, noun, CP_FIO_VALUE_MAX);
	for (const char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "%s holds control characters; expected one "
					  "line of text",
					  what);
	const char *bad = strpbrk(text, kinds[kind].bad);
	if (bad)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s holds '%c', which a fio job file cannot carry; "
				  "expected %s without any of %s",
				  what, *bad, noun, list);
	if (isspace((unsigned char)text[0]) || isspace((unsigned char)text[len - 1]))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s begins or ends with a blank, which fio would cut "
				  "off; expected %s without",
				  what, noun);
	return 0;
}
