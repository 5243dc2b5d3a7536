/* hello.c - one program in each executable kind: constructors, TLS, auxv, argv, atexit, status. */
#include "subject.h"
#include <elf.h>
#include <sys/auxv.h>

extern char _start[];
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
static __thread int tls_data = 42;
static __thread char tls_zero[5000];
static char big_bss[1 << 20];

__attribute__((constructor)) static void early(void)
{
    say("constructor\n");
}

__attribute__((destructor)) static void late(void)
{
    say("destructor\n");
}

static void at_exit(void)
{
    say("atexit\n");
}

int main(int argc, char **argv)
{
    atexit(at_exit);
    for (int i = 1; i < argc; i++)
        say("argv[%d] = <%s>\n", i, argv[i]);
    const char *execfn = (const char *)getauxval(AT_EXECFN);
    check(getauxval(AT_ENTRY) == (uintptr_t)_start);
    check(getauxval(AT_PHDR) == (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff);
    check(getauxval(AT_PHNUM) == __ehdr_start.e_phnum);
    check(getauxval(AT_PAGESZ) == PAGE);
    check(strcmp((const char *)getauxval(AT_PLATFORM), "x86_64") == 0);
    check(strcmp(execfn, argv[0]) == 0);
    check(tls_data == 42 && tls_zero[4999] == 0);
    check(big_bss[sizeof big_bss - 1] == 0);
    check(argv[argc] == NULL && environ == argv + argc + 1);
    return 7;
}
