/* dlopen_swap.c - dlopen, dlclose and another library, as a rule at the same address, 40 times. */
#include "subject.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
    uintptr_t last = 0;
    int same_place = 0;
    long sum = 0;
    for (int i = 0; i < 40; i++) {
        void *lib = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
        if (!lib)
            return say("FAIL %s\n", dlerror()), 1;
        int (*answer)(int);
        *(void **)&answer = dlsym(lib, "answer");
        for (int k = 0; k < 100; k++)
            sum += answer(k);
        Dl_info info;
        dladdr(*(void **)&answer, &info);
        same_place += last == (uintptr_t)info.dli_fbase;
        last = (uintptr_t)info.dli_fbase;
        dlclose(lib);
    }
    say("sum %ld\n", sum);
    check(same_place > 20);
    check(dlopen("/no/such/library.so", RTLD_NOW) == NULL && strstr(dlerror(), "No such file"));
    return 0;
}
