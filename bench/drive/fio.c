// SPDX-License-Identifier: GPL-2.0-only
/* Finding fio, and finding out whether it and our plug-ins belong together. */
#include "bench/drive/fio.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/drive/child.h"
#include "engines/base/file.h"
#include "engines/base/fiovalue.h"

#define ASK_TIMEOUT_NS 20000000000ULL
#define PLUGIN_MAX     (256U << 20)

/* Run `fio args...` and keep the start of what it printed, both streams apart. */
static int ask(const char *const *argv, struct cp_child_end *ret_end, char *out,
	       char *errors, size_t size, struct cp_err *err)
{
	int out_fd = memfd_create("fio-out", MFD_CLOEXEC);
	int err_fd = memfd_create("fio-err", MFD_CLOEXEC);
	int ret;

	if (out_fd < 0 || err_fd < 0)
		ret = cp_err_set(err, CP_EXIT_INVALID, errno, "cannot start '%s': %s",
				 argv[0], strerror(errno));
	else
		ret = cp_child_run(argv, out_fd, err_fd, ASK_TIMEOUT_NS, NULL, ret_end,
				   err);
	if (!ret) {
		cp_fd_text(out_fd, out, size);
		cp_fd_text(err_fd, errors, size);
	}
	if (out_fd >= 0)
		close(out_fd);
	if (err_fd >= 0)
		close(err_fd);
	return ret;
}

/* The fio whose headers a plug-in was built with: the plug-in holds it as a string of its
 * own ("fio-3.33"), so that it can be asked without being loaded. */
static int read_built_for(const char *path, char *buf, size_t size, struct cp_err *err)
{
	static const char mark[] = "\0fio-";
	char *data = NULL;
	size_t len;
	int ret = cp_file_read(path, PLUGIN_MAX, &data, &len, err);

	if (ret)
		return ret;
	buf[0] = '\0';
	const char *end = data + len;
	for (const char *at = data; at; at++) {
		at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1);
		if (!at)
			break;
		/* data has a NUL behind it; machine code may hold the letters too */
		if (at[5] >= '0' && at[5] <= '9' &&
		    !at[1 + strspn(at + 1, "0123456789abcdefghijklmnopqrstuvwxyz.-")]) {
			snprintf(buf, size, "%s", at + 1);
			break;
		}
	}
	free(data);
	return 0;
}

int cp_fio_find(const char *plugin_dir, struct cp_fio *ret_fio, struct cp_err *err)
{
	const char *env = getenv("COPYPATH_FIO");
	struct cp_fio fio = {0};
	struct cp_child_end end = {.exit_code = -1};
	char out[256], errors[256], real[PATH_MAX];

	snprintf(fio.path, sizeof(fio.path), "%s", env && env[0] ? env : "fio");
	if (!realpath(plugin_dir, real))
		snprintf(real, sizeof(real), "%s", plugin_dir);
	snprintf(fio.plugin_dir, sizeof(fio.plugin_dir), "%s", real);
	char subject[PATH_MAX + 32];
	snprintf(subject, sizeof(subject), "the plug-in directory '%.1000s'",
		 fio.plugin_dir);
	int ret = cp_fio_value_check(CP_FIO_VALUE_PATH, subject, fio.plugin_dir, err);
	if (ret)
		return ret;
	const char *const argv[] = {fio.path, "--version", NULL};
	ret = ask(argv, &end, out, errors, sizeof(out), err);
	if (ret) {
		cp_err_set(err, CP_EXIT_INVALID, -ret,
			   "cannot start '%s': %s; expected fio to be installed (make "
			   "deps) or COPYPATH_FIO to name it",
			   fio.path, strerror(-ret));
		return ret;
	}
	out[strcspn(out, "\r\n")] = '\0';
	if (end.exit_code || strncmp(out, "fio-", 4) != 0)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "'%s --version' answered '%.60s'; expected a version "
				  "like fio-3.33",
				  fio.path, out);
	snprintf(fio.version, sizeof(fio.version), "%.31s", out);
	*ret_fio = fio;
	return 0;
}

static int check_plugin(const struct cp_fio *fio, const char *name, char *built_for,
			size_t size, struct cp_err *err)
{
	char path[4200];

	if (cp_path_join(path, sizeof(path), fio->plugin_dir, name))
		return cp_err_set(err, CP_EXIT_INVALID, ENAMETOOLONG,
				  "the plug-in directory '%.200s' is too long",
				  fio->plugin_dir);
	if (access(path, R_OK))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "cannot read the plug-in '%s': %s; expected it beside "
				  "the program (make) or in the library directory (make "
				  "install)",
				  path, strerror(errno));
	int ret = read_built_for(path, built_for, size, err);
	if (ret || !strcmp(built_for, fio->version))
		return ret;
	if (!built_for[0])
		return cp_err_set(
			err, CP_EXIT_INVALID, EINVAL,
			"'%s' is no copypath plug-in, or not a whole one; expected the "
			"one that make builds",
			path);
	return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
			  "'%s' is %s but the plug-in '%s' was built with the headers of "
			  "%s; expected the same: install %s, or get the headers of %s "
			  "and build again (make deps all)",
			  fio->path, fio->version, path, built_for, built_for,
			  fio->version);
}

int cp_fio_check(struct cp_fio *fio, struct cp_err *err)
{
	char other[32];
	int ret = check_plugin(fio, "copypath-sync.so", fio->built_for,
			       sizeof(fio->built_for), err);

	return ret ? ret
		   : check_plugin(fio, "copypath-async.so", other, sizeof(other), err);
}

#define SAID_MAX 700

/* 0 when fio was asked; *ret_good: it takes the job, else what it said. */
static int parse_job(const struct cp_fio *fio, const struct cp_plan *plan,
		     const struct cp_plan_cell *cell, bool *ret_good, char said[SAID_MAX],
		     struct cp_err *err)
{
	char path[64], out[SAID_MAX], errors[SAID_MAX];
	struct cp_child_end end = {.exit_code = -1};
	/* Nothing is written yet: fio reads the job from memory, through an inherited
	 * descriptor. */
	int fd = memfd_create("job", 0);
	int keep = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *job = keep < 0 ? NULL : fdopen(keep, "w");
	int ret = 0;

	if (!job) {
		ret = cp_err_set(err, CP_EXIT_INVALID, errno, "cannot make a job: %s",
				 strerror(errno));
		if (keep >= 0)
			close(keep);
		goto out_close;
	}
	cp_fio_job_print(job, fio, plan, cell, 1, NULL);
	fclose(job);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	const char *const argv[] = {fio->path, "--parse-only", path, NULL};
	ret = ask(argv, &end, out, errors, sizeof(out), err);
	if (ret)
		goto out_close;
	*ret_good = !end.exit_code && !end.signo;
	snprintf(said, SAID_MAX, "%s", errors[0] ? errors : out);
	if (!said[0] && end.signo)
		snprintf(said, SAID_MAX, "it was ended by signal %d (%s)", end.signo,
			 strsignal(end.signo));
	else if (!said[0])
		snprintf(said, SAID_MAX, "it exited with %d and said nothing",
			 end.exit_code);
	for (size_t len = strlen(said); len && said[len - 1] == '\n'; len--)
		said[len - 1] = '\0';
out_close:
	if (fd >= 0)
		close(fd);
	return ret;
}

int cp_fio_try(const struct cp_fio *fio, const struct cp_plan *plan,
	       const struct cp_plan_cell *cell, struct cp_err *err)
{
	struct cp_plan some = *plan; /* shares what it points to; not freed */
	char said[SAID_MAX];
	bool good = false;
	int ret = parse_job(fio, plan, cell, &good, said, err);

	if (ret || good)
		return ret;
	/* The first option with which it goes wrong is the one to blame, if any is. */
	some.nr_options = 0;
	while (some.nr_options <= plan->nr_options) {
		ret = parse_job(fio, &some, cell, &good, said, err);
		if (ret)
			return ret;
		if (!good)
			break;
		some.nr_options++;
	}
	if (good || !some.nr_options)
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "fio refused the job of arm '%s' with '%s/%s': %s",
				  cell->arm.name, fio->plugin_dir,
				  cp_fio_plugin(&cell->arm), said);
	const struct cp_plan_option *option = &plan->options[some.nr_options - 1];
	ret = cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			 "'%s' cannot be '%s': %.*s; expected a value that fio "
			 "takes",
			 option->key, option->value, (int)strcspn(said, "\n"), said);
	if (plan->config[0] && option->at[0])
		cp_err_prefix(err, "%s:%u:%u: error", plan->config, option->at[0],
			      option->at[1]);
	return ret;
}
