// SPDX-License-Identifier: GPL-2.0-only
/* A row's choices cut into pieces: runs of points alike in arm and in certainty. */
#include <math.h>
#include <string.h>

#include "policies/pieces.h"

#define SLIVER_OCTAVES 0.5

double pieces_mean(const struct learn_row *row, unsigned c, unsigned g)
{
	size_t at = (size_t)c * row->nr_grid + g;

	return row->excluded[at] ? NAN : row->mean[at];
}

static double sure_at(const struct learn_row *row, unsigned c, unsigned g)
{
	return row->sure[(size_t)c * row->nr_grid + g];
}

static double span(const struct learn_row *row, const struct piece *piece)
{
	return log2((double)row->grid[piece->last] / (double)row->grid[piece->first]);
}

/* An arm with path auto goes two ways, by its own threshold. */
static bool same_way(const struct learn_row *row, unsigned c, unsigned g)
{
	struct cp_action here, before;

	if (!g || strcmp(row->curves[c].arm->path, "auto") != 0)
		return true;
	learn_action(row->curves[c].arm, &row->key, row->grid[g], &here);
	learn_action(row->curves[c].arm, &row->key, row->grid[g - 1], &before);
	return !strcmp(here.path, before.path);
}

static void cut(const struct learn_row *row, struct pieces *pieces)
{
	pieces->nr = 0;
	for (unsigned g = 0; g < row->nr_grid; g++) {
		unsigned lean = (unsigned)row->choice[g];
		bool decided = sure_at(row, lean, g) >= LEARN_SURE;
		struct piece *last = pieces->nr ? &pieces->p[pieces->nr - 1] : NULL;

		if (last && last->lean == lean && last->decided == decided &&
		    same_way(row, lean, g))
			last->last = g;
		else
			pieces->p[pieces->nr++] = (struct piece){
				.first = g, .last = g, .decided = decided, .lean = lean};
	}
}

/* Joins piece i + 1 to piece i; the wider one says what both lean to. */
static void join(const struct learn_row *row, struct pieces *pieces, unsigned i)
{
	struct piece *a = &pieces->p[i];
	const struct piece *b = a + 1;

	a->decided = a->decided && b->decided && a->lean == b->lean;
	if (span(row, b) > span(row, a))
		a->lean = b->lean;
	a->last = b->last;
	pieces->nr--;
	memmove(&pieces->p[i + 1], &pieces->p[i + 2],
		(pieces->nr - i - 1) * sizeof(pieces->p[0]));
}

/*
 * Certainty in a sliver around a measured size, with doubt about the same arm beside it,
 * tells nobody anything: such a piece is given up.
 */
static void blunt(const struct learn_row *row, struct pieces *pieces)
{
	for (unsigned i = 0; i < pieces->nr; i++) {
		struct piece *p = &pieces->p[i];
		bool before = i && !p[-1].decided && p[-1].lean == p->lean;
		bool after = i + 1 < pieces->nr && !p[1].decided && p[1].lean == p->lean;

		if (p->decided && (before || after) && span(row, p) < SLIVER_OCTAVES)
			p->decided = false;
	}
	for (unsigned i = 0; i + 1 < pieces->nr;) {
		const struct piece *p = &pieces->p[i];

		if (!p->decided && !p[1].decided && p->lean == p[1].lean &&
		    same_way(row, p->lean, p[1].first))
			join(row, pieces, i);
		else
			i++;
	}
}

/* At most as many as a row of the table holds. What is given up is certainty, never the
 * other way round: a joined piece is decided only when both halves were, alike. */
static void thin(const struct learn_row *row, struct pieces *pieces)
{
	while (pieces->nr > CP_POLICY_SIZES_MAX) {
		unsigned at = 0;
		double least = INFINITY;

		for (unsigned i = 0; i + 1 < pieces->nr; i++) {
			double width = fmin(span(row, &pieces->p[i]),
					    span(row, &pieces->p[i + 1]));

			/* Two that are decided for different arms stay apart. */
			if (pieces->p[i].decided && pieces->p[i + 1].decided)
				width += 100.0;
			if (width < least) {
				least = width;
				at = i;
			}
		}
		join(row, pieces, at);
	}
}

/* An undecided piece leans to what is cheapest over it; compression, which shuns breaks,
 * may have carried a neighbour into it. */
static void lean(const struct learn_row *row, struct piece *piece)
{
	double least = INFINITY;

	for (unsigned a = 0; a < row->nr_curves; a++) {
		double sum = 0.0;

		for (unsigned g = piece->first; g <= piece->last; g++)
			sum += pieces_mean(row, a, g);
		if (sum < least) {
			least = sum;
			piece->lean = a;
		}
	}
}

/* The incumbent that speaks for a piece: the one in its middle, else any in it. Where it
 * was not measured the default does the same copy, only without a name. */
static int incumbent_of(const struct learn_row *row, const struct piece *piece)
{
	int found = row->incumbent[(piece->first + piece->last) / 2];

	for (unsigned g = piece->first; g <= piece->last && found < 0; g++)
		found = row->incumbent[g];
	return found;
}

/* A hard limit that the incumbent breaks comes before any doubt about J. */
static bool beats_incumbent(const struct learn_row *row, unsigned a, unsigned g)
{
	int incumbent = row->incumbent[g];

	if (incumbent < 0 || isnan(pieces_mean(row, a, g)))
		return false;
	return row->beyond[(size_t)incumbent * row->nr_grid + g] ||
	       learn_better(row, a, (unsigned)incumbent, g, 0.0) >= LEARN_SURE;
}

/* Undecided: an arm that is confidently better than the incumbent all along, else it. */
static void choose_use(const struct learn_row *row, struct piece *piece)
{
	double least = INFINITY;

	piece->use = incumbent_of(row, piece);
	for (unsigned a = 0; a < row->nr_curves; a++) {
		double sum = 0.0;
		bool better = true;

		for (unsigned g = piece->first; g <= piece->last && better; g++) {
			better = beats_incumbent(row, a, g);
			sum += pieces_mean(row, a, g);
		}
		if (better && sum < least) {
			least = sum;
			piece->use = (int)a;
		}
	}
}

/* The size at which a and b cost the same, between point g and the next; 0 = not here. */
double pieces_crossing(const struct learn_row *row, unsigned a, unsigned b, unsigned g)
{
	double left = pieces_mean(row, a, g) - pieces_mean(row, b, g);
	double right = pieces_mean(row, a, g + 1) - pieces_mean(row, b, g + 1);
	double low = log2((double)row->grid[g]), high = log2((double)row->grid[g + 1]);

	if (!(left <= 0.0 && right > 0.0))
		return 0.0;
	return exp2(low + (high - low) * left / (left - right));
}

static uint64_t sector_below(double bytes)
{
	return (uint64_t)bytes / 512 * 512;
}

static void set_ends(const struct learn_row *row, struct pieces *pieces)
{
	for (unsigned i = 0; i < pieces->nr; i++) {
		struct piece *p = &pieces->p[i];
		const struct piece *next = p + 1;

		p->above = i ? pieces->p[i - 1].upto : 0;
		if (i + 1 == pieces->nr) {
			p->upto = UINT64_MAX;
			break;
		}
		uint64_t low = row->grid[p->last], high = row->grid[next->first];
		uint64_t at = low;

		if (p->decided && next->decided)
			at = sector_below(
				pieces_crossing(row, p->lean, next->lean, p->last));
		else if (!p->decided && next->decided)
			at = sector_below((double)(high - 1));
		/* Certainty ends where it was last seen. */
		p->upto = at > low && at < high ? at : low;
	}
	if (row->nr_grid == 1) { /* one size says nothing of others */
		pieces->p[0].upto = row->grid[0];
		pieces->p[0].above = row->grid[0] - 1;
	}
}

void pieces_make(const struct learn_row *row, struct pieces *pieces)
{
	cut(row, pieces);
	blunt(row, pieces);
	thin(row, pieces);
	for (unsigned i = 0; i < pieces->nr; i++) {
		if (!pieces->p[i].decided)
			lean(row, &pieces->p[i]);
		pieces->p[i].use = (int)pieces->p[i].lean;
		if (!pieces->p[i].decided)
			choose_use(row, &pieces->p[i]);
	}
	set_ends(row, pieces);
}
