// SPDX-License-Identifier: GPL-2.0-only
/* copypath emit: a policy in the form another system takes. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "engines/base/file.h"
#include "engines/base/yaml.h"
#include "policies/emit.h"

static const struct cp_emit_form *find_form(const char *name)
{
	for (const struct cp_emit_form *form = cp_emit_table; form->name; form++)
		if (!strcmp(form->name, name))
			return form;
	return NULL;
}

static enum cp_exit unknown_form(const char *name)
{
	const char *words[16] = {NULL};
	char list[256] = "";

	for (size_t i = 0; i < 15 && cp_emit_table[i].name; i++) {
		size_t used = strlen(list);

		words[i] = cp_emit_table[i].name;
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			 words[i]);
	}
	const char *near = cp_nearest_word(name, words);

	if (near)
		return cp_cmd_usage("emit", "unknown form '%s'; expected '%s'", name,
				    near);
	return cp_cmd_usage("emit", "unknown form '%s'; expected one of: %s", name, list);
}

static enum cp_exit emit(const struct cp_emit_form *form, const char *path,
			 const char *out, bool force)
{
	struct cp_err err = {0};
	struct cp_policy policy;
	struct cp_file_new file;
	char absolute[PATH_MAX];

	int rc = cp_policy_read(path, &policy, &err);
	if (rc && !strstr(err.msg, "; expected"))
		cp_err_set(&err, err.exit, -rc, "%s; expected a policy file", err.msg);
	if (rc)
		return cp_cmd_fail(&err);
	if (!realpath(path, absolute)) {
		cp_err_set(&err, CP_EXIT_INVALID, errno, "'%s': %s", path,
			   strerror(errno));
		cp_policy_free(&policy);
		return cp_cmd_fail(&err);
	}
	const struct cp_emit_opts opts = {
		.plugin_dir = cp_cmd_plugin_dir(),
		.policy_path = absolute,
		.force = force,
	};
	rc = out ? cp_file_new_open(out, &file, &err) : 0;

	if (!rc) {
		rc = form->emit(&policy, &opts, out ? file.stream : stdout, &err);
		if (out && rc)
			cp_file_new_abort(&file);
		else if (out)
			rc = cp_file_new_commit(&file, &err);
	}
	cp_policy_free(&policy);
	return rc ? cp_cmd_fail(&err) : CP_EXIT_OK;
}

static enum cp_exit run(int argc, char **argv)
{
	static const struct option options[] = {
		{"for", required_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'},
		{"force", no_argument, NULL, 'F'},
		{NULL, 0, NULL, 0},
	};
	static const char *const words[] = {"--for", "--output", "--force", NULL};
	const char *name = NULL, *out = NULL;
	bool force = false;
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
		const char *word = argv[optind - 1], *near;

		switch (opt) {
		case 'f':
			name = optarg;
			break;
		case 'o':
			out = optarg;
			break;
		case 'F':
			force = true;
			break;
		case ':':
			return cp_cmd_usage("emit", "'%s' needs a value", word);
		default:
			near = cp_nearest_word(word, words);
			return cp_cmd_usage("emit", "unknown option '%s'%s%s", word,
					    near ? "; expected " : "", near ? near : "");
		}
	}
	if (argc - optind != 1)
		return cp_cmd_usage("emit", "expected one POLICY, got %d", argc - optind);
	if (!name)
		return cp_cmd_usage("emit",
				    "no form given; expected --for modprobe or fio");
	const struct cp_emit_form *form = find_form(name);

	return form ? emit(form, argv[optind], out, force) : unknown_form(name);
}

const struct cp_verb cp_verb_emit = {
	.name = "emit",
	.summary = "a policy as settings another system takes",
	.usage =
		"usage: copypath emit POLICY --for FORM [-o FILE] [--force]\n\n"
		"Prints the policy's settings. Comment lines say where they come from "
		"and\n"
		"what of the policy the form cannot express.\n\n"
		"  --for modprobe     options line for the cp_pmem module; thresholds "
		"in\n"
		"                     bytes, queue_mode=0 where DMA never pays\n"
		"  --for fio          [global] section of a fio job file that loads the\n"
		"                     plug-in with this policy\n"
		"  -o, --output FILE  write here, whole or not at all\n"
		"      --force        fio: a modelled engine's policy too, with "
		"dma=auto\n\n"
		"Exit: 0, 2 usage or a policy that cannot be read, 4 no space.\n",
	.run = run,
};
