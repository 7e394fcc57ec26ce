/* SPDX-License-Identifier: GPL-2.0-only */
/* Between policy.c and policy_rules.c: reading values of a policy file. A missing key
 * leaves its value alone; what does not fit becomes a problem of the document. */
#ifndef CP_ENGINES_POLICY_READ_H
#define CP_ENGINES_POLICY_READ_H

#include "engines/base/yaml.h"
#include "engines/policy.h"

extern const char *const cp_policy_paths[]; /* cpu, dma */

void cp_policy_read_word(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 const char *key, const char *const *words, char *buf,
			 size_t size);
void cp_policy_read_text(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 const char *key, char *buf, size_t size);
/* A word of the arm's field of that name: what this build does not serve is a problem. */
void cp_policy_read_field(struct cp_yaml *doc, const struct cp_yaml_node *map,
			  const char *key, char *buf, size_t size);
void cp_policy_read_uint(struct cp_yaml *doc, const struct cp_yaml_node *map,
			 const char *key, uint64_t max, uint32_t *ret);
void cp_policy_read_double(struct cp_yaml *doc, const struct cp_yaml_node *map,
			   const char *key, double min, double max, double *ret);

/* `rules` and `undecided`, in this order. policy->rules is the caller's to free. */
int cp_policy_read_rules(struct cp_yaml *doc, const struct cp_yaml_node *root,
			 struct cp_policy *policy, struct cp_err *err);

#endif
