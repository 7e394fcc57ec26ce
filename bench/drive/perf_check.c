// SPDX-License-Identifier: GPL-2.0-only
/* What perf may do here, found by trying it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/drive/child.h"
#include "bench/drive/perf.h"
#include "engines/base/file.h"

#define TRY_MAX_NS     20000000000ULL
#define OUTPUT_MAX     (8U << 20)
#define EXIT_BAD_EVENT 129 /* perf's, after its usage */

struct answer {
	struct cp_child_end end;
	char *out;	/* owned */
	char said[512]; /* the line of stderr that tells most */
};

/* Its first line that is not only "Error:". */
static void pick_line(const char *text, char *buf, size_t size)
{
	buf[0] = '\0';
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		int len = (int)strcspn(text, "\n");

		if (len && strncmp(text, "Error:", 6) != 0 &&
		    strncmp(text, "WARNING: Kernel address maps", 28) != 0) {
			snprintf(buf, size, "%.*s", len, text);
			return;
		}
	}
}

static int read_fd(int fd, char **ret_text)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = size < 0 || size > OUTPUT_MAX ? NULL : malloc((size_t)size + 1);

	if (!text)
		return -ENOMEM;
	cp_fd_text(fd, text, (size_t)size + 1);
	*ret_text = text;
	return 0;
}

static int ask(const char *const *argv, struct answer *answer, struct cp_err *err)
{
	int out_fd = memfd_create("perf", MFD_CLOEXEC);
	int err_fd = memfd_create("perf", MFD_CLOEXEC);
	char text[4096];
	int ret;

	*answer = (struct answer){0};
	if (out_fd < 0 || err_fd < 0)
		ret = cp_err_set(err, CP_EXIT_INVALID, errno, "cannot ask perf: %s",
				 strerror(errno));
	else
		ret = cp_child_run(argv, out_fd, err_fd, TRY_MAX_NS, NULL, &answer->end,
				   err);
	if (!ret && read_fd(out_fd, &answer->out))
		ret = cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				 "perf's answer is too long");
	if (!ret) {
		cp_fd_text(err_fd, text, sizeof(text));
		pick_line(text, answer->said, sizeof(answer->said));
	}
	if (out_fd >= 0)
		close(out_fd);
	if (err_fd >= 0)
		close(err_fd);
	return ret;
}

static int paranoid(void)
{
	char line[32] = "";
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!file)
		return -1;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return line[0] ? (int)strtol(line, NULL, 10) : -1;
}

/* The value named is below the present one: to be told to set what is set helps nobody.
 */
static int not_permitted(int now, const char *what, struct cp_err *err)
{
	int lower = now > 2 ? 2 : now - 1;

	if (now < 1)
		return cp_err_set(err, CP_EXIT_INVALID, EACCES,
				  "perf may not %s: kernel.perf_event_paranoid is %d, "
				  "which permits it; expected CAP_PERFMON or root",
				  what, now);
	return cp_err_set(err, CP_EXIT_INVALID, EACCES,
			  "perf may not %s: kernel.perf_event_paranoid is %d; expected "
			  "%d or less ('sysctl -w kernel.perf_event_paranoid=%d'%s), "
			  "CAP_PERFMON or root",
			  what, now, lower, lower,
			  lower > 1 ? ", 1 with the kernel's part" : "");
}

static bool is_missing(const struct answer *answer)
{
	return answer->end.exit_code == 127 || answer->end.exit_code == 126;
}

/* Why, and what to set. `what` is what was to be done: "count 'cycles'". */
static int refused(const struct answer *answer, const char *what, struct cp_err *err)
{
	if (is_missing(answer))
		return cp_err_set(
			err, CP_EXIT_INVALID, ENOENT,
			"there is no perf to %s; expected the package "
			"'linux-perf' (Debian), or 'linux-tools' of this kernel",
			what);
	if (strcasestr(answer->said, "not installed") ||
	    strcasestr(answer->said, "not found for kernel"))
		return cp_err_set(err, CP_EXIT_INVALID, ENOENT,
				  "perf cannot %s: %s; expected the perf of this kernel "
				  "(package 'linux-perf' or 'linux-tools')",
				  what, answer->said);
	if (strcasestr(answer->said, "access to performance monitoring") ||
	    strcasestr(answer->said, "permission"))
		return not_permitted(paranoid(), what, err);
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
			  "perf cannot %s (exit code %d): %s; expected it to work before "
			  "anything is measured",
			  what, answer->end.exit_code,
			  answer->said[0] ? answer->said : "it says nothing");
}

int cp_perf_try(const char *event, bool *ret_supported, struct cp_err *err)
{
	const char *const argv[] = {"env", "LC_ALL=C", "perf",	      "stat", "-x",
				    ";",   "-o",       "/dev/stdout", "-e",   event,
				    "--",  "true",     NULL};
	struct answer answer;
	char what[64];
	int ret = ask(argv, &answer, err);

	if (ret)
		return ret;
	snprintf(what, sizeof(what), "count '%.48s'", event);
	if (answer.end.exit_code == EXIT_BAD_EVENT)
		ret = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				 "'perf' has '%s', which perf does not know; expected an "
				 "event of 'perf list'",
				 event);
	else if (answer.end.exit_code)
		ret = refused(&answer, what, err);
	else
		*ret_supported = !strstr(answer.out, "<not supported>");
	free(answer.out);
	return ret;
}

int cp_perf_try_record(const char *event, struct cp_err *err)
{
	char frequency[16], what[64];
	const char *const argv[] = {"env", "LC_ALL=C", "perf", "record", "-q",
				    "-N",  "-e",       event,  "-F",	 frequency,
				    "-o",  "-",	       "--",   "true",	 NULL};
	struct answer answer;

	snprintf(frequency, sizeof(frequency), "%d", CP_PERF_FREQUENCY);
	int ret = ask(argv, &answer, err);

	if (ret)
		return ret;
	snprintf(what, sizeof(what), "sample '%.40s'", event);
	if (answer.end.exit_code)
		ret = refused(&answer, what, err);
	free(answer.out);
	return ret;
}

int cp_perf_profile_event(const char **ret_event, struct cp_err *err)
{
	bool supported = false;
	int ret = cp_perf_try("cycles", &supported, err);

	if (!ret)
		*ret_event = supported ? "cycles" : "cpu-clock";
	return ret;
}

int cp_perf_output(const char *const *argv, char **ret_text, struct cp_err *err)
{
	struct answer answer;
	int ret = ask(argv, &answer, err);

	if (ret)
		return ret;
	if (answer.end.exit_code) {
		free(answer.out);
		return refused(&answer, "read its own profile", err);
	}
	*ret_text = answer.out;
	return 0;
}
