/* types.h - types: what a value is, what its parts are, and how it is written.
 *
 * SPDX-License-Identifier: MIT
 *
 * A type is a small value that can be copied; it means something as long as the source lives.
 * Functions look through typedefs, const, volatile and atomic. Sizes of variable-length arrays need
 * a scene: the place in the program that they are asked for.
 */
#ifndef SOURCE_TYPES_H
#define SOURCE_TYPES_H

#include "base/err.h"
#include "engine/rt/types.h"

struct source;
struct source_frame;

enum source_class {
    TYPE_NONE, /* not known */
    TYPE_VOID,
    TYPE_SIGNED,
    TYPE_UNSIGNED,
    TYPE_BOOLEAN,
    TYPE_CHARACTER, /* one byte; `plain` char is signed */
    TYPE_UCHARACTER,
    TYPE_FLOAT,   /* 4, 8, or x87's: 16 */
    TYPE_COMPLEX, /* two of these */
    TYPE_ENUM,
    TYPE_POINTER,
    TYPE_REFERENCE,
    TYPE_RECORD, /* struct, class, union */
    TYPE_ARRAY,
    TYPE_FUNCTION,
};

/* {0}: not known. */
struct source_type {
    const void *die[4]; /* libdw's; none: a type that needs no debug information, as follows */
    uint8_t class, bytes;
    uint8_t pointers; /* so many `*` behind it */
    uint8_t passed;   /* of an array: dimensions that were indexed */
};

/* Where variable sizes are looked up. */
struct source_scene {
    struct source *source;
    gaddr pc;
    const struct source_frame *frame;
};

static inline struct source_type source_types_plain(enum source_class class, unsigned bytes)
{
    return (struct source_type){.class = (uint8_t) class, .bytes = (uint8_t)bytes};
}

enum source_class source_types_class(const struct source_type *t);
bool source_types_is_signed(const struct source_type *t);
/* 0: not known. The scene may be NULL. */
uint64_t source_types_bytes(const struct source_type *t, const struct source_scene *scene);

/* What a pointer or reference leads to; void, where it does not say. */
bool source_types_target(const struct source_type *t, struct source_type *out);
/* What an array has; its size is the distance between two. */
bool source_types_element(const struct source_type *t, struct source_type *out);

struct source_member {
    struct source_type type;
    uint64_t offset;  /* of its first byte */
    uint32_t bit;     /* of a bit-field: its first bit in that byte, ... */
    uint32_t bits;    /* ... and how many; 0: it is none */
    char global[256]; /* not empty: it is this variable, one for all objects */
};

/* A member of a record, of what is anonymous in it, or of its bases. -1: there is none, and the
 * message names those that there are. */
int source_types_member(struct source *s, const struct source_type *t, const char *name,
                        struct source_member *out, struct err *err);

/* A part of a record, in the order in which GDB shows them: bases first. */
struct source_field {
    const char *name; /* NULL: it is anonymous, or a base */
    bool base;
    bool displaced; /* a virtual base: the offset is not known */
    bool constant;  /* a static member that is always `value` */
    uint64_t value;
    struct source_member member;
};

/* Not 0 ends it, and is returned. */
typedef int source_field_fn(void *arg, const struct source_field *field);
int source_types_fields(struct source *s, const struct source_type *t, source_field_fn *fn,
                        void *arg);

/* `struct NAME`, `NAME` of a typedef, enum or class; seen from pc. */
bool source_types_named(struct source *s, gaddr pc, const char *name, struct source_type *out);

/* The code at pc is C++. */
bool source_types_are_cxx(struct source *s, gaddr pc);

/* The type's name, as far as it has one. */
void source_types_name(const struct source_type *t, char *buf, size_t room);
/* source/declare.c: the type as GDB writes it: `const struct node *`, `int (*)[3]`; `cxx`: without
 * `struct`. */
void source_types_declare(const struct source_type *t, bool cxx, char *buf, size_t room);
/* The name of a C++ function with the types of its parameters: `area(int, double *)`. False: there
 * is no function that begins there. */
bool source_types_signature(struct source *s, gaddr pc, char *buf, size_t room);

/* source/value.c: a floating point number of any size; false: there is none of that size. */
bool source_value_float(const struct source_type *t, const void *value, size_t bytes,
                        long double *out);
/* Writes a byte as in a string in quotes of that kind. Returns how long it is. */
enum { VALUE_ESCAPED = 5 };
size_t source_value_escape(unsigned char c, char quote, char out[VALUE_ESCAPED]);
/* Writes a value: numbers, `97 'a'`, `true`, enumerators, addresses; else bytes. */
void source_value_write(const struct source_type *t, const void *value, size_t bytes, char *buf,
                        size_t room);

#endif
