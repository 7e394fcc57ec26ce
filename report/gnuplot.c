// SPDX-License-Identifier: GPL-2.0-only
/* One gnuplot for all figures, without a shell. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engines/base/file.h"
#include "report/escape.h"
#include "report/figures.h"

#define TIME_LIMIT_S 120 /* a gnuplot that hangs must not hang the report */
#define NOT_FOUND    127
#define LOG_NAME     "figures/gnuplot.log"

static void child(const char *dir, char *const *argv)
{
	int log = -1, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!chdir(dir))
		log = open("gnuplot.log", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 ||
	    dup2(log, 2) < 0)
		_exit(1);
	alarm(TIME_LIMIT_S); /* survives the exec */
	execvp(argv[0], argv);
	_exit(NOT_FOUND);
}

static char **make_argv(const struct cp_report_figures *figures)
{
	/* one block: pointers, then names */
	size_t pointers = (figures->nr + 3) * sizeof(char *);
	char **argv = calloc(1, pointers + figures->nr * 80);
	static char program[] = "gnuplot", defaults[] = "--default-settings";

	if (!argv)
		return NULL;
	argv[0] = program;
	argv[1] = defaults; /* the user's own start-up file would change the figures */
	for (size_t i = 0; i < figures->nr; i++) {
		char *name = (char *)argv + pointers + i * 80;

		snprintf(name, 80, "%s.gp", figures->list[i].name);
		argv[i + 2] = name;
	}
	return argv;
}

/* The first line gnuplot complained with that says something. */
static void read_log(const struct cp_report_files *files, char *buf, size_t size)
{
	char path[4200], *text;
	struct cp_err err;
	size_t len;

	buf[0] = '\0';
	if (cp_path_join(path, sizeof(path), files->tmp, LOG_NAME))
		return;
	if (!cp_file_read(path, 1U << 20, &text, &len, &err)) {
		const char *at = strstr(text, "line ");

		at = at ? at : text + strspn(text, "\n \t^");
		char line[200];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		cp_text_visible(line, 120, buf, size);
		free(text);
	}
	unlink(path);
}

static int collect(struct cp_report_figures *figures, struct cp_report_files *files,
		   size_t *ret_drawn, struct cp_err *err)
{
	static const char *const forms[] = {"svg", "png"};
	size_t drawn = 0;

	for (size_t i = 0; i < figures->nr; i++) {
		struct cp_report_figure *figure = &figures->list[i];
		char path[4200], name[96];
		struct stat st;
		bool whole = true;

		for (int f = 0; f < 2; f++) {
			snprintf(name, sizeof(name), "figures/%s.%s", figure->name,
				 forms[f]);
			if (cp_path_join(path, sizeof(path), files->tmp, name) ||
			    stat(path, &st)) {
				whole = false;
				continue;
			}
			int rc = cp_report_files_add(files, name, err);

			if (rc)
				return rc;
			whole = whole && st.st_size > 0;
		}
		figure->drawn = whole;
		drawn += whole;
	}
	*ret_drawn = drawn;
	return 0;
}

int cp_report_figures_draw(struct cp_report_figures *figures,
			   struct cp_report_files *files, char *why, size_t size,
			   struct cp_err *err)
{
	char dir[4200], said[400];
	char **argv = make_argv(figures);
	size_t drawn = 0;
	int status = 0;

	why[0] = '\0';
	if (!argv || cp_path_join(dir, sizeof(dir), files->tmp, "figures")) {
		free(argv);
		return cp_err_set(err, CP_EXIT_INVALID, ENOMEM,
				  "not enough memory for the figures");
	}
	if (!figures->nr) {
		free(argv);
		return 0;
	}
	pid_t pid = fork();

	if (pid < 0) {
		free(argv);
		return cp_err_set(err, CP_EXIT_INVALID, errno, "cannot start gnuplot: %s",
				  strerror(errno));
	}
	if (!pid)
		child(dir, argv);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(argv);
	read_log(files, said, sizeof(said));
	int rc = collect(figures, files, &drawn, err);

	if (rc || drawn == figures->nr)
		return rc;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		snprintf(why, size, "gnuplot was not found; install gnuplot-nox");
	else if (WIFSIGNALED(status))
		snprintf(why, size, "gnuplot was ended by signal %d", WTERMSIG(status));
	else
		snprintf(why, size, "gnuplot drew %zu of %zu figures%s%s", drawn,
			 figures->nr, said[0] ? ": " : "", said);
	return 0;
}
