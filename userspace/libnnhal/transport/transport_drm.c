// SPDX-License-Identifier: MIT
/*
 * The transport through the kernel driver.
 *
 * One open file is one hardware context. All ioctls go through drm_ioctl(), which repeats
 * them after signals. Waits are bounded slices in the kernel, so a process that waits can
 * always be killed.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include <nnhal/nnhal.h>

#include "base/build_id.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "transport/drm_private.h"
#include "transport/drm_scan.h"
#include "transport/transport.h"

/* Longest single wait in the kernel. */
#define WAIT_SLICE_NS	UINT64_C(1000000000)
/* Fences that are waited for without allocating. */
#define FEW_FENCES	32
#define MAX_NODES	64

struct transport_fence {
	uint32_t handle;
};

static int query(int fd, uint32_t topic, void *data, uint32_t size)
{
	struct drm_nnpu_query q = {
		.topic = topic, .size = size, .data = (uintptr_t)data,
	};

	/* An older driver fills in less: the rest stays zero. */
	memset(data, 0, size);
	return drm_ioctl(fd, DRM_IOCTL_NNPU_QUERY, &q);
}

static void drm_close_copy(struct transport *t)
{
	struct drm_transport *d = to_drm(t);

	if (d->udmabuf_fd >= 0)
		close(d->udmabuf_fd);
	close(d->fd);
	free(d);
}

static void drm_close(struct transport *t)
{
	struct drm_transport *d = to_drm(t);

	if (d->udmabuf_fd >= 0)
		close(d->udmabuf_fd);
	close(d->fd);
	pthread_mutex_destroy(&d->import_lock);
	free(d);
}

static int drm_health(struct transport *t)
{
	struct drm_nnpu_context_info info;
	int err = query(to_drm(t)->fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, sizeof(info));

	if (err)
		return err;
	return info.flags & DRM_NNPU_CONTEXT_LOST ? -ESTALE : 0;
}

static int drm_read_extensions(struct transport *t, struct nnpu_extension **extensions,
			       uint32_t *count)
{
	uint32_t size = NNPU_MAX_EXTENSIONS * sizeof(**extensions);
	struct drm_nnpu_query q = { .topic = DRM_NNPU_QUERY_EXTENSIONS, .size = size };
	int err;

	*extensions = NULL;
	*count = 0;
	if (!t->identify.num_extensions)
		return 0;
	*extensions = calloc(1, size);
	if (!*extensions)
		return -ENOMEM;
	q.data = (uintptr_t)*extensions;
	err = drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_QUERY, &q);
	/* An older driver does not know extensions. */
	if (err == -EINVAL)
		return 0;
	*count = (q.size < size ? q.size : size) / sizeof(**extensions);
	return err;
}

/* ---- programs ---- */

static int drm_program_load(struct transport *t, const void *image, uint32_t size,
			    struct nnpu_command_report *reports, uint32_t num_reports,
			    struct transport_load *result)
{
	struct drm_nnpu_program_load arg = {
		.image = (uintptr_t)image, .image_size = size,
		.flags = reports ? DRM_NNPU_PROGRAM_CHECK : 0,
		.report = (uintptr_t)reports, .num_reports = num_reports,
	};
	int err = drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg);

	result->program = arg.program;
	result->status = arg.status;
	result->reason = arg.reason;
	result->index = arg.index;
	result->operand = arg.operand;
	result->memory = arg.memory;
	return err;
}

static void drm_program_unload(struct transport *t, uint32_t program)
{
	struct drm_nnpu_program_unload arg = { .program = program };

	drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_PROGRAM_UNLOAD, &arg);
}

static int drm_program_save(struct transport *t, uint32_t program, void *image, uint64_t *size)
{
	struct drm_nnpu_program_save arg = {
		.program = program, .image = (uintptr_t)image, .size = image ? *size : 0,
	};
	int err = drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &arg);

	if (!err)
		*size = arg.size;
	return err;
}

/* ---- fences and jobs ---- */

static int drm_fence_create(struct transport *t, struct transport_fence **fence)
{
	struct drm_syncobj_create arg = { 0 };
	struct transport_fence *f = malloc(sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	err = drm_ioctl(to_drm(t)->fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg);
	if (err) {
		free(f);
		return err;
	}
	f->handle = arg.handle;
	*fence = f;
	return 0;
}

static void drm_fence_destroy(struct transport *t, struct transport_fence *fence)
{
	struct drm_syncobj_destroy arg = { .handle = fence->handle };

	drm_ioctl(to_drm(t)->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &arg);
	free(fence);
}

static int drm_fence_set(struct transport *t, struct transport_fence *fence,
			 unsigned long request)
{
	struct drm_syncobj_array arg = {
		.handles = (uintptr_t)&fence->handle, .count_handles = 1,
	};

	return drm_ioctl(to_drm(t)->fd, request, &arg);
}

static int drm_fence_signal(struct transport *t, struct transport_fence *fence)
{
	return drm_fence_set(t, fence, DRM_IOCTL_SYNCOBJ_SIGNAL);
}

static int drm_fence_reset(struct transport *t, struct transport_fence *fence)
{
	return drm_fence_set(t, fence, DRM_IOCTL_SYNCOBJ_RESET);
}

static void release_fences(int fd, struct drm_nnpu_sync *syncs, uint32_t count)
{
	struct drm_syncobj_destroy destroy = { .handle = 0 };
	uint32_t i;

	for (i = 0; syncs && i < count; i++) {
		destroy.handle = syncs[i].handle;
		drm_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	}
	free(syncs);
}

/* Syncobjs for the descriptors of @job. After an error there are none. 0 or -errno. */
static int import_fences(int fd, const struct transport_job *job, struct drm_nnpu_sync **result)
{
	struct drm_nnpu_sync *syncs = NULL;
	struct drm_syncobj_create create;
	uint32_t i;
	int err = 0;

	*result = NULL;
	if (!job->num_in_fences)
		return 0;
	syncs = calloc(job->num_in_fences, sizeof(*syncs));
	if (!syncs)
		return -ENOMEM;
	for (i = 0; i < job->num_in_fences; i++) {
		struct drm_syncobj_handle import = {
			.fd = job->in_fences[i],
			.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
		};

		memset(&create, 0, sizeof(create));
		err = drm_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);
		if (err)
			break;
		syncs[i].handle = create.handle;
		import.handle = create.handle;
		err = drm_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import);
		if (err) {
			i++;
			break;
		}
	}
	*result = syncs;
	if (err) {
		release_fences(fd, syncs, i);
		*result = NULL;
	}
	return err;
}

static int drm_submit(struct transport *t, const struct transport_job *job)
{
	struct drm_nnpu_sync out = { .handle = job->fence->handle }, *in;
	struct drm_nnpu_submit arg = {
		.kind = job->is_copy ? DRM_NNPU_JOB_COPY : DRM_NNPU_JOB_EXECUTE,
		.program = job->program,
		.flags = job->profile ? DRM_NNPU_SUBMIT_PROFILE : 0,
		.args = (uintptr_t)job->args,
		.num_inputs = job->num_inputs,
		.num_outputs = job->num_outputs,
		.arg_stride = sizeof(*job->args),
		.priority = job->priority,
		.result_slot = job->result_slot,
		.result_offset = job->result_offset,
		.num_out_syncs = 1,
		.sync_stride = sizeof(out),
		.out_syncs = (uintptr_t)&out,
		.loop_timeout_ns = job->loop_timeout_ns,
		.deadline_ns = job->deadline_ns,
		.duration_ns = job->duration_ns,
		.num_in_syncs = job->num_in_fences,
	};
	int fd = to_drm(t)->fd, err = import_fences(fd, job, &in);

	if (err)
		return err;
	arg.in_syncs = (uintptr_t)in;
	if (in)
		arg.flags |= DRM_NNPU_SUBMIT_PROPAGATE;
	if (job->no_wait)
		arg.flags |= DRM_NNPU_SUBMIT_NONBLOCK;
	if (job->deadline_ns || job->duration_ns)
		arg.flags |= DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	if (job->profile) {
		arg.profile_slot = job->profile_slot;
		arg.profile_offset = job->profile_offset;
		arg.profile_size = job->profile_size;
	}
	err = drm_ioctl(fd, DRM_IOCTL_NNPU_SUBMIT, &arg);
	/* The job has references of the fences. */
	release_fences(fd, in, job->num_in_fences);
	return err;
}

static int wait_slices(int fd, struct drm_syncobj_wait *arg, int64_t timeout_ns)
{
	uint64_t end = timeout_ns < 0 ? UINT64_MAX : monotonic_ns() + (uint64_t)timeout_ns;
	uint64_t now, until;
	int err;

	do {
		now = monotonic_ns();
		until = now >= end ? now : end - now < WAIT_SLICE_NS ? end : now + WAIT_SLICE_NS;
		arg->timeout_nsec = (int64_t)until;
		err = drm_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, arg);
	} while ((err == -ETIME && until < end) ||
		 (err && err != -ETIME && drm_wait_again(err)));
	return err;
}

static int drm_wait(struct transport *t, struct transport_fence *const *fences, uint32_t count,
		    int64_t timeout_ns, uint32_t *first)
{
	uint32_t few[FEW_FENCES];
	uint32_t *handles = few;
	struct drm_syncobj_wait arg = {
		/* A syncobj without a fence yet: wait for one. */
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	uint32_t i;
	int err;

	if (count > FEW_FENCES) {
		handles = malloc(count * sizeof(*handles));
		if (!handles) {
			handles = few;
			count = FEW_FENCES;
		}
	}
	for (i = 0; i < count; i++)
		handles[i] = fences[i]->handle;
	arg.handles = (uintptr_t)handles;
	arg.count_handles = count;
	err = wait_slices(to_drm(t)->fd, &arg, timeout_ns);
	if (!err)
		*first = arg.first_signaled < count ? arg.first_signaled : 0;
	if (handles != few)
		free(handles);
	return err;
}

static int drm_fence_export(struct transport *t, struct transport_fence *fence, int *fd)
{
	struct drm_syncobj_handle export = {
		.handle = fence->handle, .fd = -1,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	int err = drm_ioctl(to_drm(t)->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);

	if (!err)
		*fd = export.fd;
	return err;
}

/* The error of a fence can be read from its sync file only. */
static int drm_fence_error(struct transport *t, struct transport_fence *fence)
{
	struct sync_file_info info = { 0 };
	int fd, err;

	err = drm_fence_export(t, fence, &fd);
	if (err)
		return err;
	err = drm_ioctl(fd, SYNC_IOC_FILE_INFO, &info);
	close(fd);
	if (err)
		return err;
	return info.status < 0 ? info.status : 0;
}

static const struct transport_ops drm_ops;

/* ---- opening ---- */

static enum nnhal_status open_node(const char *path, int *fd, struct nnhal_diag *diag)
{
	int err;

	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd >= 0)
		return NNHAL_STATUS_NONE;
	err = errno;
	diag_set(diag, "%s: %s", path, errno_text(err));
	if (err == EACCES || err == EPERM)
		return NNHAL_STATUS_NO_PERMISSION;
	if (err == ENOENT || err == ENXIO)
		return NNHAL_STATUS_NO_DEVICE;
	return status_from_errno(err);
}

static enum nnhal_status read_version(struct drm_transport *d, struct nnhal_diag *diag)
{
	char date[24] = "", build[BUILD_ID_TEXT];
	struct drm_version version = { .date = date, .date_len = sizeof(date) - 1 };
	int err = drm_ioctl(d->fd, DRM_IOCTL_VERSION, &version);
	size_t size;

	if (err) {
		diag_set(diag, "driver version: %s", errno_text(-err));
		return status_from_errno(-err);
	}
	if (version.version_major != NNPU_DRIVER_MAJOR) {
		diag_set(diag, "driver has interface version %d.%d, expected %d.x",
			 version.version_major, version.version_minor, NNPU_DRIVER_MAJOR);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	size = build_id_read("/sys/module/" NNPU_DRIVER_NAME "/notes/.note.gnu.build-id",
			     d->base.build_id);
	build_id_text(d->base.build_id, size, build);
	snprintf(d->base.driver, sizeof(d->base.driver), "driver " NNPU_DRIVER_NAME " %d.%d.%d%s%s%s",
		 version.version_major, version.version_minor, version.version_patchlevel,
		 date[0] ? " " : "", date, build);
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status read_device(struct drm_transport *d, struct nnhal_diag *diag)
{
	const struct drm_nnpu_device_info *info = &d->info;
	int err = query(d->fd, DRM_NNPU_QUERY_DEVICE_INFO, &d->info, sizeof(d->info));

	if (!err)
		err = query(d->fd, DRM_NNPU_QUERY_IDENTIFY, &d->base.identify,
			    sizeof(d->base.identify));
	if (err) {
		diag_set(diag, "asking the driver: %s", errno_text(-err));
		return status_from_errno(-err);
	}
	d->base.limits.max_args = info->max_args;
	d->base.limits.max_program_size = info->max_program_size;
	d->base.limits.can_profile = info->features & NNPU_FEATURE_PROFILE;
	d->base.limits.can_copy = info->features & NNPU_FEATURE_COPY;
	d->base.limits.can_save = info->features & NNPU_FEATURE_SAVE;
	d->base.limits.has_control_flow = info->features & NNPU_FEATURE_CONTROL_FLOW;
	d->base.limits.pins_memory = true;
	d->base.limits.needs_sync = info->flags & DRM_NNPU_DEVICE_SYNC;
	d->base.limits.has_deadlines = info->features & NNPU_FEATURE_DEADLINE;
	d->base.limits.fence_kinds = FENCE_SYNC_FILE;
	d->base.limits.max_in_fences = info->max_syncs;
	return NNHAL_STATUS_NONE;
}

/* A transport on an open node, which it owns also after an error. */
static enum nnhal_status create(int fd, const char *path, struct drm_transport **result,
				struct nnhal_diag *diag)
{
	struct drm_transport *d = calloc(1, sizeof(*d));
	enum nnhal_status status;

	if (!d) {
		diag_set(diag, "no memory for a device");
		close(fd);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	pthread_mutex_init(&d->import_lock, NULL);
	d->base.ops = &drm_ops;
	d->fd = fd;
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->udmabuf_fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	status = read_version(d, diag);
	if (!status)
		status = read_device(d, diag);
	if (status) {
		drm_close(&d->base);
		return status;
	}
	*result = d;
	return NNHAL_STATUS_NONE;
}

/* The path may lead to another device by now. */
static bool is_same_node(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_rdev == sb.st_rdev;
}

static struct transport *drm_open_another(struct transport *t)
{
	struct drm_transport *d = to_drm(t), *other;
	int fd = open(d->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!is_same_node(fd, d->fd)) {
		close(fd);
		return NULL;
	}
	if (create(fd, d->path, &other, NULL))
		return NULL;
	memcpy(other->base.name, t->name, sizeof(t->name));
	return &other->base;
}

static const struct transport_ops drm_ops = {
	.close = drm_close,
	.close_copy = drm_close_copy,
	.queue_free_copy = drm_queue_free_copy,
	.open_another = drm_open_another,
	.health = drm_health,
	.read_extensions = drm_read_extensions,
	.bo_create = drm_bo_create,
	.bo_destroy = drm_bo_destroy,
	.bo_give = drm_bo_give,
	.bo_take = drm_bo_take,
	.bind_fd = drm_bind_fd,
	.bind_pointer = drm_bind_pointer,
	.unbind = drm_unbind,
	.storage_create = drm_storage_create,
	.program_load = drm_program_load,
	.program_unload = drm_program_unload,
	.program_save = drm_program_save,
	.fence_create = drm_fence_create,
	.fence_destroy = drm_fence_destroy,
	.submit = drm_submit,
	.wait = drm_wait,
	.fence_error = drm_fence_error,
	.fence_export = drm_fence_export,
	.fence_signal = drm_fence_signal,
	.fence_reset = drm_fence_reset,
	.queue_create = drm_queue_create,
	.queue_stop = drm_queue_stop,
	.queue_destroy = drm_queue_destroy,
	.queue_fd = drm_queue_fd,
	.queue_wait = drm_queue_wait,
	.device_time = drm_device_time,
};
enum nnhal_status transport_drm_open(const char *root, unsigned int index,
				     struct transport **transport, struct nnhal_diag *diag)
{
	struct drm_node nodes[MAX_NODES];
	int n = drm_scan_open(root, nodes, MAX_NODES);
	char path[sizeof(((struct drm_transport *)NULL)->path)];
	struct drm_transport *d;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	int fd;

	if (n <= 0)
		return drm_absence(root, n, diag);
	if (index >= (unsigned int)n) {
		drm_nodes_close(nodes, n);
		diag_set(diag, "no hardware device %u, there are %d", index, n);
		return NNHAL_STATUS_NO_DEVICE;
	}
	snprintf(path, sizeof(path), "%s%s", root, nodes[index].path);
	fd = nodes[index].fd;
	nodes[index].fd = -1;
	drm_nodes_close(nodes, n);
	/* What could not be opened is tried again, for the reason. */
	if (fd < 0)
		status = open_node(path, &fd, diag);
	if (!status)
		status = create(fd, path, &d, diag);
	if (status)
		return status;
	snprintf(d->base.name, sizeof(d->base.name), "nnpu-drm%u", index);
	*transport = &d->base;
	return NNHAL_STATUS_NONE;
}
