// throw_dlopen.cc - exceptions across a dlopen'd library, both ways, twice with dlclose between.
#include "subject.h"
#include <dlfcn.h>
#include <stdexcept>

struct Custom {
    int code;
};

static void callback()
{
    throw std::runtime_error("12 letters!!");
}

int main(int, char **argv)
{
    for (int round = 0; round < 3; round++) {
        void *lib = dlopen(argv[1], RTLD_NOW);
        if (!lib)
            return say("FAIL %s\n", dlerror()), 1;
        auto lib_throw = (void (*)(int))dlsym(lib, "lib_throw");
        auto lib_catch = (int (*)(void (*)()))dlsym(lib, "lib_catch");
        try {
            lib_throw(0);
        } catch (const std::invalid_argument &e) {
            say("%s\n", e.what());
        }
        try {
            lib_throw(7);
        } catch (const Custom &c) {
            say("custom %d\n", c.code);
        }
        say("caught there: %d\n", lib_catch(callback));
        dlclose(lib);
    }
    return 0;
}
