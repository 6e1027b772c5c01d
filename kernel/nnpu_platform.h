/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PLATFORM_H_
#define _NNPU_PLATFORM_H_

#if IS_ENABLED(CONFIG_OF)
int nnpu_platform_register(void);
void nnpu_platform_unregister(void);
#else
static inline int nnpu_platform_register(void)
{
	return 0;
}

static inline void nnpu_platform_unregister(void) {}
#endif

#endif /* _NNPU_PLATFORM_H_ */
