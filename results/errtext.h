/* SPDX-License-Identifier: GPL-2.0-only */
/* The system's reason in our style: "permission denied". Private to results/. */
#ifndef CP_RESULTS_ERRTEXT_H
#define CP_RESULTS_ERRTEXT_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CP_ERRTEXT_MAX 96

static inline const char *cp_errtext(int errnum, char buf[CP_ERRTEXT_MAX])
{
	const char *text = strerrordesc_np(errnum);

	if (text)
		snprintf(buf, CP_ERRTEXT_MAX, "%c%s", tolower((unsigned char)*text),
			 *text ? text + 1 : "");
	else
		snprintf(buf, CP_ERRTEXT_MAX, "errno %d", errnum);
	return buf;
}

#endif
