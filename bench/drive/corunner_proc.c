// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of a co-runner: copies of this one, so that what they run is what was
 * built, each pinned to its CPU, dying with us whatever ends us.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/drive/child.h"
#include "bench/drive/corunner.h"
#include "engines/base/clock.h"

#define NOTE_NS	    2000000ULL /* between entries of the log */
#define GAP_NS	    1000000ULL
#define STEAL_NS    50000000ULL
#define WARM_NS	    20000000ULL /* of its CPU */
#define SLICE_NS    1000000ULL
#define START_MAX_S 120 /* memory is touched in that time */
#define STOP_MAX_NS 10000000000ULL
#define STAT_FD	    3
#define STAT_MAX    (256U << 10)

static _Noreturn void give_up(struct cp_corunner_shared *shared, const char *what,
			      int errnum)
{
	shared->errnum = errnum;
	snprintf(shared->what, sizeof(shared->what), "%s", what);
	atomic_store_explicit(&shared->ready, 2, memory_order_release);
	_exit(1);
}

/* Ours alone: no Ctrl-C of the terminal, no handlers, and none of the parent's files,
 * locks among them, beside /proc/stat. */
static void detach(pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	prctl(PR_SET_NAME, "cp-corunner");
	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		close(STAT_FD);
	else if (fd != STAT_FD)
		dup2(fd, STAT_FD);
	close_range(STAT_FD + 1, ~0U, 0);
}

/* Ticks of our CPU; a machine that does not tell leaves the log empty. */
static void note_steal(struct cp_corunner_shared *shared, unsigned cpu)
{
	static char text[STAT_MAX];
	struct cp_worklog_entry now;

	ssize_t len = pread(STAT_FD, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = 0;
	now.t_ns = cp_now_ns();
	if (cp_steal_parse(text, cpu, &now.value[0], &now.value[1]))
		cp_worklog_note(&shared->steal, &now);
}

/* The CPU that goes into reading /proc/stat is not its work's. */
static void work_on(struct cp_corunner_shared *shared, struct cp_work *work, unsigned cpu)
{
	uint64_t steal_at_ns = 0, aside_ns = 0;

	while (!atomic_load_explicit(&shared->stop, memory_order_relaxed)) {
		struct cp_worklog_entry now = {.t_ns = cp_now_ns()};

		now.value[0] = work->ops;
		now.value[1] = cp_thread_cpu_ns() - aside_ns;
		cp_worklog_note(&shared->work, &now);
		if (now.t_ns >= steal_at_ns) {
			uint64_t start_ns = cp_thread_cpu_ns();

			note_steal(shared, cpu);
			steal_at_ns = now.t_ns + STEAL_NS;
			aside_ns += cp_thread_cpu_ns() - start_ns;
			atomic_store_explicit(&shared->ready, 1, memory_order_release);
		}
		cp_work_block(work);
	}
	/* Up to now, so that all that was before lies within the logs. */
	const struct cp_worklog_entry now = {
		.t_ns = cp_now_ns(),
		.value = {work->ops, cp_thread_cpu_ns() - aside_ns},
	};
	cp_worklog_note(&shared->work, &now);
	cp_worklog_end(&shared->work);
	note_steal(shared, cpu);
}

static _Noreturn void run(const struct cp_corunner *corunner, uint64_t bytes,
			  unsigned cpu, struct cp_corunner_shared *shared)
{
	const struct sched_param param = {0};
	struct cp_work work;
	cpu_set_t one;
	int ret;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		give_up(shared, "be pinned to its CPU", errno);
	cp_worklog_init(&shared->work, NOTE_NS, GAP_NS);
	cp_worklog_init(&shared->steal, STEAL_NS, 0);
	ret = cp_work_open(&work, corunner->kind, bytes);
	if (ret)
		give_up(shared, "have its memory", -ret);
	/* Not yet as the least of all, which could take for ever on a busy machine. */
	while (cp_thread_cpu_ns() < WARM_NS)
		cp_work_block(&work);
	/* An equal is SCHED_OTHER also where we were started at real-time priority: work
	 * that never sleeps would leave that CPU to nobody. */
	if (sched_setscheduler(0, corunner->equal ? SCHED_OTHER : SCHED_IDLE, &param))
		give_up(shared, "have its priority", errno);
	work_on(shared, &work, cpu);
	shared->ops = work.ops;
	shared->sum = work.sum;
	cp_work_close(&work);
	_exit(0);
}

int cp_corunner_start(const struct cp_corunner *corunner, uint64_t bytes, unsigned cpu,
		      struct cp_corunner_proc *ret_proc, struct cp_err *err)
{
	struct cp_corunner_shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return cp_err_set(err, CP_EXIT_INVALID, errno,
				  "cannot start the co-runner: %s", strerror(errno));
	cp_child_keep_status();
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		detach(parent);
		run(corunner, bytes, cpu, shared);
	}
	if (pid < 0) {
		int errnum = errno;

		munmap(shared, sizeof(*shared));
		return cp_err_set(err, CP_EXIT_INVALID, errnum,
				  "cannot start the co-runner: %s", strerror(errnum));
	}
	*ret_proc = (struct cp_corunner_proc){.pid = pid, .cpu = cpu, .shared = shared};
	return 0;
}

bool cp_corunner_ended(struct cp_corunner_proc *proc)
{
	pid_t got;

	if (!proc->pid)
		return true;
	do
		got = waitpid(proc->pid, &proc->status, WNOHANG);
	while (got < 0 && errno == EINTR);
	if (!got)
		return false;
	if (got < 0) /* somebody else was told of its end */
		proc->status = -1;
	proc->pid = 0;
	return true;
}

int cp_corunner_wait(struct cp_corunner_proc *proc, const volatile int *interrupted,
		     struct cp_err *err)
{
	uint64_t start_ns = cp_now_ns();
	char why[128];

	for (;;) {
		uint32_t ready =
			atomic_load_explicit(&proc->shared->ready, memory_order_acquire);

		if (ready == 1)
			return 0;
		if (interrupted && *interrupted)
			return cp_err_set(err, CP_EXIT_INTERRUPTED, EINTR, "interrupted");
		if (cp_corunner_ended(proc)) {
			cp_corunner_good(proc, CP_CORUNNER_NONE, 0, why, sizeof(why));
			return cp_err_set(err, CP_EXIT_INVALID, ECHILD,
					  "cannot start the co-runner: it %s", why);
		}
		if (cp_now_ns() - start_ns > START_MAX_S * UINT64_C(1000000000))
			return cp_err_set(err, CP_EXIT_INVALID, ETIMEDOUT,
					  "cannot start the co-runner: it is not at work "
					  "after %d s; expected a CPU that is free, or a "
					  "smaller 'size'",
					  START_MAX_S);
		cp_sleep_ns(SLICE_NS);
	}
}

void cp_corunner_stop(struct cp_corunner_proc *procs, unsigned nr, bool at_once)
{
	const struct sched_param param = {0};
	uint64_t start_ns = cp_now_ns();

	for (unsigned i = 0; i < nr; i++) {
		atomic_store_explicit(&procs[i].shared->stop, 1, memory_order_relaxed);
		if (procs[i].pid) /* so that it hears; refused to most, who wait */
			sched_setscheduler(procs[i].pid, SCHED_OTHER, &param);
	}
	for (unsigned i = 0; i < nr; i++) {
		while (!cp_corunner_ended(&procs[i])) {
			if (at_once || cp_now_ns() - start_ns > STOP_MAX_NS) {
				procs[i].deaf = !at_once;
				kill(procs[i].pid, SIGKILL);
			}
			cp_sleep_ns(SLICE_NS / 4);
		}
	}
}

bool cp_corunner_good(const struct cp_corunner_proc *proc, enum cp_corunner_kind kind,
		      uint64_t bytes, char *why, size_t size)
{
	const struct cp_corunner_shared *shared = proc->shared;
	int status = proc->status;

	why[0] = '\0';
	if (proc->deaf) {
		snprintf(why, size, "did not end when it was asked to");
	} else if (status == -1) {
		snprintf(why, size, "ended, and its end was told to somebody else");
	} else if (WIFSIGNALED(status)) {
		snprintf(why, size, "was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status)) {
		snprintf(why, size, "cannot %s: %s",
			 shared->what[0] ? shared->what : "work",
			 strerror(shared->errnum));
	} else {
		uint64_t sum = cp_work_expected(kind, bytes, shared->ops);

		if (shared->sum == sum)
			return true;
		snprintf(why, size,
			 "came to %" PRIx64 " after %" PRIu64 " operations; expected "
			 "%" PRIx64,
			 shared->sum, shared->ops, sum);
	}
	return false;
}

void cp_corunner_free(struct cp_corunner_proc *proc)
{
	if (proc->shared)
		munmap(proc->shared, sizeof(*proc->shared));
	proc->shared = NULL;
}
