/* SPDX-License-Identifier: GPL-2.0-only */
/* The first I/O that failed, in words: fio itself knows no more than EIO. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/base/units.h"
#include "engines/fio/job.h"

/* A file that was cut short under the mapping is what is most often behind it. */
static void say_cause(const struct thread_data *td, const struct cp_io *io, char *buf,
		      size_t size)
{
	const char *file = cp_fio_media_file(td);
	uint64_t far = 0;
	struct stat st;

	if (io->sync || io->error != EIO) {
		snprintf(buf, size, "%s", strerror(io->error));
		return;
	}
	cp_uint_parse(cp_fio_option(td, "misalign_far"), UINT32_MAX, &far);
	if (*file && !stat(file, &st) && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size < far + io->offset + io->bytes)
		snprintf(buf, size, "the file was cut, to %lld bytes",
			 (long long)st.st_size);
	else
		snprintf(buf, size,
			 "its memory cannot be accessed, or the DMA engine failed");
}

void cp_fio_failed(const struct thread_data *td, struct cp_job *job,
		   const struct cp_io *io)
{
	const char *file = cp_fio_media_file(td);
	char cause[96];

	if (job->told)
		return;
	job->told = true;
	say_cause(td, io, cause, sizeof(cause));
	if (io->sync)
		log_err("copypath: error: a sync failed: %s; media %s%s%s%s\n", cause,
			cp_fio_option(td, "media"), *file ? " '" : "", file,
			*file ? "'" : "");
	else
		log_err("copypath: error: %s of %" PRIu64 " at byte %" PRIu64 ", %" PRIu64
			" of them not copied: %s; media %s%s%s%s\n",
			io->dir == CP_DIR_READ ? "read" : "write", (uint64_t)io->bytes,
			(uint64_t)io->offset, (uint64_t)io->residue, cause,
			cp_fio_option(td, "media"), *file ? " '" : "", file,
			*file ? "'" : "");
}
