/* sdt.h - probes of SystemTap's kind that a file has: its notes `stapsdt`.
 *
 * SPDX-License-Identifier: MIT
 *
 * A probe is a nop in the code, and a note that says where, of which provider and of what name.
 * Addresses are those of the file.
 */
#ifndef SOURCE_SDT_H
#define SOURCE_SDT_H

#include <stdint.h>

struct sdt_probe {
    const char *provider, *name;
    uint64_t pc;
    uint64_t semaphore; /* a word of 16 bits that is not zero while somebody listens; 0: none */
};

/* A file that is no ELF file, or is damaged, has none. Not 0 ends it. */
typedef int sdt_fn(void *arg, const struct sdt_probe *probe);
int sdt_each(int fd, sdt_fn *fn, void *arg);

/* What is added to the file's addresses if its byte `offset` is mapped at `start`. */
uint64_t sdt_bias(int fd, uint64_t start, uint64_t offset);

#endif
