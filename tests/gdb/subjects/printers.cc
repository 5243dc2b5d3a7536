/* printers.cc - values that a library's own printers show. SPDX-License-Identifier: MIT */
#include <string>
#include <vector>

int main()
{
    std::vector<int> numbers{2, 7, 1};
    std::string word = "seven";
    numbers.push_back((int)word.size());
    return numbers.back() - 5; /* ALL THERE */
}
