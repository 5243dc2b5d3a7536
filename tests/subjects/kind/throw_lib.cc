// throw_lib.cc - the library of throw_dlopen.cc.
#include <stdexcept>
#include <string>

struct Custom {
    int code;
};

extern "C" void lib_throw(int kind)
{
    if (kind == 0)
        throw std::invalid_argument("from the library");
    throw Custom{kind};
}

extern "C" int lib_catch(void (*fn)())
{
    try {
        fn();
    } catch (const std::exception &e) {
        return (int)std::string(e.what()).size();
    }
    return -1;
}
