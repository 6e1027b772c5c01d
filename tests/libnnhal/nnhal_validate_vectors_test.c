// SPDX-License-Identifier: MIT
/*
 * Every operator test case is a valid model of its HAL version and of all later ones, and
 * of no earlier one; the entry points of the versions agree about it.
 */
#include <string.h>

#include "ops/shared_vectors.h"
#include "vector_model.h"

static struct {
	unsigned int cases, refused, unknown_size, wrong_version, at_older, of_folder, disagree, unpromised;
} counts;

static struct nnhal_device *device;

static void note(const char *path, const struct nntc_case *nc, const char *what,
		 const struct nnhal_diag *diag)
{
	tap_note("%s: %s: %s: %s", path, nc->name, what, diag->message);
}

/* A16, A22: one answer for each operation, the same from every version. */
static void test_support(const char *path, const struct nntc_case *nc, struct vector_model *m,
			 uint32_t since)
{
	struct nnhal_diag diag = { "" };
	uint32_t n = m->model.main.num_operations, version, i;
	bool *first = calloc(2 * n, sizeof(*first)), *now = first + n;
	enum nnhal_status status;

	if (!first)
		exit(1);
	m->model.hal_version = NNHAL_HAL_1_3;
	status = nnhal_device_get_supported_operations(device, &m->model, first, n, &diag);
	if (status) {
		note(path, nc, "getSupportedOperations_1_3", &diag);
		counts.refused++;
	}
	for (version = since; !status && version <= NNHAL_HAL_1_2; version++) {
		m->model.hal_version = version;
		if (nnhal_device_get_supported_operations(device, &m->model, now, n, &diag) ||
		    memcmp(first, now, n * sizeof(*now))) {
			note(path, nc, "versions disagree", &diag);
			counts.disagree++;
			break;
		}
	}
	for (i = 0; !status && i < n; i++)
		if (!first[i] && m->model.main.operations[i].type != NNHAL_OPERATION_IF &&
		    m->model.main.operations[i].type != NNHAL_OPERATION_WHILE)
			counts.unpromised++;
	free(first);
}

/* The version of the folder of a file: the folder has what that version introduced. */
static uint32_t folder_version(const char *path)
{
	static const char *const folders[] = { "/V1_0/", "/V1_1/", "/V1_2/", "/V1_3" };
	uint32_t i;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strstr(path, folders[i]))
			return NNHAL_HAL_1_0 + i;
	return 0;
}

/*
 * A case needs the version it states, or the version of its folder: a case was written for what
 * is new in that version. The stated version ignores operands that variants of the case add,
 * and may be later than necessary.
 */
static bool version_is_right(const char *path, const struct nntc_case *nc, uint32_t since)
{
	if (!nc->min_hal_version || since == nc->min_hal_version)
		return true;
	counts.of_folder++;
	return since == folder_version(path);
}

static bool has_unknown_size(const struct nntc_subgraph *sg)
{
	uint32_t i, d;

	for (i = 0; i < sg->num_operands; i++) {
		const struct nntc_operand *o = &sg->operands[i];

		if (nnhal_operand_type_is_scalar(o->type))
			continue;
		if (!o->rank)
			return true;
		for (d = 0; d < o->rank; d++)
			if (!o->dims[d])
				return true;
	}
	return false;
}

/* B30: a WHILE with an operand of unknown size is no model for a driver. */
static bool is_unknown_while(const struct nntc_case *nc)
{
	bool has_while = false, unknown = has_unknown_size(&nc->main);
	uint32_t i;

	for (i = 0; i < nc->main.num_operations; i++)
		has_while |= nc->main.operations[i].type == NNHAL_OPERATION_WHILE;
	for (i = 0; i < nc->num_referenced; i++)
		unknown |= has_unknown_size(&nc->referenced[i]);
	return has_while && unknown;
}

static void test_case(const char *path, const struct nntc_case *nc)
{
	struct nnhal_diag diag = { "" };
	struct vector_model m;
	uint32_t version, since;

	if (nc->expect_failure)
		return;
	counts.cases++;
	vector_model_init(&m, nc, NNHAL_HAL_1_3);
	since = nnhal_model_get_min_version(&m.model, &diag);
	if (is_unknown_while(nc)) {
		counts.unknown_size += !since;
		since = 0;
	} else if (!since) {
		note(path, nc, "no valid model", &diag);
		counts.refused++;
	} else if (!version_is_right(path, nc, since)) {
		m.model.hal_version = since > nc->min_hal_version ? nc->min_hal_version : since;
		nnhal_validate_model(&m.model, &diag);
		tap_note("%s: %s: of HAL version %u, expected %u: %s", path, nc->name, since,
			 nc->min_hal_version, diag.message);
		counts.wrong_version++;
	}
	for (version = NNHAL_HAL_1_0; since && version <= NNHAL_HAL_1_3; version++) {
		m.model.hal_version = version;
		if (nnhal_validate_model(&m.model, NULL) != (version >= since))
			counts.at_older++;
	}
	if (since)
		test_support(path, nc, &m, since);
	vector_model_fini(&m);
}

int main(void)
{
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	status = nnhal_device_open("sim", &device, &diag);
	if (status == NNHAL_STATUS_NO_DRIVER)
		tap_skip_all("this library has no in-process device: %s", diag.message);
	if (status) {
		printf("Bail out! in-process device: %s\n", diag.message);
		return 1;
	}
	vectors_run_shared(test_case);
	ok(counts.cases > 6000 && !counts.refused, "B18 of %u models %u are refused in HAL 1.3",
	   counts.cases, counts.refused);
	ok(counts.unknown_size == 200, "B30 %u models with a WHILE of unknown size are refused",
	   counts.unknown_size);
	ok(!counts.wrong_version, "G03 G06 B26 %u models are of another HAL version than theirs",
	   counts.wrong_version);
	ok(counts.of_folder == 185, "G03 %u models are of the HAL version of their folder instead",
	   counts.of_folder);
	ok(!counts.at_older, "G05 %u models are legal in a version, but not in a later one",
	   counts.at_older);
	ok(!counts.disagree, "A22 of %u models %u get another answer in an older version",
	   counts.cases, counts.disagree);
	ok(!counts.unpromised, "A16 A18 %u operations of valid models are not supported",
	   counts.unpromised);
	nnhal_device_unref(device);
	return tap_done();
}
