/* SPDX-License-Identifier: GPL-2.0-only */
/* What the first screen says of a policy, and what it leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/page.h"
#include "report/t/fixture.h"

struct setup {
	struct cp_report report;
	struct cp_report_opts opts;
	struct cp_rule rules[4];
	unsigned nr_rules;
};

static int add(void *ctx, const struct cp_record *record)
{
	struct setup *setup = ctx;
	struct cp_err err;

	cp_report_judge_add(&setup->report, record);
	return cp_report_add_record(&setup->report, record, &err);
}

static struct cp_policy_size *add_rule(struct setup *setup, enum cp_dir dir,
				       uint64_t upto, const char *arm, const char *path,
				       const char *copy)
{
	struct cp_rule *rule = &setup->rules[setup->nr_rules++];
	struct cp_policy_size *size = &rule->sizes[0];

	*rule = (struct cp_rule){.decided = true, .nr_sizes = 1};
	rule->when.dir = dir;
	snprintf(rule->when.layer, sizeof(rule->when.layer), "none");
	snprintf(rule->when.attr, CP_WORD_MAX, "wb");
	snprintf(rule->when.numa, CP_WORD_MAX, "local");
	rule->when.jobs = rule->when.load = rule->when.segments =
		(struct cp_range){1, CP_POLICY_OPEN};
	*size = (struct cp_policy_size){.upto = upto, .gain_pct = NAN, .confidence = NAN};
	snprintf(size->act.name, sizeof(size->act.name), "%s", arm);
	snprintf(size->act.path, CP_WORD_MAX, "%s", path);
	snprintf(size->act.copy, CP_WORD_MAX, "%s", copy);
	size->best = size->act;
	return size;
}

/* Takes in the records, with the rules so far as the policy; mode is the device's. */
static void judge(struct setup *setup, const char *mode)
{
	struct cp_report *report = &setup->report;
	struct cp_err err = {0};

	report->opts = &setup->opts;
	cp_policy_init(&report->policy);
	assert_int_equal(cp_report_judge_begin(report, &err), 0);
	assert_int_equal(fixture_each(&fixture_quick, add, setup), 0);
	assert_int_equal(cp_report_finish_cells(report, &err), 0);
	if (setup->nr_rules) {
		report->has_policy = true;
		report->policy.nr_rules = setup->nr_rules;
		report->policy.rules = calloc(setup->nr_rules, sizeof(struct cp_rule));
		assert_non_null(report->policy.rules);
		memcpy(report->policy.rules, setup->rules,
		       setup->nr_rules * sizeof(struct cp_rule));
		report->policy.samples = 192; /* all of the fixture's but null's */
		snprintf(report->policy.device.queue_mode, CP_WORD_MAX, "%s", mode);
		report->policy.device.regret_pct = 0;
	}
	cp_report_judge_finish(report);
}

static char *summary(const struct setup *setup)
{
	char *text = NULL;
	size_t len;
	struct cp_report_doc doc = {.out = open_memstream(&text, &len),
				    .ops = &cp_report_doc_html};

	assert_non_null(doc.out);
	cp_report_summary_write(&setup->report, &doc);
	assert_int_equal(fclose(doc.out), 0);
	return text;
}

static struct setup *begin(void)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	assert_non_null(setup);
	return setup;
}

static void end(struct setup *setup, char *text)
{
	struct cp_report *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = setup->report;
	cp_report_free(copy);
	free(setup);
	free(text);
}

static const struct cp_report_cell *chosen_of(const struct cp_report *report,
					      const char *rw)
{
	for (size_t i = 0; i < report->nr_cells; i++)
		if (report->cells[i].chosen && !strcmp(report->cells[i].context.rw, rw))
			return &report->cells[i];
	return NULL;
}

/* Description: a rule of mq's arms on a device in bio is judged by the arm of bio with
 * the same kernel, and the page says so; where bio has none, it says what was not
 * measured. */
static void other_mode_test(void **state)
{
	struct setup *setup = begin();
	const struct cp_report_cell *cell;

	(void)state;
	add_rule(setup, CP_DIR_READ, UINT64_MAX, "cpu-memcpy", "cpu", "memcpy");
	add_rule(setup, CP_DIR_WRITE, UINT64_MAX, "cpu-nt", "cpu", "nt");
	judge(setup, "bio");
	cell = chosen_of(&setup->report, "read");
	assert_non_null(cell);
	assert_string_equal(setup->report.arms[cell->arm].label, "incumbent");
	assert_string_equal(cell->stands_for, "cpu-memcpy");
	assert_null(chosen_of(&setup->report, "write"));
	char *text = summary(setup);

	assert_non_null(strstr(text, "arms measured in mq, and here they run in bio"));
	assert_non_null(strstr(text, "judged as bio with the same kernel"));
	assert_non_null(strstr(text, "Reads: the policy does what the incumbent does, in "
				     "all 12 contexts"));
	assert_null(strstr(text, "+0.0 %"));
	assert_non_null(strstr(text,
			       "Writes: not known: in bio, what the policy uses for "
			       "writes (copy nt) was not measured."));
	end(setup, text);
}

/* Description: a rule of an arm in the device's own mode stands for itself. */
static void own_mode_test(void **state)
{
	struct setup *setup = begin();

	(void)state;
	add_rule(setup, CP_DIR_READ, UINT64_MAX, "offload", "dma", "");
	judge(setup, "mq");
	assert_string_equal(chosen_of(&setup->report, "read")->stands_for, "");
	char *text = summary(setup);

	assert_null(strstr(text, "here they run in"));
	assert_non_null(strstr(text, "in 12 the policy does something else, and there:"));
	assert_non_null(strstr(text, "Bandwidth of reads: "));
	end(setup, text);
}

/* Description: the default is named only where some I/O has no rule. */
static void cover_test(void **state)
{
	static const struct {
		uint64_t read_upto, write_upto; /* 0 = no rule */
		uint32_t load_max;
		bool covered;
	} rows[] = {
		{UINT64_MAX, UINT64_MAX, CP_POLICY_OPEN, true},
		{65536, UINT64_MAX, CP_POLICY_OPEN, false},
		{UINT64_MAX, 65536, CP_POLICY_OPEN, false},
		{UINT64_MAX, 0, CP_POLICY_OPEN, false},
		{UINT64_MAX, UINT64_MAX, 4, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup *setup = begin();

		add_rule(setup, CP_DIR_READ, rows[i].read_upto, "cpu-nt", "cpu", "nt");
		if (rows[i].write_upto)
			add_rule(setup, CP_DIR_WRITE, rows[i].write_upto, "cpu-nt", "cpu",
				 "nt");
		setup->rules[0].when.load.max = rows[i].load_max;
		judge(setup, "mq");
		assert_int_equal(cp_report_rules_cover(&setup->report), rows[i].covered);
		char *text = summary(setup);

		assert_null(strstr(text, "Elsewhere"));
		assert_int_equal(strstr(text, "Where no rule holds, the default answers: "
					      "path cpu, copy auto (the default names "
					      "bio; the device is in mq)") != NULL,
				 !rows[i].covered);
		end(setup, text);
	}
}

/* Description: the runner-up has a name, and it is an arm that a rule can choose; the bio
 * incumbent is not, which is said with what it would have cost. */
static void next_test(void **state)
{
	struct setup *setup = begin();
	struct cp_policy_size *size =
		add_rule(setup, CP_DIR_READ, UINT64_MAX, "cpu-nt", "cpu", "nt");
	struct cp_report_rivals rivals;

	(void)state;
	size->gain_pct = 8.25;
	size->confidence = 0.97;
	judge(setup, "mq");
	cp_report_rivals(&setup->report, &setup->report.policy.rules[0].sizes[0],
			 &rivals);
	assert_string_equal(rivals.next, "cpu-memcpy or offload");
	assert_int_equal(rivals.nr_incumbent, 12);
	char *text = summary(setup);

	assert_non_null(
		strstr(text, "% less than the next, cpu-memcpy or offload, 97.0 % sure; "
			     "measured in mq, it costs "));
	assert_non_null(strstr(text, " than the bio incumbent in 12 contexts)"));
	assert_non_null(
		strstr(text, "a queue mode is the device&#39;s and cannot change"));
	/* from other samples: the next may be an arm that these do not hold */
	setup->report.policy.samples = 191;
	free(text);
	text = summary(setup);
	assert_non_null(strstr(text, "% less than the next, 97.0 % sure)"));
	end(setup, text);
}

/* Description: one setting for all I/O is weighed only where DMA makes it lose. */
static void single_setting_test(void **state)
{
	static const struct {
		const char *arm, *path, *copy;
		bool said;
	} rows[] = {{"cpu-nt", "cpu", "nt", false}, {"offload", "dma", "", true}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct setup *setup = begin();

		add_rule(setup, CP_DIR_READ, UINT64_MAX, rows[i].arm, rows[i].path,
			 rows[i].copy);
		judge(setup, "mq");
		char *text = summary(setup);

		assert_int_equal(strstr(text, "Set once for all I/O") != NULL,
				 rows[i].said);
		end(setup, text);
	}
}

/* Description: what is undecided says where it leans only if that is another arm, and a
 * number of samples only if somebody might take so many. */
static void undecided_test(void **state)
{
	static const struct {
		const char *best;
		uint32_t needed;
		const char *said, *unsaid;
	} rows[] = {
		{"cpu-nt", 70, "uses cpu-nt; tie; about 70 more samples", "leans"},
		{"offload", 70, "uses cpu-nt, leans to offload; tie; about 70", "noise"},
		{"cpu-nt", 22836, "the noise here is too large for these samples",
		 "22836"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup *setup = begin();
		struct cp_policy_size *size =
			add_rule(setup, CP_DIR_READ, UINT64_MAX, "cpu-nt", "cpu", "nt");

		snprintf(size->best.name, sizeof(size->best.name), "%s", rows[i].best);
		setup->rules[0].decided = false;
		setup->rules[0].samples_needed = rows[i].needed;
		snprintf(setup->rules[0].reason, CP_WORD_MAX, "tie");
		judge(setup, "mq");
		char *text = summary(setup);

		assert_non_null(strstr(text, rows[i].said));
		assert_null(strstr(text, rows[i].unsaid));
		end(setup, text);
	}
}

/* Description: what a rule asks of the memory is said wherever the rule is, with the
 * provenance of its attribute; a rule of one size is at that size. */
static void where_test(void **state)
{
	struct setup *setup = begin();
	struct cp_report_table tables[TABLE_NR] = {0};
	struct cp_err err = {0};
	struct cp_rule *rule = &setup->rules[0];
	struct cp_policy_size *size;

	(void)state;
	size = add_rule(setup, CP_DIR_READ, 4096, "cpu-nt", "cpu", "nt");
	size->above = 4095;
	snprintf(rule->when.attr, CP_WORD_MAX, "uc");
	rule->when.misalign_far = 8;
	size = add_rule(setup, CP_DIR_WRITE, 65536, "cpu-memcpy", "cpu", "memcpy");
	size->above = 65535;
	setup->rules[1].decided = false;
	snprintf(setup->rules[1].when.attr, CP_WORD_MAX, "wt");
	judge(setup, "bio");
	snprintf(setup->report.policy.attr, CP_WORD_MAX, "emulated");
	char *text = summary(setup);

	assert_non_null(strstr(text,
			       "read, any load, attr uc emulated, misaligned far 8: "
			       "cpu-nt at 4k"));
	assert_non_null(strstr(text, "write, any load, attr wt emulated, at 64k: uses"));
	assert_null(strstr(text, "above 4"));
	assert_int_equal(cp_report_tables_make(&setup->report, tables, &err), 0);
	char **cells = tables[TABLE_RULES].cells + strlen(tables[TABLE_RULES].align);

	assert_string_equal(cells[0], "read, attr uc emulated, misaligned far 8");
	assert_string_equal(cells[3], "at 4k");
	for (int t = 0; t < TABLE_NR; t++)
		cp_report_table_free(&tables[t]);
	end(setup, text);
}

/* Description: a page puts a column that says one thing into the caption, if told to. */
static void fold_test(void **state)
{
	static const char *const header[] = {"jobs", "bs"};
	struct cp_report_table table;
	bool shown[CP_REPORT_COLUMNS_MAX];
	char caption[200];

	(void)state;
	cp_report_table_init(&table, "x", "All", "rr", header);
	for (int i = 0; i < 2; i++) {
		cp_report_table_add(&table, "1");
		cp_report_table_add(&table, "%d", i);
	}
	assert_int_equal(cp_report_table_fold(&table, shown, caption, sizeof(caption)),
			 2);
	assert_string_equal(caption, "All");
	table.fold = true;
	assert_int_equal(cp_report_table_fold(&table, shown, caption, sizeof(caption)),
			 1);
	assert_false(shown[0]);
	assert_true(shown[1]);
	assert_string_equal(caption, "All. All rows: jobs 1");
	cp_report_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_mode_test),     cmocka_unit_test(own_mode_test),
		cmocka_unit_test(cover_test),	       cmocka_unit_test(next_test),
		cmocka_unit_test(single_setting_test), cmocka_unit_test(undecided_test),
		cmocka_unit_test(fold_test),	       cmocka_unit_test(where_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
