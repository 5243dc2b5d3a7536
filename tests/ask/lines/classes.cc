// classes.cc - C++: bases, references, methods, static members, templates. SPDX-License-Identifier:
// MIT
#include <cstdio>
#include <string>
#include <vector>

namespace shapes
{
enum class Kind : unsigned char { Round, Square };
struct Empty {
};
class Shape
{
  public:
    explicit Shape(int n) : number(n)
    {
        made++;
    }
    virtual ~Shape() = default;
    virtual double area(double scale) const = 0;
    int number;
    static int made;
    static const int limit = 100;

  protected:
    Kind kind = Kind::Round;
};
int Shape::made;
class Circle : public Shape, private Empty
{
  public:
    Circle(int n, double r) : Shape(n), radius(r)
    {
    }
    double area(double scale) const override
    {
        double result = radius * radius * scale;
        result += number; /* LOOK 1 */
        return result;
    }

  private:
    double radius;
};
template <typename T, int N> struct Box {
    T item[N];
    T &first;
    Box(T a, T b) : item{a, b}, first(item[0])
    {
    }
    T sum(const T &more) const
    {
        T all = more;
        for (const T &element : item)
            all += element; /* LOOK 2 */
        return all;
    }
};
} // namespace shapes

using shapes::Circle;
static int calls;

static __attribute__((noinline)) double measure(const shapes::Shape &shape, int &count,
                                                const char *label, bool flag)
{
    count++;
    calls += flag + (label[0] == 'o');
    double a = shape.area(2.5);
    calls++; /* LOOK 3 */
    return a;
}

int main()
{
    double total = 0;
    int count = 0;
    Circle circle(1, 1.5), disk(2, 0.25);
    const shapes::Shape *list[] = {&circle, &disk, &circle};
    for (const auto *shape : list)
        total += measure(*shape, count, count & 1 ? "odd" : "even", count == 1); /* LOOK 4 */
    shapes::Box<int, 2> box(4, 5);
    shapes::Box<double, 2> real(0.5, 2);
    int &alias = count;
    total += box.sum(count) + real.sum(total);      /* LOOK 5 */
    std::printf("%g %d %d\n", total, calls, alias); /* LOOK 6 */
    return 0;
}
