/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells whoever counts beside us (perf stat, perf record) when the measuring window opens
 * and closes, so that no start-up and no warm-up is in their counts.
 *
 * The environment's COPYPATH_WINDOW names two FIFOs, "CONTROL,ACK", as perf's
 * --control=fifo:CONTROL,ACK has them. Without it, or when nobody is at their other end,
 * both calls do nothing: whoever counts then sees that no window came.
 *
 * Windows may overlap: counting goes on from the first open() until each was closed. An
 * open() returns when the counters run (1 s is waited for the answer at most), so read
 * your own clocks behind open() and before close().
 *
 * Threading: any thread.
 */
#ifndef CP_ENGINES_BASE_WINDOW_H
#define CP_ENGINES_BASE_WINDOW_H

#define CP_WINDOW_ENV "COPYPATH_WINDOW"

void cp_window_open(void);
void cp_window_close(void);

#endif
