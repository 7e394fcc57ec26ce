// SPDX-License-Identifier: GPL-2.0-only
/* A new run: its directory and what its manifest says of the machine. */
#include "bench/cmd/measure_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "engines/base/host.h"
#include "engines/dma/hardware.h"

int cp_measure_dir_lock(struct cp_measure *measure, struct cp_err *err)
{
	measure->lock_fd = open(measure->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (measure->lock_fd < 0)
		return cp_err_set(err, CP_EXIT_USAGE, errno, "cannot open run '%s': %s",
				  measure->dir, strerror(errno));
	if (flock(measure->lock_fd, LOCK_EX | LOCK_NB))
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
				  "run '%s' is being written by another copypath; "
				  "expected it to end first",
				  measure->dir);
	return 0;
}

#define RUNS "results/runs"

/* A directory of that name would be in the way of the link for ever. */
static bool names_last(const char *path)
{
	char copy[PATH_MAX], runs[PATH_MAX], real[PATH_MAX], name[PATH_MAX];

	if (strlen(path) >= sizeof(copy))
		return false;
	memcpy(copy, path, strlen(path) + 1);
	snprintf(name, sizeof(name), "%s", basename(copy));
	memcpy(copy, path, strlen(path) + 1);
	if (strcmp(name, "last") != 0)
		return false;
	if (!realpath(RUNS, runs))
		return !strcmp(dirname(copy), RUNS);
	return realpath(dirname(copy), real) && !strcmp(real, runs);
}

int cp_measure_dir_check(const char *path, struct cp_err *err)
{
	bool empty = true;

	if (names_last(path))
		return cp_err_set(err, CP_EXIT_USAGE, EEXIST,
				  "'%s' is the link to the newest run; expected another "
				  "directory",
				  path);
	DIR *dir = opendir(path);

	if (!dir)
		return errno == ENOENT ? 0
				       : cp_err_set(err, CP_EXIT_USAGE, errno,
						    "cannot use '%s' for a run: %s", path,
						    strerror(errno));
	for (struct dirent *entry; empty && (entry = readdir(dir));)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	if (empty)
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, EEXIST,
			  "directory '%s' is not empty; expected a new one, or --resume "
			  "'%s' to go on",
			  path, path);
}

/* A run that -o puts beside the others is the newest of them too. */
static int point_last(const char *dir, struct cp_err *err)
{
	char runs[PATH_MAX], real[PATH_MAX];

	if (!realpath(RUNS, runs) || !realpath(dir, real))
		return 0;
	char *slash = strrchr(real, '/');
	*slash = '\0';
	return strcmp(real, runs) ? 0 : cp_run_point_last(runs, slash + 1, err);
}

int cp_measure_dir_make(struct cp_measure *measure, struct cp_err *err)
{
	int ret;

	if (measure->out_dir) {
		if (strlen(measure->out_dir) >= sizeof(measure->dir) - 64)
			return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
					  "'%.200s' is too long", measure->out_dir);
		ret = cp_dir_make(measure->out_dir, err);
		if (!ret)
			ret = point_last(measure->out_dir, err);
		if (!ret)
			memcpy(measure->dir, measure->out_dir,
			       strlen(measure->out_dir) + 1);
	} else {
		ret = cp_run_dir_make(RUNS, measure->plan.name, measure->dir,
				      sizeof(measure->dir), err);
	}
	if (!ret)
		ret = cp_measure_dir_lock(measure, err);
	return ret;
}

int cp_measure_describe(struct cp_manifest *manifest, const struct cp_plan *plan,
			const struct cp_fio *fio, struct cp_err *err)
{
	char media[256], dma[256];
	struct cp_host host;
	int ret = cp_host_read(&host, err);

	if (ret)
		return ret;
	cp_plan_media(plan, media, sizeof(media));
	cp_dma_hardware_names(dma, sizeof(dma));
	snprintf(manifest->host, sizeof(manifest->host), "%s", host.host);
	snprintf(manifest->copypath, sizeof(manifest->copypath), "%s", CP_VERSION_STRING);
	snprintf(manifest->fio, sizeof(manifest->fio), "%s", fio->version);
	cp_host_fingerprint(&host, fio->version, media, dma, manifest->fingerprint);
	manifest->hard = cp_host_hard_json(&host, fio->version, media, dma);
	manifest->soft = cp_host_soft_json(&host);
	return 0;
}

int cp_measure_manifest_begin(struct cp_measure *measure, const struct cp_fio *fio,
			      struct cp_err *err)
{
	struct cp_manifest *manifest = &measure->manifest;
	char copy[4096], real[4096];
	int ret = cp_measure_describe(manifest, &measure->plan, fio, err);

	if (ret)
		return ret;
	if (!realpath(measure->dir, real))
		snprintf(real, sizeof(real), "%s", measure->dir);
	memcpy(copy, real, sizeof(copy));
	snprintf(manifest->run, sizeof(manifest->run), "%.*s",
		 (int)sizeof(manifest->run) - 1, basename(copy));
	cp_time_utc(manifest->t, sizeof(manifest->t));
	manifest->config = cp_plan_to_json(&measure->plan);
	if (!manifest->config)
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory");
	cp_json_hash(manifest->config, manifest->config_hash);
	manifest->planned = measure->plan.nr_order;
	manifest->argv = json_array();
	for (int i = 0; i < measure->argc; i++)
		json_array_append_new(manifest->argv, json_string(measure->argv[i]));
	return cp_manifest_write(measure->dir, manifest, err);
}
