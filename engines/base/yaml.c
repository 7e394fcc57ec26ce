/* SPDX-License-Identifier: GPL-2.0-only */
/* Loading, refusals, the tree and the collected problems. Typed reads: yaml_value.c. */
#include "engines/base/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "engines/base/file.h"

#define DEPTH_MAX   16
#define FILE_MAX    (1U << 20)
#define PROBLEM_MAX 640

struct cp_yaml {
	char *path;
	yaml_document_t document; /* owns the text of all nodes */
	bool has_document;
	struct cp_yaml_node *nodes; /* one for each of document's, in its order */
	const struct cp_yaml_node *
		*children; /* the lists of all nodes, one behind another */
	unsigned nr_problems;
	char problems[CP_YAML_PROBLEMS_MAX][PROBLEM_MAX];
};

static void problem_add(struct cp_yaml *doc, unsigned line, unsigned column,
			const char *fmt, va_list ap)
{
	if (doc->nr_problems == CP_YAML_PROBLEMS_MAX)
		return;
	char *buf = doc->problems[doc->nr_problems++];
	int at = snprintf(buf, PROBLEM_MAX, "%s:%u:%u: error: ", doc->path, line, column);
	int len = 0;

	if (at >= 0 && at < PROBLEM_MAX)
		len = vsnprintf(buf + at, PROBLEM_MAX - (size_t)at, fmt, ap);
	if (at < 0 || len < 0 || at + len >= PROBLEM_MAX)
		memcpy(buf + PROBLEM_MAX - 4, "...", 4);
	/* Words of the file are quoted in it: one problem is one line, and a terminal is
	 * not told what to do. */
	for (char *c = buf; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
}

__attribute__((format(printf, 4, 5))) static void
problem_at(struct cp_yaml *doc, unsigned line, unsigned column, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_add(doc, line, column, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 3, 4))) static void
problem_mark(struct cp_yaml *doc, const yaml_mark_t *mark, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_add(doc, (unsigned)mark->line + 1, (unsigned)mark->column + 1, fmt, ap);
	va_end(ap);
}

void cp_yaml_problem(struct cp_yaml *doc, const struct cp_yaml_node *node,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	problem_add(doc, node ? node->line : 1, node ? node->column : 1, fmt, ap);
	va_end(ap);
}

void cp_yaml_problem_key(struct cp_yaml *doc, const struct cp_yaml_node *node,
			 const char *fmt, ...)
{
	bool keyed = node && node->key;
	va_list ap;

	va_start(ap, fmt);
	problem_add(doc,
		    keyed  ? node->key_line
		    : node ? node->line
			   : 1,
		    keyed  ? node->key_column
		    : node ? node->column
			   : 1,
		    fmt, ap);
	va_end(ap);
}

unsigned cp_yaml_nr_problems(const struct cp_yaml *doc)
{
	return doc->nr_problems;
}

int cp_yaml_check(const struct cp_yaml *doc, struct cp_err *err)
{
	char text[CP_YAML_PROBLEMS_MAX * PROBLEM_MAX];
	size_t used = 0;

	if (!doc->nr_problems)
		return 0;
	for (unsigned i = 0; i < doc->nr_problems; i++) {
		size_t len = strlen(doc->problems[i]);

		if (i)
			text[used++] = '\n';
		memcpy(text + used, doc->problems[i], len);
		used += len;
	}
	text[used] = '\0';
	return cp_err_set(err, CP_EXIT_USAGE, EINVAL, "%s", text);
}

/* Where libyaml stopped, in words. */
static void syntax_problem(struct cp_yaml *doc, const yaml_parser_t *parser,
			   const unsigned char *text)
{
	const char *what = parser->problem ? parser->problem : "unreadable";
	const char *context = parser->context ? parser->context : "";
	yaml_mark_t mark = parser->problem_mark;

	if (parser->error == YAML_READER_ERROR) {
		/* bytes that are no text have an offset only */
		mark = (yaml_mark_t){0};
		for (size_t i = 0; i < parser->problem_offset; i++) {
			mark.column = text[i] == '\n' ? 0 : mark.column + 1;
			mark.line += text[i] == '\n';
		}
	}
	problem_mark(doc, &mark, "not YAML: %s%s%s; expected a YAML document", context,
		     *context ? ", " : "", what);
}

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
	switch ((int)event->type) {
	case YAML_SCALAR_EVENT:
		return event->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

static const yaml_char_t *event_tag(const yaml_event_t *event)
{
	switch ((int)event->type) {
	case YAML_SCALAR_EVENT:
		return event->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.tag;
	default:
		return NULL;
	}
}

struct scan {
	unsigned depth, nr_documents;
};

/* Refuse what the tree cannot or must not hold. Returns false to stop. */
static bool event_check(struct cp_yaml *doc, struct scan *scan, const yaml_event_t *event)
{
	const yaml_mark_t *mark = &event->start_mark;
	const yaml_char_t *anchor = event_anchor(event), *tag = event_tag(event);

	if (anchor)
		problem_mark(doc, mark, "anchor '&%s' is refused; expected plain values",
			     (const char *)anchor);
	if (tag)
		problem_mark(doc, mark, "tag '%s' is refused; expected plain values",
			     (const char *)tag);
	switch ((int)event->type) {
	case YAML_ALIAS_EVENT:
		problem_mark(doc, mark, "alias '*%s' is refused; expected plain values",
			     (const char *)event->data.alias.anchor);
		break;
	case YAML_DOCUMENT_START_EVENT:
		if (++scan->nr_documents > 1) {
			problem_mark(doc, mark, "second document; expected only one");
			return false;
		}
		break;
	case YAML_SCALAR_EVENT:
		if (memchr(event->data.scalar.value, 0, event->data.scalar.length))
			problem_mark(doc, mark,
				     "text with a NUL in it is refused; expected text");
		break;
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		if (++scan->depth > DEPTH_MAX) {
			problem_mark(doc, mark,
				     "nested too deeply; expected at most %d levels",
				     DEPTH_MAX);
			return false;
		}
		break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		scan->depth--;
		break;
	default:
		break;
	}
	return true;
}

/* A first pass over the events: the document API has resolved aliases by the time it
 * returns, and would build a nest of any depth. */
static void text_scan(struct cp_yaml *doc, const unsigned char *text, size_t len)
{
	yaml_parser_t parser;
	struct scan scan = {0};
	bool more = true;

	if (!yaml_parser_initialize(&parser)) {
		problem_at(doc, 1, 1, "not enough memory to read it");
		return;
	}
	yaml_parser_set_input_string(&parser, text, len);
	while (more) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			syntax_problem(doc, &parser, text);
			break;
		}
		more = event.type != YAML_STREAM_END_EVENT &&
		       event_check(doc, &scan, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (!doc->nr_problems && !scan.nr_documents)
		problem_at(doc, 1, 1, "file is empty; expected a YAML document");
}

static int document_load(struct cp_yaml *doc, const unsigned char *text, size_t len)
{
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, text, len);
	doc->has_document = yaml_parser_load(&parser, &doc->document);
	if (!doc->has_document)
		syntax_problem(doc, &parser, text);
	yaml_parser_delete(&parser);
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct cp_yaml_node *x = *(const struct cp_yaml_node *const *)a;
	const struct cp_yaml_node *y = *(const struct cp_yaml_node *const *)b;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	if (x->key_line != y->key_line)
		return x->key_line < y->key_line ? -1 : 1;
	return x->key_column < y->key_column ? -1 : x->key_column > y->key_column;
}

static int duplicates_check(struct cp_yaml *doc, const struct cp_yaml_node *map)
{
	const struct cp_yaml_node **sorted;
	size_t nr = map->nr_children;

	if (nr < 2)
		return 0;
	sorted = malloc(nr * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, map->children, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), by_key);
	for (size_t i = 1; i < nr; i++) {
		if (!strcmp(sorted[i - 1]->key, sorted[i]->key))
			cp_yaml_problem_key(doc, sorted[i],
					    "duplicate key '%s'; expected it once, and "
					    "line %u has it",
					    sorted[i]->key, sorted[i - 1]->key_line);
	}
	free(sorted);
	return 0;
}

/* Fill a map's children; returns how many slots of `children` were used. */
static size_t map_fill(struct cp_yaml *doc, const yaml_node_t *from,
		       const struct cp_yaml_node **children)
{
	const yaml_node_t *all = doc->document.nodes.start;
	size_t nr = 0;

	for (const yaml_node_pair_t *pair = from->data.mapping.pairs.start;
	     pair < from->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = &all[pair->key - 1];
		struct cp_yaml_node *value = &doc->nodes[pair->value - 1];

		if (key->type != YAML_SCALAR_NODE) {
			problem_mark(doc, &key->start_mark,
				     "key is no plain word; expected a word");
			continue;
		}
		value->key = (const char *)key->data.scalar.value;
		value->key_line = (unsigned)key->start_mark.line + 1;
		value->key_column = (unsigned)key->start_mark.column + 1;
		children[nr++] = value;
	}
	return nr;
}

static int tree_build(struct cp_yaml *doc)
{
	const yaml_node_t *start = doc->document.nodes.start;
	size_t nr = (size_t)(doc->document.nodes.top - start), used = 0;
	int ret = 0;

	doc->nodes = calloc(nr, sizeof(*doc->nodes));
	doc->children = calloc(nr, sizeof(*doc->children));
	if (!doc->nodes || !doc->children)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < nr; i++) {
		const yaml_node_t *from = &start[i];
		struct cp_yaml_node *node = &doc->nodes[i];
		const struct cp_yaml_node **children = doc->children + used;

		node->line = (unsigned)from->start_mark.line + 1;
		node->column = (unsigned)from->start_mark.column + 1;
		node->children = children;
		if (from->type == YAML_MAPPING_NODE) {
			node->type = CP_YAML_MAP;
			node->nr_children = map_fill(doc, from, children);
		} else if (from->type == YAML_SEQUENCE_NODE) {
			node->type = CP_YAML_LIST;
			for (const yaml_node_item_t *item =
				     from->data.sequence.items.start;
			     item < from->data.sequence.items.top; item++)
				children[node->nr_children++] = &doc->nodes[*item - 1];
		} else {
			node->type = CP_YAML_SCALAR;
			node->text = (const char *)from->data.scalar.value;
			node->quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		}
		used += node->nr_children;
		if (node->type == CP_YAML_MAP)
			ret = duplicates_check(doc, node);
	}
	return ret;
}

int cp_yaml_load_text(const char *name, const char *text, size_t len,
		      struct cp_yaml **ret_doc, struct cp_err *err)
{
	const unsigned char *bytes = (const unsigned char *)text;
	struct cp_yaml *doc = calloc(1, sizeof(*doc));
	int ret = -ENOMEM;

	if (!doc || !(doc->path = strdup(name)))
		goto out_free;
	ret = 0;
	if (len > FILE_MAX)
		problem_at(doc, 1, 1, "file is too large; expected at most 1m");
	else
		text_scan(doc, bytes, len);
	if (!doc->nr_problems)
		ret = document_load(doc, bytes, len);
	if (!ret && !doc->nr_problems)
		ret = tree_build(doc);
	if (!ret)
		ret = cp_yaml_check(doc, err);
	if (!ret) {
		*ret_doc = doc;
		return 0;
	}
out_free:
	if (ret == -ENOMEM)
		cp_err_set(err, CP_EXIT_INVALID, ENOMEM, "not enough memory to read '%s'",
			   name);
	cp_yaml_free(doc);
	return ret;
}

int cp_yaml_load(const char *path, struct cp_yaml **ret_doc, struct cp_err *err)
{
	char *text;
	size_t len;
	/* one byte more than allowed, so that the refusal is the one of load_text */
	int ret = cp_file_read(path, FILE_MAX + 1, &text, &len, err);

	if (ret == -EFBIG)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s:1:1: error: file is too large; expected at most 1m",
				  path);
	if (ret)
		return ret;
	ret = cp_yaml_load_text(path, text, len, ret_doc, err);
	free(text);
	return ret;
}

void cp_yaml_free(struct cp_yaml *doc)
{
	if (!doc)
		return;
	if (doc->has_document)
		yaml_document_delete(&doc->document);
	free(doc->nodes);
	free(doc->children);
	free(doc->path);
	free(doc);
}

const struct cp_yaml_node *cp_yaml_root(const struct cp_yaml *doc)
{
	return &doc->nodes[0]; /* the document API adds the root first */
}

const char *cp_yaml_path(const struct cp_yaml *doc)
{
	return doc->path;
}
