/* SPDX-License-Identifier: GPL-2.0-only */
/* A device whose flush instructions note the ranges that they were called with. */
#ifndef CP_ENGINES_QUEUE_T_NOTING_H
#define CP_ENGINES_QUEUE_T_NOTING_H

#define BS	     16384U
#define NR	     8U
#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct {
	unsigned all, edges;  /* calls */
	uint64_t bytes;	      /* of all calls */
	unsigned stale;	      /* calls before the bytes were there */
	uint64_t offset, len; /* of the last call */
	unsigned char *base;
	bool fail;
} seen;

static unsigned char pattern(uint64_t at)
{
	return (unsigned char)(at * 7 + (at >> 12) + 3);
}

static size_t note(void *dst, size_t len)
{
	const unsigned char *far = dst;

	seen.offset = (uint64_t)(far - seen.base);
	seen.len = len;
	seen.bytes += len;
	for (size_t i = 0; i < len; i++)
		seen.stale += far[i] != pattern(seen.offset + i);
	return seen.fail ? len : 0;
}

static size_t note_all(void *dst, const void *src, size_t len, enum cp_dir dir,
		       enum cp_attr attr)
{
	(void)src;
	(void)dir;
	(void)attr;
	seen.all++;
	return note(dst, len);
}

static size_t note_edges(void *dst, const void *src, size_t len, enum cp_dir dir,
			 enum cp_attr attr)
{
	(void)src;
	(void)dir;
	(void)attr;
	seen.edges++;
	return note(dst, len);
}

static const struct cp_flush_ops noting = {
	.name = "noting", .all = note_all, .edges = note_edges};

static bool can_flush(void)
{
	if (cp_flush_present())
		return true;
	print_message("not asserted: no flush instruction of this CPU is known\n");
	return false;
}

/* A device whose flushes are noted, where it has any. */
static struct rig rig_noting_cfg(const struct cp_dev_cfg *cfg)
{
	struct rig rig = rig_open(cfg);

	memset(&seen, 0, sizeof(seen));
	seen.base = rig.dev->far;
	if (rig.dev->flush.ops)
		rig.dev->flush.ops = &noting;
	cp_sub_measure_begin(rig.sub);
	return rig;
}

static struct rig rig_noting_at(const char *settings, uint32_t misalign_far)
{
	struct cp_dev_cfg cfg = config(settings);

	cfg.misalign_far = misalign_far;
	return rig_noting_cfg(&cfg);
}

static struct rig rig_noting(const char *settings)
{
	return rig_noting_at(settings, 0);
}

static unsigned char near[NR][BS + 64];

static struct cp_io io_at(unsigned slot, uint64_t offset, uint64_t bytes, enum cp_dir dir)
{
	for (uint64_t i = 0; i < bytes && dir == CP_DIR_WRITE; i++)
		near[slot][i] = pattern(offset + i);
	return (struct cp_io){
		.near = near[slot], .offset = offset, .bytes = bytes, .dir = dir};
}

#endif
