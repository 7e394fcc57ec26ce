// SPDX-License-Identifier: GPL-2.0-only
/* The section of cache attributes: its two tables, and what is said of them. */
#include <math.h>
#include <string.h>

#include "report/attrs.h"
#include "report/page.h"

#define NR_BASES  2
#define QUOTE_(x) #x
#define QUOTE(x)  QUOTE_(x)

static const struct {
	enum cp_report_value value;
	const char *word;
} bases[NR_BASES] = {{VALUE_IOPS_CPU, "CPU time"}, {VALUE_IOPS, "wall clock"}};

static const char *const plural[] = {"Reads", "Writes"};

/* Three digits that matter; a dash where there is nothing. */
static void add_number(struct cp_report_table *table, double value)
{
	int digits = value < 0.1   ? 4
		     : value < 1   ? 3
		     : value < 10  ? 2
		     : value < 100 ? 1
				   : 0;

	if (isfinite(value))
		cp_report_table_add(table, "%.*f", digits, value);
	else
		cp_report_table_add(table, "-");
}

static void add_rate(struct cp_report_table *table, const struct cp_report_cell *cell,
		     enum cp_report_value value, bool with_interval)
{
	const struct cp_report_stat *stat = cell ? &cell->values[value] : NULL;

	add_number(table, stat ? stat->median / 1000 : NAN);
	if (!with_interval)
		return;
	int digits = stat && stat->median < 100000 ? 1 : 0;

	if (stat && stat->n > 1)
		cp_report_table_add(table, "%.*f to %.*f", digits, stat->low / 1000,
				    digits, stat->high / 1000);
	else
		cp_report_table_add(table, "-");
}

static void add_side(const struct cp_report_attr_group *group,
		     const struct cp_report_attr_row *row, enum cp_dir dir,
		     struct cp_report_table *table)
{
	double ours = cp_report_attr_ratio(group, row, dir, group->basis);
	double published = cp_report_attr_published_ratio(group, row, dir);

	add_rate(table, row->cells[dir], VALUE_IOPS, true);
	add_rate(table, row->cells[dir], VALUE_IOPS_CPU, false);
	add_number(table, ours);
	add_number(table, row->published ? row->published->iops[dir] / 1000 : NAN);
	add_number(table, published);
	add_number(table, ours / published);
}

/* "5", or "5, 4" where reads and writes differ. */
static void add_samples(const struct cp_report_attr_row *row,
			struct cp_report_table *table)
{
	const struct cp_report_cell *read = row->cells[0], *write = row->cells[1];

	if (read && write && read->n != write->n)
		cp_report_table_add(table, "%u, %u", read->n, write->n);
	else if (read || write)
		cp_report_table_add(table, "%u", read ? read->n : write->n);
	else
		cp_report_table_add(table, "-");
}

void cp_report_attrs_table(const struct cp_report *report, struct cp_report_table *table)
{
	static const char *const header[] = {"load",
					     "attr",
					     "copy",
					     "attr is",
					     "N",
					     "read kIOPS",
					     "read interval",
					     "read k/CPU s",
					     "read / WB memcpy",
					     "published kIOPS",
					     "published / WB memcpy",
					     "read ratio of ratios",
					     "write kIOPS",
					     "write interval",
					     "write k/CPU s",
					     "write / WB memcpy",
					     "published kIOPS",
					     "published / WB memcpy",
					     "write ratio of ratios"};
	char words[600];

	cp_report_table_init(
		table, "attributes",
		"Cache attribute and copy, medians of N samples. kIOPS: thousands of "
		"I/Os per second of the wall clock; k/CPU s: per second of the "
		"submitters' CPU time; \"/ WB memcpy\": ours over our WB memcpy, and "
		"published over published; ratio of ratios: ours over published. Columns "
		"named published are from the published table. A dash: not measured, or "
		"not published",
		"llllrrrrrrrrrrrrrrr", header);
	table->fold = true;
	for (size_t g = 0; report->attrs && g < report->attrs->nr; g++) {
		const struct cp_report_attr_group *group = &report->attrs->groups[g];

		cp_report_attr_group_words(report, group, words, sizeof(words));
		for (size_t i = 0; i < group->nr; i++) {
			const struct cp_report_attr_row *row = &group->rows[i];

			cp_report_table_add(table, "%s", words);
			cp_report_table_add(table, "%s", row->attr);
			cp_report_table_add(table, "%s", row->copy);
			cp_report_table_add(table, "%s",
					    row->provenance[0] ? row->provenance
							       : "not measured");
			add_samples(row, table);
			add_side(group, row, CP_DIR_READ, table);
			add_side(group, row, CP_DIR_WRITE, table);
		}
	}
}

/* "1.72 over 11 rows; native 1.21 over 1, emulated 1.78 over 10". */
static char *mean_words(const struct cp_report_attr_order *order, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "-");
	for (unsigned k = 0; k < order->nr_means && used < size; k++) {
		const struct cp_report_attr_mean *mean = &order->means[k];

		/* one provenance alone is all there is */
		if (k && order->nr_means == 2)
			used += (size_t)snprintf(buf + used, size - used, ", all %s",
						 mean->provenance);
		else
			used += (size_t)snprintf(
				buf + used, size - used, "%s%s%s%.2f over %u%s",
				k == 1 ? "; "
				: k    ? ", "
				       : "",
				mean->provenance, k ? " " : "", mean->mean, mean->nr,
				k		? ""
				: mean->nr == 1 ? " row"
						: " rows");
	}
	return buf;
}

static void add_order(const struct cp_report_attr_group *group, enum cp_dir dir,
		      unsigned basis, struct cp_report_table *table)
{
	struct cp_report_attr_order order;
	char words[300];

	cp_report_attr_order(group, dir, bases[basis].value, &order);
	cp_report_table_add(table, "%s", cp_report_dir_word(dir));
	cp_report_table_add(table, "%s", bases[basis].word);
	cp_report_table_add(table, "%u", order.order.pairs);
	cp_report_table_add(table, "%u", order.order.kept);
	add_number(table, order.order.nearest);
	cp_report_table_add(table, "%s", order.wrong[0] ? order.wrong : "none");
	cp_report_table_add(table, "%s", mean_words(&order, words, sizeof(words)));
}

void cp_report_attr_order_table(const struct cp_report *report,
				struct cp_report_table *table)
{
	static const char *const header[] = {
		"load",		"rw",
		"by",		"pairs",
		"in order",	"nearest",
		"out of order", "geometric mean of the ratio of ratios"};
	char words[600];

	cp_report_table_init(
		table, "attribute-order",
		"Pairs of rows more than " QUOTE(
			CP_PUBLISHED_FAR) " times apart in the published table, and how "
					  "many stand in the same order here; nearest: "
					  "the least that the upper "
					  "row of such a pair has over the lower one "
					  "here. By the submitters' CPU "
					  "time, in which whoever shares the CPU does "
					  "not count, and by the wall "
					  "clock",
		"lllrrrww", header);
	table->fold = true;
	for (size_t g = 0; report->attrs && g < report->attrs->nr; g++) {
		const struct cp_report_attr_group *group = &report->attrs->groups[g];

		if (!group->published_base)
			continue;
		cp_report_attr_group_words(report, group, words, sizeof(words));
		for (int d = 0; d < 2; d++) {
			for (unsigned b = group->basis == VALUE_IOPS; b < NR_BASES; b++) {
				cp_report_table_add(table, "%s", words);
				add_order(group, (enum cp_dir)d, b, table);
			}
		}
	}
}

static void order_item(const struct cp_report_attr_group *group, enum cp_dir dir,
		       struct cp_report_doc *doc)
{
	struct cp_report_attr_order order;
	char words[300], wrong[sizeof(order.wrong) + 40] = "";

	cp_report_attr_order(group, dir, group->basis, &order);
	if (!order.order.pairs) {
		cp_report_doc_item(doc,
				   "%s: no two rows measured here are far apart in the "
				   "published table.",
				   plural[dir]);
		return;
	}
	if (order.wrong[0])
		snprintf(wrong, sizeof(wrong), " Not so: %s.", order.wrong);
	cp_report_doc_item(
		doc,
		"%s: %u of %u pairs of rows that are more than %.1f times apart in "
		"the published table stand in the same order here (the nearest is %.2f "
		"to 1).%s Ours over published, geometric mean: %s.",
		plural[dir], order.order.kept, order.order.pairs, CP_PUBLISHED_FAR,
		order.order.nearest, wrong, mean_words(&order, words, sizeof(words)));
}

static void put_group(const struct cp_report *report,
		      const struct cp_report_attr_group *group, struct cp_report_doc *doc)
{
	char words[600];

	cp_report_attr_group_words(report, group, words, sizeof(words));
	cp_report_doc_para(
		doc, "%s. Ratios are of %s.%s", words,
		group->basis == VALUE_IOPS_CPU
			? "I/Os per second of the submitters' CPU time: a copy never "
			  "sleeps, so on an idle machine that is IOPS, and on a busy one "
			  "what others took does not count"
			: "IOPS by the wall clock, since not every sample has its CPU "
			  "time; what else ran on the machine is in them",
		group->base ? ""
			    : " WB memcpy was not measured, so there are no ratios.");
	if (!group->published_base) {
		if (report->attrs->has_published)
			cp_report_doc_para(doc, "The published figures are of another "
						"load and stand beside none of these.");
		return;
	}
	doc->ops->list(doc, true);
	for (int d = 0; d < 2; d++)
		order_item(group, (enum cp_dir)d, doc);
	doc->ops->list(doc, false);
}

int cp_report_attrs_write(const struct cp_report_page *page, struct cp_report_doc *doc,
			  struct cp_err *err)
{
	const struct cp_report *report = page->report;
	const struct cp_report_attrs *attrs = report->attrs;

	if (!attrs)
		return 0;
	doc->ops->section(doc, "Cache attributes");
	for (size_t g = 0; g < attrs->nr; g++)
		put_group(report, &attrs->groups[g], doc);
	int rc = cp_report_page_pictures(page, doc, FIGURE_ATTRS, err);

	if (rc)
		return rc;
	doc->ops->table(doc, &page->tables[TABLE_ATTRS]);
	if (cp_report_table_rows(&page->tables[TABLE_ATTR_ORDER]))
		doc->ops->table(doc, &page->tables[TABLE_ATTR_ORDER]);
	if (attrs->has_published)
		cp_report_doc_para(
			doc,
			"Published figures: %s. %s They are of another machine "
			"and kernel, and are merged with none of ours.",
			attrs->published.source, attrs->published.notes);
	return 0;
}
