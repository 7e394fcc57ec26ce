// SPDX-License-Identifier: GPL-2.0-only
/* The machine: CPU, memory, kernel settings, performance counters. */
#include "bench/cmd/probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/cmd/cmd.h"
#include "bench/drive/fio.h"
#include "engines/base/host.h"
#include "engines/base/topo.h"
#include "engines/dma/hardware.h"
#include "results/run.h"

/* The first line of a small file, or null. */
static json_t *file_line(const char *path)
{
	char line[256];
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, sizeof(line), file);

	if (file)
		fclose(file);
	if (!got)
		return json_null();
	line[strcspn(line, "\n")] = '\0';
	return json_string(line);
}

static json_t *file_number(const char *path)
{
	json_t *text = file_line(path);
	const char *value = json_string_value(text);
	char *end = NULL;
	long long number = value ? strtoll(value, &end, 10) : 0;
	bool good = value && end != value && !*end;

	json_decref(text);
	return good ? json_integer(number) : json_null();
}

#if defined(__x86_64__)
#define ISA(name)                                                      \
	do {                                                           \
		if (__builtin_cpu_supports(name))                      \
			json_array_append_new(isa, json_string(name)); \
	} while (0)
#endif

static json_t *isa_list(void)
{
	json_t *isa = json_array();

#if defined(__x86_64__)
	__builtin_cpu_init();
	ISA("sse2");
	ISA("avx");
	ISA("avx2");
	ISA("avx512f");
	ISA("avx512vl");
#endif
	return isa;
}

static json_t *nodes(const struct cp_topo *topo)
{
	json_t *list = json_array();

	for (unsigned n = 0; n < topo->nr_nodes; n++) {
		json_t *cpus = json_array();

		for (unsigned i = 0; i < topo->nr_cpus; i++)
			if (topo->cpus[i].node == n)
				json_array_append_new(
					cpus,
					json_integer((json_int_t)topo->cpus[i].os_index));
		json_array_append_new(
			list, json_pack("{s:I,s:I,s:o}", "node",
					(json_int_t)topo->node_os_index[n], "bytes",
					(json_int_t)topo->node_bytes[n], "cpus", cpus));
	}
	return list;
}

/* Faults of user pages can be served (what copies that fault would need). */
static json_t *userfaultfd(void)
{
	int fd = (int)syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY);
	struct uffdio_api api = {.api = UFFD_API};
	bool usable = fd >= 0 && !ioctl(fd, UFFDIO_API, &api);
	int errnum = errno;

	if (fd >= 0)
		close(fd);
	return json_pack("{s:b,s:o}", "usable", usable, "why",
			 usable ? json_null() : json_string(strerror(errnum)));
}

json_t *cp_probe_host(void)
{
	static struct cp_topo topo;
	struct cp_host host = {0};
	struct cp_err err = {0};
	json_t *json = json_object();

	if (!cp_host_read(&host, &err)) {
		json_object_set_new(json, "facts", cp_host_hard_json(&host, "", "", ""));
		/* These three belong to a run. */
		json_object_del(json_object_get(json, "facts"), "fio");
		json_object_del(json_object_get(json, "facts"), "media");
		json_object_del(json_object_get(json, "facts"), "dma");
		json_object_set_new(json, "settings", cp_host_soft_json(&host));
	}
	json_object_set_new(json, "isa", isa_list());
	if (!cp_topo_load(NULL, &topo, &err)) {
		json_object_set_new(json, "nodes", nodes(&topo));
		json_object_set_new(json, "llc_bytes",
				    topo.llc_bytes
					    ? json_integer((json_int_t)topo.llc_bytes)
					    : json_null());
	}
	json_object_set_new(
		json, "hugepages_2m",
		file_number("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
	json_object_set_new(json, "userfaultfd", userfaultfd());
	return json;
}

static json_t *event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	int errnum = errno;

	if (fd < 0)
		return json_pack("{s:b,s:s}", "usable", 0, "why", strerror(errnum));
	close(fd);
	return json_pack("{s:b,s:n}", "usable", 1, "why");
}

json_t *cp_probe_perf(void)
{
	return json_pack(
		"{s:o,s:o,s:o,s:o}", "paranoid",
		file_number("/proc/sys/kernel/perf_event_paranoid"), "cycles",
		event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), "instructions",
		event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), "task_clock",
		event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK));
}

json_t *cp_probe_fio(void)
{
	static struct cp_fio fio;
	struct cp_err err = {0};
	json_t *json = json_object();
	int ret = cp_fio_find(cp_cmd_plugin_dir(), &fio, &err);

	if (!ret) {
		json_object_set_new(json, "path", json_string(fio.path));
		json_object_set_new(json, "version", json_string(fio.version));
		json_object_set_new(json, "plugin_dir", json_string(fio.plugin_dir));
		ret = cp_fio_check(&fio, &err);
		json_object_set_new(json, "built_for",
				    fio.built_for[0] ? json_string(fio.built_for)
						     : json_null());
	}
	json_object_set_new(json, "usable", json_boolean(!ret));
	json_object_set_new(json, "why", ret ? json_string(err.msg) : json_null());
	return json;
}

json_t *cp_probe_fingerprint(void)
{
	char hash[CP_FINGERPRINT_MAX], dma[256];
	static struct cp_fio fio;
	struct cp_host host;
	struct cp_err err = {0};

	if (cp_fio_find(cp_cmd_plugin_dir(), &fio, &err) || cp_host_read(&host, &err))
		return json_null();
	cp_dma_hardware_names(dma, sizeof(dma));
	cp_host_fingerprint(&host, fio.version, "anon", dma, hash);
	return json_string(hash);
}
