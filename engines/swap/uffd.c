// SPDX-License-Identifier: GPL-2.0-only
/* userfaultfd: had by the least privilege that will do, and its calls. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engines/swap/internal.h"

/* What older headers lack; include/uapi/linux/userfaultfd.h of Linux 6.6. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFDIO_POISON
#define UFFD_FEATURE_POISON (1 << 14)
struct uffdio_poison {
	struct uffdio_range range;
	__u64 mode;
	__s64 updated;
};
#define UFFDIO_POISON _IOWR(UFFDIO, 0x08, struct uffdio_poison)
#endif

/* The kernel says EAGAIN while the address space is changed, which we do not do for long.
 */
#define AGAIN_MAX 1000000

static int no_uffd(int errnum, struct cp_err *err)
{
	if (errnum == ENOSYS)
		return cp_err_set(
			err, CP_EXIT_INVALID, errnum,
			"userfaultfd cannot be used: %s; expected a kernel with "
			"CONFIG_USERFAULTFD",
			strerror(errnum));
	return cp_err_set(err, CP_EXIT_INVALID, errnum,
			  "userfaultfd cannot be used: %s; expected a kernel of 5.11 or "
			  "later and no sandbox that denies it, or 'sysctl "
			  "vm.unprivileged_userfaultfd=1', or CAP_SYS_PTRACE, or "
			  "/dev/userfaultfd to be readable and writable",
			  strerror(errnum));
}

/* Faults of user mode are all there are, and for those no privilege is needed. */
static int get_fd(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	int errnum = errno;

	if (fd < 0 && errnum == EINVAL) { /* before 5.11 */
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
		errnum = errno;
	}
	if (fd >= 0)
		return fd;
	int dev = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);

	if (dev < 0)
		return -errnum;
	fd = ioctl(dev, USERFAULTFD_IOC_NEW, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	close(dev);
	return fd < 0 ? -errnum : fd;
}

/* UFFDIO_API is once a descriptor, so one is spent to ask what there is. */
static int ask_features(uint64_t *ret_features)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = get_fd();

	if (fd < 0)
		return fd;
	int ret = ioctl(fd, UFFDIO_API, &api) ? -errno : 0;
	close(fd);
	*ret_features = api.features;
	return ret;
}

int swap_uffd_open(struct swap_uffd *ret_uffd, struct cp_err *err)
{
	const uint64_t need = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_THREAD_ID;
	struct uffdio_api api = {.api = UFFD_API};
	uint64_t features = 0;
	int ret = ask_features(&features);

	if (ret)
		return no_uffd(-ret, err);
	if ((features & need) != need)
		return cp_err_set(
			err, CP_EXIT_INVALID, ENOTSUP,
			"userfaultfd of this kernel cannot write-protect memory; "
			"expected Linux 5.7 or later with "
			"CONFIG_HAVE_ARCH_USERFAULTFD_WP");
	int fd = get_fd();

	if (fd < 0)
		return no_uffd(-fd, err);
	api.features = need | (features & UFFD_FEATURE_POISON);
	if (ioctl(fd, UFFDIO_API, &api)) {
		ret = errno;
		close(fd);
		return no_uffd(ret, err);
	}
	*ret_uffd = (struct swap_uffd){fd, (features & UFFD_FEATURE_POISON) != 0};
	return 0;
}

int cp_swap_check(struct cp_err *err)
{
	struct swap_uffd uffd;
	int ret = swap_uffd_open(&uffd, err);

	if (!ret)
		close(uffd.fd);
	return ret;
}

static struct uffdio_range range_of(const void *start, uint64_t bytes)
{
	return (struct uffdio_range){(uintptr_t)start, bytes};
}

/* 0, or a negative errno that is no passing one. */
static int call(int fd, unsigned long request, void *arg)
{
	for (unsigned i = 0; i < AGAIN_MAX; i++) {
		if (!ioctl(fd, request, arg))
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		sched_yield();
	}
	return -EAGAIN;
}

int swap_uffd_register(const struct swap_uffd *uffd, void *start, uint64_t bytes)
{
	struct uffdio_register arg = {
		.range = range_of(start, bytes),
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};

	return call(uffd->fd, UFFDIO_REGISTER, &arg);
}

int swap_uffd_copy(const struct swap_uffd *uffd, void *page, const void *from,
		   bool protect)
{
	struct uffdio_copy arg = {
		.dst = (uintptr_t)page,
		.src = (uintptr_t)from,
		.len = CP_SWAP_PAGE,
		.mode = protect ? UFFDIO_COPY_MODE_WP : 0,
	};

	return call(uffd->fd, UFFDIO_COPY, &arg);
}

int swap_uffd_zero(const struct swap_uffd *uffd, void *page)
{
	struct uffdio_zeropage arg = {.range = range_of(page, CP_SWAP_PAGE)};

	return call(uffd->fd, UFFDIO_ZEROPAGE, &arg);
}

int swap_uffd_protect(const struct swap_uffd *uffd, void *start, uint64_t bytes, bool on)
{
	struct uffdio_writeprotect arg = {
		.range = range_of(start, bytes),
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	return call(uffd->fd, UFFDIO_WRITEPROTECT, &arg);
}

int swap_uffd_wake(const struct swap_uffd *uffd, void *page)
{
	struct uffdio_range arg = range_of(page, CP_SWAP_PAGE);

	return call(uffd->fd, UFFDIO_WAKE, &arg);
}

int swap_uffd_poison(const struct swap_uffd *uffd, void *page)
{
	struct uffdio_poison arg = {.range = range_of(page, CP_SWAP_PAGE)};

	return call(uffd->fd, UFFDIO_POISON, &arg);
}
