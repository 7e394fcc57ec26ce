// SPDX-License-Identifier: GPL-2.0-only
/* Who makes the I/Os, and what is counted beside them. */
#include "bench/plan/load.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cp_plan_external(const struct cp_plan *plan)
{
	return !strcmp(plan->driver, "exec");
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* dir/name, made absolute by the directory of the call. -ENAMETOOLONG or 0. */
static int absolute(const char *cwd, const char *dir, size_t len, const char *name,
		    char *buf, size_t size)
{
	int n = len && dir[0] == '/' ? snprintf(buf, size, "%.*s/%s", (int)len, dir, name)
		: len ? snprintf(buf, size, "%s/%.*s/%s", cwd, (int)len, dir, name)
		      : snprintf(buf, size, "%s/%s", cwd, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* Programs of copypath's own: beside the command in a build, or where it is installed. */
static bool find_own(const char *word, char *buf, size_t size)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(exe, '/');
	size_t len = slash ? (size_t)(slash - exe) : 0;

	if (len && !absolute("", exe, len, word, buf, size) && is_program(buf))
		return true;
	return !absolute("", CP_LIBDIR "/copypath", strlen(CP_LIBDIR "/copypath"), word,
			 buf, size) &&
	       is_program(buf);
}

/* As execvp() would find it, once and for all. */
static bool find_program(const char *cwd, const char *word, char *buf, size_t size)
{
	const char *path = getenv("PATH");

	if (word[0] == '/')
		return (size_t)snprintf(buf, size, "%s", word) < size && is_program(buf);
	if (strchr(word, '/'))
		return !absolute(cwd, "", 0, word, buf, size) && is_program(buf);
	for (const char *at = path ? path : "/usr/bin:/bin"; word[0]; at++) {
		size_t len = strcspn(at, ":");

		if (!absolute(cwd, at, len, word, buf, size) && is_program(buf))
			return true;
		at += len;
		if (!*at)
			break;
	}
	return !strncmp(word, "copypath-", 9) && find_own(word, buf, size);
}

static void load_program(struct cp_load *load, const struct cp_yaml_node *node)
{
	struct cp_plan *plan = load->plan;
	char found[sizeof(plan->exec[0])];

	if (!getcwd(plan->exec_dir, sizeof(plan->exec_dir)))
		cp_yaml_problem(load->doc, node,
				"'exec' has no directory to run in: %s; expected to be "
				"called in one",
				strerror(errno));
	else if (find_program(plan->exec_dir, plan->exec[0], found, sizeof(found)))
		memcpy(plan->exec[0], found, sizeof(found));
	else
		cp_yaml_problem(load->doc, node,
				"'exec' names '%s', which is no program that can be run; "
				"expected one in PATH, or the path of an executable file",
				plan->exec[0]);
}

/* driver: {exec: [command, args...], timeout: 30s} */
static void load_exec(struct cp_load *load, const struct cp_yaml_node *map)
{
	static const char *const keys[] = {"exec", "timeout", NULL};
	struct cp_plan *plan = load->plan;
	const struct cp_yaml_node *list = cp_yaml_get(map, "exec");
	const struct cp_yaml_node *timeout = cp_yaml_get(map, "timeout");

	if (!cp_yaml_keys(load->doc, map, "driver", keys))
		return;
	snprintf(plan->driver, sizeof(plan->driver), "exec");
	plan->exec_timeout_ns = CP_PLAN_EXEC_TIMEOUT_NS;
	if (timeout)
		cp_yaml_time(load->doc, timeout, "timeout", 1000000,
			     24ULL * 3600000000000, &plan->exec_timeout_ns);
	if (!list || list->type != CP_YAML_LIST || !list->nr_children ||
	    list->nr_children > CP_PLAN_EXEC_MAX) {
		cp_yaml_problem(load->doc, list ? list : map,
				"'exec' is no command; expected a list of 1 to %d words: "
				"a program and its arguments",
				CP_PLAN_EXEC_MAX);
		return;
	}
	for (size_t i = 0; i < list->nr_children; i++)
		if (cp_yaml_text(load->doc, list->children[i], "exec",
				 plan->exec[plan->nr_exec], sizeof(plan->exec[0])))
			plan->nr_exec++;
	if (plan->nr_exec == list->nr_children)
		load_program(load, list->children[0]);
}

/* What a program of the user's knows nothing of. */
void cp_load_external(struct cp_load *load)
{
	const struct cp_yaml_node *root = cp_yaml_root(load->doc);
	const struct cp_yaml_node *fio = cp_yaml_get(root, "fio");
	const struct cp_yaml_node *verify =
		cp_yaml_get(cp_yaml_get(root, "run"), "verify");

	if (!cp_plan_external(load->plan))
		return;
	if (fio)
		cp_yaml_problem_key(load->doc, fio,
				    "'fio' has no use with driver exec, which starts no "
				    "fio; expected no such key");
	if (verify && strcmp(load->plan->verify, "off") != 0)
		cp_yaml_problem(load->doc, verify,
				"'verify' is '%s', but with driver exec only the program "
				"can compare; expected off",
				load->plan->verify);
}

void cp_load_driver(struct cp_load *load, const struct cp_yaml_node *node)
{
	static const char *const words[] = {"fio", "swap", NULL};

	if (node && node->type == CP_YAML_MAP) {
		load_exec(load, node);
	} else if (node && node->type == CP_YAML_SCALAR && !strcmp(node->text, "exec")) {
		cp_yaml_problem(load->doc, node,
				"driver 'exec' has no command; expected "
				"{exec: [command, args...]}");
	} else if (node && node->type == CP_YAML_LIST) {
		cp_yaml_problem(load->doc, node,
				"'driver' is a list; expected fio, swap or "
				"{exec: [command, args...]}");
	} else if (node) {
		int word = cp_yaml_word(load->doc, node, "driver", words);

		if (word >= 0)
			snprintf(load->plan->driver, sizeof(load->plan->driver), "%s",
				 words[word]);
	}
}

/* Each must be one of its own, as their counts have their names. */
static void add_event(struct cp_load *load, const struct cp_yaml_node *node)
{
	struct cp_plan *plan = load->plan;
	char *event = plan->perf[plan->nr_perf];

	if (!cp_yaml_text(load->doc, node, "perf", event, sizeof(plan->perf[0])))
		return;
	if (!event[0] || strpbrk(event, ", \t{}'\"")) {
		cp_yaml_problem(load->doc, node,
				"'perf' has '%s', which is no event; expected names as "
				"'perf list' has them, one an entry",
				event);
		return;
	}
	for (size_t i = 0; i < plan->nr_perf; i++) {
		if (strcmp(plan->perf[i], event) != 0)
			continue;
		cp_yaml_problem(load->doc, node,
				"'perf' has '%s' twice; expected each event once", event);
		return;
	}
	plan->perf_at[plan->nr_perf][0] = node->line;
	plan->perf_at[plan->nr_perf++][1] = node->column;
}

void cp_load_perf(struct cp_load *load, const struct cp_yaml_node *node)
{
	if (!node)
		return;
	if (node->type != CP_YAML_LIST || !node->nr_children ||
	    node->nr_children > CP_PERF_MAX) {
		cp_yaml_problem(load->doc, node,
				"'perf' is no list of events; expected 1 to %d names as "
				"'perf list' has them",
				CP_PERF_MAX);
		return;
	}
	for (size_t i = 0; i < node->nr_children; i++)
		add_event(load, node->children[i]);
}
