// SPDX-License-Identifier: GPL-2.0-only
/* index.html: one file, no network, no script; light and dark, screen and paper. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/base/file.h"
#include "report/doc.h"
#include "report/escape.h"

#define SVG_MAX (8U << 20)

#define WIDE_COLUMNS 18 /* shown: from here on set smaller, to fit in 1200 pixels */

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1b;--dim:#595959;"
	"--line:#d4d4d4;--card:#f6f7f8;--note:#fff4d6}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e6e6;"
	"--dim:#a8adb3;--line:#3a4047;--card:#1e2226;--note:#3a3216}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;max-width:1760px;padding:1rem clamp(.7rem,2vw,2rem) 3rem;"
	"background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif}\n"
	"h1{font-size:1.5rem;margin:.3rem 0 .8rem;overflow-wrap:break-word}\n"
	"h2{font-size:1.2rem;margin:2.2rem 0 .6rem;padding-top:.6rem;"
	"border-top:1px solid var(--line)}\n"
	"h3{font-size:1rem;margin:0 0 .4rem}\n"
	"p,ul{margin:.4rem 0;max-width:75rem;overflow-wrap:break-word}\n"
	"ul{padding-left:1.15rem}li{margin:.15rem 0}\n"
	".cards{display:grid;gap:.8rem;"
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr))}\n"
	".card{min-width:0;background:var(--card);border:1px solid "
	"var(--line);border-radius:6px;"
	"padding:.8rem 1rem}\n"
	".note{background:var(--note);border-left:4px solid #e69f00;padding:.5rem "
	".8rem}\n"
	".pictures{display:grid;gap:1rem;margin:.8rem 0;"
	"grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr))}\n"
	"@media (min-width:1700px){.pictures{"
	"grid-template-columns:repeat(auto-fill,minmax(25rem,1fr))}}\n"
	"figure{margin:0;break-inside:avoid;max-width:52rem}\n"
	"figure svg{display:block;width:100%;height:auto}\n"
	"figure svg>g>rect:first-of-type{fill:transparent}\n"
	"figure svg [fill=\"black\"]{fill:var(--fg)}\n"
	"figure svg [stroke=\"black\"]{stroke:var(--fg)}\n"
	"figure svg [color=\"black\"]{color:var(--fg)}\n"
	/* gnuplot's own spelling of what the scripts draw in black and two greys */
	"figure svg [stroke=\"rgb(  0,   0,   0)\"]{stroke:var(--fg)}\n"
	"figure svg [color=\"rgb(  0,   0,   0)\"]{color:var(--fg)}\n"
	"figure svg [stroke=\"rgb(200, 200, 200)\"]{stroke:var(--line)}\n"
	"figure svg [fill=\"rgb(112,112,112)\"]{fill:var(--dim)}\n"
	"figcaption{font-size:.85rem;color:var(--dim);overflow-wrap:break-word}\n"
	".scroll{overflow-x:auto;max-width:100%;margin:.6rem 0}\n"
	"table{border-collapse:collapse;font-size:.75rem;line-height:1.3;"
	"font-variant-numeric:tabular-nums}\n"
	".caption{color:var(--dim);font-size:.85rem}\n"
	"th,td{padding:.1rem .3rem;border-bottom:1px solid var(--line);text-align:left;"
	"vertical-align:top;white-space:nowrap}\n"
	"thead th{position:sticky;top:0;background:var(--card);white-space:normal;"
	"vertical-align:bottom}\n"
	".r{text-align:right}\n"
	".dim{color:var(--dim);opacity:.75}\n"
	/* lines end between words only; what is too wide scrolls */
	".wide{font-size:.66rem}.wide th,.wide td{padding:.1rem .17rem}\n"
	".wide td{white-space:normal}.wide td.r{white-space:nowrap}\n"
	".w{white-space:normal;min-width:16rem;max-width:60rem}\n"
	"details{margin:.4rem 0}summary{cursor:pointer}\n"
	"pre{overflow-x:auto;background:var(--card);border:1px solid var(--line);"
	"padding:.7rem;font:13px/1.4 ui-monospace,monospace}\n"
	"@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--card:#fff;--line:#999}"
	"body{font-size:10pt;max-width:none}.pictures{grid-template-columns:1fr 1fr}"
	".scroll{overflow:visible}thead th{position:static}pre{white-space:pre-wrap}}\n";

static void tagged(struct cp_report_doc *doc, const char *open, const char *text,
		   const char *close)
{
	fputs(open, doc->out);
	cp_escape_html(doc->out, text);
	fputs(close, doc->out);
}

static void html_begin(struct cp_report_doc *doc, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n",
	      doc->out);
	tagged(doc, "<title>", title, "</title>\n");
	fprintf(doc->out, "<style>\n%s</style>\n</head>\n<body>\n", style);
	tagged(doc, "<h1>", title, "</h1>\n");
}

static void html_end(struct cp_report_doc *doc)
{
	fputs("</body>\n</html>\n", doc->out);
}

static void html_section(struct cp_report_doc *doc, const char *title)
{
	tagged(doc, "<h2>", title, "</h2>\n");
}

static void html_cards(struct cp_report_doc *doc, bool begin)
{
	fputs(begin ? "<div class=\"cards\">\n" : "</div>\n", doc->out);
}

static void html_card(struct cp_report_doc *doc, const char *title)
{
	if (title)
		tagged(doc, "<section class=\"card\">\n<h3>", title, "</h3>\n");
	else
		fputs("</section>\n", doc->out);
}

static void html_list(struct cp_report_doc *doc, bool begin)
{
	fputs(begin ? "<ul>\n" : "</ul>\n", doc->out);
}

static void html_item(struct cp_report_doc *doc, const char *text)
{
	tagged(doc, "<li>", text, "</li>\n");
}

static void html_para(struct cp_report_doc *doc, const char *text)
{
	tagged(doc, "<p>", text, "</p>\n");
}

static void html_note(struct cp_report_doc *doc, const char *text)
{
	tagged(doc, "<p class=\"note\">", text, "</p>\n");
}

static void html_pre(struct cp_report_doc *doc, const char *text)
{
	fputs("<pre>", doc->out);
	while (*text) { /* line by line: the escaper would show the line ends */
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);

		tagged(doc, "", line ? line : "", "\n");
		free(line);
		text += len + (text[len] == '\n');
	}
	fputs("</pre>\n", doc->out);
}

static void html_fold(struct cp_report_doc *doc, const char *title, const char *text)
{
	tagged(doc, "<details>\n<summary>", title, "</summary>\n");
	html_pre(doc, text);
	fputs("</details>\n", doc->out);
}

static void html_row(struct cp_report_doc *doc, const struct cp_report_table *table,
		     size_t first, const bool *shown)
{
	const char *kind = first ? "td" : "th";
	const char *last = table->cells[first + strlen(table->align) - 1];
	bool dim = first && table->dim && !strcmp(last, table->dim);

	fputs(dim ? "<tr class=\"dim\">" : "<tr>", doc->out);
	for (size_t c = 0; table->align[c]; c++) {
		if (!shown[c])
			continue;
		fprintf(doc->out, table->align[c] == 'l' ? "<%s>" : "<%s class=\"%c\">",
			kind, table->align[c]);
		cp_escape_html(doc->out, table->cells[first + c]);
		fprintf(doc->out, "</%s>", kind);
	}
	fputs("</tr>\n", doc->out);
}

static void html_table(struct cp_report_doc *doc, const struct cp_report_table *table)
{
	size_t columns = strlen(table->align);
	bool shown[CP_REPORT_COLUMNS_MAX];
	char caption[1024];
	size_t nr = 0;

	if (columns && columns <= CP_REPORT_COLUMNS_MAX)
		nr = cp_report_table_fold(table, shown, caption, sizeof(caption));
	if (!nr)
		return;
	/* outside of the box, so that it does not scroll away with the columns */
	tagged(doc, "<p class=\"caption\">", caption, "</p>\n");
	fprintf(doc->out, "<div class=\"scroll\">\n<table%s>\n<thead>\n",
		nr >= WIDE_COLUMNS ? " class=\"wide\"" : "");
	html_row(doc, table, 0, shown);
	fputs("</thead>\n", doc->out);
	if (table->nr_cells > columns)
		fputs("<tbody>\n", doc->out);
	for (size_t i = columns; i < table->nr_cells; i += columns)
		html_row(doc, table, i, shown);
	fprintf(doc->out, "%s</table>\n</div>\n",
		table->nr_cells > columns ? "</tbody>\n" : "");
}

static void html_pictures(struct cp_report_doc *doc, bool begin)
{
	fputs(begin ? "<div class=\"pictures\">\n" : "</div>\n", doc->out);
}

/*
 * gnuplot names its symbols alike in every file: on one page each picture needs its own,
 * or the marks of the first would be used in all.
 */
static void put_svg(FILE *out, const char *svg, unsigned nr)
{
	static const char *const refs[] = {"id='", "id=\"", "href='#", "url(#"};

	while (*svg) {
		size_t best = strlen(svg), skip = 0;

		for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
			const char *at = strstr(svg, refs[i]);

			if (at && (size_t)(at - svg) < best) {
				best = (size_t)(at - svg);
				skip = strlen(refs[i]);
			}
		}
		fwrite(svg, 1, best + skip, out);
		if (skip)
			fprintf(out, "f%u-", nr);
		svg += best + skip;
	}
}

static int html_picture(struct cp_report_doc *doc,
			const struct cp_report_picture *picture, struct cp_err *err)
{
	char path[4096], *text;
	size_t len;

	if (snprintf(path, sizeof(path), "%s/figures/%s.svg", doc->dir, picture->name) >=
	    (int)sizeof(path))
		return cp_err_set(err, CP_EXIT_USAGE, ENAMETOOLONG,
				  "the report's path is too long");
	int rc = cp_file_read(path, SVG_MAX, &text, &len, err);

	if (rc)
		return rc;
	const char *svg = strstr(text, "<svg");

	fputs("<figure>\n", doc->out);
	put_svg(doc->out, svg ? svg : "", ++doc->nr_pictures);
	tagged(doc, "<figcaption>", picture->caption, "</figcaption>\n</figure>\n");
	free(text);
	return 0;
}

const struct cp_report_doc_ops cp_report_doc_html = {
	.file = "index.html",
	.begin = html_begin,
	.end = html_end,
	.section = html_section,
	.cards = html_cards,
	.card = html_card,
	.list = html_list,
	.item = html_item,
	.para = html_para,
	.note = html_note,
	.pre = html_pre,
	.fold = html_fold,
	.table = html_table,
	.pictures = html_pictures,
	.picture = html_picture,
};
