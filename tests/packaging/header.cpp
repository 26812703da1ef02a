// The header in C++17, included twice, and linked.
#include <petal.h>
#include <petal.h>

int main()
{
    return petal_version_number() == 0 ? 1 : 0;
}
