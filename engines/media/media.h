/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the far bytes live. One file a media, one row in cp_media_table[].
 *
 * Life: cp_media_open() -> use base[0..bytes) from any thread -> cp_media_close().
 * Opening maps and faults in every page (reads never hit pages that were never written:
 * anon is filled with a pattern, a file's own bytes are read). It never truncates or
 * extends a file and writes no byte of it.
 *
 * A media has some cache attributes natively: its mapping really has them. Ordinary
 * memory is wb, and the others can be emulated on it (engines/copy/attr.h); a media whose
 * mask has no wb is no ordinary memory, and what it lacks cannot be had there at all.
 */
#ifndef CP_ENGINES_MEDIA_MEDIA_H
#define CP_ENGINES_MEDIA_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/base/cell.h"
#include "engines/base/err.h"

/* More borders between nodes than this are no placement but interleaving. */
#define CP_MEDIA_EXTENTS_MAX 256

/* A part of a range that lies on one NUMA node: from the end of the part before (or 0) up
 * to `end`. node as the system numbers it, -1 unknown. */
struct cp_node_extent {
	uint64_t end;
	int node;
};

struct cp_media_cfg {
	const char *spec;     /* "anon", "anon:page=2m", "file" */
	const char *filename; /* of a media that takes one, else NULL */
	uint64_t bytes;	      /* size of the range that will be used, from offset 0 */
	bool writable;	      /* PROT_WRITE wanted */
	enum cp_attr attr;    /* map it with this one if it is native there */
	/* A native attribute that cannot be verified will not do; without it that is only
	 * noted. */
	bool attr_native;
	bool require_persistent; /* refuse a media that is not, before a page is touched
				  */
	bool fault_in; /* touch every page now (the product always does; a test may not)
			*/
};

struct cp_media {
	const struct cp_media_ops *ops;
	unsigned char *base;
	uint64_t bytes;
	int node;	   /* node most pages are on, -1 unknown; from move_pages, or
			    * for pages that it does not know from the device */
	unsigned node_pct; /* share of the range, or of sampled pages, on that node */
	/* What the device says of itself (numa_node of pmem, dax, PCI); -1 where there is
	 * none, or it says nothing. */
	int device_node;
	/* The range by nodes, where its pages lie on several; rising, the last ends it.
	 * NULL and 0 where one node has all of it, it is interleaved page by page, or
	 * nobody knows. */
	struct cp_node_extent *extents;
	unsigned nr_extents;
	char node_note[160]; /* for the record: which nodes, when several */
	bool persistent; /* really persistent (pmem); false for tmpfs and page cache */
	/* What is in the CPU's caches survives a power loss too: the platform flushes
	 * them, so stores need no flush to be durable. false where not persistent. */
	bool auto_flush;
	/* The user's to set: a flush and a fence stand behind each store to it before
	 * anybody is told of that, so that a sync finds nothing to write back. */
	bool flushed;
	/* Of the mapping, as it came out when it was faulted in; 0 unknown or mixed. */
	uint64_t page_bytes;
	const char *provenance; /* "native" or "emulated" */
	void *map;		/* all of the mapping, for close; base lies in it */
	size_t map_bytes;
	char note[160]; /* for the record: who says what of its persistence or attribute
			 */
	void *priv;
};

struct cp_media_ops {
	const char *name;
	const char *help;
	bool takes_file; /* needs cfg.filename */
	/* What that names is a device: there or not, never made, and only look() can say
	 * whether it may be used. */
	bool device;
	bool may_make; /* a plan makes a file that is not there */
	/* Takes cfg.filename but does without: then it is this. NULL: needs it or takes
	 * none. */
	const char *file_default;
	unsigned attrs; /* native ones, CP_ATTR_BIT() each */
	/* Are the settings of a spec ones that it takes? */
	int (*check)(const char *spec, struct cp_err *err);
	/* As cp_media_size(). NULL: what fio finds. */
	int (*size)(const char *filename, uint64_t *ret_bytes, struct cp_err *err);
	/* As cp_media_look(). */
	int (*look)(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		    struct cp_err *err);
	int (*open)(struct cp_media *media, const struct cp_media_cfg *cfg,
		    struct cp_err *err);
	/* Make [offset, offset + len) as durable as this media can; DDIR_SYNC ends here.
	 * -EOPNOTSUPP: persistent, but no way is known here; never a success for nothing.
	 * Under the fault guard, as copies are. */
	int (*sync)(struct cp_media *media, uint64_t offset, uint64_t len);
	void (*close)(struct cp_media *media);
	/* Why it cannot be used on this machine, for probe: 0 or -errno with err. */
	int (*probe)(struct cp_err *err);
};
extern const struct cp_media_ops *const cp_media_table[]; /* NULL-terminated */

const struct cp_media_ops *cp_media_find(const char *name);
/* Of the media that a spec ("anon:page=2m") names: its row, or NULL; and its native
 * attributes, 0 when there is no such media. */
const struct cp_media_ops *cp_media_of(const char *spec);
unsigned cp_media_attrs(const char *spec);
/* What a fingerprint says of a media: its name, and its pages when they are not the
 * machine's own ("anon:page=2m"). */
void cp_media_kind(const char *spec, char *buf, size_t size);
/* The media that take a file's name, as words: "file, dax or devdax". Returns buf. */
char *cp_media_named(char *buf, size_t size);
/*
 * Before there is a size or a file: the media is known and takes the settings (exit 2 if
 * not).
 */
int cp_media_check(const char *spec, struct cp_err *err);
/*
 * Before anything is opened, mapped or written: what cfg names is there, of the right
 * kind and long enough; the pages asked for can be had. *ret_memory is what an open will
 * take of MemAvailable; whether there is that much is the caller's to ask.
 */
int cp_media_look(const struct cp_media_cfg *cfg, uint64_t *ret_memory,
		  struct cp_err *err);
/* MemAvailable of the machine, in bytes; 0 where the kernel does not tell. */
uint64_t cp_media_memory_available(void);
/* How long what is named is: a file or device of the media's kind (exit 2 if not). */
int cp_media_size(const char *spec, const char *filename, uint64_t *ret_bytes,
		  struct cp_err *err);
/* Errors: not enough memory (exit 4: asked and available in the text; checked against
 * MemAvailable before touching, so that the OOM killer is not the messenger), a file that
 * is missing, shorter than bytes, a directory or a device (exit 2 or 4). */
int cp_media_open(const struct cp_media_cfg *cfg, struct cp_media *ret_media,
		  struct cp_err *err);
int cp_media_sync(struct cp_media *media, uint64_t offset, uint64_t len);
void cp_media_close(struct cp_media *media); /* a zeroed media is fine */

/* "0 (62 %) and 1 (38 %)": the nodes by their shares of the bytes, in their order; ""
 * when it is one. Of more than eight the rest is a number. Returns buf. */
char *cp_node_extents_words(const struct cp_node_extent *extents, unsigned nr, char *buf,
			    size_t size);

#endif
