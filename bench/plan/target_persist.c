// SPDX-License-Identifier: GPL-2.0-only
/* Persistent memory, where an arm requires it: before anything is made or touched. */
#include "bench/plan/target.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "engines/media/media.h"

static int cannot_make(const struct cp_plan *plan, const char *dir, int errnum,
		       struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_INVALID, errnum,
			  "'%s' cannot be made in '%s': %s; expected a path where files "
			  "can be made",
			  plan->filename, dir, strerror(errnum));
}

/* What a file made in the target's directory would be, by one that has no name and goes
 * with its descriptor. No page of it is touched. A file system that makes none is not
 * judged here: there the made file is, and goes again (target_make.c). */
static int look_where_made(const struct cp_plan *plan, struct cp_media_cfg cfg,
			   struct cp_err *err)
{
	char copy[sizeof(plan->filename)], name[64];
	struct cp_media media;

	memcpy(copy, plan->filename, sizeof(copy));
	const char *dir = dirname(copy);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		return 0;
	cfg.bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	if (fd < 0 || ftruncate(fd, (off_t)cfg.bytes)) {
		int ret = cannot_make(plan, dir, errno, err);

		if (fd >= 0)
			close(fd);
		return ret;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	cfg.filename = name;
	int ret = cp_media_open(&cfg, &media, err);

	if (!ret)
		cp_media_close(&media);
	else if (ret == -ENOTSUP) /* not of the name that only we know */
		ret = cp_err_set(err, CP_EXIT_USAGE, ENOTSUP,
				 "'persist' is require and '%s', made in '%s', would not "
				 "be persistent memory; expected a path on a DAX file "
				 "system (mount -o dax), media devdax, or persist auto",
				 plan->filename, dir);
	close(fd);
	return ret;
}

int cp_target_check_persistent(const struct cp_plan *plan, struct cp_err *err)
{
	bool there = !plan->filename[0] || !access(plan->filename, F_OK);
	const char *last = "";
	int ret = 0;

	for (size_t i = 0; i < plan->nr_cells && !ret; i++) {
		const struct cp_plan_cell *cell = &plan->cells[i];
		const struct cp_media_cfg cfg = {
			.spec = cell->context.media,
			.filename = cp_plan_filename(plan, cell->context.media),
			.bytes = plan->size + cell->context.misalign_far,
			.require_persistent = true,
		};
		struct cp_media media;

		if (strcmp(cell->arm.persist, "require") != 0 ||
		    cp_context_dir(&cell->context) == CP_DIR_READ ||
		    !strcmp(cell->context.media, last))
			continue;
		last = cell->context.media;
		if (!there && cp_target_takes_file(cell)) {
			ret = look_where_made(plan, cfg, err);
			continue;
		}
		ret = cp_media_open(&cfg, &media, err);
		if (!ret)
			cp_media_close(&media);
	}
	return ret;
}
