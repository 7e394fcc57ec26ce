/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy in the form another system takes. One row a form in cp_emit_table[]. */
#ifndef CP_POLICIES_EMIT_H
#define CP_POLICIES_EMIT_H

#include <stdbool.h>
#include <stdio.h>

#include "engines/policy.h"

struct cp_emit_opts {
	const char *plugin_dir;	 /* where the plug-ins are, for the fio section */
	const char *policy_path; /* absolute */
	bool force;		 /* a fio section of a modelled engine's policy too */
};

struct cp_emit_form {
	const char *name; /* modprobe, fio */
	const char *help;
	int (*emit)(const struct cp_policy *policy, const struct cp_emit_opts *opts,
		    FILE *out, struct cp_err *err);
};
extern const struct cp_emit_form cp_emit_table[]; /* NULL-name terminated */

#endif
