/* classes.cc - members, bases, references and statics of C++, for criteria that are expressions. SPDX-License-Identifier: MIT
 */
namespace shop {
int visitors = 4;

struct base {
    int id;
    long price;
};

class item : public base {
public:
    static int count;
    int stock;
    item *other;

    int take(int n);
};

int item::count = 1;

__attribute__((noinline)) int item::take(int n)
{
    stock -= n;           /* STOCK */
    price = 3 * n;        /* PRICE */
    count++;              /* COUNT */
    visitors += n;        /* VISITORS */
    return stock + count; /* TAKEN */
}
} // namespace shop

__attribute__((noinline)) static int add(int &sum, const shop::item &it, int *&pointer)
{
    sum += it.stock; /* SUM */
    *pointer += 2;   /* POINTER */
    return sum + it.id; /* ADDED */
}

int main()
{
    static shop::item items[2];
    int sum = 1, value = 5, *pointer = &value;
    items[0].stock = 10;        /* STOCK 0 */
    items[0].other = &items[1]; /* OTHER */
    items[1].id = 7;            /* ID */
    int n = items[0].take(3);
    n += add(sum, items[0], pointer);
    return n == 0; /* END */
}
