# gcc.sh - g++ compiles and links a C++ file, the result runs; also a library, nm and objdump.
set -e
cat > prog.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
template <typename T> T twice(T x) { return x + x; }
int main()
{
    std::vector<std::string> v{"delta", "alpha", "charlie", "bravo"};
    std::sort(v.begin(), v.end());
    std::map<int, std::string> m;
    for (auto &s : v)
        m[s.size()] += twice(s);
    for (auto &[k, s] : m)
        std::printf("%d %s\n", k, s.c_str());
    try { throw 5; } catch (int x) { std::printf("%d\n", x); }
    return 3;
}
END
g++ -std=c++17 -O1 -o prog prog.cc
./prog || echo "status $?"
echo 'int f(int x) { return x * 3; }' > f.c
gcc -O2 -c f.c
nm f.o
objdump -d f.o | sed -n '/<f>/,$p'
ar rcD libf.a f.o
strip -o stripped prog
./stripped > /dev/null || echo "stripped $?"
