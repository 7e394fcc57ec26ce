// SPDX-License-Identifier: GPL-2.0-only
/* The fault guard: into a copy, whether a fault is its own, and out of it. See guard.h
 * for how it works; guard_signal.c has the handlers. */
#include <assert.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "engines/copy/guard.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

_Thread_local struct cp_guard_rec cp_guard_rec;

#if CP_GUARD_SETJMP

size_t cp_guard_call(void *dst, const void *src, size_t len, enum cp_dir dir,
		     enum cp_attr attr)
{
	/* after the jump only the record is looked at: locals may hold anything */
	if (_setjmp(cp_guard_rec.env))
		return cp_guard_rec.residue;
	return cp_guard_rec.fn(dst, src, len, dir, attr);
}

static void leave(struct cp_guard_rec *rec, ucontext_t *context, size_t residue)
{
	rec->residue = residue;
	/* The handler is left for good, so the mask it was entered with is put back
	 * here. */
	pthread_sigmask(SIG_SETMASK, &context->uc_sigmask, NULL);
	longjmp(rec->env, 1);
}

#else

#define DIRECTION_FLAG (1LL << 10)

static_assert(offsetof(struct cp_guard_rec, fn) == 0, "cp_guard_call");
static_assert(offsetof(struct cp_guard_rec, rbx) == 8, "cp_guard_call");
static_assert(offsetof(struct cp_guard_rec, rsp) == 56, "cp_guard_call");

/*
 * Note what a caller may find unchanged after a call in the System V ABI, and go on as
 * fn, whose arguments are in place and which returns to our caller. Direction flag and
 * MXCSR belong to that too: the first is cleared in leave(), kernels do not touch the
 * other.
 */
__attribute__((naked)) size_t cp_guard_call(void *dst __attribute__((unused)),
					    const void *src __attribute__((unused)),
					    size_t len __attribute__((unused)),
					    enum cp_dir dir __attribute__((unused)),
					    enum cp_attr attr __attribute__((unused)))
{
	__asm__("movq cp_guard_rec@gottpoff(%rip), %rax\n\t"
		"movq %rbx, %fs:8(%rax)\n\t"
		"movq %rbp, %fs:16(%rax)\n\t"
		"movq %r12, %fs:24(%rax)\n\t"
		"movq %r13, %fs:32(%rax)\n\t"
		"movq %r14, %fs:40(%rax)\n\t"
		"movq %r15, %fs:48(%rax)\n\t"
		"movq %rsp, %fs:56(%rax)\n\t"
		"jmp *%fs:(%rax)");
}

/* When the handler returns, cp_guard_call() has returned. */
static void leave(const struct cp_guard_rec *rec, ucontext_t *context, size_t residue)
{
	greg_t *regs = context->uc_mcontext.gregs;
	uint64_t return_address;

#ifdef __SANITIZE_ADDRESS__
	/* the frames that are left would have done this themselves */
	__asan_unpoison_memory_region((void *)regs[REG_RSP],
				      (size_t)rec->rsp - (size_t)regs[REG_RSP]);
#endif
	memcpy(&return_address, (const void *)rec->rsp, sizeof(return_address));
	regs[REG_RBX] = (greg_t)rec->rbx;
	regs[REG_RBP] = (greg_t)rec->rbp;
	regs[REG_R12] = (greg_t)rec->r12;
	regs[REG_R13] = (greg_t)rec->r13;
	regs[REG_R14] = (greg_t)rec->r14;
	regs[REG_R15] = (greg_t)rec->r15;
	regs[REG_RSP] = (greg_t)rec->rsp + (greg_t)sizeof(return_address);
	regs[REG_RIP] = (greg_t)return_address;
	regs[REG_RAX] = (greg_t)residue;
	regs[REG_EFL] &= ~DIRECTION_FLAG;
}

#endif

bool cp_guard_is_fault(const siginfo_t *info)
{
	return info->si_code > 0 &&
	       !(info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

/* The first byte of [base, base + len) that may be what [first, last] could not have. */
static bool reaches(uintptr_t base, size_t len, uintptr_t first, uintptr_t last,
		    size_t *ret_offset)
{
	if (last < base || (first >= base && first - base >= len))
		return false;
	*ret_offset = first > base ? first - base : 0;
	return true;
}

/* The residue, when the fault is one of this thread's copy; else 0. */
static size_t residue_of(struct cp_guard_rec *rec, const siginfo_t *info)
{
	uintptr_t first = (uintptr_t)info->si_addr, last = first;
	size_t offset = 0, order, in_src, in_dst;

	/* A memory error takes all of a page, and the address may be the page's. */
	if (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AR) {
		uintptr_t below = ((uintptr_t)1 << info->si_addr_lsb) - 1;

		first &= ~below;
		last |= below;
	}
	bool src = reaches(rec->src, rec->len, first, last, &in_src);
	bool dst = reaches(rec->dst, rec->len, first, last, &in_dst);

	if (!rec->len || (!src && !dst))
		return 0;
	offset = !dst || (src && in_src < in_dst) ? in_src : in_dst;
	rec->side = src ? CP_GUARD_SRC : CP_GUARD_DST;
	order = cp_copy_order(rec->fn);
	return rec->len - (order && offset > order ? offset - order : 0);
}

bool cp_guard_leave(const siginfo_t *info, void *context)
{
	struct cp_guard_rec *rec = &cp_guard_rec;
	size_t residue = cp_guard_is_fault(info) ? residue_of(rec, info) : 0;

	if (!residue)
		return false;
#ifdef __x86_64__
	/* NT stores of the bytes that are claimed must be visible to whoever sees the
	 * completion of this I/O, and durable before it where engines/queue/persist.c
	 * promises that: the kernel did not reach its own fence. */
	__builtin_ia32_sfence();
#endif
	leave(rec, context, residue);
	return true;
}

enum cp_guard_side cp_guard_take_side(void)
{
	enum cp_guard_side side = cp_guard_rec.side;

	cp_guard_rec.side = CP_GUARD_NONE;
	return side;
}
