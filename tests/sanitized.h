/* SPDX-License-Identifier: MIT */
/*
 * Is the program built with AddressSanitizer or ThreadSanitizer? They have memory and addresses of
 * their own, so that of the device cannot be told from it.
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED	1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED	0
#endif

#endif /* TESTS_SANITIZED_H */
