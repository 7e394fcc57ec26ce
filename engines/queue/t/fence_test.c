/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a submitter really executes for an I/O: its NT stores, flushes and fences, in
 * order, up to the instruction that hands the I/O back. The CPU's trap flag stops it in
 * front of every instruction, of all code that it runs, and a handler looks at the bytes:
 * so a fence that is missing, too early or empty is seen, whoever should have made it.
 */
#include "engines/queue/t/rig.h"

#include <signal.h>
#include <ucontext.h>

#include "engines/copy/flush.h"
#include "engines/queue/internal.h"

#define BS	     4096U
#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

/* n NT store; w CLWB, o CLFLUSHOPT, f CLFLUSH; s SFENCE, m MFENCE, l LFENCE. A row of the
 * same is one. */
static char trace[32];
static unsigned nr_trace;

static bool is_nt_store(const unsigned char *p)
{
	if (p[0] == 0xc5) /* VEX, EVEX: VMOVNTDQ */
		return p[2] == 0xe7;
	if (p[0] == 0xc4)
		return (p[1] & 0x1f) == 1 && p[3] == 0xe7;
	if (p[0] == 0x62)
		return (p[1] & 7) == 1 && p[4] == 0xe7;
	bool word = p[0] == 0x66;

	p += word;
	p += (p[0] & 0xf0) == 0x40; /* REX */
	/* MOVNTDQ, MOVNTI */
	return p[0] == 0x0f && p[1] == (word ? 0xe7 : 0xc3);
}

/* The letter of the instruction at p, 0: of no interest. */
static char letter_of(const unsigned char *p)
{
	if (is_nt_store(p))
		return 'n';
	bool word = p[0] == 0x66;

	p += word;
	p += (p[0] & 0xf0) == 0x40;
	if (p[0] != 0x0f || p[1] != 0xae)
		return 0;
	bool memory = p[2] < 0xc0;
	unsigned op = p[2] >> 3 & 7;

	if (!memory)
		return word	      ? 0
		       : p[2] == 0xf8 ? 's'
		       : p[2] == 0xf0 ? 'm'
		       : p[2] == 0xe8 ? 'l'
				      : 0;
	if (word)
		return op == 6 ? 'w' : op == 7 ? 'o' : 0;
	return op == 7 ? 'f' : 0;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	const void *at = (const void *)interrupted->uc_mcontext.gregs[REG_RIP];
	char letter = letter_of(at);

	(void)sig;
	(void)info;
	if (letter && (!nr_trace || trace[nr_trace - 1] != letter) &&
	    nr_trace < sizeof(trace) - 1)
		trace[nr_trace++] = letter;
}

static void trap(bool on)
{
	/* below the red zone, which the compiler may be using */
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
				 "orq $0x100, (%%rsp)\n\tpopfq\n\t"
				 "lea 128(%%rsp), %%rsp" ::
					 : "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
				 "andq $~0x100, (%%rsp)\n\tpopfq\n\t"
				 "lea 128(%%rsp), %%rsp" ::
					 : "memory", "cc");
}

static void traced(struct rig *rig, struct cp_io *io, bool mq)
{
	nr_trace = 0;
	memset(trace, 0, sizeof(trace));
	trap(true);
	one(rig, io, mq);
	trap(false);
	assert_int_equal(io->error, 0);
}

/* the best flush of this CPU */
static const struct cp_flush_ops *best(void)
{
	const struct cp_flush_ops *ops = cp_flush_table;

	while (!ops->present())
		ops++;
	return ops;
}

static char flush_letter(const char *name)
{
	return !strcmp(name, "clwb") ? 'w' : !strcmp(name, "clflushopt") ? 'o' : 'f';
}

/* expect with the best flush's letter for each '*' */
static void spell(const char *expect, char *buf)
{
	while (*expect) {
		*buf++ = *expect == '*' ? flush_letter(best()->name) : *expect;
		expect++;
	}
	*buf = '\0';
}

/* Description: the proof names a flush and a fence where they were executed and only
 * there; a fence by the last one. */
static void check_proof(const char *settings, const struct cp_proof *proof, bool active)
{
	const char *last = strpbrk(trace, "sm") ? &trace[nr_trace - 1] : "";
	bool flushed = strpbrk(trace, "wof") != NULL;

	if (!active)
		flushed = false, last = "";
	if (flushed != (proof->flush[0] != '\0') ||
	    (flushed && !strchr(trace, flush_letter(proof->flush))))
		fail_msg("%s: %s, and the proof says flush '%s'", settings, trace,
			 proof->flush);
	while (*last && *last != 's' && *last != 'm')
		last--;
	if (strcmp(proof->fence, *last == 's' ? "sfence" : *last == 'm' ? "mfence" : ""))
		fail_msg("%s: %s, and the proof says fence '%s'", settings, trace,
			 proof->fence);
}

static const struct sequence {
	const char *settings, *attr;
	bool mq, locked;
	uint64_t offset;
	enum cp_dir dir;
	const char *expect; /* NULL: what auto has taken */
} cases[] = {
	/* nothing is asked for: ordinary stores need none, NT stores their own */
	{"copy=memcpy", "wb", false, false, 0, CP_DIR_WRITE, ""},
	{"copy=nt", "wb", false, false, 0, CP_DIR_WRITE, "ns"},
	{"copy=nt", "wb", false, true, 0, CP_DIR_WRITE, "n"},
	{"copy=nt queue_mode=mq", "wb", true, false, 0, CP_DIR_WRITE, "ns"},
	/* flushes, then the fence, then hand back */
	{"copy=memcpy persist=auto", "wb", false, true, 0, CP_DIR_WRITE, "*s"},
	{"copy=memcpy persist=auto queue_mode=mq", "wb", true, true, 0, CP_DIR_WRITE,
	 "*s"},
	{"copy=memcpy persist=auto fence=mfence", "wb", false, true, 0, CP_DIR_WRITE,
	 "*m"},
	{"copy=memcpy persist=auto flush=clflush", "wb", false, true, 0, CP_DIR_WRITE,
	 "f"},
	{"copy=memcpy fence=sfence", "wb", false, true, 0, CP_DIR_WRITE, "s"},
	{"copy=memcpy persist=auto", "wb", false, true, 0, CP_DIR_READ, ""},
	/* what an engine wrote: no line is flushed before the loads that saw it done */
	{"queue_mode=mq path=dma dma=sw persist=auto", "wb", true, true, 0, CP_DIR_WRITE,
	 "l*s"},
	/* the kernel's own fence is the last, or one stands behind it */
	{"copy=nt persist=auto", "wb", false, true, 0, CP_DIR_WRITE, "ns"},
	{"copy=nt persist=auto queue_mode=mq", "wb", true, true, 0, CP_DIR_WRITE, "ns"},
	{"copy=nt persist=auto", "wb", false, true, 4, CP_DIR_WRITE, "ns*s"},
	{"copy=nt persist=auto queue_mode=mq", "wb", true, true, 4, CP_DIR_WRITE, "ns*s"},
	{"copy=nt persist=auto fence=mfence", "wb", false, true, 0, CP_DIR_WRITE, "nsm"},
	{"copy=nt flush=clflush", "wb", false, true, 0, CP_DIR_WRITE, "ns"},
	{"copy=nt flush=clflush", "wb", false, true, 4, CP_DIR_WRITE, "nsf"},
	{"copy=auto persist=auto", "wb", false, true, 0, CP_DIR_WRITE, NULL},
	/* stores to write-combining memory, which are never in order with the completion;
	 * played by NT stores here, and the device asks what was asked, not how it is had
	 */
	{"copy=memcpy", "wc", false, false, 0, CP_DIR_WRITE, "ns"},
	{"copy=memcpy queue_mode=mq", "wc", true, false, 0, CP_DIR_WRITE, "ns"},
	{"copy=nt-both", "wc", false, false, 0, CP_DIR_WRITE, "ns"},
	{"copy=memcpy", "wc", false, true, 0, CP_DIR_WRITE, "n"},
	{"copy=memcpy", "wc", false, false, 0, CP_DIR_READ, "om"},
};

/* Description: NT stores, flushes and fences of an I/O are executed in this order and no
 * others, all of them before it is handed back, and the proof names those. */
static void executed_in_order(void **state)
{
	static unsigned char near[BS];

	(void)state;
	if (cp_attr_lacks() || best()->ordered)
		skip(); /* the fences are of clwb and clflushopt */
	for (size_t i = 0; i < NR_OF(cases); i++) {
		const struct sequence *c = &cases[i];
		struct cp_dev_cfg cfg = config(c->settings);
		struct cp_io io = {
			.near = near, .offset = c->offset, .bytes = BS, .dir = c->dir};
		char expect[32];

		cfg.attr = c->attr;
		cfg.locked_handover = c->locked;
		struct rig rig = rig_open(&cfg);

		cp_sub_measure_begin(rig.sub);
		traced(&rig, &io, c->mq);
		struct cp_proof proof = proof_of(&rig);

		spell(c->expect ? c->expect : trace, expect);
		if (strcmp(trace, expect) != 0)
			fail_msg("%s, attr %s, at %lu: '%s', expected '%s'", c->settings,
				 c->attr, c->offset, trace, expect);
		check_proof(c->settings, &proof, rig.dev->flush.active);
		rig_close(&rig);
	}
}

/* Description: NT loads from memory that really is write-combining begin with a fence, so
 * that no streaming buffer has an older line; from other memory, and by other loads, not.
 */
static void nt_loads_are_fenced(void **state)
{
	static const struct {
		const char *settings;
		enum cp_attr mapped;
		const char *expect;
	} loads[] = {
		{"copy=ntload", CP_ATTR_WB, ""},
		{"copy=ntload", CP_ATTR_WT, ""},
		{"copy=ntload", CP_ATTR_WC, "m"},
		{"copy=memcpy", CP_ATTR_WC, ""},
	};
	static unsigned char near[BS];

	(void)state;
	for (size_t i = 0; i < NR_OF(loads); i++) {
		struct cp_dev_cfg cfg = config(loads[i].settings);
		struct cp_io io = {.near = near, .bytes = BS, .dir = CP_DIR_READ};
		struct rig rig = rig_open(&cfg);

		rig.dev->mapped = loads[i].mapped; /* as a media that has it natively */
		traced(&rig, &io, false);
		assert_string_equal(trace, loads[i].expect);
		rig_close(&rig);
	}
}

/* Description: a sync fences what its submitter's copies have not; so does a preflush,
 * before its I/O stores anything, and a fua behind its own stores. */
static void sync_fences(void **state)
{
	static unsigned char near[BS];
	static const char *const settings[] = {"copy=nt", "copy=nt queue_mode=mq"};

	(void)state;
	for (unsigned mq = 0; mq < 2; mq++) {
		struct cp_dev_cfg cfg = config(settings[mq]);
		struct cp_io io = {.near = near, .bytes = BS, .dir = CP_DIR_WRITE};
		struct cp_io sync = {.sync = true};

		cfg.locked_handover = true;
		struct rig rig = rig_open(&cfg);

		traced(&rig, &io, mq);
		assert_string_equal(trace, "n");
		traced(&rig, &sync, mq);
		assert_string_equal(trace, "s");
		io.preflush = true;
		traced(&rig, &io, mq);
		assert_string_equal(trace, "sn");
		io.fua = true;
		traced(&rig, &io, mq);
		assert_string_equal(trace, "sns");
		rig_close(&rig);
	}
}

static int start(void **state)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct cp_err err;

	(void)state;
	sigemptyset(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
	return cp_topo_load(NULL, &topo, &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executed_in_order),
		cmocka_unit_test(nt_loads_are_fenced),
		cmocka_unit_test(sync_fences),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}

#else

int main(void)
{
	puts("not asserted: instructions are traced on x86-64, without ThreadSanitizer");
	return 0;
}

#endif
