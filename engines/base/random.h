/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that are the same on every machine for the same seed. Not for secrets.
 * No state but the caller's; any thread.
 */
#ifndef CP_ENGINES_BASE_RANDOM_H
#define CP_ENGINES_BASE_RANDOM_H

#include <stdint.h>

#define CP_RANDOM_GOLDEN 0x9e3779b97f4a7c15ULL /* 2^64 / golden ratio, odd */

/* splitmix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", 2014): a bijection in which each bit of x changes half of the result. */
static inline uint64_t cp_random_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* splitmix64: the next number; any start will do. */
static inline uint64_t cp_random_next(uint64_t *state)
{
	*state += CP_RANDOM_GOLDEN;
	return cp_random_mix(*state);
}

/* xorshift64 (Marsaglia: "Xorshift RNGs", 2003): three shifts, for loops that are
 * measured. *state is never 0. */
static inline uint64_t cp_random_xorshift(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x;
}

#define CP_RANDOM_XORSHIFT_START 88172645463325252ULL /* Marsaglia's */

#endif
