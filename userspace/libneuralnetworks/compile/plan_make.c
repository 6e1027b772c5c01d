// SPDX-License-Identifier: MIT
/*
 * Plans: values between the steps, and the preparation of each step by its device.
 *
 * What passes from one step to another has a known size. That of open shapes is only known when the
 * writer has ended; models with such values between steps are not cut, as in the NNAPI.
 */
#include <nnhal/buffer.h>
#include <nnhal/util.h>
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "compile/ndk_compilation.h"
#include "compile/ndk_plan.h"

/* Values in the pool begin at a line of the cache, so that steps do not share one. */
#define VALUE_ALIGNMENT	64u

static void layout_fini(struct ndk_layout *l)
{
	free(l->step_of);
	free(l->writer);
}

static bool layout_init(struct ndk_layout *l, const struct nnhal_model *model)
{
	const struct nnhal_subgraph *main = &model->main;

	*l = (struct ndk_layout){ .model = model };
	l->step_of = calloc(2 * (size_t)main->num_operations + NDK_MAX_STEPS + 2,
			    sizeof(uint32_t));
	l->writer = calloc(3 * (size_t)main->num_operands + model->num_pools, sizeof(uint32_t));
	if (!l->step_of || !l->writer)
		return false;
	l->operations = l->step_of + main->num_operations;
	l->first = l->operations + main->num_operations;
	l->value_of = l->writer + main->num_operands;
	l->local = l->value_of + main->num_operands;
	l->local_pool = l->local + main->num_operands;
	return true;
}

/* Sort the operations by step. */
static void sort_operations(struct ndk_layout *l)
{
	uint32_t n = l->model->main.num_operations, i;

	for (i = 0; i < n; i++)
		l->first[l->step_of[i] + 1]++;
	for (i = 0; i < l->num_steps; i++)
		l->first[i + 1] += l->first[i];
	for (i = 0; i < n; i++)
		l->operations[l->first[l->step_of[i]]++] = i;
	memmove(l->first + 1, l->first, l->num_steps * sizeof(*l->first));
	l->first[0] = 0;
}

static bool is_open(const struct nnhal_operand *o)
{
	return !nnhal_operand_type_is_scalar(o->type) &&
	       nnhal_tensor_has_unspecified_dimensions(o->type, o->dimensions, o->num_dimensions);
}

/*
 * Number the values: inputs and outputs of the model, then what another step than the writer reads. False: one
 * of these has an open shape.
 */
static bool number_values(struct ndk_layout *l)
{
	const struct nnhal_subgraph *main = &l->model->main;
	uint32_t i, k, operand;

	for (i = 0; i < main->num_operands; i++)
		l->writer[i] = l->value_of[i] = NDK_NONE;
	for (i = 0; i < main->num_inputs; i++)
		l->value_of[main->input_indexes[i]] = l->num_values++;
	for (i = 0; i < main->num_outputs; i++)
		l->value_of[main->output_indexes[i]] = l->num_values++;
	for (i = 0; i < main->num_operations; i++)
		for (k = 0; k < main->operations[i].num_outputs; k++)
			l->writer[main->operations[i].outputs[k]] = l->step_of[i];
	for (i = 0; i < main->num_operations; i++)
		for (k = 0; k < main->operations[i].num_inputs; k++) {
			operand = main->operations[i].inputs[k];
			if (l->writer[operand] == NDK_NONE || l->writer[operand] == l->step_of[i])
				continue;
			if (is_open(&main->operands[operand]))
				return false;
			if (l->value_of[operand] == NDK_NONE)
				l->value_of[operand] = l->num_values++;
		}
	return true;
}

static bool plan_init(struct ndk_plan *p, const struct ndk_layout *l)
{
	const struct nnhal_subgraph *main = &l->model->main;
	uint32_t i;

	p->num_arguments = main->num_inputs + main->num_outputs;
	p->steps = calloc(l->num_steps, sizeof(*p->steps));
	p->values = calloc(l->num_values, sizeof(*p->values));
	if (!p->steps || !p->values)
		return false;
	p->num_steps = l->num_steps;
	p->num_values = l->num_values;
	for (i = 0; i < main->num_operands; i++)
		if (l->value_of[i] != NDK_NONE)
			p->values[l->value_of[i]].operand = i;
	return true;
}

static int prepare_step(const ANeuralNetworksCompilation *c, const struct ndk_layout *l,
			uint32_t number, uint64_t deadline_ns, struct ndk_step *step)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct ndk_step_model model;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	int result;

	result = ndk_step_model_init(&model, l, number);
	/* Devices take no model without inputs, and the step is no less for that. */
	if (result)
		return result == ANEURALNETWORKS_BAD_DATA ?
		       ndk_why(ANEURALNETWORKS_OP_FAILED, "step %u would have no input or no output", number) : result;
	step->num_inputs = model.hal.main.num_inputs;
	step->num_outputs = model.hal.main.num_outputs;
	step->values = model.values;
	model.values = NULL;
	ndk_prepare_options(c, deadline_ns, &options);
	options.diag = &diag;
	if (c->cache_dir) {
		uint8_t token[sizeof(c->token)];

		ndk_step_token(c->token, l->operations + l->first[number],
			       l->first[number + 1] - l->first[number], token);
		status = ndk_prepare_cached(c, &(struct ndk_cached){ step->device, step->open,
								     &model.hal, token },
					    &options, &step->prepared);
	} else {
		status = nnhal_device_prepare_model_sync(step->open, &model.hal, &options,
							 &step->prepared);
	}
	ndk_step_model_fini(&model);
	/* The device had said that it takes these operations. */
	if (status == NNHAL_STATUS_INVALID_ARGUMENT)
		return ndk_why(ANEURALNETWORKS_OP_FAILED, "step %u: %s", number, diag.message);
	return ndk_why_status(status, &diag, "a step");
}

/* The device of a step; steps of one device share what is open, so that they can share its memory. */
static int open_step(struct ndk_plan *p, uint32_t number, const ANeuralNetworksDevice *device)
{
	struct ndk_step *step = &p->steps[number];
	int result = ANEURALNETWORKS_NO_ERROR;

	step->device = device;
	for (uint32_t i = 0; i < number && !step->open; i++)
		if (p->steps[i].device == device)
			step->open = nnhal_device_ref(p->steps[i].open);
	if (!step->open)
		step->open = ndk_device_open(device, &result);
	return result;
}

/* All uses of each value. A value is written by one step, which comes before those that read it. */
static bool set_roles(struct ndk_plan *p)
{
	struct ndk_step_role *roles;
	uint32_t i, k;
	size_t total = 0;

	for (i = 0; i < p->num_steps; i++)
		total += (size_t)p->steps[i].num_inputs + p->steps[i].num_outputs;
	roles = calloc(total + 1, sizeof(*roles));
	if (!roles)
		return false;
	for (i = 0; i < p->num_steps; i++)
		for (k = 0; k < p->steps[i].num_inputs + p->steps[i].num_outputs; k++)
			p->values[p->steps[i].values[k]].num_roles++;
	for (i = 0; i < p->num_values; i++) {
		p->values[i].roles = roles;
		roles += p->values[i].num_roles;
		p->values[i].num_roles = 0;
	}
	for (i = 0; i < p->num_steps; i++) {
		const struct ndk_step *s = &p->steps[i];

		for (k = 0; k < s->num_inputs + s->num_outputs; k++) {
			struct ndk_value *value = &p->values[s->values[k]];
			bool output = k >= s->num_inputs;

			value->roles[value->num_roles++] = (struct ndk_step_role){
				i, output ? k - s->num_inputs : k, output
			};
		}
	}
	return true;
}

/* The bytes of an operand; 0: not known. */
static uint32_t size_of(const struct nnhal_model *model, const struct nnhal_operand *operand,
			struct nnhal_device *device)
{
	struct nnhal_operand_type_info info = NNHAL_OPERAND_TYPE_INFO_INIT;
	uint64_t size;
	uint32_t i, bytes = 0;

	if (!nnhal_is_extension_operand_type(operand->type)) {
		nnhal_size_of_data(operand->type, operand->dimensions, operand->num_dimensions,
				   &bytes);
		return bytes;
	}
	if (nnhal_device_get_operand_type_info(device, model, operand->type, &info) ||
	    (info.is_tensor && !operand->num_dimensions))
		return 0;
	size = info.element_size;
	for (i = 0; i < operand->num_dimensions && size <= UINT32_MAX; i++)
		size *= operand->dimensions[i];
	return size <= UINT32_MAX ? (uint32_t)size : 0;
}

enum nnhal_status ndk_plan_allocate(const struct ndk_plan *plan, const struct ndk_value *value,
				    const struct nnhal_operand *operand,
				    struct nnhal_buffer **buffer, uint32_t *token)
{
	struct nnhal_prepared_model **models = calloc(value->num_roles, sizeof(*models));
	struct nnhal_buffer_role *roles = calloc(value->num_roles, sizeof(*roles));
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	enum nnhal_status status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	uint32_t i;

	for (i = 0; models && roles && i < value->num_roles; i++) {
		models[i] = plan->steps[value->roles[i].step].prepared;
		roles[i] = (struct nnhal_buffer_role){ i, value->roles[i].index, 1.0f };
	}
	desc.dimensions = operand->dimensions;
	desc.num_dimensions = operand->num_dimensions;
	/* The first one writes it, the others read. */
	if (models && roles)
		status = nnhal_device_allocate(plan->steps[value->roles[0].step].open, &desc, models,
					       value->num_roles, roles + 1, value->num_roles - 1,
					       roles, 1, buffer, token, NULL);
	free(models);
	free(roles);
	return status;
}

static bool is_on_one_device(const struct ndk_plan *p, const struct ndk_value *value)
{
	const struct ndk_step *first = &p->steps[value->roles[0].step];

	for (uint32_t i = 1; i < value->num_roles; i++)
		if (p->steps[value->roles[i].step].open != first->open)
			return false;
	return true;
}

/*
 * Where values between steps are. Outputs of the model that steps read have a place, too, for
 * executions that omit them. OP_FAILED: one has no known size.
 */
static int place_values(struct ndk_plan *p, const struct nnhal_model *model)
{
	uint64_t end = 0;
	uint32_t i;

	for (i = model->main.num_inputs; i < p->num_values; i++) {
		struct ndk_value *value = &p->values[i];
		const struct nnhal_operand *operand = &model->main.operands[value->operand];
		struct nnhal_buffer *buffer = NULL;
		uint32_t token;

		if (i < p->num_arguments && value->num_roles < 2)
			continue;
		value->length = size_of(model, operand, p->steps[value->roles[0].step].open);
		if (!value->length)
			return ndk_why(ANEURALNETWORKS_OP_FAILED, "operand %u between steps has no known size",
				       value->operand);
		if (i >= p->num_arguments && is_on_one_device(p, value) &&
		    !ndk_plan_allocate(p, value, operand, &buffer, &token)) {
			nnhal_buffer_unref(buffer);
			value->on_device = true;
			value->length = 0;
			continue;
		}
		value->offset = (uint32_t)end;
		end += ((uint64_t)value->length + VALUE_ALIGNMENT - 1) & ~(uint64_t)(VALUE_ALIGNMENT - 1);
		if (end > UINT32_MAX)
			return ndk_why(ANEURALNETWORKS_OP_FAILED, "values between steps of more than 32 bits");
	}
	p->pool_size = (uint32_t)end;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Number the owners without those that have no operations; how many there are, 0: no memory. */
static uint32_t renumber_owners(const uint32_t *owners, uint32_t num_operations,
				uint32_t num_devices, uint32_t *compact)
{
	uint32_t *number_of = calloc(num_devices, sizeof(*number_of));
	uint32_t i, count = 0;

	if (!number_of)
		return 0;
	for (i = 0; i < num_operations; i++) {
		if (!number_of[owners[i]])
			number_of[owners[i]] = ++count;
		compact[i] = number_of[owners[i]] - 1;
	}
	free(number_of);
	return count;
}

static int cut(struct ndk_layout *l, const ANeuralNetworksCompilation *c, const uint32_t *owners)
{
	uint32_t n = l->model->main.num_operations, count;
	uint32_t *compact = calloc(n, sizeof(*compact));

	if (!compact)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	count = renumber_owners(owners, n, c->num_devices, compact);
	l->num_steps = count ? ndk_cut(&l->model->main, compact, count, l->step_of) : 0;
	free(compact);
	if (!l->num_steps)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	if (l->num_steps > NDK_MAX_STEPS)
		return ndk_why(ANEURALNETWORKS_OP_FAILED, "the model takes more than %u steps", NDK_MAX_STEPS);
	sort_operations(l);
	if (!number_values(l))
		return ndk_why(ANEURALNETWORKS_OP_FAILED, "a value between steps has an open shape");
	return ANEURALNETWORKS_NO_ERROR;
}

int ndk_plan_make(const ANeuralNetworksCompilation *compilation, const uint32_t *owners,
		  uint64_t deadline_ns, struct ndk_plan **plan)
{
	const ANeuralNetworksCompilation *c = compilation;
	struct ndk_plan *p = calloc(1, sizeof(*p));
	struct ndk_layout l;
	uint32_t i;
	int result;

	if (layout_init(&l, &c->model->flat.hal) && p)
		result = cut(&l, c, owners);
	else
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	if (!result && !plan_init(p, &l))
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	for (i = 0; !result && i < p->num_steps; i++) {
		result = open_step(p, i, c->devices[owners[l.operations[l.first[i]]]]);
		if (!result)
			result = prepare_step(c, &l, i, deadline_ns, &p->steps[i]);
	}
	if (!result && !set_roles(p))
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	if (!result)
		result = place_values(p, l.model);
	layout_fini(&l);
	if (result)
		ndk_plan_free(p);
	else
		*plan = p;
	return result;
}

void ndk_plan_free(struct ndk_plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; i < plan->num_steps; i++) {
		nnhal_prepared_model_unref(plan->steps[i].prepared);
		nnhal_device_unref(plan->steps[i].open);
		free(plan->steps[i].values);
	}
	if (plan->values)
		free(plan->values[0].roles);
	free(plan->steps);
	free(plan->values);
	free(plan);
}
