// SPDX-License-Identifier: GPL-2.0-only
/* The table of drivers. */
#include "bench/drive/driver.h"

#include <string.h>

static const struct cp_driver *const drivers[] = {&cp_driver_fio, &cp_driver_swap,
						  &cp_driver_exec, NULL};

const struct cp_driver *cp_driver_find(const char *name)
{
	for (size_t i = 0; drivers[i]; i++)
		if (!strcmp(drivers[i]->name, name))
			return drivers[i];
	return NULL;
}

void cp_take_argv(const struct cp_take *take, const char *const *args, const char **argv)
{
	for (size_t i = 0; i < take->nr_prefix; i++)
		*argv++ = take->prefix[i];
	while ((*argv++ = *args++))
		;
}
