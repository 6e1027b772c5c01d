/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PIN_H_
#define _NNPU_PIN_H_

#include <linux/types.h>

struct device;
struct nnpu_pin;
struct sg_table;

struct nnpu_pin *nnpu_pin_create(u64 addr, u64 size, bool writable, unsigned int max_segment);
struct sg_table *nnpu_pin_map(struct nnpu_pin *pin, struct device *dev);
bool nnpu_pin_is_writable(const struct nnpu_pin *pin);
u64 nnpu_pin_size(const struct nnpu_pin *pin);
void nnpu_pin_release(struct nnpu_pin *pin);
void nnpu_pin_destroy(struct nnpu_pin *pin);

#endif /* _NNPU_PIN_H_ */
