/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fill err for "cannot DO 'path'" with the system's reason in our style. */
static int fail(struct cp_err *err, enum cp_exit exit, int errnum, const char *verb,
		const char *path)
{
	const char *desc = strerrordesc_np(errnum);

	if (errnum == ENOSPC || errnum == EDQUOT)
		return cp_err_set(err, CP_EXIT_INVALID, errnum,
				  "no space left on the file system of '%s'%s", path,
				  errnum == EDQUOT ? " (quota)" : "");
	if (!desc)
		return cp_err_set(err, exit, errnum, "cannot %s '%s': errno %d", verb,
				  path, errnum);
	return cp_err_set(err, exit, errnum, "cannot %s '%s': %c%s", verb, path,
			  tolower((unsigned char)desc[0]), desc + 1);
}

/* Who is to blame when a file that was named cannot be read. */
static enum cp_exit read_exit(int errnum)
{
	bool named_wrong = errnum == ENOENT || errnum == ENOTDIR || errnum == EISDIR ||
			   errnum == EACCES || errnum == ENAMETOOLONG || errnum == ELOOP;

	return named_wrong ? CP_EXIT_USAGE : CP_EXIT_INVALID;
}

/* Grow by what arrives, not by st_size: /proc files and pipes say 0. */
static int read_rest(int fd, size_t max, char **ret_text, size_t *ret_len)
{
	size_t cap = 4096, len = 0;
	char *text = malloc(cap);

	if (!text)
		return -ENOMEM;
	for (;;) {
		ssize_t got = read(fd, text + len, cap - 1 - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || (len += (size_t)got) > max) {
			int errnum = got < 0 ? errno : EFBIG;

			if (!got)
				break;
			free(text);
			return -errnum;
		}
		if (len == cap - 1) {
			char *more = realloc(text, cap * 2);

			if (!more) {
				free(text);
				return -ENOMEM;
			}
			text = more;
			cap *= 2;
		}
	}
	text[len] = '\0';
	*ret_text = text;
	*ret_len = len;
	return 0;
}

int cp_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len,
		 struct cp_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(err, read_exit(errno), errno, "read", path);
	int ret = read_rest(fd, max, ret_text, ret_len);

	close(fd);
	if (ret == -EFBIG)
		return cp_err_set(err, CP_EXIT_USAGE, EFBIG,
				  "file '%s' is too large; expected at most %zu bytes",
				  path, max);
	if (ret)
		return fail(err, read_exit(-ret), -ret, "read", path);
	return 0;
}

/* A rename over a device, as root, would replace it: "-o /dev/null" must not. */
static int check_target(const char *path, struct cp_err *err)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	return cp_err_set(err, CP_EXIT_USAGE, S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
			  "'%s' is %s; expected a regular file or a new name", path,
			  S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
}

int cp_file_new_open(const char *path, struct cp_file_new *ret_file, struct cp_err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct cp_file_new new, *file = &new;
	int ret = check_target(path, err);

	if (ret)
		return ret;
	int len = snprintf(file->tmp, sizeof(file->tmp), "%s.tmp.%ld", path,
			   (long)getpid());

	if (len < 0 || (size_t)len >= sizeof(file->tmp))
		return fail(err, CP_EXIT_INVALID, ENAMETOOLONG, "create", path);
	memcpy(file->path, path, strlen(path) + 1);
	int fd = open(file->tmp, flags, 0666);

	/* a killed process of the same number (usual in containers) left one behind */
	if (fd < 0 && errno == EEXIST && !unlink(file->tmp))
		fd = open(file->tmp, flags, 0666);
	if (fd < 0)
		return fail(err, CP_EXIT_INVALID, errno, "create", path);
	file->stream = fdopen(fd, "w");
	if (!file->stream) {
		ret = fail(err, CP_EXIT_INVALID, errno, "create", path);
		close(fd);
		unlink(file->tmp);
		return ret;
	}
	*ret_file = new;
	return 0;
}

/* So that the rename survives a crash. The new file is in place whatever this says, so
 * a file system that cannot sync a directory is no failure. */
static void sync_parent(const char *path)
{
	char dir[4096];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;

	if (len >= sizeof(dir))
		return;
	memcpy(dir, path, len);
	memcpy(dir + len, len ? "" : ".", len ? 1 : 2);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

int cp_file_new_commit(struct cp_file_new *file, struct cp_err *err)
{
	int errnum = 0;

	errno = 0;
	if (fflush(file->stream) || ferror(file->stream))
		errnum = errno ? errno : EIO; /* an earlier write's reason may be gone */
	else if (fsync(fileno(file->stream)) && errno != EINVAL)
		errnum = errno;
	if (fclose(file->stream) && !errnum)
		errnum = errno;
	file->stream = NULL;
	if (!errnum && rename(file->tmp, file->path))
		errnum = errno;
	if (errnum) {
		unlink(file->tmp);
		return fail(err, CP_EXIT_INVALID, errnum, "write", file->path);
	}
	sync_parent(file->path);
	return 0;
}

void cp_file_new_abort(struct cp_file_new *file)
{
	if (!file->stream)
		return;
	fclose(file->stream);
	file->stream = NULL;
	unlink(file->tmp);
}

static int dir_make_one(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	int errnum = errno;

	if (stat(path, &st))
		return -errnum;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int cp_dir_make(const char *path, struct cp_err *err)
{
	char part[4096];
	size_t len = strlen(path);
	int ret = 0;

	if (!len || len >= sizeof(part))
		return fail(err, CP_EXIT_INVALID, len ? ENAMETOOLONG : ENOENT,
			    "create directory", path);
	memcpy(part, path, len + 1);
	for (char *p = part + 1; !ret && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		ret = dir_make_one(part);
		*p = '/';
	}
	if (!ret)
		ret = dir_make_one(part);
	if (ret)
		return fail(err, CP_EXIT_INVALID, -ret, "create directory", path);
	return 0;
}

int cp_path_join(char *buf, size_t size, const char *dir, const char *name)
{
	size_t len = strlen(dir);
	const char *gap = !len || dir[len - 1] == '/' ? "" : "/";
	int need = snprintf(buf, size, "%s%s%s", dir, gap, name);

	return need < 0 || (size_t)need >= size ? -ENAMETOOLONG : 0;
}

int cp_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t put = write(fd, p, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		if (!put)
			return -EIO;
		p += put;
		len -= (size_t)put;
	}
	return 0;
}
