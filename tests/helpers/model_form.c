// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: model_form SPEC BYTES SEGMENTS IODEPTH [irq]
 *
 * The closed form of the model engine: latency in ns and bandwidth in bytes a second, for
 * scripts that set a measurement beside it.
 */
#include <stdio.h>
#include <string.h>

#include "engines/base/units.h"
#include "engines/dma/model.h"

int main(int argc, char **argv)
{
	struct cp_model_settings settings;
	struct cp_model_answer answer;
	struct cp_model_load load = {.irq = argc > 5 && !strcmp(argv[5], "irq")};
	struct cp_err err = {0};
	uint64_t segments, iodepth;

	if (argc < 5 || cp_size_parse(argv[2], &load.bytes) ||
	    cp_uint_parse(argv[3], UINT32_MAX, &segments) ||
	    cp_uint_parse(argv[4], UINT32_MAX, &iodepth) || !load.bytes || !segments ||
	    !iodepth) {
		fputs("usage: model_form SPEC BYTES SEGMENTS IODEPTH [irq]\n", stderr);
		return CP_EXIT_USAGE;
	}
	if (cp_model_settings_read(argv[1], &settings, &err)) {
		fprintf(stderr, "error: %s\n", err.msg);
		return CP_EXIT_USAGE;
	}
	load.segments = (uint32_t)segments;
	load.iodepth = (uint32_t)iodepth;
	cp_model_closed_form(&settings, &load, &answer);
	printf("%.1f %.1f\n", answer.latency_ns, answer.bw_bytes_per_s);
	return 0;
}
