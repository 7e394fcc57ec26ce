/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two plug-ins share: options, the devices that fio's jobs share, and a job's
 * life. This room is the only one that includes fio's headers.
 *
 * fio calls, in this order: get_file_size() for every job in the main thread (a device is
 * announced: who will share it, how large it must be); init() in each job's thread (the
 * device is opened by the first, before fio's clock starts); post_init(); I/O;
 * close_file() (clocks are stopped; it never comes while fio holds an I/O back);
 * io_u_free() (nothing may be in flight any more, the buffers go); cleanup() (the sidecar
 * line is written), also after a failed init().
 */
#ifndef CP_ENGINES_FIO_JOB_H
#define CP_ENGINES_FIO_JOB_H

#include "fio.h"
#include "optgroup.h"
#include "verify.h"

#include "engines/queue/queue.h"

/* One member for each engine option, as text; the vocabulary table parses them. */
struct cp_fio_options {
	void *pad; /* fio uses the first pointer itself */
	char *text[32];
};

extern struct fio_option cp_fio_option_table[];

struct cp_shared;

struct cp_job {
	struct cp_shared *shared;
	struct cp_sub *sub;
	struct cp_io *ios;    /* one for each io_u, by its index */
	struct cp_io **done;  /* of the last getevents() */
	struct io_u **events; /* the same, as fio wants them */
	bool counting; /* the window is open; the only thing the fast path looks at */
	bool told;     /* of the first I/O that failed */
	bool page;     /* queue_mode page */
};

/* The value of an engine option as given, or "" */
const char *cp_fio_option(const struct thread_data *td, const char *name);
/* Fill context-like and arm settings; complains through log_err. */
int cp_fio_parse(const struct thread_data *td, bool mq, struct cp_dev_cfg *cfg,
		 struct cp_err *err);
/* queue_mode page takes whole pages: is every block size of the job so many? Complains
 * through log_err and returns fio's "not zero". */
int cp_fio_pages_check(const struct thread_data *td, const struct cp_arm *arm);
/* The part of a context that the engine's options say; the rest has its defaults. */
int cp_fio_context(const struct thread_data *td, struct cp_context *context,
		   struct cp_err *err);

/* misalign.c. Each complains through log_err and returns fio's "not zero". */
/* Before the job runs: have fio place its buffers `near` bytes behind a page border. With
 * iodepth above 1 that holds for all of them only where bs is a multiple of 64 bytes, and
 * another bs is refused; so is an iomem_align that moves buffers off a line. */
int cp_fio_near_place(struct thread_data *td, uint32_t near);
/* Once the buffers are there: do they lie as asked? */
int cp_fio_near_check(struct thread_data *td);
/* A file's size as fio is to see it: without the bytes before misalign_far. */
int cp_fio_far_size(struct thread_data *td, struct fio_file *f);

/* shared.c: call from the main thread, then from the jobs */
int cp_shared_announce(struct thread_data *td, bool mq, uint64_t extent);
int cp_shared_join(struct thread_data *td, struct cp_job *job, struct cp_err *err);
/* From post_init(), before fio starts the job's clock: wait until all jobs of the device
 * are here, so that the first does not end before the last has touched its memory, and
 * then there would be no time in which all ran. Only where they run by the clock and none
 * is to start later; ends early when fio is told to stop, and after a minute. */
void cp_shared_meet(const struct thread_data *td, struct cp_shared *shared);
void cp_shared_leave(struct cp_shared *shared);
/* The file that the job's media is mapped from; "" for none. */
const char *cp_fio_media_file(const struct thread_data *td);

/* Hooks of both plug-ins. */
int cp_fio_get_file_size(struct thread_data *td, struct fio_file *f, bool mq);
int cp_fio_init(struct thread_data *td);
int cp_fio_post_init(struct thread_data *td);
int cp_fio_io_u_init(struct thread_data *td, struct io_u *io_u);
void cp_fio_io_u_free(struct thread_data *td, struct io_u *io_u);
int cp_fio_open_file(struct thread_data *td, struct fio_file *f);
int cp_fio_close_file(struct thread_data *td, struct fio_file *f);
void cp_fio_cleanup(struct thread_data *td);

void cp_fio_window(struct thread_data *td, struct cp_job *job);
/* failed.c: say once a job, through log_err, which I/O failed and what is known of why.
 */
void cp_fio_failed(const struct thread_data *td, struct cp_job *job,
		   const struct cp_io *io);

/* fio has no hook for the end of ramp_time: look at each I/O until it has come. */
static inline void cp_fio_watch_ramp(struct thread_data *td, struct cp_job *job)
{
	if (__builtin_expect(!job->counting, 0))
		cp_fio_window(td, job);
}

/* Fill the I/O of an io_u. false: a direction this engine does not serve (EINVAL is set).
 */
static inline bool cp_fio_fill(struct io_u *io_u, struct cp_io *io)
{
	io->near = io_u->xfer_buf;
	io->offset = io_u->offset;
	io->bytes = io_u->xfer_buflen;
	io->sync = false;
	if (__builtin_expect((unsigned)io_u->ddir <= DDIR_WRITE, 1)) {
		io->dir = io_u->ddir == DDIR_WRITE ? CP_DIR_WRITE : CP_DIR_READ;
		return true;
	}
	switch ((int)io_u->ddir) {
	case DDIR_SYNC:
	case DDIR_DATASYNC:
	case DDIR_SYNC_FILE_RANGE:
		io->sync = true;
		io->bytes = 0;
		return true;
	default:
		io_u->error = EINVAL;
		return false;
	}
}

#endif
