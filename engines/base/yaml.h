/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * YAML documents whose every value keeps its line and column, over libyaml's document
 * API.
 *
 * A loaded document is a read-only tree. Problems are collected, not thrown: each call to
 * cp_yaml_problem() adds one "file:line:col: error: ..." line, up to
 * CP_YAML_PROBLEMS_MAX; when all checks are done cp_yaml_check() turns them into one
 * error. So a person sees everything that is wrong at once.
 *
 * cp_yaml_load() itself refuses: text that is not YAML, an empty file, more than one
 * document, duplicate keys (libyaml accepts them), keys that are not scalars, aliases and
 * anchors (a file that grows when read), tags, NUL characters, nesting above 16, files
 * above 1 MiB.
 *
 * Ownership: nodes and strings live until cp_yaml_free(). Threading: one thread a
 * document.
 */
#ifndef CP_ENGINES_BASE_YAML_H
#define CP_ENGINES_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/err.h"

#define CP_YAML_PROBLEMS_MAX 10

enum cp_yaml_type { CP_YAML_SCALAR, CP_YAML_LIST, CP_YAML_MAP };

struct cp_yaml; /* the document */

struct cp_yaml_node {
	enum cp_yaml_type type;
	unsigned line, column;	       /* from 1, of the value */
	unsigned key_line, key_column; /* of the key, in a map; else 0 */
	const char *key;	       /* in a map; else NULL */
	const char *text;	       /* scalar only; never NULL there */
	bool quoted;		       /* scalar was quoted: "null" is then a word */
	size_t nr_children;	       /* list and map */
	const struct cp_yaml_node *const *children;
};

int cp_yaml_load(const char *path, struct cp_yaml **ret_doc, struct cp_err *err);
int cp_yaml_load_text(const char *name, const char *text, size_t len,
		      struct cp_yaml **ret_doc, struct cp_err *err);
void cp_yaml_free(struct cp_yaml *doc); /* NULL is fine */
const struct cp_yaml_node *cp_yaml_root(const struct cp_yaml *doc);
const char *cp_yaml_path(const struct cp_yaml *doc);

/* The child of a map by key, or NULL (also when map is NULL or not a map). */
const struct cp_yaml_node *cp_yaml_get(const struct cp_yaml_node *map, const char *key);
/* True for an unquoted null, ~ or nothing. */
bool cp_yaml_is_null(const struct cp_yaml_node *node);

/* Add a problem at node's value (node NULL = line 1). fmt: "what; expected ..." */
void cp_yaml_problem(struct cp_yaml *doc, const struct cp_yaml_node *node,
		     const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same at node's key. */
void cp_yaml_problem_key(struct cp_yaml *doc, const struct cp_yaml_node *node,
			 const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* map must be a map and hold only these keys (NULL-terminated list); unknown ones are
 * problems with the nearest key suggested. Returns false when it is no map. */
bool cp_yaml_keys(struct cp_yaml *doc, const struct cp_yaml_node *map, const char *what,
		  const char *const *keys);
/* The same, silent also on the keys of `but`, which the caller has words of its own for:
 * they are not among what is expected. */
bool cp_yaml_keys_but(struct cp_yaml *doc, const struct cp_yaml_node *map,
		      const char *what, const char *const *keys, const char *const *but);

/* Typed reads of one scalar; a problem is added and false returned when it does not fit.
 * `what` names the value in messages ("bs"). A NULL node is a
 * missing value, and a problem too. */
bool cp_yaml_size(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  uint64_t min, uint64_t max, uint64_t *ret_value);
bool cp_yaml_time(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);
bool cp_yaml_uint(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  uint64_t min, uint64_t max, uint64_t *ret_value);
bool cp_yaml_double(struct cp_yaml *doc, const struct cp_yaml_node *node,
		    const char *what, double min, double max, double *ret_value);
bool cp_yaml_bool(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  bool *ret_value);
/* Text of at most size - 1 bytes. */
bool cp_yaml_text(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		  char *buf, size_t size);
/* The index in a NULL-terminated list of words, or -1 with a problem that lists them. */
int cp_yaml_word(struct cp_yaml *doc, const struct cp_yaml_node *node, const char *what,
		 const char *const *words);

unsigned cp_yaml_nr_problems(const struct cp_yaml *doc);
/* 0 when there are none; else fills err with all lines (newline between, exit USAGE) and
 * returns -EINVAL. err->msg then holds whole "file:line:col: error: ..." lines. */
int cp_yaml_check(const struct cp_yaml *doc, struct cp_err *err);

/* The word of a NULL-terminated list nearest to `text`: edit distance 1, or 2 where text
 * has five letters or more (a swap of neighbours counts once, letter case not at all); or
 * NULL. Also used for options and verbs. */
const char *cp_nearest_word(const char *text, const char *const *words);
/* "a, b or c"; what does not fit is left out whole: "a, ...". Returns buf. */
char *cp_words_join(const char *const *words, char *buf, size_t size);

#endif
