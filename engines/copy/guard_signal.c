// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fault guard's handlers: put in place for the first user, taken away with the last,
 * and handing on what is not the guard's.
 *
 * Others may put handlers above ours that hand on to it, or take ours away unasked. So
 * when users come again and ours is not on top, it is put on top once more, as another
 * level: a function of its own with an earlier handler of its own. One function on top of
 * a handler that hands on to that same function would be a ring.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "engines/copy/guard.h"

#define LEVELS 4

struct level {
	struct sigaction earlier;
	_Atomic bool spent; /* an SA_RESETHAND handler has had its one signal */
	_Atomic bool used;  /* may still be called: in place, or below another's */
};

/* Levels are written before their function is in place, so their handlers may read
 * them. */
static struct guarded {
	int number;
	const char *name;
	struct level levels[LEVELS];
} guarded[] = {{.number = SIGSEGV, .name = "SIGSEGV"},
	       {.number = SIGBUS, .name = "SIGBUS"}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* users, and installing */
static unsigned users;

static bool is_none(const struct sigaction *action)
{
	return action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN;
}

static void hand_on(struct level *level, int number, siginfo_t *info, void *context)
{
	/* acquire: what another thread wrote to `earlier` before its release of `used`
	 * must be visible here; the signal came after both */
	(void)atomic_load_explicit(&level->used, memory_order_acquire);

	const struct sigaction *earlier = &level->earlier;
	bool reset = ((unsigned)earlier->sa_flags & SA_RESETHAND) != 0;
	bool fault = cp_guard_is_fault(info);

	if (earlier->sa_handler == SIG_IGN && !fault)
		return;
	if (is_none(earlier) || (reset && atomic_exchange(&level->spent, true))) {
		struct sigaction none = {.sa_handler = SIG_DFL};

		/* An access that faulted does so again when we return, and then the core
		 * shows it; a signal that was sent has to be sent again. */
		sigaction(number, &none, NULL);
		if (!fault)
			raise(number);
	} else if (earlier->sa_flags & SA_SIGINFO) {
		earlier->sa_sigaction(number, info, context);
	} else {
		earlier->sa_handler(number);
	}
}

#define DEFINE_HANDLER(n)                                                           \
	static void handler_##n(int number, siginfo_t *info, void *context)         \
	{                                                                           \
		if (!cp_guard_leave(info, context))                                 \
			hand_on(&guarded[number == SIGBUS].levels[n], number, info, \
				context);                                           \
	}

DEFINE_HANDLER(0)
DEFINE_HANDLER(1)
DEFINE_HANDLER(2)
DEFINE_HANDLER(3)

static void (*const handlers[LEVELS])(int, siginfo_t *, void *) = {handler_0, handler_1,
								   handler_2, handler_3};

/* The level whose function this is, -1 for another's. */
static int level_of(const struct sigaction *action)
{
	for (int i = 0; i < LEVELS; i++) {
		if ((action->sa_flags & SA_SIGINFO) &&
		    action->sa_sigaction == handlers[i])
			return i;
	}
	return -1;
}

/* A level to put above `top`; LEVELS when there is none. */
static int level_above(struct guarded *sig, const struct sigaction *top)
{
	int free_from = 0;

	for (int i = 0; i < LEVELS && !is_none(top); i++) {
		struct level *level = &sig->levels[i];

		/* It stood above this handler before, so it is not below it. */
		if (level->used && level->earlier.sa_handler == top->sa_handler)
			return i;
		if (level->used)
			free_from = i + 1;
	}
	return free_from;
}

/* What is above level `below` was put there later and is gone. */
static void forget_from(struct guarded *sig, int below)
{
	for (int i = below; i < LEVELS; i++)
		sig->levels[i].used = false;
}

static int install(struct guarded *sig, struct cp_err *err)
{
	struct sigaction top = {0}, ours, now = {0};

	sigaction(sig->number, NULL, &top);
	int n = level_of(&top);

	if (n >= 0) {
		forget_from(sig, n + 1);
		return 0;
	}
	n = level_above(sig, &top);
	if (n == LEVELS)
		return cp_err_set(err, CP_EXIT_INVALID, EBUSY,
				  "fault guard: too many handlers of '%s' above ours; "
				  "expected at most %d",
				  sig->name, LEVELS - 1);
	forget_from(sig, n);
	struct level *level = &sig->levels[n];

	level->earlier = top;
	atomic_store(&level->spent, false);
	/* release: `earlier` must be visible to whichever thread gets a signal */
	atomic_store_explicit(&level->used, true, memory_order_release);
	/* It must be called the way the earlier one would have been. */
	ours.sa_sigaction = handlers[n];
	ours.sa_mask = top.sa_mask;
	ours.sa_flags = SA_SIGINFO | (top.sa_flags & (SA_NODEFER | SA_RESTART)) |
			(is_none(&top) ? SA_ONSTACK : top.sa_flags & SA_ONSTACK);
	sigaction(sig->number, &ours, NULL);
	sigaction(sig->number, NULL, &now);
	if (level_of(&now) == n)
		return 0;
	level->used = false;
	return cp_err_set(
		err, CP_EXIT_INVALID, EBUSY,
		"fault guard: the handler of '%s' cannot be replaced; expected a "
		"sanitizer without handle_segv=2 and handle_sigbus=2",
		sig->name);
}

static void uninstall(struct guarded *sig)
{
	struct sigaction none = {.sa_handler = SIG_DFL}, top = {0};

	sigaction(sig->number, NULL, &top);
	int n = level_of(&top);

	if (n < 0)
		return; /* below another's, which still calls it; or gone already */
	struct level *level = &sig->levels[n];

	sigaction(sig->number, atomic_load(&level->spent) ? &none : &level->earlier,
		  NULL);
	forget_from(sig, n);
}

int cp_guard_get(struct cp_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!users) {
		rc = install(&guarded[0], err);
		if (!rc) {
			rc = install(&guarded[1], err);
			if (rc)
				uninstall(&guarded[0]);
		}
	}
	users += !rc;
	pthread_mutex_unlock(&lock);
	return rc;
}

void cp_guard_put(void)
{
	pthread_mutex_lock(&lock);
	if (--users == 0) {
		uninstall(&guarded[0]);
		uninstall(&guarded[1]);
	}
	pthread_mutex_unlock(&lock);
}
