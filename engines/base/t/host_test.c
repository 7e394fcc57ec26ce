/* SPDX-License-Identifier: GPL-2.0-only */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "engines/base/file.h"
#include "engines/base/host.h"

static char root[] = "/tmp/cp-host-XXXXXX";

static const struct {
	const char *path, *text;
} files[] = {
	{"/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			  "model\t\t: 143\nmodel name\t: Test CPU @ 2.00GHz\n"
			  "stepping\t: 8\nmicrocode\t: 0x2b\n\nprocessor\t: 1\n"
			  "model\t\t: 99\n"},
	{"/proc/meminfo", "MemTotal:       16303344 kB\nMemFree:  1 kB\n"},
	{"/proc/sys/kernel/osrelease", "6.1.0-test\n"},
	{"/proc/sys/kernel/hostname", "box\n"},
	{"/proc/loadavg", "0.25 0.5 0.75 1/100 1\n"},
	{"/proc/stat", "cpu  50 0 20 20 0 0 0 10 5 0\ncpu0 1 1 1 1\n"},
	{"/sys/devices/system/cpu/online", "0-3,8\n"},
	{"/sys/devices/system/node/online", "0-1\n"},
	{"/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"},
	{"/sys/devices/system/cpu/vulnerabilities/l1tf", "Mitigation: PTE Inversion\n"},
	{"/sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable: no microcode\n"},
	{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"},
	{"/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"},
	{"/sys/devices/system/cpu/smt/active", "1\n"},
	{"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
};

static int setup(void **state)
{
	char path[512];
	struct cp_err err;

	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct cp_file_new file;

		snprintf(path, sizeof(path), "%s%s", root, files[i].path);
		*strrchr(path, '/') = '\0';
		if (cp_dir_make(path, &err))
			return -1;
		snprintf(path, sizeof(path), "%s%s", root, files[i].path);
		if (cp_file_new_open(path, &file, &err))
			return -1;
		fputs(files[i].text, file.stream);
		if (cp_file_new_commit(&file, &err))
			return -1;
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Description: hard facts come from /proc and /sys. */
static void test_hard(void **state)
{
	static struct cp_host host;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_host_read_root(root, &host, &err), 0);
	assert_string_equal(host.cpu_model, "Test CPU @ 2.00GHz");
	assert_int_equal(host.cpu_family, 6);
	assert_int_equal(host.cpu_model_nr, 143);
	assert_int_equal(host.cpu_stepping, 8);
	assert_int_equal(host.nr_cpus, 5);
	assert_int_equal(host.nr_nodes, 2);
	assert_int_equal(host.mem_gib, 16);
	assert_string_equal(host.kernel, "6.1.0-test");
	assert_string_equal(host.mitigations,
			    "l1tf=Mitigation;mds=Vulnerable;meltdown=Not");
}

/* Description: soft facts come from /proc and /sys. */
static void test_soft(void **state)
{
	static struct cp_host host;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_host_read_root(root, &host, &err), 0);
	assert_string_equal(host.host, "box");
	assert_string_equal(host.governor, "performance");
	assert_string_equal(host.thp, "madvise");
	assert_string_equal(host.microcode, "0x2b");
	assert_int_equal(host.turbo, 0);
	assert_int_equal(host.smt, 1);
	assert_true(host.load_1m == 0.25);
	assert_true(host.steal_pct == 10);
}

/* Description: a machine that tells nothing is unknown, not an error. */
static void test_missing(void **state)
{
	static struct cp_host host;
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_host_read_root("/no/such/root", &host, &err), 0);
	assert_string_equal(host.cpu_model, "unknown");
	assert_string_equal(host.mitigations, "unknown");
	assert_string_equal(host.kernel, "unknown");
	assert_int_equal(host.nr_cpus, 1);
	assert_int_equal(host.nr_nodes, 1);
	assert_string_equal(host.governor, "");
	assert_string_equal(host.thp, "");
	assert_int_equal(host.turbo, -1);
	assert_int_equal(host.smt, -1);
	assert_true(host.load_1m == -1);
	assert_true(host.steal_pct == -1);
}

/* Description: this machine can be read, twice with the same hard facts. */
static void test_this_machine(void **state)
{
	static struct cp_host host;
	char a[CP_FINGERPRINT_MAX], b[CP_FINGERPRINT_MAX];
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_host_read(&host, &err), 0);
	cp_host_fingerprint(&host, "fio-3.33", "anon", "sw", a);
	assert_int_equal(cp_host_read(&host, &err), 0);
	cp_host_fingerprint(&host, "fio-3.33", "anon", "sw", b);
	assert_string_equal(a, b);
	assert_true(host.page_bytes >= 4096);
	assert_true(host.mem_gib > 0 || host.nr_cpus > 0);
}

/* Description: the fingerprint is a sha256 of the facts, known for a known machine. */
static void test_fingerprint_known(void **state)
{
	static const struct cp_host host = {
		.cpu_model = "m",
		.kernel = "k",
		.mitigations = "x=y",
		.page_bytes = 4096,
		.nr_cpus = 2,
		.nr_nodes = 1,
		.mem_gib = 4,
	};
	char got[CP_FINGERPRINT_MAX], none[CP_FINGERPRINT_MAX];

	(void)state;
	cp_host_fingerprint(&host, "fio-3.33", "anon", NULL, got);
	assert_string_equal(
		got, "sha256:"
		     "80a1a083053c1963cf9e18ca983e7c4355a46921d9054eaf77298c354b70915d");
	cp_host_fingerprint(&host, "fio-3.33", "anon", "none", none);
	assert_string_equal(got, none);
}

/* Description: each hard fact changes the fingerprint, and no soft fact does. */
static void test_fingerprint_parts(void **state)
{
	static struct cp_host base, hosts[9], soft;
	char first[CP_FINGERPRINT_MAX], got[CP_FINGERPRINT_MAX];
	struct cp_err err;

	(void)state;
	assert_int_equal(cp_host_read_root(root, &base, &err), 0);
	cp_host_fingerprint(&base, "f", "anon", "sw", first);
	for (size_t i = 0; i < 9; i++)
		hosts[i] = base;
	hosts[0].cpu_model[0]++;
	hosts[1].cpu_model_nr++;
	hosts[2].cpu_stepping++;
	hosts[3].nr_cpus++;
	hosts[4].nr_nodes++;
	hosts[5].mem_gib++;
	hosts[6].kernel[0]++;
	hosts[7].mitigations[0]++;
	hosts[8].page_bytes++;
	for (size_t i = 0; i < 9; i++) {
		cp_host_fingerprint(&hosts[i], "f", "anon", "sw", got);
		assert_string_not_equal(got, first);
	}
	cp_host_fingerprint(&base, "g", "anon", "sw", got);
	assert_string_not_equal(got, first);
	cp_host_fingerprint(&base, "f", "file", "sw", got);
	assert_string_not_equal(got, first);
	cp_host_fingerprint(&base, "f", "anon", "none", got);
	assert_string_not_equal(got, first);

	soft = base;
	soft.host[0]++;
	soft.governor[0]++;
	soft.thp[0]++;
	soft.microcode[0]++;
	soft.turbo++;
	soft.smt++;
	soft.load_1m += 1;
	soft.steal_pct += 1;
	cp_host_fingerprint(&soft, "f", "anon", "sw", got);
	assert_string_equal(got, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hard),
		cmocka_unit_test(test_soft),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_fingerprint_known),
		cmocka_unit_test(test_fingerprint_parts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
