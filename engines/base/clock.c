/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S	  UINT64_C(1000000000)
#define CALIBRATION_NS	  UINT64_C(10000000)
#define CALIBRATION_TRIES 16

/* Before calibration a tick is a nanosecond. */
struct cp_clock cp_clock = {.tsc = false, .mult = UINT64_C(1) << 32};

uint64_t cp_clock_read_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t cp_now_ns(void)
{
	return cp_clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t cp_thread_cpu_ns(void)
{
	return cp_clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t cp_process_cpu_ns(void)
{
	return cp_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void cp_sleep_ns(uint64_t duration_ns)
{
	uint64_t until_ns = cp_now_ns() + duration_ns;
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S),
		.tv_nsec = (long)(until_ns % NS_PER_S),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

char *cp_time_utc(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm) || !strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm))
		buf[0] = '\0';
	return buf;
}

#if defined(__x86_64__)
/* What the kernel says of the TSC, as the "flags" line of the first CPU. */
static bool tsc_is_steady(void)
{
	char line[8192];
	bool constant = false, nonstop = false;
	FILE *file = fopen("/proc/cpuinfo", "re");

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "flags", 5) != 0)
			continue;
		constant = strstr(line, " constant_tsc") != NULL;
		nonstop = strstr(line, " nonstop_tsc") != NULL;
		break;
	}
	fclose(file);
	return constant && nonstop;
}

/* One instant on both clocks; the tightest of a few readings, so that being preempted
 * between the two does not count. */
static void instant_read(uint64_t *ret_tsc, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < CALIBRATION_TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = cp_clock_read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t width = __rdtsc() - before;

		if (width >= best)
			continue;
		best = width;
		*ret_tsc = before + width / 2;
		*ret_ns = ns;
	}
}

static void calibrate(void)
{
	uint64_t tsc0 = 0, tsc1 = 0, ns0 = 0, ns1 = 0;

	if (!tsc_is_steady())
		return;
	instant_read(&tsc0, &ns0);
	while (cp_clock_read_ns(CLOCK_MONOTONIC_RAW) - ns0 < CALIBRATION_NS)
		cp_cpu_relax();
	instant_read(&tsc1, &ns1);
	/* below 1 GHz mult would not hold 32 fraction bits' worth of precision, and no
	 * constant TSC is that slow: then it is no clock to trust */
	if (tsc1 <= tsc0 || ns1 <= ns0 || (tsc1 - tsc0) < (ns1 - ns0))
		return;
	cp_clock.mult =
		(uint64_t)(((unsigned __int128)(ns1 - ns0) << 32) / (tsc1 - tsc0));
	cp_clock.tsc = true;
}
#else
static void calibrate(void)
{
}
#endif

void cp_clock_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, calibrate);
}
