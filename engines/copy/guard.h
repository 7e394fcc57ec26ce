/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fault guard: a copy that touches memory which cannot be had (a file truncated under
 * its mapping, a protected or unmapped page, a page with a memory error) ends with a
 * residue instead of ending the process.
 *
 * Call order: cp_guard_get() once for each user (a device, a channel) before its first
 * copy, cp_guard_copy() for each copy, cp_guard_put() after the last. The first get
 * installs handlers of SIGSEGV and SIGBUS, the last put gives back what was there.
 *
 * How. cp_guard_copy() notes both ranges and the registers that a function must preserve
 * in a record of this thread, with plain stores, and jumps to the kernel. The handler
 * looks whether the signal is a fault of this thread's own access and whether its address
 * lies in those ranges; only then it acts, by editing the interrupted context: preserved
 * registers and stack pointer as they were at the call, the residue in the result
 * register, the instruction pointer at the caller's return address. To the compiler that
 * is an ordinary return from an ordinary function, whatever the kernel had in registers
 * or on its stack, so nothing depends on how it was compiled; the kernel that sends the
 * context back (sigreturn) also restores the signal mask and the alternate stack. Where
 * there is no such code for the CPU, and under ThreadSanitizer, which has to see frames
 * being left, it is _setjmp() and longjmp() (no saved mask: that is a system call).
 *
 * The residue never claims bytes that did not arrive. A kernel that copies upwards says
 * in cp_copy_ops.order by how many bytes the bytes stored may lag behind the address that
 * faulted: what is claimed ends there. For others, and for a function that is in no row
 * of cp_copy_table[], nothing is claimed.
 *
 * All other faults, and signals that somebody sent (kill, or a memory error that was
 * found elsewhere, BUS_MCEERR_AO), go to the handler that was there before, with its own
 * mask and SA_RESETHAND honoured. Where there was none the default action is restored and
 * the signal raised again, so that a crash is as it would have been. A handler that is
 * put above this one must do the same for ours; the last put then leaves ours in place
 * below it (and a plug-in is never unloaded, so the address stays good).
 *
 * Threading: any thread. A thread that copies must not block SIGSEGV or SIGBUS: a blocked
 * fault kills the process. A signal handler that interrupts a copy must not touch the
 * ranges of that copy, nor copy under the guard itself.
 *
 * Not covered: shadow stacks (CET) are left as they are, so a build with them takes the
 * _setjmp() way, as glibc's knows them.
 */
#ifndef CP_ENGINES_COPY_GUARD_H
#define CP_ENGINES_COPY_GUARD_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/copy/copy.h"

#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__) || \
	(defined(__CET__) && __CET__ & 2)
#define CP_GUARD_SETJMP 1
#else
#define CP_GUARD_SETJMP 0
#endif

/* Which of a copy's ranges a fault was in. */
enum cp_guard_side { CP_GUARD_NONE, CP_GUARD_SRC, CP_GUARD_DST };

/* This thread's copy. Private to guard.c and cp_guard_copy(); guard.c's assembly knows
 * the offsets of the first members. */
struct cp_guard_rec {
	cp_copy_fn fn;
#if CP_GUARD_SETJMP
	jmp_buf env;
	size_t residue;
#else
	uint64_t rbx, rbp, r12, r13, r14, r15, rsp;
#endif
	uintptr_t dst, src;
	size_t len; /* 0: no copy, since no address lies in an empty range */
	enum cp_guard_side side;
};

/* initial-exec: in a plug-in it is one load away, and the first access of a thread, which
 * may be the handler's, allocates nothing. */
extern _Thread_local struct cp_guard_rec cp_guard_rec
	__attribute__((tls_model("initial-exec")));

/* Errors (exit 4): handlers cannot be installed, or something keeps them for itself (a
 * sanitizer told so, ASAN_OPTIONS=handle_segv=2). Not in a signal handler. */
int cp_guard_get(struct cp_err *err);
void cp_guard_put(void);

/* On which side this thread's last fault was, and forget it: to be asked when a copy left
 * a residue. NONE: the kernel reported the residue itself. */
enum cp_guard_side cp_guard_take_side(void);

/* Private to the guard: a fault by this thread's own access, which is tried again when
 * the handler returns? And: leave the copy when it is this one's. */
bool cp_guard_is_fault(const siginfo_t *info);
bool cp_guard_leave(const siginfo_t *info, void *context);

/* cp_guard_copy() without the record. */
__typeof__(*(cp_copy_fn)0) cp_guard_call;

/* fn(dst, src, len, dir, attr) under the guard: what fn returns, or the residue at the
 * fault. Without a cp_guard_get() it is a plain call. */
static inline size_t cp_guard_copy(cp_copy_fn fn, void *dst, const void *src, size_t len,
				   enum cp_dir dir, enum cp_attr attr)
{
	struct cp_guard_rec *rec = &cp_guard_rec;

	rec->fn = fn;
	rec->dst = (uintptr_t)dst;
	rec->src = (uintptr_t)src;
	rec->len = len;
	/* The record must be complete, for this thread's own handler, before the first
	 * access to the ranges, and must not be emptied before the last. A handler of the
	 * same thread needs no more than the order of instructions. */
	atomic_signal_fence(memory_order_seq_cst);
	size_t residue = cp_guard_call(dst, src, len, dir, attr);

	atomic_signal_fence(memory_order_seq_cst);
	rec->len = 0;
	return residue;
}

#endif
