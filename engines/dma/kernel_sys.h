/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the kernel engine and its tests: a stand-in for the system. */
#ifndef CP_ENGINES_DMA_KERNEL_SYS_H
#define CP_ENGINES_DMA_KERNEL_SYS_H

#include <stddef.h>

/* What the engine asks of the system; all but mmap() give 0 or more, or -errno. Tests put
 * a device of their own here, before any channel is open. */
struct kernel_sys {
	/* -ENOTTY: there is a device, but not the module's; it was not opened */
	int (*open)(const char *path);
	int (*ioctl)(int fd, unsigned long request, void *arg);
	void *(*mmap)(size_t bytes, int fd); /* NULL on failure */
	void (*munmap)(void *at, size_t bytes);
	void (*close)(int fd);
};
extern const struct kernel_sys kernel_sys_linux;
extern const struct kernel_sys *kernel_sys;

#endif
