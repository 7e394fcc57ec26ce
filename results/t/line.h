/* SPDX-License-Identifier: GPL-2.0-only */
/* A record filled in all its fields, and lines to read one from. */
#ifndef CP_RESULTS_T_LINE_H
#define CP_RESULTS_T_LINE_H

#define CONTEXT                                                                  \
	"\"context\":{\"rw\":\"read\",\"bs\":65536,\"numjobs\":1,\"iodepth\":1," \
	"\"segments\":16,\"numa\":\"local\",\"layer\":\"none\",\"attr\":\"wb\"," \
	"\"media\":\"anon\",\"corunner\":\"none\"}"
#define ARM                                                                            \
	"\"arm\":{\"name\":\"cpu/nt\",\"queue_mode\":\"bio\",\"path\":\"cpu\","        \
	"\"copy\":\"nt\",\"flush\":\"none\",\"completion\":\"sync\",\"dma\":\"none\"," \
	"\"dma_thresh_read\":0,\"dma_thresh_write\":0,\"q_per_node\":0,"               \
	"\"queue_depth\":0,\"max_merge\":0,\"batch\":1}"
#define PROVENANCE \
	"\"provenance\":{\"media\":\"native\",\"attr\":\"native\",\"dma\":\"none\"}"
#define METRICS                                                              \
	"\"metrics\":{\"bytes\":65536,\"elapsed_ns\":1000,\"cpu_pct\":99.5," \
	"\"corunner_ops_per_s\":null}"
#define PROOF                                                                   \
	"\"proof\":{\"bytes_cpu\":65536,\"bytes_dma\":0,\"bytes_simulated\":0," \
	"\"bytes_fallback\":0,\"fallback\":{\"no_channel\":0,\"ring_full\":0,"  \
	"\"error\":0,\"too_many_segments\":0},\"errors\":0,\"verify\":\"off\"," \
	"\"effective_iodepth\":1}"
#define HEAD "\"schema\":1,\"run\":\"r1\",\"sample\":0,\"t\":\"x\",\"host\":\"h\","
#define REST "," PROVENANCE "," METRICS "," PROOF ",\"perf\":null"
#define LINE "{" HEAD CONTEXT "," ARM REST "}"

static int decode(const char *line, struct cp_record *record, struct cp_err *err)
{
	return cp_record_decode(line, strlen(line), record, err);
}

static void fill(struct cp_record *record)
{
	cp_record_init(record);
	snprintf(record->run, sizeof(record->run), "r1");
	record->sample = 3;
	snprintf(record->t, sizeof(record->t), "2026-11-30T12:00:00Z");
	snprintf(record->host, sizeof(record->host), "h");
	record->context.bs = 65536;
	record->context.segments = 16;
	snprintf(record->arm.name, sizeof(record->arm.name), "cpu, \"nt\"/\xc3\xa9");
	snprintf(record->arm.copy, sizeof(record->arm.copy), "nt");
	snprintf(record->provenance.media, sizeof(record->provenance.media), "native");
	snprintf(record->provenance.attr, sizeof(record->provenance.attr), "native");
	snprintf(record->provenance.dma, sizeof(record->provenance.dma), "none");
	record->metrics[CP_METRIC_BYTES] = 1048576;
	record->metrics[CP_METRIC_BW] = 7631e6 / 3;
	record->metrics[CP_METRIC_LAT_P99] = 0.1;
	record->has_proof = true;
	record->proof.bytes_cpu = 1048576;
	record->context.misalign_near = 8;
	record->context.misalign_far = 16;
	record->proof.page_bytes = 2097152;
	snprintf(record->notes, sizeof(record->notes), "a; b");
	record->proof.fallback.ring_full = 7;
	record->proof.queue.merged = 3;
	record->proof.queue.crossed = 4;
	record->proof.bytes_split = 5;
	snprintf(record->proof.copy, sizeof(record->proof.copy), "nt-avx512");
	snprintf(record->proof.flush, sizeof(record->proof.flush), "clwb");
	snprintf(record->proof.fence, sizeof(record->proof.fence), "sfence");
	record->proof.persistent = 1;
}

#endif
