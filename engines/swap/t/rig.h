/* SPDX-License-Identifier: GPL-2.0-only */
/* A pager over a device, set up from a few words, and accesses that may raise SIGBUS. */
#ifndef CP_ENGINES_SWAP_T_RIG_H
#define CP_ENGINES_SWAP_T_RIG_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/swap/swap.h"

struct rig {
	struct cp_topo topo;
	struct cp_arm arm;
	struct cp_dev *dev;
	struct cp_swap *swap;
	unsigned char *region;
};

/* A skip is not a pass: it says why. */
static inline void need_uffd(void)
{
	struct cp_err err;

	if (!cp_swap_check(&err))
		return;
	print_message("skipped: %s\n", err.msg);
	skip();
}

/* settings: "field=value field=value ..." */
static inline void rig_open(struct rig *rig, const char *settings,
			    const struct cp_swap_cfg *cfg)
{
	char text[256], *save = NULL;
	struct cp_context context;
	struct cp_swap_cfg swap = *cfg;
	struct cp_dev_cfg dev;
	struct cp_err err;

	memset(rig, 0, sizeof(*rig));
	cp_context_init(&context);
	cp_arm_init(&rig->arm);
	snprintf(text, sizeof(text), "%s", settings);
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		*value = '\0';
		assert_int_equal(cp_field_parse(cp_field_find(cp_arm_fields, word),
						&rig->arm, value + 1, &err),
				 0);
	}
	if (cp_arm_resolve(&rig->arm, &err) || cp_topo_load(NULL, &rig->topo, &err))
		fail_msg("%s", err.msg);
	cp_dev_cfg_of(&context, &rig->arm, &rig->topo, &dev);
	dev.bytes = cfg->nr_pages * CP_SWAP_PAGE;
	dev.writable = true;
	dev.dir_used[0] = true;
	dev.dir_used[1] = true;
	dev.jobs = 1;
	dev.iodepth = CP_SWAP_BATCH_MAX;
	if (cp_dev_open(&dev, &rig->dev, &err))
		fail_msg("%s", err.msg);
	swap.dev = rig->dev;
	if (cp_swap_open(&swap, &rig->swap, &err))
		fail_msg("%s", err.msg);
	rig->region = cp_swap_region(rig->swap);
}

static inline void rig_close(struct rig *rig)
{
	cp_swap_close(rig->swap);
	cp_dev_close(rig->dev);
}

static inline struct cp_swap_stats rig_stats(struct rig *rig)
{
	struct cp_swap_stats stats;

	assert_int_equal(cp_swap_broken(rig->swap), 0);
	cp_swap_report(rig->swap, NULL, &stats);
	return stats;
}

static inline volatile uint64_t *rig_word(const struct rig *rig, uint64_t page,
					  unsigned word)
{
	return (volatile uint64_t *)(rig->region + page * CP_SWAP_PAGE) + word;
}

static sigjmp_buf bus_env;

static inline void on_bus(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	siglongjmp(bus_env, 1);
}

/* Before rig_open(): the device's guard hands on to it. */
static inline void catch_bus(void)
{
	struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

	assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
}

/* Store (or with NULL load) the word; false: SIGBUS. */
static inline bool access_word(volatile uint64_t *word, const uint64_t *store,
			       uint64_t *ret)
{
	if (sigsetjmp(bus_env, 1))
		return false;
	if (store)
		*word = *store;
	else
		*ret = *word;
	return true;
}

#endif
