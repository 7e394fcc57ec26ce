/* SPDX-License-Identifier: GPL-2.0-only */
/* Which route a device decides on, by a policy and by thresholds. */
#include <unistd.h>

#include "engines/queue/internal.h"
#include "engines/queue/t/rig.h"

#define G (1ULL << 30)

struct ask {
	enum cp_dir dir;
	uint64_t bytes;
	bool dma;
};

static char policy_path[] = "/tmp/cp-decide-XXXXXX";

static int make_policy(void **state)
{
	/* jobs 1, load 16: the rules of load 64 and of 2 jobs are others' */
	static const char text[] =
		"schema: 1\nkind: policy\nname: t\nrules:\n"
		"  - when: {rw: read, load: {min: 64}}\n"
		"    sizes: [{upto: max, do: {path: cpu, copy: memcpy}}]\n"
		"  - when: {rw: read, jobs: {min: 2}}\n"
		"    sizes: [{upto: max, do: {path: cpu, copy: memcpy}}]\n"
		"  - when: {rw: read, segments: {min: 33}}\n"
		"    sizes: [{upto: 1g, do: {path: dma}},\n"
		"            {upto: 3g, do: {path: cpu, copy: memcpy}},\n"
		"            {upto: max, do: {path: dma}}]\n"
		"  - when: {rw: read}\n"
		"    sizes: [{upto: 4k, do: {path: cpu, copy: memcpy}},\n"
		"            {upto: 8k, do: {path: dma}},\n"
		"            {upto: 16k, do: {path: cpu, copy: memcpy}},\n"
		"            {upto: max, do: {path: dma}}]\n"
		"  - when: {rw: write}\n"
		"    sizes: [{upto: 32k, do: {path: cpu, copy: memcpy}},\n"
		"            {upto: max, do: {path: dma}}]\n";
	int fd = mkstemp(policy_path);

	(void)state;
	if (fd < 0)
		return -1;
	ssize_t n = write(fd, text, sizeof(text) - 1);

	close(fd);
	return n == (ssize_t)sizeof(text) - 1 ? 0 : -1;
}

static int drop_policy(void **state)
{
	(void)state;
	return unlink(policy_path);
}

static void check(const struct cp_dev_cfg *cfg, const struct ask *asks, size_t nr)
{
	struct rig rig = rig_open(cfg);

	for (size_t i = 0; i < nr; i++) {
		const struct ask *ask = &asks[i];

		if (cp_dev_decide(rig.dev, ask->dir, ask->bytes, 0)->dma != ask->dma)
			fail_msg("%s of %llu bytes: expected %s",
				 ask->dir == CP_DIR_READ ? "read" : "write",
				 (unsigned long long)ask->bytes,
				 ask->dma ? "dma" : "cpu");
	}
	rig_close(&rig);
}

/* Description: a policy decides by direction, bytes and segments, for the device's own
 * jobs and load, to the byte and also beyond 2 and 4 GiB. */
static void test_policy(void **state)
{
	static const struct ask asks[] = {
		{CP_DIR_READ, 1, false},	 {CP_DIR_READ, 4096, false},
		{CP_DIR_READ, 4097, true},	 {CP_DIR_READ, 8192, true},
		{CP_DIR_READ, 8193, false},	 {CP_DIR_READ, 16384, false},
		{CP_DIR_READ, 16385, true},	 {CP_DIR_READ, 32 * 4096, true},
		{CP_DIR_READ, G, true},		 {CP_DIR_READ, G + 1, false},
		{CP_DIR_READ, 2 * G, false},	 {CP_DIR_READ, 2 * G + 1, false},
		{CP_DIR_READ, 3 * G, false},	 {CP_DIR_READ, 3 * G + 1, true},
		{CP_DIR_READ, UINT32_MAX, true}, {CP_DIR_READ, 5 * G, true},
		{CP_DIR_WRITE, 4097, false},	 {CP_DIR_WRITE, 32768, false},
		{CP_DIR_WRITE, 32769, true},	 {CP_DIR_WRITE, 2 * G, true},
	};
	struct cp_dev_cfg cfg = config("queue_mode=mq path=auto dma=null");

	(void)state;
	snprintf(cfg.arm.policy, sizeof(cfg.arm.policy), "%s", policy_path);
	check(&cfg, asks, sizeof(asks) / sizeof(asks[0]));
}

/* Description: another load of the same policy is another row. */
static void test_load(void **state)
{
	static const struct ask asks[] = {{CP_DIR_READ, 4097, false},
					  {CP_DIR_READ, 2 * G + 1, false},
					  {CP_DIR_WRITE, 32769, true}};
	struct cp_dev_cfg cfg = config("queue_mode=mq path=auto dma=null");

	(void)state;
	cfg.iodepth = 64;
	snprintf(cfg.arm.policy, sizeof(cfg.arm.policy), "%s", policy_path);
	check(&cfg, asks, sizeof(asks) / sizeof(asks[0]));
}

/* Description: thresholds are per direction and inclusive, dma_min_segments is asked for
 * beside them, path dma and cpu are always and never. */
static void test_thresholds(void **state)
{
	static const struct {
		const char *settings;
		struct ask asks[5];
	} cases[] = {
		{"queue_mode=mq path=auto dma=null dma_thresh_read=8k "
		 "dma_thresh_write=64k",
		 {{CP_DIR_READ, 8191, false},
		  {CP_DIR_READ, 8192, true},
		  {CP_DIR_WRITE, 65535, false},
		  {CP_DIR_WRITE, 65536, true},
		  {CP_DIR_READ, 5 * G, true}}},
		{"queue_mode=mq path=auto dma=null dma_thresh_read=4k "
		 "dma_thresh_write=64k dma_min_segments=3",
		 {{CP_DIR_READ, 4096, false},
		  {CP_DIR_READ, 8192, false},
		  {CP_DIR_READ, 8193, true},
		  {CP_DIR_WRITE, 8193, false},
		  {CP_DIR_WRITE, 65536, true}}},
		{"queue_mode=mq path=dma dma=null",
		 {{CP_DIR_READ, 1, true},
		  {CP_DIR_READ, 4096, true},
		  {CP_DIR_WRITE, 1, true},
		  {CP_DIR_WRITE, 4096, true},
		  {CP_DIR_READ, 5 * G, true}}},
		{"queue_mode=mq path=cpu",
		 {{CP_DIR_READ, 1, false},
		  {CP_DIR_READ, 4096, false},
		  {CP_DIR_WRITE, 1, false},
		  {CP_DIR_WRITE, 4096, false},
		  {CP_DIR_READ, 5 * G, false}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_dev_cfg cfg = config(cases[i].settings);

		check(&cfg, cases[i].asks, 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_thresholds),
	};
	struct cp_err err;

	if (cp_topo_load(NULL, &topo, &err) != 0)
		return 1;
	return cmocka_run_group_tests(tests, make_policy, drop_policy);
}
