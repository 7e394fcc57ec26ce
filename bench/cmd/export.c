/* SPDX-License-Identifier: GPL-2.0-only */
/* copypath export: records as one flat table. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/cmd/cmd.h"
#include "engines/base/file.h"
#include "engines/base/yaml.h"
#include "results/record.h"

#define VERB "export"

enum failed_rows { FAILED_INCLUDE, FAILED_ONLY, FAILED_EXCLUDE };
static const char *const failed_words[] = {"include", "only", "exclude", NULL};
static const char *const format_words[] = {"csv", NULL};

struct export
{
	FILE *out;
	enum failed_rows failed;
	bool begun; /* something stands in this row already */
	/* counters of perf that any record has, in the order of first sight */
	char(*perf)[sizeof(((struct cp_perf_counter *)0)->name)];
	size_t nr_perf;
	bool warned;
};

/* One cell, quoted as RFC 4180 says where it has to be. */
static void put_text(struct export *export, const char *text)
{
	if (export->begun)
		fputc(',', export->out);
	export->begun = true;
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, export->out);
		return;
	}
	fputc('"', export->out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', export->out);
		fputc(*text, export->out);
	}
	fputc('"', export->out);
}

static void put_u64(struct export *export, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_text(export, text);
}

/* 15 digits, as in the records; what was not measured is an empty cell. */
static void put_number(struct export *export, double value)
{
	char text[32] = "";

	if (!isnan(value))
		snprintf(text, sizeof(text), "%.15g", value);
	put_text(export, text);
}

static void end_row(struct export *export)
{
	fputc('\n', export->out);
	export->begun = false;
}

static void put_names(struct export *export, const char *const *names)
{
	for (; *names; names++)
		put_text(export, *names);
}

static void put_field_names(struct export *export, const struct cp_field *fields)
{
	for (; fields->name; fields++)
		put_text(export, fields->name);
}

/* Plain numbers: 65536, not 64k. */
static void put_fields(struct export *export, const struct cp_field *fields,
		       const void *object)
{
	char text[512];

	for (; fields->name; fields++)
		put_text(export,
			 cp_field_format(fields, object, true, text, sizeof(text)));
}

static void put_header(struct export *export)
{
	static const char *const sample[] = {"run", "sample", "t", "host", NULL};
	static const char *const provenance[] = {"provenance_media", "provenance_attr",
						 "provenance_dma", NULL};
	static const char *const proof[] = {"proof_bytes_cpu",
					    "proof_bytes_dma",
					    "proof_bytes_simulated",
					    "proof_bytes_fallback",
					    "proof_no_channel",
					    "proof_ring_full",
					    "proof_error",
					    "proof_too_many_segments",
					    "proof_requests",
					    "proof_merged",
					    "proof_transactions",
					    "proof_split",
					    "proof_crossed",
					    "proof_timed",
					    "proof_bytes_split",
					    "proof_errors",
					    "proof_verify",
					    "proof_effective_iodepth",
					    "proof_copy",
					    "proof_dma",
					    "proof_node",
					    "proof_page_bytes",
					    "proof_flush",
					    "proof_fence",
					    "proof_persistent",
					    "proof_pages",
					    "proof_pages_overlapped",
					    "proof_pages_unmerged",
					    "proof_pages_whole_dma",
					    "proof_pages_unmerged_dma",
					    "proof_pages_off",
					    NULL};

	put_names(export, sample);
	put_field_names(export, cp_context_fields);
	put_text(export, "arm");
	put_field_names(export, cp_arm_fields);
	put_names(export, provenance);
	put_names(export, cp_metric_names);
	put_names(export, proof);
	for (size_t i = 0; i < export->nr_perf; i++) {
		char name[sizeof(export->perf[0]) + 8];

		snprintf(name, sizeof(name), "perf_%s", export->perf[i]);
		put_text(export, name);
	}
	put_text(export, "failed");
	put_text(export, "notes");
	end_row(export);
}

/* Of queue_mode page alone; empty elsewhere, as they are not in the file there. */
static void put_pages(struct export *export, const struct cp_record *record)
{
	const uint64_t counters[] = {
		record->proof.page.pages,	 record->proof.page.overlapped,
		record->proof.page.unmerged,	 record->proof.page.whole_dma,
		record->proof.page.unmerged_dma, record->proof.page.off,
	};
	bool has = record->has_proof && record->proof.page.pages + record->proof.page.off;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (has)
			put_u64(export, counters[i]);
		else
			put_text(export, "");
	}
}

static double perf_value(const struct cp_record *record, const char *name)
{
	for (size_t i = 0; i < record->nr_perf; i++)
		if (!strcmp(record->perf[i].name, name))
			return record->perf[i].value;
	return NAN;
}

static void put_proof(struct export *export, const struct cp_record *record)
{
	const struct cp_proof *proof = &record->proof;
	const uint64_t counters[] = {
		proof->bytes_cpu,	    proof->bytes_dma,
		proof->bytes_simulated,	    proof->bytes_fallback,
		proof->fallback.no_channel, proof->fallback.ring_full,
		proof->fallback.error,	    proof->fallback.too_many_segments,
		proof->queue.requests,	    proof->queue.merged,
		proof->queue.transactions,  proof->queue.split,
		proof->queue.crossed,	    proof->queue.timed,
		proof->bytes_split,	    proof->errors,
	};
	const size_t nr = sizeof(counters) / sizeof(counters[0]);

	for (size_t i = 0; i < nr; i++) {
		if (record->has_proof)
			put_u64(export, counters[i]);
		else
			put_text(export, "");
	}
	if (!record->has_proof) {
		for (int i = 0; i < 9; i++)
			put_text(export, "");
		return;
	}
	put_text(export, proof->verify);
	put_u64(export, proof->effective_iodepth);
	put_text(export, proof->copy);
	put_text(export, proof->dma);
	if (proof->node < 0)
		put_text(export, "");
	else
		put_u64(export, (uint64_t)proof->node);
	if (proof->page_bytes)
		put_u64(export, proof->page_bytes);
	else
		put_text(export, "");
	put_text(export, proof->flush);
	put_text(export, proof->fence);
	put_text(export, proof->persistent < 0 ? ""
			 : proof->persistent   ? "true"
					       : "false");
}

static bool has_perf(const struct export *export, const char *name)
{
	for (size_t i = 0; i < export->nr_perf; i++)
		if (!strcmp(export->perf[i], name))
			return true;
	return false;
}

/* A counter without a column. */
static void warn_of_perf(struct export *export, const struct cp_record *record)
{
	for (size_t i = 0; i < record->nr_perf && !export->warned; i++) {
		if (has_perf(export, record->perf[i].name))
			continue;
		export->warned = true;
		cp_cmd_warn_cb(NULL, "counters of perf are left out of records that are "
				     "no file; give the file itself for them");
	}
}

static int put_record(void *ctx, struct cp_record *record, unsigned line)
{
	struct export *export = ctx;
	char reason[256] = "";
	bool failed = cp_record_failed(record, reason, sizeof(reason));

	(void)line;
	if (export->failed == (failed ? FAILED_EXCLUDE : FAILED_ONLY))
		return 0;
	put_text(export, record->run);
	put_u64(export, record->sample);
	put_text(export, record->t);
	put_text(export, record->host);
	put_fields(export, cp_context_fields, &record->context);
	put_text(export, record->arm.name);
	put_fields(export, cp_arm_fields, &record->arm);
	put_text(export, record->provenance.media);
	put_text(export, record->provenance.attr);
	put_text(export, record->provenance.dma);
	for (int i = 0; i < CP_METRIC_NR; i++)
		put_number(export, record->metrics[i]);
	put_proof(export, record);
	put_pages(export, record);
	warn_of_perf(export, record);
	for (size_t i = 0; i < export->nr_perf; i++)
		put_number(export, perf_value(record, export->perf[i]));
	put_text(export, failed ? reason : "");
	put_text(export, record->notes);
	end_row(export);
	if (!ferror(export->out))
		return 0;
	return errno == ENOSPC ? -ENOSPC : -EIO;
}

/* Notes the names of its counters: they are columns, and the header comes first. */
static int note_perf(void *ctx, struct cp_record *record, unsigned line)
{
	struct export *export = ctx;

	(void)line;
	for (size_t i = 0; i < record->nr_perf; i++) {
		if (has_perf(export, record->perf[i].name))
			continue;
		void *more = reallocarray(export->perf, export->nr_perf + 1,
					  sizeof(export->perf[0]));

		if (!more)
			return -ENOMEM;
		export->perf = more;
		memcpy(export->perf[export->nr_perf++], record->perf[i].name,
		       sizeof(export->perf[0]));
	}
	return 0;
}

/* Records that are not there are named before a header is printed, and what they count is
 * looked up. A pipe can be read but once: its counters stay out, and that is said. Bad
 * lines are told when the rows are put. */
static int check_input(struct export *export, const char *path, struct cp_err *err)
{
	struct cp_err later;
	const struct cp_record_read_opts opts = {0};
	char file[4200];
	struct stat st;

	bool dir = !stat(path, &st) && S_ISDIR(st.st_mode) &&
		   !cp_path_join(file, sizeof(file), path, "records.jsonl");
	if (access(dir ? file : path, R_OK))
		return cp_record_read(path, &opts, note_perf, export, err);
	if (!dir && (stat(path, &st) || !S_ISREG(st.st_mode)))
		return 0;
	if (cp_record_read(path, &opts, note_perf, export, &later) == -ENOMEM)
		return cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
	return 0;
}

static int put_all(struct export *export, char *const *paths, struct cp_err *err)
{
	const struct cp_record_read_opts opts = {.warn = cp_cmd_warn_cb};

	for (size_t i = 0; paths[i]; i++) {
		int rc = check_input(export, paths[i], err);

		if (rc)
			return rc;
	}
	put_header(export);
	for (; *paths; paths++) {
		int rc = cp_record_read(*paths, &opts, put_record, export, err);

		if (rc && ferror(export->out))
			return cp_err_set(
				err, CP_EXIT_INVALID, -rc, "cannot write the table: %s",
				rc == -ENOSPC ? "no space left" : "output error");
		if (rc)
			return rc;
	}
	return 0;
}

static enum cp_exit export_file(struct export *export, const char *path,
				char *const *paths)
{
	struct cp_err err = {0};
	struct cp_file_new file;

	if (cp_file_new_open(path, &file, &err))
		return cp_cmd_fail(&err);
	export->out = file.stream;
	if (put_all(export, paths, &err)) {
		cp_file_new_abort(&file);
		return cp_cmd_fail(&err);
	}
	if (cp_file_new_commit(&file, &err))
		return cp_cmd_fail(&err);
	return CP_EXIT_OK;
}

/* The place of text; an option without a value means the first word. */
static int word_index(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++) {
		if (!text || !strcmp(words[i], text))
			return i;
	}
	return -1;
}

/* CP_EXIT_OK when the options were understood; the records follow from optind on. */
static enum cp_exit parse_options(int argc, char **argv, struct export *export,
				  const char **ret_output)
{
	static const struct option options[] = {
		{"format", required_argument, NULL, 'f'},
		{"failed", optional_argument, NULL, 'F'},
		{"output", required_argument, NULL, 'o'},
		{0},
	};
	const char *last;
	int opt, word;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
		last = argv[optind - 1];
		switch (opt) {
		case 'f':
			if (word_index(format_words, optarg) < 0)
				return cp_cmd_usage(VERB, "format '%s'; expected csv",
						    optarg);
			break;
		case 'F':
			word = word_index(failed_words, optarg);
			if (word < 0)
				return cp_cmd_usage(
					VERB,
					"failed '%s'; expected include, only or exclude",
					optarg);
			export->failed = (enum failed_rows)word;
			break;
		case 'o':
			*ret_output = optarg;
			break;
		case ':':
			return cp_cmd_usage(VERB, "'%s' without a value; expected one",
					    last);
		default:
			return cp_cmd_usage(VERB,
					    "unknown option '%s'; expected --format, "
					    "--failed or -o",
					    last);
		}
	}
	if (optind == argc)
		return cp_cmd_usage(VERB, "no records; expected a run directory or a "
					  ".jsonl file");
	return CP_EXIT_OK;
}

static enum cp_exit run_export(int argc, char **argv)
{
	struct export export = {.out = stdout};
	const char *output = NULL;
	struct cp_err err = {0};
	enum cp_exit code = parse_options(argc, argv, &export, &output);

	if (code)
		return code;
	if (output) {
		code = export_file(&export, output, argv + optind);
		free(export.perf);
		return code;
	}
	code = put_all(&export, argv + optind, &err) ? cp_cmd_fail(&err) : CP_EXIT_OK;
	free(export.perf);
	return code;
}

const struct cp_verb cp_verb_export = {
	.name = VERB,
	.summary = "flat CSV of records",
	.usage =
		"usage: copypath export RECORDS... [--format csv] [--failed[=WHICH]] "
		"[-o FILE]\n\n"
		"Prints one row a sample: the context, the arm, the provenance, every "
		"metric,\n"
		"the path proof and counters of perf. RECORDS is a run directory or a "
		".jsonl file.\n\n"
		"  --format csv      comma-separated, quoted as in RFC 4180 (default)\n"
		"  --failed[=WHICH]  failed samples: include (default; the column "
		"'failed' "
		"holds\n"
		"                    the reason), only, or exclude\n"
		"  -o, --output FILE write here instead of to standard output; whole or "
		"not at all\n\n"
		"A metric that was not measured is an empty cell. Sizes are plain bytes, "
		"times\n"
		"nanoseconds.\n\n"
		"exit status: 0 done, 2 bad usage, 4 records that cannot be read or no "
		"space\n",
	.run = run_export,
};
