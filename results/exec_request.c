/* SPDX-License-Identifier: GPL-2.0-only */
/* What a program of driver exec is asked, one line a sample. */
#include <errno.h>
#include <string.h>

#include "results/exec.h"
#include "results/record_priv.h"

static json_t *cpus_json(const struct cp_exec_request *request)
{
	json_t *cpus = json_array();

	for (unsigned i = 0; i < request->nr_cpus; i++)
		json_array_append_new(cpus, json_integer((json_int_t)request->cpus[i]));
	return cpus;
}

static int encode_request(const struct cp_json_out *root,
			  const struct cp_exec_request *request)
{
	struct cp_json_out cell = {json_object(), "cell", root->err};
	int rc = cp_json_out_value(root, "cell", cell.object);

	if (!rc)
		rc = cp_cell_encode(&cell, &request->context, &request->arm);
	if (!rc)
		rc = cp_json_out_u64(root, "sample", request->sample);
	if (!rc)
		rc = cp_json_out_u64(root, "seed", request->seed);
	if (!rc)
		rc = cp_json_out_u64(root, "size", request->size);
	if (!rc && request->filename[0])
		rc = cp_json_out_text(root, "filename", request->filename);
	if (!rc)
		rc = cp_json_out_u64(root, "runtime_ns", request->runtime_ns);
	if (!rc)
		rc = cp_json_out_u64(root, "ramp_ns", request->ramp_ns);
	if (!rc && request->nr_cpus)
		rc = cp_json_out_value(root, "cpus", cpus_json(request));
	return rc;
}

/* text with a newline; NULL without memory. */
char *cp_exec_line(const json_t *object, struct cp_err *err)
{
	char *text = json_dumps(object, CP_RECORD_DUMP_FLAGS);
	size_t len = text ? strlen(text) : 0;
	char *line = text ? realloc(text, len + 2) : NULL;

	if (!line) {
		free(text);
		cp_err_set(err, CP_EXIT_INTERNAL, ENOMEM, "out of memory");
		return NULL;
	}
	memcpy(line + len, "\n", 2);
	return line;
}

char *cp_exec_request_encode(const struct cp_exec_request *request, struct cp_err *err)
{
	struct cp_json_out root = {json_object(), "", err};
	char *line = NULL;

	if (!encode_request(&root, request))
		line = cp_exec_line(root.object, err);
	json_decref(root.object);
	return line;
}

static int decode_cpus(const json_t *root, struct cp_exec_request *request,
		       struct cp_err *err)
{
	const json_t *cpus = json_object_get(root, "cpus");
	size_t nr = json_array_size(cpus);

	if (cpus && (!json_is_array(cpus) || nr > CP_EXEC_CPUS_MAX))
		return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
				  "'cpus' is no list; expected at most %d numbers",
				  CP_EXEC_CPUS_MAX);
	for (size_t i = 0; i < nr; i++) {
		const json_t *cpu = json_array_get(cpus, i);

		if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 ||
		    json_integer_value(cpu) > INT32_MAX)
			return cp_err_set(err, CP_EXIT_INVALID, EINVAL,
					  "'cpus' holds what is no CPU; expected "
					  "numbers");
		request->cpus[request->nr_cpus++] = (unsigned)json_integer_value(cpu);
	}
	return 0;
}

static int decode_request(const struct cp_json_in *root, struct cp_exec_request *request)
{
	struct cp_json_in cell = {0};
	int rc = cp_json_in_object(root, "cell", CP_JSON_REQUIRED, "cell", &cell);

	if (!rc)
		rc = cp_context_decode(&cell, &request->context);
	if (!rc)
		rc = cp_arm_decode(&cell, &request->arm);
	if (!rc)
		rc = cp_json_in_u32(root, "sample", CP_JSON_OPTIONAL, 0, UINT32_MAX,
				    &request->sample);
	if (!rc)
		rc = cp_json_in_u64(root, "seed", CP_JSON_OPTIONAL, 0, UINT64_MAX,
				    &request->seed);
	if (!rc)
		rc = cp_json_in_u64(root, "size", CP_JSON_REQUIRED, 1, UINT64_MAX,
				    &request->size);
	if (!rc)
		rc = cp_json_in_text(root, "filename", CP_JSON_OPTIONAL,
				     request->filename, sizeof(request->filename));
	if (!rc)
		rc = cp_json_in_u64(root, "runtime_ns", CP_JSON_REQUIRED, 1, UINT64_MAX,
				    &request->runtime_ns);
	if (!rc)
		rc = cp_json_in_u64(root, "ramp_ns", CP_JSON_OPTIONAL, 0, UINT64_MAX,
				    &request->ramp_ns);
	return rc ? rc : decode_cpus(root->object, request, root->err);
}

int cp_exec_request_decode(const char *line, size_t len,
			   struct cp_exec_request *ret_request, struct cp_err *err)
{
	struct cp_exec_request request = {0};
	json_t *object = NULL;
	int rc = cp_json_parse(line, len, &object, NULL, err);

	if (rc)
		return rc;
	cp_context_init(&request.context);
	cp_arm_init(&request.arm);
	rc = decode_request(&(struct cp_json_in){object, "", err}, &request);
	json_decref(object);
	if (!rc)
		*ret_request = request;
	return rc;
}
