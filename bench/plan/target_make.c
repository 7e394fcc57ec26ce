// SPDX-License-Identifier: GPL-2.0-only
/* A file target that is not there yet: made whole, or not at all. */
#include "bench/plan/target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"

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

	if (cp_plan_external(plan) || !cp_target_has_file(plan))
		return 0;
	int ret;

	if (!stat(plan->filename, &st)) {
		ret = cp_target_check_file(plan, err);
		return ret ? ret : cp_target_check_persistent(plan, err);
	}
	ret = cp_file_new_open(plan->filename, &file, err);
	if (ret)
		return ret;
	/* Real bytes, so that reads never meet pages that were never written. */
	for (size_t i = 0; i < sizeof(block); i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		block[i] = (unsigned char)(state >> 56);
	}
	for (uint64_t left = cp_target_file_bytes(plan, NULL); left;) {
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
		/* of this very file: what has no name may not have been possible */
		ret = cp_target_check_persistent(plan, err);
		if (ret)
			unlink(plan->filename); /* made a moment ago, and of no use */
	}
	if (!ret)
		plan->created = true;
	return ret;
}
