// SPDX-License-Identifier: GPL-2.0-only
/* What the plan asks of the machine: memory, space, and a file that may be used. */
#include "bench/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <glob.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"
#include "engines/base/units.h"
#include "engines/copy/attr.h"
#include "engines/media/media.h"

static bool takes_file(const struct cp_plan_cell *cell)
{
	const struct cp_media_ops *media = cp_media_of(cell->context.media);

	return media && media->takes_file && !media->device;
}

static bool is_device(const struct cp_plan_cell *cell)
{
	const struct cp_media_ops *media = cp_media_of(cell->context.media);

	return media && media->device;
}

/* What it names must be there: a plan makes none. */
static bool must_exist(const struct cp_plan_cell *cell)
{
	const struct cp_media_ops *media = cp_media_of(cell->context.media);

	return media && media->takes_file && !media->may_make;
}

const char *cp_plan_filename(const struct cp_plan *plan, const char *spec)
{
	const struct cp_media_ops *media = cp_media_of(spec);
	bool taken = false;

	for (size_t i = 0; i < plan->nr_cells; i++)
		taken = taken || takes_file(&plan->cells[i]) ||
			is_device(&plan->cells[i]);
	if (!plan->filename[0] || !media ||
	    !(media->takes_file || (media->file_default && !taken)))
		return NULL;
	return plan->filename;
}

static bool has_file(const struct cp_plan *plan)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (takes_file(&plan->cells[i]))
			return true;
	return false;
}

static bool writes_file(const struct cp_plan *plan)
{
	for (size_t i = 0; i < plan->nr_cells; i++)
		if (takes_file(&plan->cells[i]) &&
		    cp_context_dir(&plan->cells[i].context) == CP_DIR_WRITE)
			return true;
	return false;
}

/* What the target's file has to hold: the size, behind the widest misalign_far. */
static uint64_t file_bytes(const struct cp_plan *plan, uint32_t *ret_far)
{
	uint32_t far = 0;

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_context *c = &plan->cells[i].context;

		if (takes_file(&plan->cells[i]) && c->misalign_far > far)
			far = c->misalign_far;
	}
	if (ret_far)
		*ret_far = far;
	return plan->size + far;
}

static uint64_t mem_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib * 1024;
}

static enum cp_attr attr_of(const struct cp_plan_cell *cell)
{
	enum cp_attr attr = CP_ATTR_WB;
	struct cp_err err;

	cp_attr_parse(cell->context.attr, &attr, &err); /* checked with the workload */
	return attr;
}

/* What the target of a cell takes of MemAvailable; files and devices that were named are
 * looked at with their place. */
static int target_memory(const struct cp_plan *plan, const struct cp_plan_cell *cell,
			 uint64_t *ret_bytes, struct cp_err *err)
{
	const struct cp_media_cfg cfg = {
		.spec = cell->context.media,
		.filename = cp_plan_filename(plan, cell->context.media),
		.bytes = plan->size + cell->context.misalign_far,
		.writable = cp_context_dir(&cell->context) == CP_DIR_WRITE,
		.attr = attr_of(cell),
		.attr_native = plan->attr_native,
	};

	*ret_bytes = 0;
	if (takes_file(cell) || is_device(cell))
		return 0;
	int ret = cp_media_look(&cfg, ret_bytes, err);

	if (ret && cfg.filename && plan->place[0])
		cp_err_prefix(err, "%s: error", plan->place);
	return ret;
}

static int check_memory(const struct cp_plan *plan, struct cp_err *err)
{
	uint64_t most = 0, available = mem_available();
	char need[24], have[24];

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_context *c = &plan->cells[i].context;
		uint64_t bytes;
		int ret = target_memory(plan, &plan->cells[i], &bytes, err);

		if (ret)
			return ret;
		bytes += (uint64_t)c->numjobs * c->iodepth * c->bs; /* buffers */
		most = bytes > most ? bytes : most;
	}
	/* A twentieth is left to everybody else. */
	if (!available || most + most / 20 <= available)
		return 0;
	return cp_err_set(
		err, CP_EXIT_INVALID, ENOMEM,
		"not enough memory: target and buffers need %s, %s are "
		"available; expected a smaller 'size'",
		cp_size_format((most + (1U << 20) - 1) >> 20 << 20, need, sizeof(need)),
		cp_size_format(available >> 20 << 20, have, sizeof(have)));
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
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	uint64_t bytes = file_bytes(plan, NULL);
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
	uint64_t there = (uint64_t)st->st_blocks * 512, bytes = file_bytes(plan, NULL);
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

static int check_file(const struct cp_plan *plan, struct cp_err *err)
{
	const char *name = plan->filename, *use;
	struct stat st;
	uint32_t far;

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
	if ((uint64_t)st.st_size < file_bytes(plan, &far))
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

/* Each media that a plan makes no file for looks at what was named. A device is used as
 * it is, or not at all. */
static int check_named(const struct cp_plan *plan, struct cp_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < plan->nr_cells && !ret; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];
		const struct cp_media_cfg cfg = {
			.spec = cell->context.media,
			.filename = plan->filename,
			.bytes = plan->size + cell->context.misalign_far,
			.writable = cp_context_dir(&cell->context) == CP_DIR_WRITE,
			.attr = attr_of(cell),
			.attr_native = plan->attr_native,
		};
		uint64_t memory;

		if (!must_exist(cell))
			continue;
		ret = cp_media_look(&cfg, &memory, err);
		if (!ret && is_device(cell) && cfg.writable && !plan->allow_overwrite)
			ret = cp_err_set(err, CP_EXIT_USAGE, EEXIST,
					 "'%s' is a device and the workload writes; "
					 "expected 'allow_overwrite: true'",
					 plan->filename);
	}
	return ret;
}

/* Is what is there persistent memory, where an arm requires it? It is mapped and closed
 * again; no page is touched. */
static int check_persistent(const struct cp_plan *plan, struct cp_err *err)
{
	const char *last = "";

	for (size_t i = 0; i < plan->nr_cells; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];
		const struct cp_media_cfg cfg = {
			.spec = cell->context.media,
			.filename = plan->filename[0] ? plan->filename : NULL,
			.bytes = plan->size + cell->context.misalign_far,
			.require_persistent = true,
		};
		struct cp_media media;

		if (strcmp(cell->arm.persist, "require") != 0 ||
		    cp_context_dir(&cell->context) == CP_DIR_READ ||
		    !strcmp(cell->context.media, last))
			continue;
		last = cell->context.media;
		int ret = cp_media_open(&cfg, &media, err);

		if (ret)
			return ret;
		cp_media_close(&media);
	}
	return 0;
}

int cp_plan_target_check(const struct cp_plan *plan, const struct cp_topo *topo,
			 void (*warn)(void *ctx, const char *text), void *ctx,
			 struct cp_err *err)
{
	char text[256], size[24], llc[24];
	int ret = check_memory(plan, err);

	if (!ret) {
		ret = check_named(plan, err);
		if (!ret && has_file(plan))
			ret = check_file(plan, err);
		if (ret && plan->place[0])
			cp_err_prefix(err, "%s: error", plan->place);
	}
	if (!ret && (!plan->filename[0] || !access(plan->filename, F_OK))) {
		ret = check_persistent(plan, err);
		if (ret && plan->place[0])
			cp_err_prefix(err, "%s: error", plan->place);
	}
	if (ret || !warn)
		return ret;
	if (topo->llc_bytes && plan->size <= topo->llc_bytes) {
		snprintf(text, sizeof(text),
			 "the target of %s is %.2f times the last-level cache of %s: "
			 "figures are of the cache, not of memory",
			 cp_size_format(plan->size, size, sizeof(size)),
			 (double)plan->size / (double)topo->llc_bytes,
			 cp_size_format(topo->llc_bytes, llc, sizeof(llc)));
		warn(ctx, text);
	}
	return 0;
}

/* In place only where nothing is: whatever came there meanwhile is somebody's. */
static int publish(const struct cp_plan *plan, struct cp_file_new *file,
		   struct cp_err *err)
{
	bool linked = false;
	int errnum = 0;

	errno = 0;
	if (fflush(file->stream) || ferror(file->stream))
		errnum = errno ? errno : EIO;
	else if (fsync(fileno(file->stream)) && errno != EINVAL)
		errnum = errno;
	else if (renameat2(AT_FDCWD, file->tmp, AT_FDCWD, file->path, RENAME_NOREPLACE)) {
		errnum = errno;
		/* not every file system knows the flag; a link never replaces */
		if (errnum == EINVAL || errnum == ENOSYS) {
			errnum = link(file->tmp, file->path) ? errno : 0;
			linked = !errnum;
		}
	}
	if (errnum || linked) {
		cp_file_new_abort(file);
	} else {
		fclose(file->stream);
		file->stream = NULL;
	}
	if (errnum == EEXIST)
		return cp_err_set(err, CP_EXIT_USAGE, EEXIST,
				  "'%s' appeared while it was being made, and is left "
				  "as it is; expected a name that nobody else uses",
				  plan->filename);
	if (errnum)
		return cp_err_set(err, CP_EXIT_INVALID, errnum, "cannot write '%s': %s",
				  plan->filename, strerror(errnum));
	return 0;
}

int cp_plan_target_make(struct cp_plan *plan, const volatile int *interrupted,
			struct cp_err *err)
{
	static unsigned char block[1U << 20];
	uint64_t state = 0x9e3779b97f4a7c15ULL;
	struct cp_file_new file;
	struct stat st;

	if (!has_file(plan))
		return 0;
	if (!stat(plan->filename, &st))
		return check_file(plan, err);
	int ret = cp_file_new_open(plan->filename, &file, err);
	if (ret)
		return ret;
	/* Real bytes, so that reads never meet pages that were never written. */
	for (size_t i = 0; i < sizeof(block); i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		block[i] = (unsigned char)(state >> 56);
	}
	for (uint64_t left = file_bytes(plan, NULL); left;) {
		size_t len = left < sizeof(block) ? (size_t)left : sizeof(block);

		if (interrupted && *interrupted)
			ret = cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR,
					 "interrupted while making '%s', which is not "
					 "kept",
					 plan->filename);
		else if (fwrite(block, 1, len, file.stream) != len)
			ret = cp_err_set(err, CP_EXIT_INVALID, errno,
					 "cannot write '%s': %s", plan->filename,
					 strerror(errno));
		if (ret) {
			cp_file_new_abort(&file);
			return ret;
		}
		left -= len;
	}
	ret = publish(plan, &file, err);
	if (!ret) {
		ret = check_persistent(plan, err);
		if (ret)
			unlink(plan->filename); /* made a moment ago, and of no use */
	}
	if (!ret)
		plan->created = true;
	return ret;
}
