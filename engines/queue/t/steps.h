/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions, counted one by one: a child of this program is single-stepped between two
 * marks, and each instruction goes to a stage by the names of the functions that it is
 * inlined from, innermost first (addr2line and this program's debug information). What
 * runs outside the program, in libc or the vdso, is its caller's. Exact, where there are
 * no hardware counters; the kernel's own instructions are not in it, only how often it is
 * called.
 */
#ifndef CP_ENGINES_QUEUE_T_STEPS_H
#define CP_ENGINES_QUEUE_T_STEPS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_STAGES_MAX 16

/* Of a function: a name, or the beginning of one with '*' behind it. */
struct steps_rule {
	const char *name;
	unsigned stage;
};

struct steps {
	uint64_t stages[STEPS_STAGES_MAX]; /* instructions */
	uint64_t unknown;		   /* of no rule */
	uint64_t syscalls;
};

extern const char __executable_start, etext;

__attribute__((noinline)) static void steps_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void steps_end(void)
{
	__asm__ volatile("nop" ::: "memory");
}

static inline void steps_die(const char *what)
{
	fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
	exit(4);
}

static inline uintptr_t steps_ip(pid_t child)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, child, NULL, &regs))
		steps_die("cannot read the registers of a child");
	return (uintptr_t)regs.rip;
}

/* The next stop. False: it has ended. */
static inline bool steps_go(pid_t child)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
	    waitpid(child, &status, 0) != child)
		steps_die("cannot step a child");
	return WIFSTOPPED(status);
}

/* A stub that jumps to a shared library, after an endbr64 or a prefix. */
static inline bool steps_is_stub(const unsigned char *code)
{
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		code += 4;
	code += *code == 0xf2;
	return code[0] == 0xff && code[1] == 0x25;
}

/* counts[ip - start of the program] for each instruction between the marks. */
static inline void steps_count(pid_t child, uint32_t *counts, uint64_t *ret_syscalls)
{
	const uintptr_t start = (uintptr_t)&__executable_start, end = (uintptr_t)&etext;
	uintptr_t ip, mine = start;
	bool counting = false;

	*ret_syscalls = 0;
	do {
		ip = steps_ip(child);
		if (ip == (uintptr_t)steps_end)
			return;
		if (ip >= start && ip < end && !steps_is_stub((const unsigned char *)ip))
			mine = ip;
		if (counting) {
			const unsigned char *code = (const unsigned char *)ip;

			counts[mine - start]++;
			*ret_syscalls += code[0] == 0x0f && code[1] == 0x05;
		}
		counting |= ip == (uintptr_t)steps_begin;
	} while (steps_go(child));
	steps_die("a child ended early");
}

static inline bool steps_match(const struct steps_rule *rule, const char *name)
{
	size_t len = strlen(rule->name);

	if (rule->name[len - 1] == '*')
		return !strncmp(rule->name, name, len - 1);
	/* gcc's clones: name.constprop.0, name.part.0 */
	return !strncmp(rule->name, name, len) && (!name[len] || name[len] == '.');
}

/* -1: of no rule. The first rule of the innermost function that has one. */
static inline int steps_stage(const struct steps_rule *rules, const char *name)
{
	for (; rules->name; rules++) {
		if (steps_match(rules, name))
			return (int)rules->stage;
	}
	return -1;
}

/* One answer of addr2line -a: the address, then a name and a place for each frame. */
static inline void steps_attribute(FILE *answers, const uint32_t *counts,
				   const struct steps_rule *rules, bool verbose,
				   struct steps *ret_steps)
{
	char line[1024], first[1024] = "";
	uint64_t count = 0;
	int stage = -1;
	bool name = false;

	for (;;) {
		bool more = fgets(line, sizeof(line), answers) != NULL;

		line[strcspn(line, "\n")] = '\0';
		if (!more || !strncmp(line, "0x", 2)) {
			if (stage >= 0)
				ret_steps->stages[stage] += count;
			else
				ret_steps->unknown += count;
			if (count && stage < 0 && verbose)
				fprintf(stderr, "no stage: %s x %lu\n", first, count);
			if (!more)
				return;
			count = counts[strtoull(line, NULL, 16)];
			stage = -1;
			first[0] = '\0';
			name = true;
			continue;
		}
		if (name && !first[0])
			memcpy(first, line, sizeof(line));
		if (name && stage < 0)
			stage = steps_stage(rules, line);
		name = !name;
	}
}

/* addr2line of this program, with the addresses in `asked`. */
static inline FILE *steps_ask(FILE *asked, pid_t *ret_child)
{
	char exe[512];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int fds[2];

	if (len < 0 || pipe(fds))
		steps_die("cannot ask addr2line");
	exe[len] = '\0';
	rewind(asked);
	*ret_child = fork();
	if (*ret_child < 0)
		steps_die("cannot start addr2line");
	if (!*ret_child) {
		dup2(fileno(asked), STDIN_FILENO);
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execlp("addr2line", "addr2line", "-a", "-f", "-i", "-e", exe, NULL);
		_exit(127);
	}
	close(fds[1]);
	return fdopen(fds[0], "r");
}

static inline void steps_sum(const uint32_t *counts, const struct steps_rule *rules,
			     struct steps *ret_steps)
{
	size_t bytes = (size_t)(&etext - &__executable_start);
	FILE *asked = tmpfile(), *answers;
	pid_t child;
	int status;

	if (!asked)
		steps_die("cannot write a temporary file");
	for (size_t at = 0; at < bytes; at++) {
		if (counts[at])
			fprintf(asked, "%zx\n", at);
	}
	answers = steps_ask(asked, &child);
	if (!answers)
		steps_die("cannot ask addr2line");
	steps_attribute(answers, counts, rules, getenv("STEPS_VERBOSE") != NULL,
			ret_steps);
	fclose(answers);
	fclose(asked);
	if (waitpid(child, &status, 0) != child || status)
		steps_die("addr2line (binutils) failed");
}
/* fn(arg) is run in a child, and calls steps_begin() and steps_end() once each.
 */
static inline struct steps steps_of(void (*fn)(void *arg), void *arg,
				    const struct steps_rule *rules)
{
	size_t bytes = (size_t)(&etext - &__executable_start);
	uint32_t *counts = calloc(bytes, sizeof(*counts));
	struct steps steps = {0};
	int status;

	fflush(stdout);
	pid_t child = fork();

	if (!counts || child < 0)
		steps_die("cannot start a child");
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(4);
		fn(arg);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		steps_die("a child cannot be traced");
	steps_count(child, counts, &steps.syscalls);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	steps_sum(counts, rules, &steps);
	free(counts);
	return steps;
}

#endif
