// SPDX-License-Identifier: GPL-2.0-only
/* A report directory is swapped in whole, and only files a report listed are removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/base/file.h"
#include "report/data.h"
#include "report/files.h"

#define MARKER_LINE "copypath report 1"
#define MARKER_MAX  (4U << 20)

static const char *const subdirs[] = {"figures", "tables"};
#define NR_SUBDIRS (sizeof(subdirs) / sizeof(subdirs[0]))

static int path_of(char *buf, size_t size, const char *dir, const char *name,
		   struct cp_err *err)
{
	if (cp_path_join(buf, size, dir, name))
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "the path of the report is too long");
	return 0;
}

/* The names in a marker, checked: relative, and nothing above the directory. */
static int read_marker(const char *dir, char ***ret_names, size_t *ret_nr)
{
	char path[4200], *text, *save = NULL;
	struct cp_err err;
	size_t len;

	if (cp_path_join(path, sizeof(path), dir, CP_REPORT_MARKER) ||
	    cp_file_read(path, MARKER_MAX, &text, &len, &err))
		return -ENOENT;
	char **names = NULL;
	size_t nr = 0;
	char *line = strtok_r(text, "\n", &save);
	int rc = line && !strcmp(line, MARKER_LINE) ? 0 : -EINVAL;

	while (!rc && (line = strtok_r(NULL, "\n", &save))) {
		if (line[0] == '/' || strstr(line, "..")) {
			rc = -EINVAL;
			break;
		}
		rc = cp_report_grow(&names, &nr, sizeof(*names), &err);
		if (!rc && !(names[nr - 1] = strdup(line)))
			rc = -ENOMEM;
	}
	free(text);
	*ret_names = names;
	*ret_nr = nr;
	return rc;
}

static void free_names(char **names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}

static void remove_report(const char *dir, char *const *names, size_t nr)
{
	char path[4500];

	for (size_t i = 0; i < nr; i++)
		if (!cp_path_join(path, sizeof(path), dir, names[i]))
			unlink(path);
	for (size_t i = 0; i < NR_SUBDIRS; i++)
		if (!cp_path_join(path, sizeof(path), dir, subdirs[i]))
			rmdir(path);
	if (!cp_path_join(path, sizeof(path), dir, CP_REPORT_MARKER))
		unlink(path);
	rmdir(dir);
}

static bool listed(const char *name, char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* The first entry below dir that the marker does not list, in stray; "" when none. */
static int find_stray(const char *dir, const char *sub, char *const *names, size_t nr,
		      char *stray, size_t size)
{
	char path[4500], name[600];
	struct dirent *entry;

	if (snprintf(path, sizeof(path), "%s%s%s", dir, sub ? "/" : "", sub ? sub : "") >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	DIR *stream = opendir(path);

	if (!stream)
		return sub && errno == ENOENT ? 0 : -errno;
	while (!stray[0] && (entry = readdir(stream))) {
		bool known = !strcmp(entry->d_name, ".") ||
			     !strcmp(entry->d_name, "..") ||
			     (!sub && nr && !strcmp(entry->d_name, CP_REPORT_MARKER));

		for (size_t i = 0; !sub && nr && i < NR_SUBDIRS; i++)
			known = known || !strcmp(entry->d_name, subdirs[i]);
		snprintf(name, sizeof(name), "%s%s%s", sub ? sub : "", sub ? "/" : "",
			 entry->d_name);
		if (!known && !listed(name, names, nr))
			snprintf(stray, size, "%s", name);
	}
	closedir(stream);
	return 0;
}

/* dir may be missing, empty, or a report with nothing else in it. */
static int check_dir(const char *dir, struct cp_err *err)
{
	char stray[600] = "", **names = NULL;
	size_t nr = 0;
	struct stat st;
	int rc;

	if (stat(dir, &st)) {
		if (errno == ENOENT)
			return 0;
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot look at '%s': %s",
				  dir, strerror(errno));
	}
	if (!S_ISDIR(st.st_mode))
		return cp_err_set(err, CP_EXIT_USAGE, ENOTDIR,
				  "'%s' is not a directory; expected one for the report",
				  dir);
	bool report = !read_marker(dir, &names, &nr);

	rc = find_stray(dir, NULL, names, report ? nr : 0, stray, sizeof(stray));
	for (size_t i = 0; report && !rc && i < NR_SUBDIRS; i++)
		rc = find_stray(dir, subdirs[i], names, nr, stray, sizeof(stray));
	free_names(names, nr);
	if (rc)
		return cp_err_set(err, CP_EXIT_INVALID, -rc, "cannot read '%s': %s", dir,
				  strerror(-rc));
	if (!stray[0])
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, ENOTEMPTY,
			  "'%s' holds '%s', which is not part of a copypath report; "
			  "expected an empty or new directory, or an older report",
			  dir, stray);
}

/* Where a link leads is what is replaced, and no slash is left at the end. */
static int resolve_dir(const char *dir, char *buf, size_t size, struct cp_err *err)
{
	char *real = realpath(dir, NULL);
	int len = snprintf(buf, size, "%s", real ? real : dir);

	free(real);
	if (len <= 0 || (size_t)len + 32 >= size)
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "the path of the report is %s",
				  len > 0 ? "too long" : "empty");
	while (len > 1 && buf[len - 1] == '/')
		buf[--len] = '\0';
	return 0;
}

static int make_parent(const char *dir, struct cp_err *err)
{
	char parent[4096];
	const char *slash = strrchr(dir, '/');

	if (!slash || slash == dir)
		return 0;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - dir), dir);
	return cp_dir_make(parent, err);
}

int cp_report_files_begin(struct cp_report_files *files, const char *dir,
			  struct cp_err *err)
{
	char path[4200];

	*files = (struct cp_report_files){0};
	int rc = resolve_dir(dir, files->dir, sizeof(files->dir), err);

	if (!rc)
		rc = check_dir(files->dir, err);
	if (!rc)
		rc = make_parent(files->dir, err);
	if (rc)
		return rc;
	char tmp[sizeof(files->dir) + 32];

	snprintf(tmp, sizeof(tmp), "%s.tmp.%d", files->dir, (int)getpid());
	if (mkdir(tmp, 0777))
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot make '%s': %s",
				  tmp, strerror(errno));
	memcpy(files->tmp, tmp, strlen(tmp) + 1);
	for (size_t i = 0; i < NR_SUBDIRS; i++) {
		rc = path_of(path, sizeof(path), files->tmp, subdirs[i], err);
		if (!rc)
			rc = cp_dir_make(path, err);
		if (rc)
			return rc;
	}
	return 0;
}

int cp_report_files_add(struct cp_report_files *files, const char *name,
			struct cp_err *err)
{
	int rc = cp_report_grow(&files->names, &files->nr, sizeof(*files->names), err);

	if (rc)
		return rc;
	files->names[files->nr - 1] = strdup(name);
	if (files->names[files->nr - 1])
		return 0;
	files->nr--;
	return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
			  "not enough memory for the report");
}

int cp_report_files_open(struct cp_report_files *files, const char *name, FILE **ret,
			 struct cp_err *err)
{
	char path[4500];
	int rc = path_of(path, sizeof(path), files->tmp, name, err);

	if (!rc)
		rc = cp_report_files_add(files, name, err);
	if (rc)
		return rc;
	*ret = fopen(path, "wxe");
	if (!*ret)
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot write '%s': %s",
				  path, strerror(errno));
	return 0;
}

int cp_report_files_close(FILE *out, const char *name, struct cp_err *err)
{
	if (!out)
		return 0;
	bool bad = fflush(out) || ferror(out);
	int why = errno;

	if (fclose(out) && !bad) {
		bad = true;
		why = errno;
	}
	if (bad)
		return cp_err_set(err, CP_EXIT_INVALID, why ? why : EIO,
				  "cannot write '%s' of the report: %s", name,
				  strerror(why ? why : EIO));
	return 0;
}

static int write_marker(struct cp_report_files *files, struct cp_err *err)
{
	char path[4200];
	int rc = path_of(path, sizeof(path), files->tmp, CP_REPORT_MARKER, err);
	FILE *out = rc ? NULL : fopen(path, "wxe");

	if (!out)
		return rc ? rc
			  : cp_err_set(err, CP_EXIT_INVALID, errno,
				       "cannot write '%s': %s", path, strerror(errno));
	fputs(MARKER_LINE "\n", out);
	for (size_t i = 0; i < files->nr; i++)
		fprintf(out, "%s\n", files->names[i]);
	return cp_report_files_close(out, CP_REPORT_MARKER, err);
}

/* Put tmp at dir in one step, or in two renames where the file system cannot exchange; an
 * older report is then at tmp. */
static int swap(struct cp_report_files *files)
{
	char old[sizeof(files->tmp)];

	/* over nothing or an empty directory */
	if (!rename(files->tmp, files->dir))
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	if (!renameat2(AT_FDCWD, files->tmp, AT_FDCWD, files->dir, RENAME_EXCHANGE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	snprintf(old, sizeof(old), "%s.old.%d", files->dir, (int)getpid());
	if (rename(files->dir, old))
		return -errno;
	if (rename(files->tmp, files->dir)) {
		int rc = -errno;

		rename(old, files->dir);
		return rc;
	}
	snprintf(files->tmp, sizeof(files->tmp), "%s", old);
	return 0;
}

int cp_report_files_commit(struct cp_report_files *files, struct cp_err *err)
{
	int rc = write_marker(files, err);

	/* what is there may have changed since it was looked at */
	if (!rc)
		rc = check_dir(files->dir, err);
	if (rc)
		return rc;
	rc = swap(files);
	if (rc)
		return cp_err_set(err, CP_EXIT_INVALID, -rc,
				  "cannot put the report at '%s': %s", files->dir,
				  strerror(-rc));
	char **names = NULL;
	size_t nr = 0;

	if (!read_marker(files->tmp, &names, &nr)) /* the older one */
		remove_report(files->tmp, names, nr);
	free_names(names, nr);
	files->tmp[0] = '\0';
	return 0;
}

void cp_report_files_end(struct cp_report_files *files)
{
	if (files->tmp[0])
		remove_report(files->tmp, files->names, files->nr);
	free_names(files->names, files->nr);
	*files = (struct cp_report_files){0};
}
