// SPDX-License-Identifier: GPL-2.0-only
/* copypath probe: what this machine has. */
#include "bench/cmd/probe.h"

#include <getopt.h>
#include <string.h>

#include "bench/cmd/cmd.h"
#include "engines/base/units.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "unknown";
}

static const char *flag_of(const json_t *object, const char *key)
{
	const json_t *flag = json_object_get(object, key);

	return json_is_true(flag) ? "on" : json_is_false(flag) ? "off" : "unknown";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void print_fio(const json_t *fio)
{
	printf("fio           %s, %s\n", text_of(fio, "version"),
	       json_is_true(json_object_get(fio, "usable")) ? "plug-ins match it"
							    : text_of(fio, "why"));
}

static void print_host(const json_t *host)
{
	const json_t *facts = json_object_get(host, "facts");
	const json_t *settings = json_object_get(host, "settings");
	const json_t *list = json_object_get(host, "isa");
	char bytes[24];

	printf("cpu           %s, %lld CPUs\nisa          ", text_of(facts, "cpu_model"),
	       (long long)number_of(facts, "nr_cpus"));
	for (size_t i = 0; i < json_array_size(list); i++)
		printf(" %s", json_string_value(json_array_get(list, i)));
	printf("\nllc           ");
	if (number_of(host, "llc_bytes"))
		puts(cp_size_format((uint64_t)number_of(host, "llc_bytes"), bytes,
				    sizeof(bytes)));
	else
		puts("unknown");
	list = json_object_get(host, "nodes");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *node = json_array_get(list, i);

		printf("node          %lld: %zu CPUs, %lld MiB\n",
		       (long long)number_of(node, "node"),
		       json_array_size(json_object_get(node, "cpus")),
		       (long long)number_of(node, "bytes") >> 20);
	}
	printf("kernel        %s\n", text_of(facts, "kernel"));
	printf("governor      %s, turbo %s, smt %s\n", text_of(settings, "governor"),
	       flag_of(settings, "turbo"), flag_of(settings, "smt"));
	const json_t *huge = json_object_get(host, "hugepages_2m");
	printf("thp           %s; reserved 2m pages: ", text_of(settings, "thp"));
	if (json_is_integer(huge))
		printf("%lld\n", (long long)json_integer_value(huge));
	else
		puts("unknown");
	const json_t *uffd = json_object_get(host, "userfaultfd");
	printf("userfaultfd   %s\n", json_is_true(json_object_get(uffd, "usable"))
					     ? "usable"
					     : text_of(uffd, "why"));
}

/* "name   usable" or "name   no: why", one a line below its kind. */
static void print_part(const char *kind, const json_t *part, const char *extra)
{
	bool usable = json_is_true(json_object_get(part, "usable"));

	printf("%-13s %-13s %s%s%s\n", kind, text_of(part, "name"),
	       usable ? "usable" : "no: ", usable ? "" : text_of(part, "why"), extra);
}

static size_t add(char *text, size_t size, size_t at, const char *word)
{
	int n = at < size ? snprintf(text + at, size - at, "%s", word) : 0;

	return at + (size_t)(n > 0 ? n : 0);
}

/* ", read 5.9 9.1* ... GB/s", or "; write ..." behind another: the rates of one
 * direction, by size, marked where no kernel was faster. */
static size_t add_rates(char *text, size_t size, size_t at, const json_t *by_size,
			const char *dir)
{
	char rate_key[32], fastest_key[32], word[32];

	snprintf(rate_key, sizeof(rate_key), "%s_bytes_per_s", dir);
	snprintf(fastest_key, sizeof(fastest_key), "%s_fastest", dir);
	for (size_t i = 0; i < json_array_size(by_size); i++) {
		const json_t *class = json_array_get(by_size, i);
		const json_t *rate = json_object_get(class, rate_key);

		if (!json_is_number(rate))
			return at;
		if (!i) {
			at = add(text, size, at, at ? "; " : ", ");
			at = add(text, size, at, dir);
		}
		snprintf(word, sizeof(word), " %.1f%s", json_number_value(rate) / 1e9,
			 json_is_true(json_object_get(class, fastest_key)) ? "*" : "");
		at = add(text, size, at, word);
	}
	return json_array_size(by_size) ? add(text, size, at, " GB/s") : at;
}

/* "; write memcpy, nt-avx512 from 1k": where what it stands for changes. */
static size_t add_stands(char *text, size_t size, size_t at, const json_t *by_size,
			 const char *dir)
{
	const char *last = NULL;

	for (size_t i = 0; i < json_array_size(by_size); i++) {
		const json_t *class = json_array_get(by_size, i);
		const char *name = json_string_value(json_object_get(class, dir));
		char word[96], from[24];

		if (!name || (last && !strcmp(last, name)))
			continue;
		cp_size_format((uint64_t)number_of(class, "from"), from, sizeof(from));
		if (last)
			snprintf(word, sizeof(word), ", %s from %s", name, from);
		else
			snprintf(word, sizeof(word), "%s %s %s", at ? ";" : ",", dir,
				 name);
		at = add(text, size, at, word);
		last = name;
	}
	return at;
}

/* Above the kernels: which sizes their rates are of. */
static void print_copy_sizes(const json_t *list)
{
	const json_t *by_size = json_object_get(json_array_get(list, 0), "by_size");
	char bytes[24];

	printf("%-13s rates of", "copy");
	for (size_t i = 0; i < json_array_size(by_size); i++)
		printf(" %s", cp_size_format((uint64_t)number_of(
						     json_array_get(by_size, i), "bytes"),
					     bytes, sizeof(bytes)));
	puts("; * no kernel was faster");
}

static void print_copy(const json_t *list)
{
	static const char *const dirs[] = {"read", "write"};

	print_copy_sizes(list);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *part = json_array_get(list, i);
		const json_t *stands = json_object_get(part, "stands_for_by_size");
		char extra[512] = "";
		size_t at = 0;

		for (size_t d = 0; d < 2; d++) {
			at = add_rates(extra, sizeof(extra), at,
				       json_object_get(part, "by_size"), dirs[d]);
			at = add_stands(extra, sizeof(extra), at, stands, dirs[d]);
		}
		print_part("copy", part, extra);
	}
}

static void print_flush(const json_t *flush)
{
	const json_t *list = json_object_get(flush, "instructions");
	const json_t *on_auto = json_object_get(flush, "persist_auto");
	const char *best = json_string_value(json_object_get(on_auto, "flush"));

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *part = json_array_get(list, i);
		const char *fence = text_of(on_auto, "fence");
		char extra[96] = "";

		if (best && !strcmp(text_of(part, "name"), best))
			snprintf(extra, sizeof(extra), ", persist=auto takes it%s%s",
				 *fence ? ", then " : "", fence);
		print_part("flush", part, extra);
	}
	if (!best)
		printf("flush         no: %s\n", text_of(flush, "why"));
}

static void print_parts(const char *kind, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *part = json_array_get(list, i);
		const char *provenance =
			json_string_value(json_object_get(part, "provenance"));
		const json_t *persistent = json_object_get(part, "persistent");
		const char *why = json_string_value(json_object_get(part, "why"));
		char extra[160] = "";

		if (json_is_true(json_object_get(part, "usable")) && provenance)
			snprintf(extra, sizeof(extra), ", %s%s%s%s%s", provenance,
				 why ? ": " : "", why ? why : "",
				 json_is_false(json_object_get(part, "moves_data"))
					 ? ", moves no data"
					 : "",
				 json_is_false(json_object_get(part, "irq"))
					 ? ", completion poll only"
					 : "");
		else if (json_is_true(json_object_get(part, "usable")) && persistent)
			snprintf(extra, sizeof(extra), ", %s",
				 json_is_false(persistent)
					 ? "not persistent"
					 : "persistent where the kernel says so");
		print_part(kind, part, extra);
	}
}

static void print_pmem(const json_t *pmem)
{
	const json_t *list = json_object_get(pmem, "regions");
	char bytes[24];

	printf("pmem          %zu regions, %zu namespaces, %zu dax devices\n",
	       json_array_size(list),
	       json_array_size(json_object_get(pmem, "namespaces")),
	       json_array_size(json_object_get(pmem, "dax")));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *region = json_array_get(list, i);

		printf("pmem          %-13s %s, persistence domain %s\n",
		       text_of(region, "name"), text_of(region, "devtype"),
		       text_of(region, "persistence_domain"));
	}
	list = json_object_get(pmem, "dax");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *dax = json_array_get(list, i);
		bool persistent = json_is_true(json_object_get(dax, "persistent"));

		cp_size_format((uint64_t)number_of(dax, "bytes"), bytes, sizeof(bytes));
		printf("pmem          %-13s %s, steps of %lld, %s%s\n",
		       text_of(dax, "path"), bytes, (long long)number_of(dax, "align"),
		       persistent ? "persistent" : "not persistent",
		       json_is_true(json_object_get(dax, "auto_flush"))
			       ? ", caches are flushed on power loss"
			       : "");
	}
}

/* The attributes of one media that are in a state: "uc, wc". */
static size_t list_state(const json_t *attrs, size_t media, const char *state, char *buf,
			 size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < json_array_size(attrs); i++) {
		const json_t *attr = json_array_get(attrs, i);
		const json_t *on = json_array_get(json_object_get(attr, "media"), media);

		if (!strcmp(text_of(on, "state"), state))
			len += (size_t)snprintf(buf + len, size - len, "%s%s",
						len ? ", " : "", text_of(attr, "name"));
	}
	return len;
}

/* A line a media: "wb native; uc, wc, wt emulated". */
static void print_attr_media(const json_t *attrs, const json_t *kinds)
{
	static const char *const states[] = {"native", "emulated", "absent"};
	char list[64];

	for (size_t i = 0; i < json_array_size(kinds); i++) {
		const json_t *kind = json_array_get(kinds, i);
		const char *between = "";

		printf("%-13s %-13s ", "attr on", text_of(kind, "name"));
		for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++) {
			if (!list_state(attrs, i, states[s], list, sizeof(list)))
				continue;
			printf("%s%s %s", between, list, states[s]);
			between = "; ";
		}
		puts(json_is_true(json_object_get(kind, "usable"))
			     ? ""
			     : " (not usable here)");
	}
}

/* Those that could be used; of the others a server has dozens. */
static void print_bars(const json_t *bars)
{
	size_t nr = json_array_size(bars), usable = 0;
	char bytes[24];

	for (size_t i = 0; i < nr; i++) {
		const json_t *bar = json_array_get(bars, i);

		if (!json_is_true(json_object_get(bar, "usable")))
			continue;
		usable++;
		cp_size_format((uint64_t)number_of(bar, "bytes"), bytes, sizeof(bytes));
		printf("bar           %s  %s, %s\n", text_of(bar, "path"), bytes,
		       json_array_size(json_object_get(bar, "attrs")) > 1 ? "uc and wc"
									  : "uc");
	}
	printf("bar           %zu usable, %zu not (--json says why)\n", usable,
	       nr - usable);
}

/* "dsa0/wq0.0   usable, enabled user dedicated queue of 16 descriptors, node 0". */
static void print_queues(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *queue = json_array_get(list, i);
		const json_t *size = json_object_get(queue, "size");
		const json_t *node = json_object_get(queue, "node");
		bool usable = json_is_true(json_object_get(queue, "usable"));
		char name[80];

		snprintf(name, sizeof(name), "%s/%s", text_of(queue, "device"),
			 text_of(queue, "name"));
		printf("%-13s %-13s %s: %s, type %s, %s", "work queue", name,
		       usable ? "usable" : "no", text_of(queue, "state"),
		       text_of(queue, "type"), text_of(queue, "mode"));
		if (json_is_integer(size))
			printf(", size %lld", (long long)json_integer_value(size));
		if (json_is_integer(node))
			printf(", node %lld", (long long)json_integer_value(node));
		printf("%s%s\n", usable ? "" : "; ", usable ? "" : text_of(queue, "why"));
	}
}

static void print_all(const json_t *root)
{
	const json_t *perf = json_object_get(root, "perf");
	const json_t *media = json_object_get(root, "media");
	static const char *const events[] = {"cycles", "instructions", "task_clock"};

	print_fio(json_object_get(root, "fio"));
	print_host(json_object_get(root, "host"));
	print_copy(json_object_get(root, "copy"));
	print_flush(json_object_get(root, "flush"));
	print_parts("media", json_object_get(media, "kinds"));
	print_pmem(json_object_get(root, "pmem"));
	print_parts("attr", json_object_get(root, "attrs"));
	print_attr_media(json_object_get(root, "attrs"), json_object_get(media, "kinds"));
	print_bars(json_object_get(root, "bars"));
	print_parts("dma", json_object_get(root, "dma"));
	print_queues(json_object_get(root, "work_queues"));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const json_t *event = json_object_get(perf, events[i]);

		printf("perf          %-12s %s%s\n", events[i],
		       json_is_true(json_object_get(event, "usable")) ? "usable" : "no: ",
		       json_is_true(json_object_get(event, "usable"))
			       ? ""
			       : text_of(event, "why"));
	}
	printf("fingerprint   %s\n", text_of(root, "fingerprint"));
}

static enum cp_exit run(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{NULL, 0, NULL, 0}};
	bool as_json = false;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'j')
			return cp_cmd_usage("probe",
					    "unknown option '%s'; expected '--json'",
					    argv[optind - 1]);
		as_json = true;
	}
	if (optind < argc)
		return cp_cmd_usage("probe", "unexpected '%s'; expected no operand",
				    argv[optind]);
	json_t *root = json_pack(
		"{s:i,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema",
		1, "kind", "probe", "copypath", CP_VERSION_STRING, "fio", cp_probe_fio(),
		"host", cp_probe_host(), "copy", cp_probe_copy(), "flush",
		cp_probe_flush(), "media", cp_probe_media(), "pmem", cp_probe_pmem(),
		"attrs", cp_probe_attrs(), "bars", cp_probe_bars(), "dma", cp_probe_dma(),
		"work_queues", cp_probe_work_queues(), "perf", cp_probe_perf(),
		"fingerprint", cp_probe_fingerprint());
	if (!root) {
		struct cp_err err = {CP_EXIT_INTERNAL, "not enough memory"};

		return cp_cmd_fail(&err);
	}
	if (as_json) {
		json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
		putchar('\n');
	} else {
		print_all(root);
	}
	json_decref(root);
	return CP_EXIT_OK;
}

const struct cp_verb cp_verb_probe = {
	.name = "probe",
	.summary = "what this machine has to copy with",
	.usage =
		"usage: copypath probe [--json]\n\n"
		"Lists fio and the plug-ins, CPU, nodes, caches, copy kernels with their "
		"speed,\nmedia, cache attributes, DMA engines, performance counters and "
		"settings that\nmatter, and says of each what is not usable why.\n\n"
		"  --json   one JSON document on stdout\n\n"
		"Exit: 0, whatever was found.\n",
	.run = run,
};
