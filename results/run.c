/* SPDX-License-Identifier: GPL-2.0-only */
/* Run directories, and the host's facts as JSON. */
#include "results/run.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "engines/base/clock.h"
#include "engines/base/file.h"
#include "results/errtext.h"

#define SAME_SECOND_MAX 1000 /* runs of one name that begin in one second */

json_t *cp_host_hard_json(const struct cp_host *host, const char *fio_version,
			  const char *media, const char *dma)
{
	return json_pack(
		"{s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:s, s:s, s:I, s:s, s:s, s:s}",
		"cpu_model", host->cpu_model, "cpu_family", (int)host->cpu_family,
		"cpu_model_nr", (int)host->cpu_model_nr, "cpu_stepping",
		(int)host->cpu_stepping, "nr_cpus", (int)host->nr_cpus, "nr_nodes",
		(int)host->nr_nodes, "mem_gib", (json_int_t)host->mem_gib, "kernel",
		host->kernel, "mitigations", host->mitigations, "page_bytes",
		(json_int_t)host->page_bytes, "fio", fio_version, "media", media, "dma",
		dma);
}

/* A fact the host did not tell is null, never 0 or "". */
static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *flag_or_null(int flag)
{
	return flag < 0 ? json_null() : json_boolean(flag);
}

static json_t *number_or_null(double number)
{
	return number < 0 ? json_null() : json_real(number);
}

json_t *cp_host_soft_json(const struct cp_host *host)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host",
			 text_or_null(host->host), "governor",
			 text_or_null(host->governor), "thp", text_or_null(host->thp),
			 "microcode", text_or_null(host->microcode), "turbo",
			 flag_or_null(host->turbo), "smt", flag_or_null(host->smt),
			 "load_1m", number_or_null(host->load_1m), "steal_pct",
			 number_or_null(host->steal_pct));
}

/* "20261130T120000Z-quick": sorts by time, and is safe as a file name. */
static void run_name(const char *name, char *buf, size_t size)
{
	char utc[32];
	size_t at = 0;

	cp_time_utc(utc, sizeof(utc));
	for (const char *c = utc; *c && at + 1 < size; c++) {
		if (*c != '-' && *c != ':')
			buf[at++] = *c;
	}
	if (at + 1 < size)
		buf[at++] = '-';
	for (const char *c = name; *c && at + 1 < size; c++)
		buf[at++] = isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '-';
	buf[at] = '\0';
}

int cp_run_point_last(const char *root, const char *name, struct cp_err *err)
{
	char last[4096], aside[4096], aside_name[64];
	char reason[CP_ERRTEXT_MAX];

	snprintf(aside_name, sizeof(aside_name), "last.tmp.%d", (int)getpid());
	if (cp_path_join(last, sizeof(last), root, "last") ||
	    cp_path_join(aside, sizeof(aside), root, aside_name))
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "'%.64s...': path too long", root);
	unlink(aside);
	if (!symlink(name, aside)) {
		if (!rename(aside, last))
			return 0;
		int errnum = errno;

		unlink(aside);
		errno = errnum;
	}
	return cp_err_set(err, CP_EXIT_INVALID, errno,
			  "'%s': cannot point it at '%s': %s", last, name,
			  cp_errtext(errno, reason));
}

int cp_run_dir_make(const char *root, const char *name, char *buf, size_t size,
		    struct cp_err *err)
{
	char base[160], unique[192], path[4096];
	char reason[CP_ERRTEXT_MAX];
	int rc = cp_dir_make(root, err);

	if (rc)
		return rc;
	run_name(name, base, sizeof(base));
	for (int i = 1; i <= SAME_SECOND_MAX; i++) {
		if (i == 1)
			snprintf(unique, sizeof(unique), "%s", base);
		else
			snprintf(unique, sizeof(unique), "%s.%d", base, i);
		if (cp_path_join(path, sizeof(path), root, unique) ||
		    strlen(path) >= size)
			return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
					  "'%.64s...': path too long", root);
		if (!mkdir(path, 0777)) {
			rc = cp_run_point_last(root, unique, err);
			if (rc)
				rmdir(path);
			else
				snprintf(buf, size, "%s", path);
			return rc;
		}
		if (errno != EEXIST)
			break;
	}
	return cp_err_set(err, CP_EXIT_INVALID, errno, "'%s': cannot make directory: %s",
			  path, cp_errtext(errno, reason));
}
