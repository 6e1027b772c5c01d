/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_COMMAND_H_
#define _NNPU_COMMAND_H_

struct nnpu_admin_result;
struct nnpu_ctx;
struct nnpu_device;

int nnpu_command_exec(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe,
		      struct nnpu_admin_result *result);
int nnpu_command_load(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe,
		      struct nnpu_admin_result *result);
void nnpu_command_revoke(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe);

#endif /* _NNPU_COMMAND_H_ */
