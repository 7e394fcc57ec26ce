/* SPDX-License-Identifier: GPL-2.0-only */
/* A folder that stands for the machine's root in a test: files as sysfs has them. */
#ifndef CP_ENGINES_BASE_T_TREE_H
#define CP_ENGINES_BASE_T_TREE_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int tree_setup(void **state)
{
	char *root = strdup("/tmp/copypath-tree-XXXXXX");

	if (!root || !mkdtemp(root)) {
		free(root);
		return -1;
	}
	*state = root;
	return 0;
}

static inline int tree_remove(const char *path, const struct stat *st, int type,
			      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int tree_teardown(void **state)
{
	int rc = nftw(*state, tree_remove, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return rc;
}

/* root + path in buf, its folders made. */
static inline void tree_path(const char *root, const char *path, char *buf, size_t size)
{
	assert_true((size_t)snprintf(buf, size, "%s%s", root, path) < size);
	for (char *at = buf + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		assert_true(!mkdir(buf, 0755) || errno == EEXIST);
		*at = '/';
	}
}

static inline void tree_file(const char *root, const char *path, const char *text)
{
	char full[512];

	tree_path(root, path, full, sizeof(full));
	FILE *file = fopen(full, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* A link to root + to. */
static inline void tree_link(const char *root, const char *path, const char *to)
{
	char full[512], target[512];

	tree_path(root, path, full, sizeof(full));
	tree_path(root, to, target, sizeof(target));
	assert_true(!symlink(target, full) || errno == EEXIST);
}

#endif
