/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stamps and CPU clocks.
 *
 * A stamp is a cheap monotonic tick: the TSC where the kernel says it is constant and
 * nonstop, else CLOCK_MONOTONIC nanoseconds. cp_clock_init() calibrates once (about 10
 * ms, thread-safe, idempotent); call it before the first cp_ticks_to_ns(). Stamps of
 * different CPUs compare (constant, synchronised TSC); a difference is never negative:
 * use cp_ticks_since().
 */
#ifndef CP_ENGINES_BASE_CLOCK_H
#define CP_ENGINES_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct cp_clock {
	bool tsc;
	/* ns = ticks * mult >> 32, from calibration against CLOCK_MONOTONIC_RAW */
	uint64_t mult;
};
extern struct cp_clock cp_clock; /* read only after cp_clock_init() */

void cp_clock_init(void);
uint64_t cp_now_ns(void);		/* CLOCK_MONOTONIC */
uint64_t cp_thread_cpu_ns(void);	/* CLOCK_THREAD_CPUTIME_ID of the caller */
uint64_t cp_process_cpu_ns(void);	/* CLOCK_PROCESS_CPUTIME_ID */
void cp_sleep_ns(uint64_t duration_ns); /* clock_nanosleep, restarted after EINTR */
/* Of any clock; 0 where there is none such. */
uint64_t cp_clock_read_ns(clockid_t id);
/* "2026-11-30T12:00:00Z" (UTC). size >= 21. Returns buf. */
char *cp_time_utc(char *buf, size_t size);

static inline uint64_t cp_ticks(void)
{
#if defined(__x86_64__)
	if (cp_clock.tsc)
		return __rdtsc();
#endif
	return cp_now_ns();
}

static inline uint64_t cp_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * cp_clock.mult) >> 32);
}

/* Ticks from start to now, 0 when now is (by clock skew) earlier. */
static inline uint64_t cp_ticks_since(uint64_t start, uint64_t now)
{
	return now > start ? now - start : 0;
}

static inline void cp_cpu_relax(void)
{
#if defined(__x86_64__)
	_mm_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

#endif
