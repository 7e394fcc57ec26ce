// SPDX-License-Identifier: GPL-2.0-only
/* copypath explain: a policy in words, or its answer to one context and why. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "engines/base/yaml.h"
#include "policies/words.h"

#define SEGMENT_BYTES 4096

static const char *const rws[] = {"read", "write", "randread", "randwrite", NULL};

static const char *const needed[] = {"rw", "bs", NULL}; /* in --at */

static void set_segments(struct cp_context *context, bool given)
{
	uint64_t segments = (context->bs + SEGMENT_BYTES - 1) / SEGMENT_BYTES;

	if (!given)
		context->segments =
			segments < UINT32_MAX ? (uint32_t)segments : UINT32_MAX;
}

static int unknown_key(const char *key, struct cp_err *err)
{
	const char *words[32] = {NULL};
	char list[512];

	for (size_t i = 0; i < 31 && cp_context_fields[i].name; i++)
		words[i] = cp_context_fields[i].name;
	const char *near = cp_nearest_word(key, words);

	return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
			  "unknown --at key '%s'; expected %s", key,
			  near ? near : cp_words_join(words, list, sizeof(list)));
}

/* rw=read,bs=64k,... by the words of the YAML. */
static int parse_at(const char *text, struct cp_context *context, struct cp_err *err)
{
	char copy[1024], *rest = copy, *term;
	bool given[32] = {false}; /* by the index of a field */

	cp_context_init(context);
	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "--at is too long; expected under 1024 bytes");
	while ((term = strsep(&rest, ",")) != NULL) {
		char *value = strchr(term, '=');

		if (!value)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "--at '%s' has no value; expected KEY=VALUE",
					  term);
		*value++ = '\0';
		const struct cp_field *field = cp_field_find(cp_context_fields, term);

		if (!field)
			return unknown_key(term, err);
		bool *mine = &given[field - cp_context_fields];

		if (*mine)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "--at has '%s' twice; expected it once: one "
					  "context is answered",
					  term);
		*mine = true;
		int rc = cp_field_parse(field, context, value, err);

		if (rc) {
			cp_err_prefix(err, "--at %s", term);
			return rc;
		}
	}
	for (const char *const *need = needed; *need; need++)
		if (!given[cp_field_find(cp_context_fields, *need) - cp_context_fields])
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "--at lacks '%s'; expected at least rw and bs",
					  *need);
	set_segments(
		context,
		given[cp_field_find(cp_context_fields, "segments") - cp_context_fields]);
	return 0;
}

/* One key of a record's context. Words are taken as they come: a record may hold what
 * this build does not serve, and then no rule covers it. */
static int take_value(const struct cp_field *field, const json_t *value, void *obj,
		      struct cp_err *err)
{
	char *at = (char *)obj + field->offset;

	if (field->type == CP_FIELD_SIZE || field->type == CP_FIELD_UINT) {
		json_int_t number = json_integer_value(value);
		json_int_t most = field->type == CP_FIELD_UINT ? UINT32_MAX : INT64_MAX;

		if (!json_is_integer(value) || number < 0 || number > most)
			return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
					  "'%s' is no whole number; expected one from 0",
					  field->name);
		uint64_t wide = (uint64_t)number;
		uint32_t narrow = (uint32_t)number;

		if (field->type == CP_FIELD_SIZE)
			memcpy(at, &wide, sizeof(wide));
		else
			memcpy(at, &narrow, sizeof(narrow));
		return 0;
	}
	const char *text = json_string_value(value);

	if (!text || strlen(text) >= field->size)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "'%s' is no text of under %zu bytes; expected one",
				  field->name, field->size);
	snprintf(at, field->size, "%s", text);
	return 0;
}

static int decode_context(const json_t *obj, struct cp_context *context,
			  struct cp_err *err)
{
	bool known = false;

	cp_context_init(context);
	if (!json_is_object(obj))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "line is no object; expected the context of a record");
	/* A whole record will do. */
	if (json_is_object(json_object_get(obj, "context")))
		obj = json_object_get(obj, "context");
	for (const struct cp_field *field = cp_context_fields; field->name; field++) {
		const json_t *value = json_object_get(obj, field->name);
		int rc = value ? take_value(field, value, context, err) : 0;

		if (rc)
			return rc;
	}
	for (size_t i = 0; rws[i]; i++)
		known |= !strcmp(context->rw, rws[i]);
	if (!known || !json_object_get(obj, "rw"))
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "%s '%s'; expected read, write, randread or randwrite",
				  json_object_get(obj, "rw") ? "unknown rw"
							     : "context has no",
				  json_object_get(obj, "rw") ? context->rw : "rw");
	if (!json_object_get(obj, "bs") || !context->bs)
		return cp_err_set(err, CP_EXIT_USAGE, EINVAL,
				  "context has no 'bs'; expected bytes");
	set_segments(context, json_object_get(obj, "segments") != NULL);
	return 0;
}

static enum cp_exit answer(const struct cp_policy *policy,
			   const struct cp_context *context, bool json)
{
	if (!json) {
		cp_policy_answer_words(policy, context, stdout);
		putchar('\n');
		return CP_EXIT_OK;
	}
	json_t *obj = cp_policy_answer_json(policy, context);

	if (!obj)
		return CP_EXIT_INTERNAL;
	json_dumpf(obj, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(obj);
	return CP_EXIT_OK;
}

static enum cp_exit answer_lines(const struct cp_policy *policy, bool json)
{
	struct cp_err err = {0};
	enum cp_exit code = CP_EXIT_OK;
	char *line = NULL;
	size_t room = 0;
	unsigned nr = 0;
	ssize_t len;

	while (code == CP_EXIT_OK && (len = getline(&line, &room, stdin)) > 0) {
		struct cp_context context;
		json_error_t why;

		nr++;
		if (strspn(line, " \t\r\n") == (size_t)len)
			continue;
		json_t *obj = json_loadb(line, (size_t)len, JSON_REJECT_DUPLICATES, &why);
		int rc = obj ? decode_context(obj, &context, &err)
			     : cp_err_set(&err, CP_EXIT_USAGE, EINVAL,
					  "no JSON: %s; expected the "
					  "context of a record",
					  why.text);

		if (rc) {
			/* What is wrong inside of a context is told by name. */
			cp_err_prefix(&err, "<stdin>:%u:%d: error", nr,
				      obj || why.column < 1 ? 1 : why.column);
			code = cp_cmd_fail(&err);
		} else {
			code = answer(policy, &context, json);
			/* A tuner asks one by one and waits for each. */
			fflush(stdout);
		}
		json_decref(obj);
	}
	free(line);
	return code;
}

static enum cp_exit explain(const struct cp_policy *policy, const char *at, bool json)
{
	struct cp_context context;
	struct cp_err err = {0};

	if (at && !strcmp(at, "-"))
		return answer_lines(policy, json);
	if (at) {
		if (parse_at(at, &context, &err))
			return cp_cmd_fail(&err);
		return answer(policy, &context, json);
	}
	if (!json) {
		cp_policy_words(policy, stdout);
		return CP_EXIT_OK;
	}
	json_t *doc = cp_policy_json(policy);

	if (!doc)
		return CP_EXIT_INTERNAL;
	json_dumpf(doc, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(doc);
	return CP_EXIT_OK;
}

static enum cp_exit run(int argc, char **argv)
{
	static const struct option options[] = {
		{"at", required_argument, NULL, 'a'},
		{"json", no_argument, NULL, 'j'},
		{NULL, 0, NULL, 0},
	};
	static const char *const words[] = {"--at", "--json", NULL};
	struct cp_policy policy;
	struct cp_err err = {0};
	const char *at = NULL;
	bool json = false;
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		const char *word = argv[optind - 1], *near;

		switch (opt) {
		case 'a':
			at = optarg;
			break;
		case 'j':
			json = true;
			break;
		case ':':
			return cp_cmd_usage("explain", "'%s' needs a value", word);
		default:
			near = cp_nearest_word(word, words);
			return cp_cmd_usage("explain", "unknown option '%s'%s%s", word,
					    near ? "; expected " : "", near ? near : "");
		}
	}
	if (argc - optind != 1)
		return cp_cmd_usage("explain", "expected one POLICY, got %d",
				    argc - optind);
	if (cp_policy_read(argv[optind], &policy, &err))
		return cp_cmd_fail(&err);
	enum cp_exit code = explain(&policy, at, json);

	cp_policy_free(&policy);
	return code;
}

const struct cp_verb cp_verb_explain = {
	.name = "explain",
	.summary = "a policy in words, or its answer to one context",
	.usage = "usage: copypath explain [options] POLICY\n\n"
		 "Says in words what a policy does, how sure it is and what it costs to\n"
		 "fold it into one setting of a driver.\n\n"
		 "  --at KEY=VALUE,...  answer one context and say why; rw and bs are\n"
		 "                      needed, the rest has defaults:\n"
		 "                      rw=read,bs=64k,numjobs=16,iodepth=16\n"
		 "  --at -              read contexts as JSON lines from stdin (the\n"
		 "                      'context' of a record) and answer each with a "
		 "line\n"
		 "  --json              JSON on stdout instead of words\n\n"
		 "Exit: 0, 2 usage or a policy that cannot be read.\n",
	.run = run,
};
