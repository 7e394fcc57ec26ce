/* SPDX-License-Identifier: GPL-2.0-only */
#include "engines/base/host.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sha256.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/base/file.h"
#include "engines/base/units.h"

#define TEXT_MAX	(8U << 20) /* /proc/cpuinfo of a thousand CPUs */
#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"
#define UNKNOWN		"unknown"

/* The file under root, or NULL; what is missing is unknown, not wrong. */
static char *text_read(const char *root, const char *path)
{
	char full[4096], *text;
	size_t len;
	struct cp_err err;
	int need = snprintf(full, sizeof(full), "%s%s", root, path);

	if (need < 0 || (size_t)need >= sizeof(full) ||
	    cp_file_read(full, TEXT_MAX, &text, &len, &err))
		return NULL;
	return text;
}

/* The first line of a file, or `missing`. */
static void line_read(const char *root, const char *path, const char *missing, char *buf,
		      size_t size)
{
	char *text = text_read(root, path);

	snprintf(buf, size, "%.*s", text ? (int)strcspn(text, "\n") : (int)size,
		 text ? text : missing);
	free(text);
}

/* A 0 or 1 in a file; -1 when unknown. */
static int flag_read(const char *root, const char *path)
{
	char line[8];

	line_read(root, path, "", line, sizeof(line));
	if (!strcmp(line, "0"))
		return 0;
	return strcmp(line, "1") ? -1 : 1;
}

/* How many numbers "0-3,8" names; 1 when it cannot be read. */
static unsigned list_count(const char *root, const char *path)
{
	char line[1024];
	unsigned count = 0;

	line_read(root, path, "", line, sizeof(line));
	for (char *p = line; *p;) {
		char *end;
		unsigned long low = strtoul(p, &end, 10), high = low;

		if (end == p)
			return 1;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (high < low || high - low > 65535)
			return 1;
		count += (unsigned)(high - low) + 1;
		p = *end == ',' ? end + 1 : end;
	}
	return count ? count : 1;
}

/* The value behind "key   : " in the text of /proc/cpuinfo or /proc/meminfo. */
static bool value_find(const char *text, const char *key, char *buf, size_t size)
{
	size_t len = strlen(key);

	for (const char *line = text; line && *line;) {
		const char *p = line + len;

		if (!strncmp(line, key, len) && *(p += strspn(p, " \t")) == ':') {
			p++;
			p += strspn(p, " \t");
			snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
			return true;
		}
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return false;
}

static unsigned number_find(const char *text, const char *key)
{
	char value[32];
	uint64_t number;

	if (!value_find(text, key, value, sizeof(value)) ||
	    cp_uint_parse(value, UINT32_MAX, &number))
		return 0;
	return (unsigned)number;
}

static void cpu_read(const char *root, struct cp_host *host)
{
	char *text = text_read(root, "/proc/cpuinfo");
	const char *info = text ? text : "";

	if (!value_find(info, "model name", host->cpu_model, sizeof(host->cpu_model)))
		snprintf(host->cpu_model, sizeof(host->cpu_model), UNKNOWN);
	value_find(info, "microcode", host->microcode, sizeof(host->microcode));
	host->cpu_family = number_find(info, "cpu family");
	host->cpu_model_nr = number_find(info, "model");
	host->cpu_stepping = number_find(info, "stepping");
	free(text);
}

static void memory_read(const char *root, struct cp_host *host)
{
	char *text = text_read(root, "/proc/meminfo");
	char value[64];

	if (text && value_find(text, "MemTotal", value, sizeof(value))) {
		uint64_t kib = strtoull(value, NULL, 10);

		host->mem_gib = (kib + (UINT64_C(1) << 19)) >> 20;
	}
	free(text);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void mitigations_read(const char *root, struct cp_host *host)
{
	char dir[4096], path[512], state[64];
	struct dirent **names;
	size_t used = 0;
	int need = snprintf(dir, sizeof(dir), "%s" VULNERABILITIES, root);
	int nr = need < 0 || (size_t)need >= sizeof(dir)
			 ? -1
			 : scandir(dir, &names, is_visible, alphasort);

	if (nr <= 0) {
		snprintf(host->mitigations, sizeof(host->mitigations), UNKNOWN);
		if (!nr)
			free(names);
		return;
	}
	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), VULNERABILITIES "/%s", names[i]->d_name);
		line_read(root, path, UNKNOWN, state, sizeof(state));
		if (used < sizeof(host->mitigations)) {
			int len = snprintf(host->mitigations + used,
					   sizeof(host->mitigations) - used, "%s%s=%.*s",
					   used ? ";" : "", names[i]->d_name,
					   (int)strcspn(state, " :;"), state);

			used += len < 0 ? 0 : (size_t)len;
		}
		free(names[i]);
	}
	free(names);
}

/* The word in brackets of "always [madvise] never". */
static void chosen_read(const char *root, const char *path, char *buf, size_t size)
{
	char *text = text_read(root, path);
	const char *open = text ? strchr(text, '[') : NULL;

	if (open)
		snprintf(buf, size, "%.*s", (int)strcspn(open + 1, "]\n"), open + 1);
	free(text);
}

static double steal_read_pct(const char *root)
{
	char *text = text_read(root, "/proc/stat");
	double total = 0, steal = 0;

	if (!text || strncmp(text, "cpu ", 4) != 0) {
		free(text);
		return -1;
	}
	char *p = text + 4;

	/* user nice system idle iowait irq softirq steal; guest time is inside user */
	for (int i = 0; i < 8; i++) {
		char *end;
		double ticks = strtod(p, &end);

		if (end == p)
			break;
		total += ticks;
		steal = i == 7 ? ticks : 0;
		p = end;
	}
	free(text);
	return total > 0 ? 100 * steal / total : -1;
}

static void soft_read(const char *root, struct cp_host *host)
{
	char line[64], *end;

	line_read(root, "/proc/sys/kernel/hostname", "", host->host, sizeof(host->host));
	line_read(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "",
		  host->governor, sizeof(host->governor));
	chosen_read(root, "/sys/kernel/mm/transparent_hugepage/enabled", host->thp,
		    sizeof(host->thp));
	int no_turbo = flag_read(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");

	host->turbo = no_turbo >= 0
			      ? !no_turbo
			      : flag_read(root, "/sys/devices/system/cpu/cpufreq/boost");
	host->smt = flag_read(root, "/sys/devices/system/cpu/smt/active");
	line_read(root, "/proc/loadavg", "", line, sizeof(line));
	host->load_1m = strtod(line, &end);
	if (end == line)
		host->load_1m = -1;
	host->steal_pct = steal_read_pct(root);
}

int cp_host_read_root(const char *root, struct cp_host *ret_host, struct cp_err *err)
{
	struct cp_host host = {0};
	long page = sysconf(_SC_PAGESIZE);

	if (page <= 0)
		return cp_err_set(err, CP_EXIT_INVALID, EIO,
				  "the system does not tell its page size");
	host.page_bytes = (uint64_t)page;
	cpu_read(root, &host);
	host.nr_cpus = list_count(root, "/sys/devices/system/cpu/online");
	host.nr_nodes = list_count(root, "/sys/devices/system/node/online");
	memory_read(root, &host);
	line_read(root, "/proc/sys/kernel/osrelease", UNKNOWN, host.kernel,
		  sizeof(host.kernel));
	mitigations_read(root, &host);
	soft_read(root, &host);
	*ret_host = host;
	return 0;
}

int cp_host_read(struct cp_host *ret_host, struct cp_err *err)
{
	return cp_host_read_root("", ret_host, err);
}

static const char *or_text(const char *text, const char *missing)
{
	return text && *text ? text : missing;
}

void cp_host_fingerprint(const struct cp_host *host, const char *fio_version,
			 const char *media, const char *dma, char ret[CP_FINGERPRINT_MAX])
{
	/* one fact a line: no value holds a newline, so no two hosts share a text */
	char text[4096], hex[SHA256_DIGEST_STRING_LENGTH];
	int len = snprintf(text, sizeof(text),
			   "cpu_model=%s\ncpu_family=%u\ncpu_model_nr=%u\n"
			   "cpu_stepping=%u\nnr_cpus=%u\nnr_nodes=%u\nmem_gib=%" PRIu64
			   "\nkernel=%s\nmitigations=%s\npage_bytes=%" PRIu64
			   "\nfio=%s\nmedia=%s\ndma=%s\n",
			   host->cpu_model, host->cpu_family, host->cpu_model_nr,
			   host->cpu_stepping, host->nr_cpus, host->nr_nodes,
			   host->mem_gib, host->kernel, host->mitigations,
			   host->page_bytes, or_text(fio_version, UNKNOWN),
			   or_text(media, "none"), or_text(dma, "none"));

	if (len < 0 || (size_t)len >= sizeof(text))
		len = (int)strlen(text);
	SHA256Data((const uint8_t *)text, (size_t)len, hex);
	snprintf(ret, CP_FINGERPRINT_MAX, "sha256:%s", hex);
}
