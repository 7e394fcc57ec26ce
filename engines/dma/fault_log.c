// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the fault engine did, for whoever wants to reconcile it with what was reported:
 *
 *	# fault/sw/memcpy seed 7: cookie user near dir bytes action result residue
 *	1 0x55d31c40 0x7f1c2a00 read 4096 pass ok 0
 *	2 0x55d31cc8 0x7f1c3a00 write 4096 short write_failed 1022
 *	0 0x55d31d50 0x7f1c4a00 write 4096 full refused 4096
 *	# end 3
 *
 * in the order of prep; user is the caller's pointer and near the first segment's. Cookie
 * 0 is of what prep refused. What was not handed out before the close is "lost". Channels
 * append to one file, each in one piece.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "engines/base/file.h"
#include "engines/dma/fault.h"

static int no_log(const char *path, int errnum, struct cp_err *err)
{
	return cp_err_set(err, CP_EXIT_USAGE, errnum,
			  "fault: log '%s' cannot be written: %s; expected a "
			  "file that can be made or appended to",
			  path, strerror(errnum));
}

int fault_log_check(const char *path, struct cp_err *err)
{
	char dir[sizeof(((struct fault_settings *)0)->log)];
	const char *slash = strrchr(path, '/');
	/* nonblocking: a pipe without a reader is an error here, and no wait */
	int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno != ENOENT)
		return no_log(path, errno, err);
	/* it is made when the channel is opened; a check leaves nothing behind */
	if (!slash)
		snprintf(dir, sizeof(dir), ".");
	else
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path + 1), path);
	return access(dir, W_OK | X_OK) ? no_log(path, errno, err) : 0;
}

int fault_log_open(const char *path, struct fault_log *ret_log, struct cp_err *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return no_log(path, errno, err);
	*ret_log = (struct fault_log){.fd = fd, .path = path};
	return 0;
}

bool fault_log_room(struct fault_log *log)
{
	if (log->fd < 0 || log->nr < log->room)
		return true;
	size_t room = log->room ? 2 * log->room : 1024;
	struct fault_line *lines = reallocarray(log->lines, room, sizeof(*lines));

	if (!lines)
		return false;
	log->lines = lines;
	log->room = room;
	return true;
}

size_t fault_log_add(struct fault_log *log, const struct fault_line *line)
{
	if (log->fd < 0)
		return 0;
	log->lines[log->nr] = *line;
	return log->nr++;
}

void fault_log_cookie(struct fault_log *log, size_t line, cp_dma_cookie cookie)
{
	if (log->fd >= 0)
		log->lines[line].cookie = cookie;
}

void fault_log_end(struct fault_log *log, size_t line, enum cp_dma_result result,
		   size_t residue)
{
	if (log->fd < 0)
		return;
	log->lines[line].ended = true;
	log->lines[line].result = (uint8_t)result;
	log->lines[line].residue = residue;
}

static const char *result_of(const struct fault_line *line)
{
	static const char *const names[] = {
		[CP_DMA_OK] = "ok",
		[CP_DMA_READ_FAILED] = "read_failed",
		[CP_DMA_WRITE_FAILED] = "write_failed",
		[CP_DMA_ABORTED] = "aborted",
	};

	return !line->ended ? "lost" : !line->cookie ? "refused" : names[line->result];
}

/* A line of text after the other through one buffer; the first error stays. */
struct writer {
	int fd, error;
	size_t used;
	char text[1 << 16];
};

#define LINE_MAX_BYTES 512U /* of text; more than any has */

static void flush_text(struct writer *out)
{
	if (!out->error)
		out->error = cp_write_all(out->fd, out->text, out->used);
	out->used = 0;
}

static void put_line(struct writer *out, const struct fault_line *line)
{
	if (out->used > sizeof(out->text) - LINE_MAX_BYTES)
		flush_text(out);
	out->used += (size_t)snprintf(
		out->text + out->used, LINE_MAX_BYTES, "%llu %p %p %s %zu %s %s %zu\n",
		(unsigned long long)line->cookie, line->user, line->near,
		line->dir == CP_DIR_READ ? "read" : "write", line->bytes,
		fault_action_names[line->action], result_of(line), line->residue);
}

static int write_lines(const struct fault_log *log, const char *engine, uint64_t seed)
{
	struct writer *out = malloc(sizeof(*out));

	if (!out)
		return -ENOMEM;
	*out = (struct writer){.fd = log->fd};
	out->used = (size_t)snprintf(
		out->text, LINE_MAX_BYTES,
		"# %s seed %llu: cookie user near dir bytes action result residue\n",
		engine, (unsigned long long)seed);
	for (size_t i = 0; i < log->nr; i++)
		put_line(out, &log->lines[i]);
	flush_text(out);
	out->used = (size_t)snprintf(out->text, LINE_MAX_BYTES, "# end %zu\n", log->nr);
	flush_text(out);
	int rc = out->error;

	free(out);
	return rc;
}

void fault_log_close(struct fault_log *log, const char *engine, uint64_t seed)
{
	off_t start = -1;

	if (log->fd < 0)
		return;
	/* channels of other processes append to it too */
	int rc = flock(log->fd, LOCK_EX) ? -errno : 0;

	if (!rc) {
		start = lseek(log->fd, 0, SEEK_END);
		rc = write_lines(log, engine, seed);
	}
	/* part of it would pass for all of it */
	bool torn = rc && (start < 0 || ftruncate(log->fd, start));

	close(log->fd);
	if (rc)
		fprintf(stderr,
			"copypath: error: fault: log '%s' was not written%s: %s\n",
			log->path, torn ? " whole" : "", strerror(-rc));
	free(log->lines);
	log->fd = -1;
}
