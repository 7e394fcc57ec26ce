/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the media `memattr` and its test: a stand-in for the kernel. */
#ifndef CP_ENGINES_MEDIA_MEMATTR_H
#define CP_ENGINES_MEDIA_MEMATTR_H

#include <sys/stat.h>
#include <sys/types.h>

#include "engines/media/media.h"

/* What the media asks of the kernel, each as the system call of that name; but what
 * mmap() gave goes back to the real munmap(). */
struct cp_memattr_sys {
	int (*stat)(const char *path, struct stat *st);
	int (*fstat)(int fd, struct stat *st);
	int (*open)(const char *path, int flags);
	int (*ioctl)(int fd, unsigned long request, void *arg);
	void *(*mmap)(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
	int (*close)(int fd);
	const char *root; /* goes before the paths of sysfs: "" but in tests */
};
extern const struct cp_memattr_sys cp_memattr_sys_kernel;

/* As ops->open() and ops->look() of the media, by these system calls. cfg->filename NULL
 * or "" is CP_MEMATTR_DEVICE. */
int cp_memattr_open(const struct cp_memattr_sys *sys, struct cp_media *media,
		    const struct cp_media_cfg *cfg, struct cp_err *err);
int cp_memattr_look(const struct cp_memattr_sys *sys, const struct cp_media_cfg *cfg,
		    struct cp_err *err);

#endif
