/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Mark a message that lost its end, so that nobody takes the cut text for the whole. */
static void mark_cut(char *msg, int len)
{
	if (len < 0)
		msg[0] = '\0';
	else if ((size_t)len >= CP_ERR_MSG_MAX)
		memcpy(msg + CP_ERR_MSG_MAX - 4, "...", 4);
}

int cp_err_set(struct cp_err *err, enum cp_exit exit, int errnum, const char *fmt, ...)
{
	char msg[CP_ERR_MSG_MAX]; /* the arguments may point into err->msg */
	va_list ap;

	assert(err && errnum > 0);
	va_start(ap, fmt);
	int len = vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	mark_cut(msg, len);
	memcpy(err->msg, msg, strlen(msg) + 1);
	err->exit = exit == CP_EXIT_OK ? CP_EXIT_INTERNAL : exit;
	return -errnum;
}

void cp_err_prefix(struct cp_err *err, const char *fmt, ...)
{
	char msg[CP_ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < sizeof(msg)) {
		size_t at = (size_t)len;
		int more = snprintf(msg + at, sizeof(msg) - at, ": %s", err->msg);

		len = more < 0 ? more : len + more;
	}
	mark_cut(msg, len);
	memcpy(err->msg, msg, strlen(msg) + 1);
}

static int exit_rank(enum cp_exit code)
{
	switch (code) {
	case CP_EXIT_OK:
		return 0;
	case CP_EXIT_INCONCLUSIVE:
		return 1;
	case CP_EXIT_REGRESSED:
		return 2;
	case CP_EXIT_INVALID:
		return 3;
	case CP_EXIT_USAGE:
		return 4;
	case CP_EXIT_INTERNAL:
		return 5;
	case CP_EXIT_INTERRUPTED:
		return 6;
	}
	return 5;
}

enum cp_exit cp_exit_worse(enum cp_exit a, enum cp_exit b)
{
	return exit_rank(a) >= exit_rank(b) ? a : b;
}
