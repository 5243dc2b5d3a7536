/* seal.c - whether this user made a recording here.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE /* mkostemp */
#include "pinball/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NONCE_BYTES = 16 };

/* What a key or a sum is for. No two uses can be mistaken for each other. */
#define FOR_HEAD      "drdebug head"
#define FOR_RECORDING "drdebug recording"
#define FOR_ENTRY     "drdebug entry"

/* ---- the user's key ---- */

/* `PATH/drdebug`; "": there is no place. The folders above are made if `make`. */
static void state_folder(char path[PATH_MAX], bool make)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool given = state && state[0] == '/';

    path[0] = '\0';
    if (!given && (!home || home[0] != '/'))
        return;
    int n = given ? snprintf(path, PATH_MAX, "%s/drdebug", state)
                  : snprintf(path, PATH_MAX, "%s/.local/state/drdebug", home);
    if (n < 0 || n >= PATH_MAX)
        path[0] = '\0';
    for (char *slash = make && path[0] ? strchr(path + 1, '/') : NULL; slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    if (make && path[0])
        mkdir(path, 0700);
}

/* A key is the user's own file which nobody else reads; else it proves nothing. */
static bool read_key(int folder, uint8_t key[SHA256_BYTES])
{
    int fd = openat(folder, "key", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                (st.st_mode & 077) == 0 && st.st_size == SHA256_BYTES &&
                read(fd, key, SHA256_BYTES) == SHA256_BYTES;
    close(fd);
    return good;
}

/* Written under another name and linked: it is there whole or not at all, and never replaced. */
static void make_key(const char *path, int folder)
{
    uint8_t key[SHA256_BYTES];
    char temporary[PATH_MAX];

    if (snprintf(temporary, sizeof temporary, "%s/key.XXXXXX", path) >= (int)sizeof temporary ||
        getrandom(key, sizeof key, 0) != sizeof key)
        return;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, key, sizeof key) == sizeof key && fsync(fd) == 0)
        linkat(AT_FDCWD, temporary, folder, "key", 0);
    unlink(temporary);
    close(fd);
}

static bool user_key(uint8_t key[SHA256_BYTES], bool make)
{
    char path[PATH_MAX];

    state_folder(path, make);
    int folder = path[0] ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0)
        return false;
    bool good = read_key(folder, key);
    if (!good && make && faccessat(folder, "key", F_OK, AT_SYMLINK_NOFOLLOW)) {
        make_key(path, folder);
        good = read_key(folder, key);
    }
    close(folder);
    return good;
}

/* ---- seals ---- */

static void hex_of(const uint8_t *data, size_t bytes, char *hex)
{
    for (size_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", data[i]);
}

/* With the final NUL of `use`, so that no use is the begin of another. */
static void head_mac(const uint8_t user[SHA256_BYTES], const char *use, const char *text,
                     size_t bytes, uint8_t mac[SHA256_BYTES])
{
    const struct sha256_part key = {user, SHA256_BYTES};
    const struct sha256_part part[] = {{use, strlen(use) + 1}, {text, bytes}};

    sha256_mac(&key, part, sizeof part / sizeof part[0], mac);
}

static void entry_mac(const struct seal *seal, const char *name, uint64_t number, const char *text,
                      size_t bytes, uint8_t mac[SHA256_BYTES])
{
    const struct sha256_part key = {seal->key, SHA256_BYTES};
    const struct sha256_part part[] = {{FOR_ENTRY, sizeof FOR_ENTRY},
                                       {name, strlen(name) + 1},
                                       {&number, sizeof number},
                                       {text, bytes}};

    sha256_mac(&key, part, sizeof part / sizeof part[0], mac);
}

static void add_mac(struct text *text, const uint8_t mac[SHA256_BYTES])
{
    char hex[SHA256_HEX];

    hex_of(mac, SHA256_BYTES, hex);
    text_add(text, "seal", hex);
}

void seal_head(struct seal *seal, struct text *text)
{
    uint8_t user[SHA256_BYTES], mac[SHA256_BYTES], nonce[NONCE_BYTES];
    char hex[2 * NONCE_BYTES + 1];

    *seal = (struct seal){0};
    if (!user_key(user, true) || getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        return;
    hex_of(nonce, sizeof nonce, hex);
    text_add(text, "nonce", hex);
    if (!text->data)
        return;
    head_mac(user, FOR_RECORDING, text->data, text->bytes, seal->key);
    head_mac(user, FOR_HEAD, text->data, text->bytes, mac);
    add_mac(text, mac);
    seal->made = true;
}

void seal_entry(const struct seal *seal, const char *name, uint64_t number, struct text *text)
{
    uint8_t mac[SHA256_BYTES];

    if (!seal->made || !text->data)
        return;
    entry_mac(seal, name, number, text->data, text->bytes, mac);
    add_mac(text, mac);
}

/* Finds the last line, which must be a seal: bytes of text before it, or 0. */
static size_t unsealed_bytes(const char *text, size_t bytes, const char **hex)
{
    static const char key[] = "seal ";
    const size_t line = sizeof key - 1 + SHA256_HEX - 1 + 1; /* key, sum, newline */

    if (bytes <= line || text[bytes - 1] != '\n' || text[bytes - line - 1] != '\n' ||
        memcmp(text + bytes - line, key, sizeof key - 1) != 0)
        return 0;
    *hex = text + bytes - SHA256_HEX;
    return bytes - line;
}

static bool is_mac(const char *hex, const uint8_t mac[SHA256_BYTES])
{
    char expected[SHA256_HEX];

    hex_of(mac, SHA256_BYTES, expected);
    return memcmp(hex, expected, SHA256_HEX - 1) == 0;
}

bool seal_check_head(struct seal *seal, const char *text, size_t bytes)
{
    uint8_t user[SHA256_BYTES], mac[SHA256_BYTES];
    const char *hex;
    size_t before = unsealed_bytes(text, bytes, &hex);

    *seal = (struct seal){0};
    if (!before || !user_key(user, false))
        return false;
    head_mac(user, FOR_HEAD, text, before, mac);
    if (!is_mac(hex, mac))
        return false;
    head_mac(user, FOR_RECORDING, text, before, seal->key);
    seal->made = true;
    return true;
}

bool seal_check_entry(const struct seal *seal, const char *name, uint64_t number, const char *text,
                      size_t bytes)
{
    uint8_t mac[SHA256_BYTES];
    const char *hex;
    size_t before = unsealed_bytes(text, bytes, &hex);

    if (!before || !seal->made)
        return false;
    entry_mac(seal, name, number, text, before, mac);
    return is_mac(hex, mac);
}
