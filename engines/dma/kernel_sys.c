// SPDX-License-Identifier: GPL-2.0-only
/* The system calls of the kernel engine. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engines/dma/kernel_sys.h"

/* Is it the module's, by what sysfs says of its number? Opening a device can act on it,
 * and so can an ioctl that means something else to its driver. */
static bool is_ours(dev_t dev)
{
	char path[64], real[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u", major(dev), minor(dev));
	return realpath(path, real) && strstr(real, "/misc/") &&
	       !strcmp(strrchr(real, '/') + 1, "cp_dma");
}

static int linux_open(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISCHR(st.st_mode) || !is_ours(st.st_rdev))
		return -ENOTTY;
	dev_t dev = st.st_rdev;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	/* it may have been replaced meanwhile */
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != dev) {
		close(fd);
		return -ENOTTY;
	}
	return fd;
}

static int linux_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static void *linux_mmap(size_t bytes, int fd)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void linux_munmap(void *at, size_t bytes)
{
	munmap(at, bytes);
}

static void linux_close(int fd)
{
	close(fd);
}

const struct kernel_sys kernel_sys_linux = {
	.open = linux_open,
	.ioctl = linux_ioctl,
	.mmap = linux_mmap,
	.munmap = linux_munmap,
	.close = linux_close,
};

const struct kernel_sys *kernel_sys = &kernel_sys_linux;
