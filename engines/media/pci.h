/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Base address registers (BARs) of PCI devices as sysfs shows them, and whether one may
 * be mapped. Nothing here maps, opens a resource file or touches a device: all is told
 * from text files, links and the first bytes of config space, which have no side effects.
 *
 * Facts are of linux, Documentation/PCI/sysfs-pci.rst and drivers/pci/{pci-sysfs,mmap}.c:
 * resourceN is mapped uncached (UC-; an MTRR of type WC makes it WC, PAT's UC cannot be
 * had), resourceN_wc is there for prefetchable BARs where the CPU has write combining,
 * and mapping is refused under lockdown and, with IO_STRICT_DEVMEM, where a driver holds
 * the region.
 *
 * Threading: any; nothing is kept.
 */
#ifndef CP_ENGINES_MEDIA_PCI_H
#define CP_ENGINES_MEDIA_PCI_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

/* Where the kernel shows its devices and the use of addresses. */
struct cp_pci_root {
	const char *devices; /* "/sys/bus/pci/devices" */
	const char *iomem;   /* "/proc/iomem" */
	/* "/sys/kernel/debug/x86/pat_memtype_list"; may be missing */
	const char *memtypes;
	const char *mtrrs; /* "/proc/mtrr"; missing where the CPU has none */
	bool sysfs;	   /* a BAR must be on sysfs; false: a test's own tree */
};
extern const struct cp_pci_root cp_pci_root_kernel;

struct cp_pci_bar {
	char dir[PATH_MAX]; /* of the device, links resolved */
	char address[16];   /* "0000:00:04.0" */
	unsigned index;	    /* N of resourceN, 0 to 5 */
	uint64_t start;	    /* physical; 0 when sysfs hides it */
	uint64_t bytes;
	bool prefetchable;
	bool has_wc;	 /* resourceN_wc is there */
	char driver[64]; /* bound to the device; "" none */
	int node;	 /* of the device; -1 unknown */
};

/*
 * What filename, ".../0000:00:04.0/resource2", names. Errors (exit 2): missing, not on
 * sysfs, not a resourceN (or resourceN_wc: attr picks that) of a PCI device, I/O ports,
 * an unused register.
 */
int cp_pci_bar_find(const struct cp_pci_root *root, const char *filename,
		    struct cp_pci_bar *ret_bar, struct cp_err *err);

/*
 * May bytes of it be mapped under attr (uc or wc)? Errors: shorter than bytes, no
 * resourceN_wc, not on a page boundary (exit 2); a driver is bound, something else holds
 * its addresses, memory decoding is off, the device sleeps (exit 4), each with the
 * command that would change it.
 */
int cp_pci_bar_check(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		     enum cp_attr attr, uint64_t bytes, struct cp_err *err);

/* The file to map for attr. Returns buf, of PATH_MAX + 32. */
#define CP_PCI_PATH_MAX (PATH_MAX + 32)
char *cp_pci_bar_path(const struct cp_pci_bar *bar, enum cp_attr attr, char *buf);

/*
 * After bytes of it were mapped under attr: is that what the mapping is? The kernel gives
 * a second mapping the type of the first, whatever was asked and without a word, and an
 * MTRR can override uc. 0, or -EBUSY (exit 4) with what it is instead. *ret_verified: the
 * kernel was asked; false where it does not tell (its list is of debugfs, for root).
 */
int cp_pci_bar_verify(const struct cp_pci_root *root, const struct cp_pci_bar *bar,
		      enum cp_attr attr, uint64_t bytes, bool *ret_verified,
		      struct cp_err *err);
/* Before anything is mapped: could cp_pci_bar_verify() tell? */
bool cp_pci_bar_verifiable(const struct cp_pci_root *root);

/* Every memory BAR of the machine, in the order of addresses. why: NULL when it could be
 * used under uc, else why not; valid during the call. Returns how many. */
unsigned cp_pci_bar_each(const struct cp_pci_root *root,
			 void (*each)(void *ctx, const struct cp_pci_bar *bar,
				      const char *why),
			 void *ctx);

#endif
