/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench/gate/rules.h"
#include "engines/base/units.h"
#include "engines/base/yaml.h"

void cp_gate_rules_init(struct cp_gate_rules *rules)
{
	memset(rules, 0, sizeof(*rules));
	snprintf(rules->name, sizeof(rules->name), "default");
	for (unsigned i = 0; i < CP_GATE_NR_TIMED; i++)
		rules->margin_pct[i] = cp_gate_metrics[i].margin_pct;
}

double cp_gate_margin_d(const struct cp_gate_rules *rules, enum cp_gate_metric metric)
{
	if (cp_gate_is_counter(metric))
		return 0.0;
	double pct = rules->margin_pct[metric];

	return cp_gate_d(metric, cp_gate_metrics[metric].more_is_better ? -pct : pct);
}

/* "2%", "-10%", "+20%": a problem is added and false returned for anything else. */
static bool read_pct(struct cp_yaml *doc, const struct cp_yaml_node *node,
		     double *ret_pct)
{
	char text[32];
	const char *digits = text;
	double value;

	if (node->type != CP_YAML_SCALAR) {
		cp_yaml_problem(doc, node, "'%s' is not a percentage; expected e.g. 2%%",
				node->key);
		return false;
	}
	size_t len = strlen(node->text);
	if (len < 2 || len >= sizeof(text) || node->text[len - 1] != '%')
		goto bad;
	memcpy(text, node->text, len - 1);
	text[len - 1] = '\0';
	if (*digits == '-' || *digits == '+')
		digits++;
	if (*digits < '0' || *digits > '9' || cp_double_parse(digits, &value))
		goto bad;
	*ret_pct = text[0] == '-' ? -value : value;
	return true;
bad:
	cp_yaml_problem(doc, node, "'%s: %.40s' is not a percentage; expected e.g. 2%%",
			node->key, node->text);
	return false;
}

static int metric_of(const char *key)
{
	for (int i = 0; i < CP_GATE_NR_TIMED; i++)
		if (!strcmp(cp_gate_metric_words[i], key))
			return i;
	return -1;
}

static void read_margins(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 struct cp_gate_rules *rules)
{
	if (!cp_yaml_keys(doc, map, "margins", cp_gate_metric_words))
		return;
	for (size_t i = 0; i < map->nr_children; i++) {
		const struct cp_yaml_node *node = map->children[i];
		int metric = metric_of(node->key);
		double pct;

		if (metric < 0)
			continue; /* cp_yaml_keys() has said so */
		if (node->type == CP_YAML_SCALAR && !strcmp(node->text, "off")) {
			rules->margin_pct[metric] = NAN;
			continue;
		}
		if (!read_pct(doc, node, &pct))
			continue;
		if (pct < 0 || pct >= 100)
			cp_yaml_problem(doc, node,
					"margin '%s: %s' is out of range; expected 0%% "
					"to below 100%%, or off",
					node->key, node->text);
		else
			rules->margin_pct[metric] = pct;
	}
}

/* One `metric: percentage` of a trade: limits are worse than now, conditions better. */
static void read_term(struct cp_yaml *doc, const struct cp_yaml_node *node, bool worse,
		      double *pcts)
{
	int metric = metric_of(node->key);
	double pct;

	if (metric < 0 || !read_pct(doc, node, &pct))
		return;
	bool down = cp_gate_metrics[metric].more_is_better == worse;

	if (pct == 0.0 || (pct < 0) != down || pct <= -100.0)
		cp_yaml_problem(doc, node,
				"'%s: %s' is not a %s; expected a percentage %s",
				node->key, node->text, worse ? "loss" : "gain",
				down ? "between -100% and 0%" : "above 0%");
	else
		pcts[metric] = pct;
}

static void read_allow(struct cp_yaml *doc, const struct cp_yaml_node *map,
		       struct cp_gate_rules *rules)
{
	static const char *const keys[] = {"bw",  "iops", "cpu", "p50",
					   "p99", "p999", "if",	 NULL};
	const struct cp_yaml_node *cond = cp_yaml_get(map, "if");
	struct cp_gate_allow allow;

	if (!cp_yaml_keys(doc, map, "allow", keys))
		return;
	for (unsigned i = 0; i < CP_GATE_NR_TIMED; i++)
		allow.limit_pct[i] = allow.if_pct[i] = NAN;
	for (size_t i = 0; i < map->nr_children; i++)
		if (map->children[i] != cond)
			read_term(doc, map->children[i], true, allow.limit_pct);
	if (map->nr_children == (cond ? 1 : 0))
		cp_yaml_problem(doc, map,
				"'allow' names no metric; expected e.g. bw: -10%%");
	if (!cond) {
		cp_yaml_problem(
			doc, map,
			"'allow' has no condition; expected e.g. if: {cpu: -30%%}");
		return;
	}
	if (!cp_yaml_keys(doc, cond, "if", cp_gate_metric_words))
		return;
	if (!cond->nr_children)
		cp_yaml_problem(doc, cond, "'if' is empty; expected e.g. {cpu: -30%%}");
	for (size_t i = 0; i < cond->nr_children; i++)
		read_term(doc, cond->children[i], false, allow.if_pct);
	if (rules->nr_allow == CP_GATE_ALLOW_MAX)
		cp_yaml_problem(doc, map, "too many 'allow' rules; expected at most %d",
				CP_GATE_ALLOW_MAX);
	else
		rules->allow[rules->nr_allow++] = allow;
}

/* A condition on a metric that is not judged could never hold. */
static void check_conditions(struct cp_yaml *doc, const struct cp_yaml_node *node,
			     const struct cp_gate_rules *rules)
{
	for (unsigned k = 0; k < rules->nr_allow; k++)
		for (unsigned m = 0; m < CP_GATE_NR_TIMED; m++)
			if (!isnan(rules->allow[k].if_pct[m]) &&
			    isnan(rules->margin_pct[m]))
				cp_yaml_problem(doc, node,
						"'if' names '%s', whose margin is off; "
						"expected a metric that is judged",
						cp_gate_metric_words[m]);
}

static void read_root(struct cp_yaml *doc, struct cp_gate_rules *rules)
{
	static const char *const keys[] = {"schema",  "kind",  "name",
					   "margins", "allow", NULL};
	static const char *const kinds[] = {"gate", NULL};
	const struct cp_yaml_node *root = cp_yaml_root(doc);
	const struct cp_yaml_node *node;
	uint64_t schema;

	if (!cp_yaml_keys(doc, root, "gate rules", keys))
		return;
	node = cp_yaml_get(root, "schema");
	if (!node)
		cp_yaml_problem(doc, root, "'schema' is missing; expected schema: 1");
	else
		cp_yaml_uint(doc, node, "schema", 1, 1, &schema);
	node = cp_yaml_get(root, "kind");
	if (!node)
		cp_yaml_problem(doc, root, "'kind' is missing; expected kind: gate");
	else
		cp_yaml_word(doc, node, "kind", kinds);
	node = cp_yaml_get(root, "name");
	if (node)
		cp_yaml_text(doc, node, "name", rules->name, sizeof(rules->name));
	node = cp_yaml_get(root, "margins");
	if (node)
		read_margins(doc, node, rules);
	node = cp_yaml_get(root, "allow");
	if (node && node->type == CP_YAML_LIST) {
		for (size_t i = 0; i < node->nr_children; i++)
			read_allow(doc, node->children[i], rules);
	} else if (node) {
		read_allow(doc, node, rules);
	}
	check_conditions(doc, node, rules);
}

static int read_doc(struct cp_yaml *doc, struct cp_gate_rules *ret_rules,
		    struct cp_err *err)
{
	struct cp_gate_rules rules;

	cp_gate_rules_init(&rules);
	rules.name[0] = '\0';
	read_root(doc, &rules);
	int rc = cp_yaml_check(doc, err);

	if (!rc) {
		if (!rules.name[0])
			snprintf(rules.name, sizeof(rules.name), "unnamed");
		*ret_rules = rules;
	}
	cp_yaml_free(doc);
	return rc;
}

int cp_gate_rules_read(const char *path, struct cp_gate_rules *ret_rules,
		       struct cp_err *err)
{
	struct cp_yaml *doc;
	int rc = cp_yaml_load(path, &doc, err);

	return rc ? rc : read_doc(doc, ret_rules, err);
}

int cp_gate_rules_read_text(const char *name, const char *text, size_t len,
			    struct cp_gate_rules *ret_rules, struct cp_err *err)
{
	struct cp_yaml *doc;
	int rc = cp_yaml_load_text(name, text, len, &doc, err);

	return rc ? rc : read_doc(doc, ret_rules, err);
}
