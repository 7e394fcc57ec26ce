// SPDX-License-Identifier: GPL-2.0-only
/* The policy as a map: block size across, load up, one figure a direction. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/escape.h"
#include "report/figures.h"
#include "report/misalign.h"

#define MAP_HIGH_MIN 110 /* pixels: more than "jobs x iodepth" is long */
#define PLOT	     372 /* pixels of the plot itself, for what text fits */
#define CHAR_WIDE    8	 /* of an arm's name */
#define CHAR_SMALL   6	 /* of the line below it */
#define EDGES_MAX    512
#define ROWS_MAX     64
#define ARMS_MAX     64
#define OTHERS_MAX   26

struct map {
	enum cp_dir dir;
	const struct cp_report_panel *panels[ROWS_MAX]; /* one a row */
	size_t nr_rows;
	uint64_t edges[EDGES_MAX]; /* where the answer may change, sorted */
	size_t nr_edges;
	uint64_t sizes[EDGES_MAX]; /* measured, sorted */
	size_t nr_sizes;
	double lo, hi;
	unsigned arms[ARMS_MAX]; /* named by the policy, as indexes of the report */
	size_t nr_arms;
	/* named by the policy, in no record; as letters where a name has no room */
	char others[OTHERS_MAX][CP_NAME_MAX];
	size_t nr_others;
	bool stands; /* some cost was judged by another arm */
};

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_edge(uint64_t *list, size_t *nr, uint64_t value)
{
	for (size_t i = 0; i < *nr; i++)
		if (list[i] == value)
			return;
	if (*nr < EDGES_MAX)
		list[(*nr)++] = value;
}

static bool same_map(const struct cp_report_panel *a, const struct cp_report_panel *b)
{
	const struct cp_context *x = &a->like->context, *y = &b->like->context;

	return cp_context_dir(x) == cp_context_dir(y) && !strcmp(x->layer, y->layer) &&
	       !strcmp(x->attr, y->attr) && !strcmp(x->numa, y->numa) &&
	       x->misalign_near == y->misalign_near &&
	       x->misalign_far == y->misalign_far && cp_report_same_driver(x, y);
}

static void collect_rows(const struct cp_report *report, size_t first, struct map *map)
{
	const struct cp_report_panel *like = &report->panels[first];

	map->dir = cp_context_dir(&like->like->context);
	for (size_t p = first; p < report->nr_panels && map->nr_rows < ROWS_MAX; p++) {
		const struct cp_report_panel *panel = &report->panels[p];
		bool seen = false;

		if (!same_map(like, panel))
			continue;
		for (size_t i = panel->first; i < panel->first + panel->nr; i++)
			add_edge(map->sizes, &map->nr_sizes, report->cells[i].context.bs);
		for (size_t r = 0; r < map->nr_rows; r++) {
			const struct cp_context *x = &map->panels[r]->like->context;
			const struct cp_context *y = &panel->like->context;

			seen = seen ||
			       (x->numjobs == y->numjobs && x->iodepth == y->iodepth);
		}
		if (!seen)
			map->panels[map->nr_rows++] = panel;
	}
	qsort(map->sizes, map->nr_sizes, sizeof(map->sizes[0]), by_size);
	for (size_t i = 0; i < report->nr_cells; i++)
		map->stands = map->stands || (report->cells[i].stands_for[0] &&
					      report->policy.device.queue_mode[0]);
	map->lo = (double)map->sizes[0] / sqrt(2);
	map->hi = (double)map->sizes[map->nr_sizes - 1] * sqrt(2);
}

static void add_edge_within(struct map *map, uint64_t value)
{
	if ((double)value > map->lo && (double)value < map->hi)
		add_edge(map->edges, &map->nr_edges, value);
}

static void collect_edges(const struct cp_report *report, struct map *map)
{
	for (unsigned r = 0; r < report->policy.nr_rules; r++) {
		const struct cp_rule *rule = &report->policy.rules[r];

		for (unsigned s = 0; s < rule->nr_sizes; s++) {
			add_edge_within(map, rule->sizes[s].above);
			add_edge_within(map, rule->sizes[s].upto);
		}
	}
	/* segments may select the rule too, and they are known where it was measured */
	for (size_t i = 0; i < map->nr_sizes; i++)
		add_edge(map->edges, &map->nr_edges, map->sizes[i]);
	add_edge(map->edges, &map->nr_edges, (uint64_t)map->hi);
	qsort(map->edges, map->nr_edges, sizeof(map->edges[0]), by_size);
}

/* The place of an answer's arm in the legend. 0: no arm of the records. */
static size_t arm_place(const struct cp_report *report, struct map *map,
			const struct cp_report_panel *panel, const struct cp_action *act)
{
	const struct cp_report_cell *cell = cp_report_action_cell(
		report, &report->cells[panel->first], panel->nr, act);

	if (!cell)
		return 0;
	for (size_t i = 0; i < map->nr_arms; i++)
		if (map->arms[i] == cell->arm)
			return i + 1;
	if (map->nr_arms == ARMS_MAX)
		return 0;
	map->arms[map->nr_arms++] = cell->arm;
	return map->nr_arms;
}

static struct cp_policy_answer answer_at(const struct cp_report *report,
					 const struct cp_report_panel *panel, uint64_t bs)
{
	struct cp_context context = panel->like->context;
	struct cp_policy_answer answer;
	uint64_t segment = context.bs / (context.segments ? context.segments : 1);

	context.bs = bs;
	context.segments = segment ? (uint32_t)((bs + segment - 1) / segment) : 1;
	cp_report_answer(report, &context, &answer);
	return answer;
}

static bool same_answer(const struct cp_policy_answer *a,
			const struct cp_policy_answer *b)
{
	bool decided_a = a->rule && a->rule->decided;
	bool decided_b = b->rule && b->rule->decided;

	return decided_a == decided_b && !strcmp(a->act.name, b->act.name) &&
	       !strcmp(a->act.path, b->act.path) && !strcmp(a->act.copy, b->act.copy) &&
	       (decided_a || !a->size || !b->size ||
		!strcmp(a->size->best.name, b->size->best.name));
}

/* Its sign in a box: the number in the legend, or the letter in the caption. */
static void arm_sign(struct map *map, size_t place, const char *name, char *buf,
		     size_t size)
{
	size_t k = 0;

	buf[0] = '\0';
	if (place) {
		snprintf(buf, size, "%zu", place);
		return;
	}
	while (k < map->nr_others && strcmp(map->others[k], name) != 0)
		k++;
	if (k == OTHERS_MAX)
		return;
	if (k == map->nr_others)
		snprintf(map->others[map->nr_others++], CP_NAME_MAX, "%s", name);
	snprintf(buf, size, "%c", 'a' + (int)k);
}

struct box_text {
	char sign[24], line[CP_NAME_MAX + 240];
	const char *name;
};

/* "PREFIXname" where that fits whole, else "PREFIX3"; never a part of a name. */
static void arm_text(const struct cp_report *report, struct map *map, size_t row,
		     const struct cp_action *act, const char *prefix, const char *shorter,
		     double room, struct box_text *ret, size_t *ret_place)
{
	size_t place = arm_place(report, map, map->panels[row], act);

	ret->name = place	   ? report->arms[map->arms[place - 1]].label
		    : act->name[0] ? act->name
				   : act->path;
	snprintf(ret->line, sizeof(ret->line), "%s%s", prefix, ret->name);
	ret->sign[0] = '\0';
	if ((double)strlen(ret->line) > room) {
		arm_sign(map, place, ret->name, ret->sign, sizeof(ret->sign));
		snprintf(ret->line, sizeof(ret->line), "%s%s", shorter, ret->sign);
	}
	*ret_place = place;
}

static void put_box(const struct cp_report *report, struct map *map, size_t row,
		    double from, double to, const struct cp_policy_answer *answer,
		    FILE *csv)
{
	bool decided = answer->rule && answer->rule->decided;
	double wide = PLOT * log(to / from) / log(map->hi / map->lo) - 4;
	struct box_text arm, lean = {.line = " "};
	size_t place, leans;

	arm_text(report, map, row, &answer->act, "", "", wide / CHAR_WIDE, &arm, &place);
	if (!answer->rule && wide / CHAR_SMALL >= 7)
		snprintf(lean.line, sizeof(lean.line), "default");
	else if (answer->rule && !decided &&
		 strcmp(answer->size->best.name, answer->act.name) != 0)
		arm_text(report, map, row, &answer->size->best, "? leans ",
			 wide / CHAR_SMALL < 7 ? "?" : "leans ", wide / CHAR_SMALL, &lean,
			 &leans);
	fprintf(csv, "%zu,%.8g,%.8g,%zu,%d,", row + 1, from, to, place, decided);
	cp_escape_csv(csv, arm.line);
	fputc(',', csv);
	cp_escape_csv(csv, lean.line);
	fputc(',', csv);
	cp_escape_csv(csv, arm.name);
	fputc('\n', csv);
}

static void put_row(const struct cp_report *report, struct map *map, size_t row,
		    FILE *csv)
{
	double from = map->lo;
	struct cp_policy_answer now = {0};

	for (size_t e = 0; e < map->nr_edges; e++) {
		struct cp_policy_answer next =
			answer_at(report, map->panels[row], map->edges[e]);

		if (e && !same_answer(&now, &next)) {
			double to = (double)map->edges[e - 1];

			put_box(report, map, row, from, to, &now, csv);
			from = to;
		}
		now = next;
	}
	put_box(report, map, row, from, map->hi, &now, csv);
}

static void put_script(const struct cp_report *report, const struct map *map, FILE *gp)
{
	const struct cp_report_panel *panel = map->panels[0];
	const struct cp_context *context = &panel->like->context;
	char title[400], provenance[300], load[64], offsets[64], words[160];

	cp_report_misalign_words(context->misalign_near, context->misalign_far, offsets,
				 sizeof(offsets));
	snprintf(title, sizeof(title), "Policy: %s%s%s%s%s%s%s%s",
		 cp_report_dir_word(map->dir),
		 strcmp(context->layer, "none") ? ", layer " : "",
		 strcmp(context->layer, "none") ? context->layer : "",
		 strcmp(context->attr, "wb") ? ", attr " : "",
		 strcmp(context->attr, "wb") ? context->attr : "",
		 offsets[0] ? ", misaligned " : "", offsets,
		 cp_report_driver_words(context, words, sizeof(words)));
	snprintf(provenance, sizeof(provenance),
		 "learned on media: %s, attr: %s, DMA: %s", report->policy.media,
		 report->policy.attr, report->policy.dma);
	if (!report->policy.media[0])
		snprintf(provenance, sizeof(provenance),
			 "not learned: made without measurements");
	/* The axis' name stands upright beside the rows: one row has to be high enough.
	 */
	unsigned high = 50 * (unsigned)map->nr_rows;

	cp_report_figure_head(report, gp, title, provenance,
			      high > MAP_HIGH_MIN ? high : MAP_HIGH_MIN, map->arms,
			      map->nr_arms, 1);
	fprintf(gp, "set xrange [%g:%g]\nset yrange [0.5:%g]\nset ytics (", map->lo,
		map->hi, (double)map->nr_rows + 0.5);
	for (size_t r = 0; r < map->nr_rows; r++) {
		const struct cp_context *c = &map->panels[r]->like->context;

		snprintf(load, sizeof(load), "%u x %u", c->numjobs, c->iodepth);
		fprintf(gp, "%s'%s' %zu", r ? ", " : "", load, r + 1);
	}
	fputs(")\n", gp);
	for (size_t i = 0; i < map->nr_arms; i++) {
		char numbered[REPORT_LABEL_MAX + 24], text[REPORT_LABEL_MAX + 24];

		snprintf(numbered, sizeof(numbered), "%zu  %s", i + 1,
			 report->arms[map->arms[i]].label);
		fprintf(gp, "LABEL[%zu] = ", i + 1);
		cp_escape_gnuplot(gp, cp_text_visible(numbered, 44, text, sizeof(text)));
		fputc('\n', gp);
	}
	cp_report_figure_size_tics(gp, map->sizes, map->nr_sizes);
}

static void put_caption(const struct cp_report *report, const struct map *map,
			struct cp_report_figure *figure)
{
	char *text = figure->caption;
	size_t size = sizeof(figure->caption), used;
	const char *mode = report->policy.device.queue_mode;

	snprintf(text, size,
		 "The policy for %ss: block size across, load (jobs x iodepth) up. A "
		 "hatched box is undecided: it names the arm that is used and, after a "
		 "question mark, the one it leans to if that is another. A number is the "
		 "legend's (?2 leans to 2).",
		 cp_report_dir_word(map->dir));
	for (size_t i = 0; i < map->nr_others; i++) {
		used = strlen(text);
		snprintf(text + used, size - used, " %c is %.60s, not measured here.",
			 'a' + (int)i, map->others[i]);
	}
	used = strlen(text);
	if (map->stands)
		snprintf(text + used, size - used,
			 " Arms are those the rules name; the device is in %s.", mode);
}

static int put_map(const struct cp_report *report, struct map *map, unsigned number,
		   struct cp_report_figures *figures, struct cp_report_files *files,
		   struct cp_err *err)
{
	FILE *csv, *gp;
	int rc = cp_report_figure_begin(report, figures, FIGURE_MAP, number, files, &csv,
					&gp, err);

	if (rc)
		return rc;
	fputs("row,bs from,bs upto,arm,decided,shown,leans,name\n", csv);
	for (size_t r = 0; r < map->nr_rows; r++)
		put_row(report, map, r, csv);
	put_caption(report, map, &figures->list[figures->nr - 1]);
	put_script(report, map, gp);
	return cp_report_figure_end(report, figures, files, csv, gp, err);
}

int cp_report_figure_map(const struct cp_report *report,
			 struct cp_report_figures *figures, struct cp_report_files *files,
			 struct cp_err *err)
{
	unsigned number = 0;

	for (size_t p = 0; p < report->nr_panels; p++) {
		bool seen = false;

		for (size_t k = 0; k < p; k++)
			seen = seen || same_map(&report->panels[k], &report->panels[p]);
		if (seen || cp_report_is_swap(&report->panels[p].like->context) ||
		    cp_report_misalign_tabled(report, &report->panels[p]))
			continue;
		struct map map = {0};

		collect_rows(report, p, &map);
		collect_edges(report, &map);
		int rc = put_map(report, &map, ++number, figures, files, err);

		if (rc)
			return rc;
	}
	return 0;
}
