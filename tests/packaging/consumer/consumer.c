/* The smallest program that uses the installed package; it prints the version it was linked with. */
#include <petal.h>
#include <stdio.h>

int main(void)
{
    printf("%lu\n", (unsigned long)petal_version_number());
    return 0;
}
