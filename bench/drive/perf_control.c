// SPDX-License-Identifier: GPL-2.0-only
/* How perf is started around a driver's program, and told of its window. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/drive/perf.h"
#include "engines/base/window.h"

/* Not in the run directory, whose name may have the comma that parts the two. In TMPDIR
 * as programs do it, but for one that is as bad, or too long for where the names go. */
static const char *parent(const struct cp_perf_control *control)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || dir[0] != '/' || strchr(dir, ',') ||
	    strlen(dir) + sizeof("/copypath-perf.XXXXXX") > sizeof(control->dir))
		return "/tmp";
	return dir;
}

int cp_perf_control_make(struct cp_perf_control *control, bool windowed,
			 struct cp_err *err)
{
	*control = (struct cp_perf_control){.windowed = windowed};
	if (!windowed)
		return 0;
	snprintf(control->dir, sizeof(control->dir), "%.200s/copypath-perf.XXXXXX",
		 parent(control));
	if (!mkdtemp(control->dir)) {
		control->dir[0] = '\0';
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "cannot make a directory in '%s' for perf: %s",
				  parent(control), strerror(errno));
	}
	snprintf(control->control, sizeof(control->control), "%s/control", control->dir);
	snprintf(control->ack, sizeof(control->ack), "%s/ack", control->dir);
	snprintf(control->env, sizeof(control->env), CP_WINDOW_ENV "=%s,%s",
		 control->control, control->ack);
	snprintf(control->option, sizeof(control->option), "--control=fifo:%s,%s",
		 control->control, control->ack);
	if (!mkfifo(control->control, 0600) && !mkfifo(control->ack, 0600))
		return 0;
	int ret = cp_err_set(err, CP_EXIT_INVALID, errno, "cannot make '%s': %s",
			     control->control, strerror(errno));

	cp_perf_control_remove(control);
	return ret;
}

void cp_perf_control_remove(const struct cp_perf_control *control)
{
	if (!control->dir[0])
		return;
	unlink(control->control);
	unlink(control->ack);
	rmdir(control->dir);
}

void cp_perf_prefix(struct cp_take *take, const struct cp_perf_control *control,
		    const char *const *words)
{
	const char **at = &take->prefix[take->nr_prefix];

	*at++ = "env";
	*at++ = "LC_ALL=C";
	if (control->windowed)
		*at++ = control->env;
	while (*words)
		*at++ = *words++;
	if (control->windowed) {
		*at++ = "--delay=-1";
		*at++ = control->option;
	}
	*at++ = "--";
	/* perf dies with us, and its program with perf */
	*at++ = "setpriv";
	*at++ = "--pdeathsig";
	*at++ = "KILL";
	*at++ = "--";
	take->nr_prefix = (size_t)(at - take->prefix);
}

void cp_perf_note(struct cp_record *record, const char *fmt, ...)
{
	size_t len = strlen(record->notes);
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (len + strlen(text) + 3 <= sizeof(record->notes))
		snprintf(record->notes + len, sizeof(record->notes) - len, "%s%s",
			 len ? "; " : "", text);
}
