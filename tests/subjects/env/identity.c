/* identity.c - /proc/self exe, cmdline, comm, environ, auxv, status and cwd are the program's own.
 */
#include "subject.h"
#include <elf.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

static char buf[1 << 16];

static ssize_t slurp(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = 0, r;
    while ((r = read(fd, buf + n, sizeof buf - 1 - (size_t)n)) > 0)
        n += r;
    buf[n] = 0;
    close(fd);
    return n;
}

static void show_status_line(const char *key)
{
    slurp("/proc/self/status");
    char *at = strstr(buf, key);
    say("%.*s\n", at ? (int)strcspn(at, "\n") : 4, at ? at : "FAIL");
}

static void show_auxv(void)
{
    ssize_t n = slurp("/proc/self/auxv");
    const Elf64_auxv_t *v = (const Elf64_auxv_t *)buf;
    for (; n > 0 && v->a_type != AT_NULL; v++)
        if (v->a_type != AT_HWCAP) /* ld.so gives an answer of its own */
            say("auxv %lu%s\n", v->a_type, getauxval(v->a_type) == v->a_un.a_val ? "" : " FAIL");
    check(getauxval(AT_SECURE) == 0);
    check(getauxval(AT_BASE) != 0);
    check(getauxval(AT_SYSINFO_EHDR) % PAGE == 0 && getauxval(AT_SYSINFO_EHDR) != 0);
    check(memcmp((void *)getauxval(AT_SYSINFO_EHDR), ELFMAG, SELFMAG) == 0);
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", buf, sizeof buf - 1);
    buf[n > 0 ? n : 0] = 0;
    say("exe %s\n", strrchr(buf, '/') + 1);
    check(access("/proc/self/exe", X_OK) == 0);
    int fd = open("/proc/self/exe", O_RDONLY);
    check(read(fd, buf, 4) == 4 && !memcmp(buf, "\177ELF", 4));
    n = slurp("/proc/self/cmdline");
    size_t want = 0;
    for (int i = 0; i < argc; i++) {
        check(strcmp(buf + want, argv[i]) == 0);
        want += strlen(argv[i]) + 1;
    }
    check((size_t)n == want);
    slurp("/proc/self/comm");
    say("comm %s", buf);
    prctl(PR_SET_NAME, "renamed");
    slurp("/proc/self/comm");
    say("comm %s", buf);
    slurp("/proc/self/environ");
    check(environ[0] && strcmp(buf, environ[0]) == 0);
    show_auxv();
    show_status_line("Threads:");
    show_status_line("TracerPid:");
    show_status_line("SigBlk:");
    show_status_line("SigIgn:");
    check(program_invocation_name == argv[0]);
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "DRDEBUG", 7) == 0 || strncmp(*e, "LD_", 3) == 0)
            say("FAIL foreign %s\n", *e);
    return 0;
}
