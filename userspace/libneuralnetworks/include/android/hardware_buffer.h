/* SPDX-License-Identifier: MIT */
/*
 * AHardwareBuffer: memory that says what is in it, as far as programs of the NNAPI need it. On Linux
 * it is a memfd. The library of <android/NeuralNetworks.h> has these functions.
 *
 * Functions return 0, or an errno value with a minus sign.
 */
#ifndef ANDROID_HARDWARE_BUFFER_H
#define ANDROID_HARDWARE_BUFFER_H

#include <android/rect.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** enum AHardwareBuffer_Format - what an element is */
enum AHardwareBuffer_Format {
	AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM = 1,
	AHARDWAREBUFFER_FORMAT_R8G8B8X8_UNORM = 2,
	AHARDWAREBUFFER_FORMAT_R8G8B8_UNORM = 3,
	AHARDWAREBUFFER_FORMAT_R5G6B5_UNORM = 4,
	AHARDWAREBUFFER_FORMAT_R16G16B16A16_FLOAT = 0x16,
	/* Bytes: @width of them, in one row of one layer. */
	AHARDWAREBUFFER_FORMAT_BLOB = 0x21,
	AHARDWAREBUFFER_FORMAT_Y8Cb8Cr8_420 = 0x23,
	AHARDWAREBUFFER_FORMAT_R10G10B10A2_UNORM = 0x2b,
	AHARDWAREBUFFER_FORMAT_D16_UNORM = 0x30,
	AHARDWAREBUFFER_FORMAT_D24_UNORM = 0x31,
	AHARDWAREBUFFER_FORMAT_D24_UNORM_S8_UINT = 0x32,
	AHARDWAREBUFFER_FORMAT_D32_FLOAT = 0x33,
	AHARDWAREBUFFER_FORMAT_D32_FLOAT_S8_UINT = 0x34,
	AHARDWAREBUFFER_FORMAT_S8_UINT = 0x35,
};

/** enum AHardwareBuffer_UsageFlags - who will use it; the CPU's are what lock() asks for */
enum AHardwareBuffer_UsageFlags {
	AHARDWAREBUFFER_USAGE_CPU_READ_NEVER = 0,
	AHARDWAREBUFFER_USAGE_CPU_READ_RARELY = 2,
	AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN = 3,
	AHARDWAREBUFFER_USAGE_CPU_READ_MASK = 0xf,
	AHARDWAREBUFFER_USAGE_CPU_WRITE_NEVER = 0 << 4,
	AHARDWAREBUFFER_USAGE_CPU_WRITE_RARELY = 2 << 4,
	AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN = 3 << 4,
	AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK = 0xf << 4,
	AHARDWAREBUFFER_USAGE_GPU_SAMPLED_IMAGE = 1 << 8,
	AHARDWAREBUFFER_USAGE_GPU_FRAMEBUFFER = 1 << 9,
	AHARDWAREBUFFER_USAGE_GPU_COLOR_OUTPUT = AHARDWAREBUFFER_USAGE_GPU_FRAMEBUFFER,
	AHARDWAREBUFFER_USAGE_COMPOSER_OVERLAY = 1 << 11,
	AHARDWAREBUFFER_USAGE_PROTECTED_CONTENT = 1 << 14,
	AHARDWAREBUFFER_USAGE_VIDEO_ENCODE = 1 << 16,
	AHARDWAREBUFFER_USAGE_SENSOR_DIRECT_DATA = 1 << 23,
	AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER = 1 << 24,
	AHARDWAREBUFFER_USAGE_GPU_CUBE_MAP = 1 << 25,
	AHARDWAREBUFFER_USAGE_GPU_MIPMAP_COMPLETE = 1 << 26,
};

/* What a buffer is. @stride is in elements and is an answer only; @rfu0 and @rfu1 are 0. */
typedef struct AHardwareBuffer_Desc {
	uint32_t width;
	uint32_t height;
	uint32_t layers;
	uint32_t format;
	uint64_t usage;
	uint32_t stride;
	uint32_t rfu0;
	uint64_t rfu1;
} AHardwareBuffer_Desc;

typedef struct AHardwareBuffer AHardwareBuffer;

/* A buffer with one reference, zeroed; references are counted. */
int AHardwareBuffer_allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **outBuffer);
void AHardwareBuffer_acquire(AHardwareBuffer *buffer);
void AHardwareBuffer_release(AHardwareBuffer *buffer);
void AHardwareBuffer_describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *outDesc);

/*
 * The CPU's turn. lock() waits for @fence, a sync_file or -1, which it closes, and writes the address. @rect may
 * be NULL for all. unlock() writes a sync_file to @fence, or -1 if nobody has to wait; NULL waits.
 */
int AHardwareBuffer_lock(AHardwareBuffer *buffer, uint64_t usage, int32_t fence,
			 const ARect *rect, void **outVirtualAddress);
int AHardwareBuffer_unlock(AHardwareBuffer *buffer, int32_t *fence);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* ANDROID_HARDWARE_BUFFER_H */
