/* plugged.c - loads the library that its argument names, calls it, unloads it.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL; /* LOADS */
    int (*run)(int) = library ? (int (*)(int))dlsym(library, "plugin_run") : NULL;
    int result = run ? run(2) : -1; /* CALLS PLUGIN */
    printf("plugin %d\n", result);
    if (library)
        dlclose(library);        /* UNLOADS */
    return result == 42 ? 0 : 1; /* UNLOADED */
}
