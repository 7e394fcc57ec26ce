// SPDX-License-Identifier: GPL-2.0-only
/* Contexts and provenance in words. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "report/data.h"
#include "report/misalign.h"

const char *cp_report_dir_word(enum cp_dir dir)
{
	return dir == CP_DIR_READ ? "read" : "write";
}

char *cp_report_load_words(const struct cp_context *context, char *buf, size_t size)
{
	snprintf(buf, size, "%u job%s, iodepth %u", context->numjobs,
		 context->numjobs == 1 ? "" : "s", context->iodepth);
	return buf;
}

static void append(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void append(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
}

/* Does any panel differ from this one in a text at `offset` of the context? */
static bool varies(const struct cp_report *report, size_t offset)
{
	const char *first = (const char *)&report->panels[0].like->context + offset;

	for (size_t i = 1; i < report->nr_panels; i++)
		if (strcmp((const char *)&report->panels[i].like->context + offset,
			   first) != 0)
			return true;
	return false;
}

char *cp_report_panel_words(const struct cp_report *report,
			    const struct cp_report_panel *panel, char *buf, size_t size)
{
	static const struct {
		const char *word, *usual;
		size_t offset;
	} more[] = {
		{"media", "", offsetof(struct cp_context, media)},
		{"attr", "wb", offsetof(struct cp_context, attr)},
		{"layer", "none", offsetof(struct cp_context, layer)},
		{"numa", "local", offsetof(struct cp_context, numa)},
		{"corunner", "none", offsetof(struct cp_context, corunner)},
	};
	const struct cp_context *context = &panel->like->context;
	char load[64], offsets[64], words[160];

	/* first, as titles of figures are cut */
	snprintf(buf, size, "%s%s%s, %s",
		 strcmp(context->driver, "fio") ? context->driver : "",
		 strcmp(context->driver, "fio") ? ": " : "", context->rw,
		 cp_report_load_words(context, load, sizeof(load)));
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		const char *value = (const char *)context + more[i].offset;

		/* the media is in the provenance line when there is but one */
		if (varies(report, more[i].offset) ||
		    (more[i].usual[0] && strcmp(value, more[i].usual) != 0))
			append(buf, size, ", %s %s", more[i].word, value);
	}
	if (cp_report_is_misaligned(context))
		append(buf, size, ", misaligned %s",
		       cp_report_misalign_words(context->misalign_near,
						context->misalign_far, offsets,
						sizeof(offsets)));
	append(buf, size, "%s", cp_report_driver_words(context, words, sizeof(words)));
	for (size_t i = 1; i < report->nr_panels; i++) {
		if (strcmp(report->panels[i].like->host, report->panels[0].like->host)) {
			append(buf, size, ", on %s", panel->like->host);
			break;
		}
	}
	return buf;
}

char *cp_report_panel_provenance(const struct cp_report *report,
				 const struct cp_report_panel *panel, bool with_simulated,
				 char *buf, size_t size)
{
	const struct cp_report_cell *like = panel->like;
	char seen[8][CP_WORD_MAX];
	size_t nr_seen = 0;
	bool simulated = false;

	snprintf(buf, size, "media %s: %s", like->context.media, like->provenance.media);
	if (strcmp(like->provenance.attr, like->provenance.media) != 0)
		append(buf, size, ", attr %s: %s", like->context.attr,
		       like->provenance.attr);
	for (size_t i = panel->first; i < panel->first + panel->nr; i++) {
		const char *dma = report->cells[i].provenance.dma;
		size_t k = 0;

		if (report->arms[report->cells[i].arm].simulated)
			simulated = with_simulated;
		else if (strcmp(dma, "none") != 0 && nr_seen < 8) {
			while (k < nr_seen && strcmp(seen[k], dma) != 0)
				k++;
			if (k == nr_seen)
				snprintf(seen[nr_seen++], CP_WORD_MAX, "%s", dma);
		}
	}
	for (size_t k = 0; k < nr_seen; k++)
		append(buf, size, "%s%s", k ? "+" : ", DMA: ", seen[k]);
	if (simulated)
		append(buf, size, ", null: modelled");
	return buf;
}

bool cp_report_is_swap(const struct cp_context *context)
{
	return !strcmp(context->driver, "swap");
}

bool cp_report_same_driver(const struct cp_context *a, const struct cp_context *b)
{
	return !strcmp(a->driver, b->driver) && a->rw_page == b->rw_page &&
	       a->resident == b->resident && !strcmp(a->handler, b->handler);
}

char *cp_report_driver_words(const struct cp_context *context, char *buf, size_t size)
{
	char bytes[24];

	buf[0] = '\0';
	if (strcmp(context->driver, "fio") != 0)
		append(buf, size, ", driver %s", context->driver);
	if (!context->rw_page)
		append(buf, size, ", rw_page off");
	if (context->resident)
		append(buf, size, ", resident %s",
		       cp_size_format(context->resident, bytes, sizeof(bytes)));
	/* who serves faults is of interest where there are any */
	if (cp_report_is_swap(context) || strcmp(context->handler, "beside") != 0)
		append(buf, size, ", handler %s", context->handler);
	return buf;
}

static void append_unusual(char *buf, size_t size, const char *word, const char *value,
			   const char *usual, const char *provenance)
{
	if (strcmp(value, usual) != 0)
		append(buf, size, ", %s %s%s%s", word, value,
		       provenance && *provenance ? " " : "",
		       provenance ? provenance : "");
}

static void append_offsets(char *buf, size_t size, uint32_t near, uint32_t far)
{
	char offsets[64];

	cp_report_misalign_words(near, far, offsets, sizeof(offsets));
	if (offsets[0])
		append(buf, size, ", misaligned %s", offsets);
}

char *cp_report_context_words(const struct cp_context *context,
			      const struct cp_provenance *provenance, char *buf,
			      size_t size)
{
	char more[160];

	buf[0] = '\0';
	append_unusual(buf, size, "media", context->media, "anon",
		       provenance ? provenance->media : NULL);
	append_unusual(buf, size, "attr", context->attr, "wb",
		       provenance ? provenance->attr : NULL);
	append_unusual(buf, size, "layer", context->layer, "none", NULL);
	append_unusual(buf, size, "numa", context->numa, "local", NULL);
	append_unusual(buf, size, "corunner", context->corunner, "none", NULL);
	append_offsets(buf, size, context->misalign_near, context->misalign_far);
	append(buf, size, "%s", cp_report_driver_words(context, more, sizeof(more)));
	return buf;
}

char *cp_report_when_words(const struct cp_policy *policy, const struct cp_when *when,
			   char *buf, size_t size)
{
	buf[0] = '\0';
	append_unusual(buf, size, "attr", when->attr, "wb", policy->attr);
	append_unusual(buf, size, "layer", when->layer, "none", NULL);
	append_unusual(buf, size, "numa", when->numa, "local", NULL);
	append_offsets(buf, size, when->misalign_near, when->misalign_far);
	return buf;
}

/* For reading: 14.5k where the exact form would be 14848. */
char *cp_report_size_words(uint64_t bytes, char *buf, size_t size)
{
	if (bytes > 1024 && bytes % 1024)
		snprintf(buf, size, "%.1fk", (double)bytes / 1024);
	else
		cp_size_format(bytes, buf, size);
	return buf;
}

char *cp_report_interval_words(const struct cp_rule *rule, unsigned s, char *buf,
			       size_t size)
{
	const struct cp_policy_size *interval = &rule->sizes[s];
	uint64_t above = interval->above ? interval->above
			 : s		 ? rule->sizes[s - 1].upto
					 : 0;
	char from[32], upto[32];

	cp_report_size_words(above, from, sizeof(from));
	cp_report_size_words(interval->upto, upto, sizeof(upto));
	if (above && above + 1 == interval->upto)
		snprintf(buf, size, "at %s", upto);
	else if (interval->upto != UINT64_MAX)
		snprintf(buf, size, above ? "above %s up to %s" : "%sup to %s",
			 above ? from : "", upto);
	else
		snprintf(buf, size, above ? "above %s" : "every size%s",
			 above ? from : "");
	return buf;
}
