/* program_test.c - cli/program.h, on files made up byte by byte.
 *
 * SPDX-License-Identifier: MIT
 *
 * Runs in a directory of its own. tests/cli/bad_programs.sh compares the statuses with bash's.
 */
#define _GNU_SOURCE
#include "cli/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* A whole program: header, interpreter's name, code and data. */
struct image {
    Elf64_Ehdr ehdr;
    Elf64_Phdr interp, text, data;
    char interp_path[32];
    char bytes[64];
};

static char dir[] = "/tmp/drdebug-unit-XXXXXX";
static struct err err;

static struct image image_make(void)
{
    struct image im = {0};

    memcpy(im.ehdr.e_ident, ELFMAG, SELFMAG);
    im.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
    im.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
    im.ehdr.e_ident[EI_VERSION] = EV_CURRENT;
    im.ehdr.e_type = ET_DYN;
    im.ehdr.e_machine = EM_X86_64;
    im.ehdr.e_version = EV_CURRENT;
    im.ehdr.e_phoff = offsetof(struct image, interp);
    im.ehdr.e_ehsize = sizeof im.ehdr;
    im.ehdr.e_phentsize = sizeof(Elf64_Phdr);
    im.ehdr.e_phnum = 3;
    im.interp.p_type = PT_NULL;
    im.interp.p_offset = offsetof(struct image, interp_path);
    im.text.p_type = PT_LOAD;
    im.text.p_filesz = im.text.p_memsz = offsetof(struct image, bytes);
    im.data.p_type = PT_LOAD;
    im.data.p_offset = offsetof(struct image, bytes);
    im.data.p_filesz = sizeof im.bytes;
    im.data.p_memsz = 4096;
    return im;
}

static void image_set_interp(struct image *im, const char *path)
{
    im->interp.p_type = PT_INTERP;
    im->interp.p_filesz = strlen(path) + 1;
    strcpy(im->interp_path, path);
}

static void put(const char *name, mode_t mode, const void *data, size_t size)
{
    int fd;

    unlink(name);
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0700);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void put_text(const char *name, mode_t mode, const char *text)
{
    put(name, mode, text, strlen(text));
}

static void put_image(const char *name, const struct image *im)
{
    put(name, 0755, im, sizeof *im);
}

static void accepted(const char *path)
{
    if (program_check(path, &err))
        fail_msg("%s: %s", path, err.msg);
}

static void refused(const char *path, int status, const char *cause)
{
    assert_int_equal(program_check(path, &err), -1);
    assert_string_equal(err.msg, cause);
    assert_int_equal(err.code, status);
}

/* ---- files ---- */

static void accepts_programs(void **state)
{
    struct image im = image_make();

    (void)state;
    put_image("ok", &im);
    accepted("./ok");
    im.ehdr.e_type = ET_EXEC;
    put_image("ok", &im);
    accepted("ok");
    accepted("/proc/self/exe");
    accepted("/bin/sh");
}

static void refuses_what_is_not_there(void **state)
{
    (void)state;
    put_text("plain", 0755, "x");
    refused("nothing", 127, "No such file or directory");
    refused("plain/nothing", 126, "Not a directory");
    assert_int_equal(symlink("loop", "loop"), 0);
    refused("loop", 126, "Too many levels of symbolic links");
}

static void refuses_what_is_no_regular_file(void **state)
{
    (void)state;
    refused(".", 126, "Is a directory");
    refused("/dev/null", 126, "not a regular file");
    assert_int_equal(mkfifo("fifo", 0777), 0);
    refused("fifo", 126, "not a regular file");
}

static void refuses_what_it_may_not_execute_or_read(void **state)
{
    struct image im = image_make();
    uid_t uid = geteuid();

    (void)state;
    put(("mode_644"), 0644, &im, sizeof im);
    put("mode_111", 0111, &im, sizeof im);
    refused("mode_644", 126, "Permission denied");
    if (uid == 0) /* root may read everything */
        assert_int_equal(seteuid(65534), 0);
    refused("mode_111", 126, "cannot be read: Permission denied");
    assert_int_equal(seteuid(uid), 0);
}

static void refuses_other_contents(void **state)
{
    (void)state;
    put_text("empty", 0755, "");
    refused("empty", 126, "the file is empty");
    put_text("text", 0755, "echo hello\n");
    refused("text", 126, "neither an ELF program nor a script with a #! line");
    put_text("short", 0755, "#");
    refused("short", 126, "neither an ELF program nor a script with a #! line");
}

/* ---- ELF ---- */

static void refuses_other_machines(void **state)
{
    struct image im = image_make();

    (void)state;
    im.ehdr.e_machine = EM_AARCH64;
    put_image("other", &im);
    refused("other", 126, "a program for AArch64; only 64-bit x86-64 programs can be run");
    im.ehdr.e_machine = 0x7777;
    put_image("other", &im);
    refused("other", 126, "a program for machine 30583; only 64-bit x86-64 programs can be run");
    im.ehdr.e_ident[EI_DATA] = ELFDATA2MSB;
    im.ehdr.e_machine = EM_S390 << 8;
    put_image("other", &im);
    refused("other", 126, "a program for S/390; only 64-bit x86-64 programs can be run");
}

static void refuses_32_bit_programs(void **state)
{
    struct image im = image_make();

    (void)state;
    im.ehdr.e_ident[EI_CLASS] = ELFCLASS32;
    im.ehdr.e_machine = EM_386;
    put("narrow", 0755, &im, sizeof(Elf32_Ehdr));
    refused("narrow", 126, "a 32-bit program for i386; only 64-bit x86-64 programs can be run");
}

static void refuses_elf_files_that_are_no_programs(void **state)
{
    struct image im = image_make();

    (void)state;
    im.ehdr.e_type = ET_REL;
    put_image("object", &im);
    refused("object", 126, "an object file that is not linked, not a program");
    im.ehdr.e_type = ET_CORE;
    put_image("object", &im);
    refused("object", 126, "a core file, not a program");
}

static void refuses_truncated_programs(void **state)
{
    struct image im = image_make();

    (void)state;
    put("cut", 0755, &im, 63);
    refused("cut", 126, "truncated ELF file: its header reaches beyond the end, 63 bytes");
    put("cut", 0755, &im, 64);
    refused("cut", 126,
            "truncated ELF file: its program header table reaches beyond the end, 64 bytes");
    put("cut", 0755, &im, sizeof im - 1);
    refused("cut", 126, "truncated ELF file: its segment 2 reaches beyond the end, 327 bytes");
    for (size_t size = SELFMAG; size < sizeof im; size++) {
        put("cut", 0755, &im, size);
        assert_int_equal(program_check("cut", &err), -1);
        assert_int_equal(err.code, 126);
        assert_memory_equal(err.msg, "truncated", 9);
    }
}

static void refuses_damaged_headers(void **state)
{
    struct image im = image_make();

    (void)state;
    im.ehdr.e_phnum = 0;
    put_image("bad", &im);
    refused("bad", 126, "damaged ELF file: no usable program headers");
    im = image_make();
    im.ehdr.e_phentsize = 32;
    put_image("bad", &im);
    refused("bad", 126, "damaged ELF file: no usable program headers");
    im = image_make();
    im.ehdr.e_phoff = UINT64_MAX - 8;
    put_image("bad", &im);
    refused("bad", 126,
            "truncated ELF file: its program header table reaches beyond the end, 328 bytes");
    im = image_make();
    im.data.p_offset = UINT64_MAX - 8;
    put_image("bad", &im);
    refused("bad", 126, "truncated ELF file: its segment 2 reaches beyond the end, 328 bytes");
    im = image_make();
    im.text.p_type = im.data.p_type = PT_NOTE;
    put_image("bad", &im);
    refused("bad", 126, "damaged ELF file: nothing to load");
}

static void accepts_segments_with_no_bytes_in_the_file(void **state)
{
    struct image im = image_make();

    (void)state;
    im.data.p_filesz = 0;
    im.data.p_offset = 1 << 20;
    put_image("bss", &im);
    accepted("bss");
}

static void checks_the_elf_interpreter(void **state)
{
    struct image im = image_make();

    (void)state;
    put_image("ld", &im);
    put_text("ld_text", 0755, "not a loader");
    put("ld_mode", 0644, &im, sizeof im);
    put("ld_cut", 0755, &im, sizeof im - 1);
    image_set_interp(&im, "ld");
    put_image("dynamic", &im);
    accepted("dynamic");
    image_set_interp(&im, "/no/ld.so");
    put_image("dynamic", &im);
    refused("dynamic", 127, "ELF interpreter /no/ld.so: No such file or directory");
    image_set_interp(&im, "ld_text");
    put_image("dynamic", &im);
    refused("dynamic", 126, "ELF interpreter ld_text: not an ELF file");
    image_set_interp(&im, "ld_mode");
    put_image("dynamic", &im);
    refused("dynamic", 126, "ELF interpreter ld_mode: Permission denied");
    image_set_interp(&im, "ld_cut");
    put_image("dynamic", &im);
    refused("dynamic", 126,
            "ELF interpreter ld_cut: "
            "truncated ELF file: its segment 2 reaches beyond the end, 327 bytes");
}

static void refuses_interpreters_without_a_proper_name(void **state)
{
    struct image im = image_make();

    (void)state;
    image_set_interp(&im, "");
    put_image("unnamed", &im);
    refused("unnamed", 126, "damaged ELF file: its interpreter's name is 1 bytes long");
    image_set_interp(&im, "ld");
    im.interp.p_filesz = 2;
    put_image("unnamed", &im);
    refused("unnamed", 126, "damaged ELF file: its interpreter has no proper name");
    im.interp.p_filesz = UINT64_MAX;
    put_image("unnamed", &im);
    assert_int_equal(program_check("unnamed", &err), -1);
    im.interp.p_filesz = 4096;
    put_image("unnamed", &im);
    refused("unnamed", 126,
            "truncated ELF file: its interpreter's name reaches beyond the end, 328 bytes");
}

static unsigned mutations(void)
{
    return getenv("DRDEBUG_SOAK") ? 1000000 : 5000;
}

static void survives_mutated_headers(void **state)
{
    const size_t headers = offsetof(struct image, interp_path);
    struct image im;
    int refusals = 0;
    unsigned seed = 20;

    (void)state;
    for (unsigned i = 0; i < mutations(); i++) {
        int flips = 1 + rand_r(&seed) % 4;

        im = image_make();
        image_set_interp(&im, "/bin/sh");
        while (flips--)
            ((uint8_t *)&im)[SELFMAG + rand_r(&seed) % (headers - SELFMAG)] = rand_r(&seed);
        put_image("mutant", &im);
        err.msg[0] = '\0';
        if (program_check("mutant", &err) == 0)
            continue;
        assert_true(err.msg[0] != '\0' && !strchr(err.msg, '\n'));
        assert_true(err.code == 126 || err.code == 127);
        refusals++;
    }
    assert_true(refusals > 0);
}

/* ---- scripts ---- */

static void follows_scripts(void **state)
{
    (void)state;
    put_text("script", 0755, "#!/bin/sh\necho\n");
    accepted("script");
    put_text("script", 0755, "#! \t /bin/sh\t-e \n");
    accepted("script");
    put_text("script", 0755, "#!/bin/sh");
    accepted("script");
    put_text("script", 0755, "#!/no/such/interpreter -x\n");
    refused("script", 127, "interpreter /no/such/interpreter: No such file or directory");
    put_text("script", 0755, "#!/bin/sh\r\n");
    refused("script", 127, "interpreter /bin/sh\r: No such file or directory");
    put_text("script", 0755, "#! \t \n/bin/sh\n");
    refused("script", 126, "a script with no interpreter on its #! line");
    put_text("text", 0755, "hello\n");
    put_text("script", 0755, "#!text\n");
    refused("script", 126, "interpreter text: neither an ELF program nor a script with a #! line");
}

static void takes_an_interpreter_line_as_long_as_the_kernel_does(void **state)
{
    char text[400];

    (void)state;
    memset(text, ' ', sizeof text);
    memcpy(text, "#!", 2);
    memcpy(text + 255 - strlen("/bin/sh"), "/bin/sh\n", 8);
    put("long", 0755, text, sizeof text);
    accepted("long");
    memset(text + 2, 'x', sizeof text - 2);
    put("long", 0755, text, sizeof text);
    refused("long", 126, "a script whose #! line is too long");
    memcpy(text, "#!/bin/sh ", 10);
    put("long", 0755, text, sizeof text);
    accepted("long");
}

static void follows_five_scripts_and_no_more(void **state)
{
    char name[16], text[32];

    (void)state;
    put_text("s1", 0755, "#!/bin/sh\n");
    for (int i = 2; i <= 6; i++) {
        snprintf(name, sizeof name, "s%d", i);
        snprintf(text, sizeof text, "#!s%d\n", i - 1);
        put_text(name, 0755, text);
    }
    accepted("s5");
    refused("s6", 126, "its interpreter is a script, whose interpreter is a script, and so on");
    put_text("ouroboros", 0755, "#!ouroboros\n");
    assert_int_equal(program_check("ouroboros", &err), -1);
}

/* ---- finding ---- */

static void found(const char *name, const char *expected)
{
    char path[PATH_MAX];

    if (program_find(name, path, &err))
        fail_msg("%s: %s", name, err.msg);
    assert_string_equal(path, expected);
}

static void not_found(const char *name)
{
    char path[PATH_MAX];

    assert_int_equal(program_find(name, path, &err), -1);
    assert_string_equal(err.msg, "command not found");
    assert_int_equal(err.code, 127);
}

static void searches_path_only_for_bare_names(void **state)
{
    (void)state;
    assert_int_equal(mkdir("p1", 0755) | mkdir("p2", 0755) | mkdir("p1/folder", 0755), 0);
    put_text("p1/plain", 0644, "x");
    put_text("p1/both", 0644, "x");
    put_text("p2/both", 0755, "x");
    put_text("here", 0755, "x");

    setenv("PATH", "p1:p2", 1);
    found("both", "p2/both");   /* the executable one wins */
    found("plain", "p1/plain"); /* the check then says that it is not executable */
    found("./none", "./none");
    not_found("folder");
    not_found("here");
    not_found("none");
    not_found("");
    setenv("PATH", "p1::p2", 1);
    found("here", "./here");
    setenv("PATH", "", 1);
    found("here", "./here");
    unsetenv("PATH");
    found("sh", "/bin/sh");
}

static void refuses_names_that_are_too_long(void **state)
{
    char name[PATH_MAX + 2], path[PATH_MAX];

    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    setenv("PATH", "p1", 1);
    not_found(name);
    name[0] = '/';
    assert_int_equal(program_find(name, path, &err), -1);
    assert_int_equal(err.code, 126);
    assert_string_equal(err.msg, "File name too long");
}

static int enter_directory(void **state)
{
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? chmod(dir, 0755) : -1;
}

static int remove_directory(void **state)
{
    char command[64];

    (void)state;
    setenv("PATH", "/bin:/usr/bin", 1);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return chdir("/") || system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_programs),
        cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(refuses_what_is_no_regular_file),
        cmocka_unit_test(refuses_what_it_may_not_execute_or_read),
        cmocka_unit_test(refuses_other_contents),
        cmocka_unit_test(refuses_other_machines),
        cmocka_unit_test(refuses_32_bit_programs),
        cmocka_unit_test(refuses_elf_files_that_are_no_programs),
        cmocka_unit_test(refuses_truncated_programs),
        cmocka_unit_test(refuses_damaged_headers),
        cmocka_unit_test(accepts_segments_with_no_bytes_in_the_file),
        cmocka_unit_test(checks_the_elf_interpreter),
        cmocka_unit_test(refuses_interpreters_without_a_proper_name),
        cmocka_unit_test(survives_mutated_headers),
        cmocka_unit_test(follows_scripts),
        cmocka_unit_test(takes_an_interpreter_line_as_long_as_the_kernel_does),
        cmocka_unit_test(follows_five_scripts_and_no_more),
        cmocka_unit_test(searches_path_only_for_bare_names),
        cmocka_unit_test(refuses_names_that_are_too_long),
    };

    return cmocka_run_group_tests_name("program", tests, enter_directory, remove_directory);
}
