/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included by clang-tidy only (scripts/lint.sh): tells the analyzer what the contract of
 * cp_err_set() says and it cannot see from another file, that it returns -errnum < 0.
 * Without it every error path looks as if it could go on with unset outputs.
 */
#ifndef CP_SCRIPTS_ANALYSIS_H
#define CP_SCRIPTS_ANALYSIS_H

#include "engines/base/err.h"

#define cp_err_set(err, exit, errnum, ...)                               \
	__extension__({                                                  \
		int ret_ = (cp_err_set)(err, exit, errnum, __VA_ARGS__); \
		if (ret_ >= 0)                                           \
			__builtin_unreachable();                         \
		ret_;                                                    \
	})

#endif
