// SPDX-License-Identifier: GPL-2.0-only
/* The target's file: is it one that may be used, or is there room to make it? */
#include "bench/plan/target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <glob.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/units.h"

bool cp_target_has_file(const struct cp_plan *plan)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (cp_target_takes_file(&plan->cells[i]))
			return true;
	return false;
}

static bool writes_file(const struct cp_plan *plan)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (cp_target_takes_file(&plan->cells[i]) &&
		    cp_context_writes(&plan->cells[i].context))
			return true;
	return false;
}

uint64_t cp_target_file_bytes(const struct cp_plan *plan, uint32_t *ret_far)
{
	uint32_t far = 0;

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_context *c = &plan->cells[i].context;

		if (cp_target_takes_file(&plan->cells[i]) && c->misalign_far > far)
			far = c->misalign_far;
	}
	if (ret_far)
		*ret_far = far;
	return plan->size + far;
}

static bool line_starts(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	size_t len = strlen(text);
	char line[4200];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, text, len) && strchr(" \t\n", line[len]);
	if (file)
		fclose(file);
	return found;
}

/* A swap file or the backing file of a loop device. */
static const char *file_use(const char *path)
{
	char real[4096];
	const char *use = NULL;
	glob_t loops;

	if (!realpath(path, real))
		return NULL;
	if (line_starts("/proc/swaps", real))
		return "swap space";
	if (glob("/sys/block/loop*/loop/backing_file", 0, NULL, &loops))
		return NULL;
	for (size_t i = 0; i < loops.gl_pathc && !use; i++)
		if (line_starts(loops.gl_pathv[i], real))
			use = "a loop device";
	globfree(&loops);
	return use;
}

static int check_space(const struct cp_plan *plan, struct cp_err *err)
{
	char copy[4096], need[24], have[24];
	struct statvfs fs;

	memcpy(copy, plan->filename, sizeof(copy));
	const char *dir = dirname(copy);
	if (statvfs(dir, &fs))
		return cp_err_set(err, CP_EXIT_USAGE, errno,
				  "'%s' cannot be made: no directory '%s'; expected a "
				  "path in one",
				  plan->filename, dir);
	if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "'%s' cannot be made: '%s': %s; expected a directory "
				  "that may be written",
				  plan->filename, dir, strerror(errno));
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	uint64_t bytes = cp_target_file_bytes(plan, NULL);
	if (free_bytes >= bytes)
		return 0;
	return cp_err_set(err, CP_EXIT_INVALID, ENOSPC,
			  "no space for '%s': %s needed, %s free; expected a smaller "
			  "'size'",
			  plan->filename, cp_size_format(bytes, need, sizeof(need)),
			  cp_size_format(free_bytes >> 10 << 10, have, sizeof(have)));
}

/* A sparse file takes its space when its pages are touched. */
static int check_holes(const struct cp_plan *plan, const struct stat *st,
		       struct cp_err *err)
{
	uint64_t there = (uint64_t)st->st_blocks * 512,
		 bytes = cp_target_file_bytes(plan, NULL);
	char need[24], have[24];
	struct statvfs fs;

	if (there >= bytes || statvfs(plan->filename, &fs))
		return 0;
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;

	if (free_bytes >= bytes - there)
		return 0;
	return cp_err_set(
		err, CP_EXIT_INVALID, ENOSPC,
		"no space to fill the holes of '%s': up to %s needed, %s free; "
		"expected a smaller 'size' or a file without holes",
		plan->filename,
		cp_size_format((bytes - there + 1023) >> 10 << 10, need, sizeof(need)),
		cp_size_format(free_bytes >> 10 << 10, have, sizeof(have)));
}

static int too_short(const struct cp_plan *plan, long long have, uint32_t far,
		     struct cp_err *err)
{
	char need[24], behind[64] = "";

	if (far)
		snprintf(behind, sizeof(behind), " and the misalign_far before it, %u",
			 far);
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "'%s' has %lld bytes, fewer than the target's size, %s%s; "
			  "expected a longer file or a smaller 'size'",
			  plan->filename, have,
			  cp_size_format(plan->size, need, sizeof(need)), behind);
}

static const char *link_text(const char *name, char *buf, size_t size)
{
	ssize_t len = readlink(name, buf, size - 1);

	buf[len < 0 ? 0 : len] = '\0';
	return buf;
}

int cp_target_check_file(const struct cp_plan *plan, struct cp_err *err)
{
	const char *name = plan->filename, *use;
	char to[512];
	struct stat st;
	uint32_t far;

	if (stat(name, &st) && errno == ENOENT && !lstat(name, &st))
		return cp_err_set(err, CP_EXIT_USAGE, ENOENT,
				  "'%s' is a link to '%s', which does not exist; "
				  "expected a file, a link to one, or a name that is "
				  "free",
				  name, link_text(name, to, sizeof(to)));
	if (stat(name, &st))
		return errno == ENOENT ? check_space(plan, err)
				       : cp_err_set(err, CP_EXIT_USAGE, errno,
						    "cannot look at '%s': %s", name,
						    strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is %s; expected a regular file", name,
				  S_ISDIR(st.st_mode)	? "a directory"
				  : S_ISBLK(st.st_mode) ? "a block device"
				  : S_ISCHR(st.st_mode) ? "a character device"
							: "no file");
	use = file_use(name);
	if (use)
		return cp_err_set(err, CP_EXIT_USAGE, EBUSY,
				  "'%s' is in use as %s; expected a file nobody uses",
				  name, use);
	if ((uint64_t)st.st_size < cp_target_file_bytes(plan, &far))
		return too_short(plan, (long long)st.st_size, far, err);
	if (writes_file(plan) && !plan->allow_overwrite && !plan->created)
		return cp_err_set(err, CP_EXIT_USAGE, EEXIST,
				  "'%s' exists and the workload writes; expected "
				  "'allow_overwrite: true', or a file that is not there",
				  name);
	if (access(name, writes_file(plan) ? R_OK | W_OK : R_OK))
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "cannot %s '%s': %s; expected a file that may be %s",
				  writes_file(plan) ? "write" : "read", name,
				  strerror(errno),
				  writes_file(plan) ? "read and written" : "read");
	return check_holes(plan, &st, err);
}
