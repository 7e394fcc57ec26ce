// SPDX-License-Identifier: GPL-2.0-only
/* Rows of a group as ratios, and whether they stand as the published ones do. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report/attrs.h"

static double rate(const struct cp_report_attr_row *row, enum cp_dir dir,
		   enum cp_report_value value)
{
	return row && row->cells[dir] ? row->cells[dir]->values[value].median : NAN;
}

double cp_report_attr_ratio(const struct cp_report_attr_group *group,
			    const struct cp_report_attr_row *row, enum cp_dir dir,
			    enum cp_report_value value)
{
	double base = rate(group->base, dir, value);

	return base > 0 ? rate(row, dir, value) / base : NAN;
}

double cp_report_attr_published_ratio(const struct cp_report_attr_group *group,
				      const struct cp_report_attr_row *row,
				      enum cp_dir dir)
{
	if (!row->published || !group->published_base)
		return NAN;
	return row->published->iops[dir] / group->published_base->iops[dir];
}

char *cp_report_attr_name(const struct cp_report_attr_row *row, char *buf, size_t size)
{
	char attr[CP_WORD_MAX];
	size_t i = 0;

	for (; i < sizeof(attr) - 1 && row->attr[i]; i++)
		attr[i] = (char)toupper((unsigned char)row->attr[i]);
	attr[i] = '\0';
	snprintf(buf, size, "%s %s", attr, row->copy);
	return buf;
}

struct telling {
	const struct cp_report_attr_row **rows;
	const double *ours;
	char *text;
	size_t size;
	unsigned more;
};

static void tell_wrong(void *ctx, size_t upper, size_t lower)
{
	struct telling *telling = ctx;
	size_t used = strlen(telling->text);
	char names[2][80], one[240];
	int len = snprintf(one, sizeof(one), "%s%s is %.2f of %s", used ? "; " : "",
			   cp_report_attr_name(telling->rows[upper], names[0], 80),
			   telling->ours[upper] / telling->ours[lower],
			   cp_report_attr_name(telling->rows[lower], names[1], 80));

	/* room for what says how many there was no room for */
	if (len < 0 || used + (size_t)len + 32 > telling->size)
		telling->more++;
	else
		memcpy(telling->text + used, one, (size_t)len + 1);
}

static void add_mean(struct cp_report_attr_order *order, const char *provenance,
		     double log_ratio)
{
	unsigned k = 0;

	while (k < order->nr_means && strcmp(order->means[k].provenance, provenance) != 0)
		k++;
	if (k == REPORT_ATTR_MEANS)
		return;
	if (k == order->nr_means)
		order->means[order->nr_means++] =
			(struct cp_report_attr_mean){.provenance = provenance};
	order->means[k].nr++;
	order->means[k].mean += log_ratio; /* the sum, until all are in */
}

static void find_means(const struct cp_report_attr_group *group, enum cp_dir dir,
		       enum cp_report_value value, struct cp_report_attr_order *order)
{
	const char *first = group->base ? group->base->provenance : "";

	/* that of WB memcpy is named first */
	for (size_t i = 0; i < 2 * group->nr; i++) {
		const struct cp_report_attr_row *row = &group->rows[i % group->nr];

		if ((i < group->nr) != !strcmp(row->provenance, first))
			continue;
		double of_ratios = cp_report_attr_ratio(group, row, dir, value) /
				   cp_report_attr_published_ratio(group, row, dir);

		if (!(of_ratios > 0) || row->published == group->published_base)
			continue; /* WB memcpy is 1 by definition */
		add_mean(order, "", log(of_ratios));
		add_mean(order, row->provenance, log(of_ratios));
	}
	for (unsigned k = 0; k < order->nr_means; k++)
		order->means[k].mean = exp(order->means[k].mean / order->means[k].nr);
}

void cp_report_attr_order(const struct cp_report_attr_group *group, enum cp_dir dir,
			  enum cp_report_value value, struct cp_report_attr_order *ret)
{
	const struct cp_report_attr_row *rows[2 * CP_PUBLISHED_ROWS_MAX];
	double published[2 * CP_PUBLISHED_ROWS_MAX], ours[2 * CP_PUBLISHED_ROWS_MAX];
	size_t nr = 0;

	*ret = (struct cp_report_attr_order){0};
	struct telling telling = {.rows = rows,
				  .ours = ours,
				  .text = ret->wrong,
				  .size = sizeof(ret->wrong)};

	for (size_t i = 0; i < group->nr && nr < 2 * CP_PUBLISHED_ROWS_MAX; i++) {
		if (!group->rows[i].published)
			continue;
		rows[nr] = &group->rows[i];
		published[nr] = rows[nr]->published->iops[dir];
		ours[nr] = rate(rows[nr], dir, value);
		nr++;
	}
	cp_published_compare(published, ours, nr, tell_wrong, &telling, &ret->order);
	if (telling.more)
		snprintf(ret->wrong + strlen(ret->wrong),
			 sizeof(ret->wrong) - strlen(ret->wrong), "; and %u more",
			 telling.more);
	find_means(group, dir, value, ret);
}
