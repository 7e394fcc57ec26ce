/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What samples by programs that write a sidecar have in common, whoever starts them: the
 * files in jobs/, the child, what its stderr says, the sidecar's part of the record.
 */
#ifndef CP_BENCH_DRIVE_SAMPLE_H
#define CP_BENCH_DRIVE_SAMPLE_H

#include "bench/drive/child.h"
#include "bench/drive/driver.h"

struct cp_sample_files {
	char job[4200], out[4200], errors[4200], sidecar[4200];
};

/* Names them, and takes away those of a sample that was interrupted. job_suffix: of the
 * file that says what is asked, which stays. Exit 4 for a path that is too long. */
int cp_sample_files_name(const struct cp_session *session, size_t index,
			 const char *job_suffix, struct cp_sample_files *ret_files,
			 struct cp_err *err);
/* Of a sample that is good: a failure keeps what explains it. */
void cp_sample_files_drop(const struct cp_sample_files *files);

/* Run args (NULL-terminated, at most CP_SAMPLE_ARGS_MAX) behind take's prefix until it
 * ends, slack_ns more than ramp_time and runtime have passed, or an interrupt. Errors are
 * those of cp_child_run(), and exit 130 for the interrupt. */
#define CP_SAMPLE_ARGS_MAX 96
int cp_sample_run(const struct cp_take *take, const struct cp_sample_files *files,
		  const char *const *args, uint64_t slack_ns,
		  struct cp_child_end *ret_end, struct cp_err *err);

/* Did it not come to an end of its own? Then failed says why. */
bool cp_sample_died(const struct cp_child_end *end, const char *name, uint64_t slack_ns,
		    char *failed, size_t size);
/* The line of its stderr that begins with mark, without it; else the first. Was there one
 * with mark? */
bool cp_sample_stderr(const struct cp_sample_files *files, const char *mark, char *buf,
		      size_t size);
/* record->failed is set: add what stderr says, and keep proof and provenance of what was
 * told until then. Metrics would be of a part of the time, and are not kept. */
void cp_sample_fail(const struct cp_sample_files *files, const char *mark,
		    unsigned nr_jobs, struct cp_record *record, char *note,
		    size_t note_size);
/* The sidecar into the record, which is then held against its proof. */
void cp_sample_merge(const struct cp_sample_files *files, unsigned nr_jobs,
		     struct cp_record *record, char *note, size_t note_size);

#endif
