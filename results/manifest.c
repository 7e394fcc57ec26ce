/* SPDX-License-Identifier: GPL-2.0-only */
/* manifest.json: what was to be measured, and on what. */
#include <errno.h>
#include <sha256.h>
#include <sys/stat.h>

#include "engines/base/file.h"
#include "results/json_in.h"
#include "results/run.h"

#define MANIFEST_SCHEMA	  1
#define MANIFEST_SIZE_MAX (16U << 20)

/* manifest.json in a run directory, or beside a file. */
static int manifest_path(const char *path, char *buf, size_t size)
{
	struct stat st;
	char dir[4096];
	const char *slash = strrchr(path, '/');

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return cp_path_join(buf, size, path, "manifest.json");
	if (!slash)
		return cp_path_join(buf, size, ".", "manifest.json");
	if ((size_t)(slash - path) + 2 > sizeof(dir))
		return -ENAMETOOLONG;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path) + 1, path);
	return cp_path_join(buf, size, dir, "manifest.json");
}

/* A copy of the object or list below key, NULL when it is absent. */
static int keep_value(const struct cp_json_in *in, const char *key, json_type type,
		      json_t **ret_value)
{
	json_t *value = json_object_get(in->object, key);

	if (!value || json_is_null(value))
		return 0;
	if (json_typeof(value) != type)
		return cp_err_set(in->err, CP_EXIT_INVALID, EINVAL,
				  "'%s' is of the wrong type; expected %s", key,
				  type == JSON_ARRAY ? "a list" : "an object");
	*ret_value = json_incref(value);
	return 0;
}

static int decode_fingerprint(const struct cp_json_in *root, struct cp_manifest *manifest)
{
	struct cp_json_in in = {0};
	int rc = cp_json_in_object(root, "fingerprint", CP_JSON_REQUIRED, "fingerprint",
				   &in);
	if (!rc)
		rc = cp_json_in_text(&in, "hash", CP_JSON_REQUIRED, manifest->fingerprint,
				     sizeof(manifest->fingerprint));
	if (!rc)
		rc = keep_value(&in, "hard", JSON_OBJECT, &manifest->hard);
	if (!rc)
		rc = keep_value(&in, "soft", JSON_OBJECT, &manifest->soft);
	return rc;
}

static int decode_tool(const struct cp_json_in *root, struct cp_manifest *manifest)
{
	struct cp_json_in in = {0};
	int rc = cp_json_in_object(root, "tool", CP_JSON_REQUIRED, "tool", &in);

	if (!rc)
		rc = cp_json_in_text(&in, "copypath", CP_JSON_REQUIRED,
				     manifest->copypath, sizeof(manifest->copypath));
	if (!rc)
		rc = cp_json_in_text(&in, "fio", CP_JSON_OPTIONAL, manifest->fio,
				     sizeof(manifest->fio));
	return rc;
}

static int check_kind(const struct cp_json_in *root)
{
	char kind[32] = "";
	int rc = cp_json_in_text(root, "kind", CP_JSON_REQUIRED, kind, sizeof(kind));

	if (!rc && strcmp(kind, "run") != 0)
		rc = cp_err_set(root->err, CP_EXIT_INVALID, EINVAL,
				"'kind' is '%s'; expected 'run'", kind);
	return rc;
}

static int decode_manifest(const struct cp_json_in *root, struct cp_manifest *manifest)
{
	const struct {
		const char *key;
		char *buf;
		size_t size;
	} texts[] = {
		{"run", manifest->run, sizeof(manifest->run)},
		{"t", manifest->t, sizeof(manifest->t)},
		{"host", manifest->host, sizeof(manifest->host)},
		{"config_hash", manifest->config_hash, sizeof(manifest->config_hash)},
	};
	int rc = cp_json_in_schema(root, MANIFEST_SCHEMA);

	if (!rc)
		rc = check_kind(root);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !rc; i++)
		rc = cp_json_in_text(root, texts[i].key, CP_JSON_REQUIRED, texts[i].buf,
				     texts[i].size);
	if (!rc)
		rc = decode_tool(root, manifest);
	if (!rc)
		rc = keep_value(root, "config", JSON_OBJECT, &manifest->config);
	if (!rc)
		rc = decode_fingerprint(root, manifest);
	if (!rc)
		rc = cp_json_in_u64(root, "planned", CP_JSON_REQUIRED, 0, UINT64_MAX,
				    &manifest->planned);
	if (!rc)
		rc = cp_json_in_bool(root, "complete", CP_JSON_REQUIRED,
				     &manifest->complete);
	if (!rc)
		rc = keep_value(root, "argv", JSON_ARRAY, &manifest->argv);
	if (!rc)
		rc = keep_value(root, "unmeasured", JSON_ARRAY, &manifest->unmeasured);
	return rc;
}

int cp_manifest_read(const char *path, struct cp_manifest *ret, struct cp_err *err)
{
	struct cp_manifest manifest = {0};
	char file[4096];
	char *text = NULL;
	json_t *object = NULL;
	struct stat st;
	size_t len = 0;
	int rc = manifest_path(path, file, sizeof(file));

	if (rc)
		return cp_err_set(err, CP_EXIT_USAGE, -rc, "'%.64s...': path too long",
				  path);
	if (stat(file, &st) && (errno == ENOENT || errno == ENOTDIR))
		return -ENOENT;
	rc = cp_file_read(file, MANIFEST_SIZE_MAX, &text, &len, err);
	if (rc)
		return rc;
	rc = cp_json_parse(text, len, &object, NULL, err);
	free(text);
	if (!rc)
		rc = decode_manifest(&(struct cp_json_in){object, "", err}, &manifest);
	json_decref(object);
	if (rc) {
		cp_manifest_free(&manifest);
		cp_err_prefix(err, "'%s'", file);
		return rc;
	}
	*ret = manifest;
	return 0;
}

static json_t *value_or(json_t *value, json_t *(*empty)(void))
{
	return value ? json_incref(value) : empty();
}

static int encode_tool(const struct cp_json_out *root, const struct cp_manifest *manifest)
{
	struct cp_json_out out = {json_object(), "tool", root->err};
	int rc = cp_json_out_value(root, "tool", out.object);

	if (!rc)
		rc = cp_json_out_text(&out, "copypath", manifest->copypath);
	if (!rc)
		rc = cp_json_out_text(&out, "fio", manifest->fio);
	return rc;
}

static int encode_fingerprint(const struct cp_json_out *root,
			      const struct cp_manifest *manifest)
{
	struct cp_json_out out = {json_object(), "fingerprint", root->err};
	int rc = cp_json_out_value(root, "fingerprint", out.object);

	if (!rc)
		rc = cp_json_out_text(&out, "hash", manifest->fingerprint);
	if (!rc)
		rc = cp_json_out_value(&out, "hard",
				       value_or(manifest->hard, json_object));
	if (!rc)
		rc = cp_json_out_value(&out, "soft",
				       value_or(manifest->soft, json_object));
	return rc;
}

static int encode_manifest(const struct cp_json_out *root,
			   const struct cp_manifest *manifest)
{
	int rc = cp_json_out_u64(root, "schema", MANIFEST_SCHEMA);

	if (!rc)
		rc = cp_json_out_text(root, "kind", "run");
	if (!rc)
		rc = cp_json_out_text(root, "run", manifest->run);
	if (!rc)
		rc = cp_json_out_text(root, "t", manifest->t);
	if (!rc)
		rc = cp_json_out_text(root, "host", manifest->host);
	if (!rc)
		rc = encode_tool(root, manifest);
	if (!rc)
		rc = cp_json_out_value(root, "config",
				       value_or(manifest->config, json_object));
	if (!rc)
		rc = cp_json_out_text(root, "config_hash", manifest->config_hash);
	if (!rc)
		rc = encode_fingerprint(root, manifest);
	if (!rc)
		rc = cp_json_out_u64(root, "planned", manifest->planned);
	if (!rc)
		rc = cp_json_out_value(root, "complete",
				       json_boolean(manifest->complete));
	if (!rc)
		rc = cp_json_out_value(root, "argv",
				       value_or(manifest->argv, json_array));
	if (!rc && manifest->unmeasured)
		rc = cp_json_out_value(root, "unmeasured",
				       json_incref(manifest->unmeasured));
	return rc;
}

int cp_manifest_write(const char *dir, const struct cp_manifest *manifest,
		      struct cp_err *err)
{
	struct cp_json_out root = {json_object(), "", err};
	struct cp_file_new file;
	char path[4096];
	int rc = cp_path_join(path, sizeof(path), dir, "manifest.json");

	if (rc)
		rc = cp_err_set(err, CP_EXIT_USAGE, -rc, "'%.64s...': path too long",
				dir);
	else
		rc = encode_manifest(&root, manifest);
	if (!rc)
		rc = cp_file_new_open(path, &file, err);
	if (rc)
		goto out_free;
	if (json_dumpf(root.object, file.stream,
		       JSON_INDENT(1) | JSON_REAL_PRECISION(15)) ||
	    fputc('\n', file.stream) == EOF) {
		rc = cp_err_set(err, CP_EXIT_INVALID, EIO, "'%s': cannot write", path);
		cp_file_new_abort(&file);
		goto out_free;
	}
	rc = cp_file_new_commit(&file, err);
out_free:
	json_decref(root.object);
	return rc;
}

void cp_manifest_free(struct cp_manifest *manifest)
{
	json_decref(manifest->hard);
	json_decref(manifest->soft);
	json_decref(manifest->config);
	json_decref(manifest->argv);
	json_decref(manifest->unmeasured);
	manifest->hard = manifest->soft = manifest->config = manifest->argv = NULL;
	manifest->unmeasured = NULL;
}

void cp_json_hash(const json_t *value, char ret[CP_FINGERPRINT_MAX])
{
	static const char prefix[] = "sha256:";
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char *text = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY |
					       JSON_REAL_PRECISION(17));
	SHA256_CTX ctx;
	size_t at = sizeof(prefix) - 1;

	SHA256Init(&ctx);
	if (text)
		SHA256Update(&ctx, (const uint8_t *)text, strlen(text));
	SHA256Final(digest, &ctx);
	free(text);
	snprintf(ret, CP_FINGERPRINT_MAX, "%s", prefix);
	for (size_t i = 0; i < sizeof(digest); i++)
		at += (size_t)snprintf(ret + at, CP_FINGERPRINT_MAX - at, "%02x",
				       digest[i]);
}
