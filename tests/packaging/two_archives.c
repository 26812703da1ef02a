/* Petal's archive and another one made by Rust, in one program: a panic in each is caught inside each, in turn. */
#include <stdint.h>
#include <stdio.h>

/* Neither is in petal.h: the first exists only in builds with planted faults, the second is the neighbour's. */
int32_t petal_plant_fault(uint32_t which);
int32_t neighbour_panic_and_recover(void);

enum { PANIC = 0 };

int main(void)
{
    for (int round = 0; round < 2; round++) {
        if (petal_plant_fault(PANIC) == 0) {
            fprintf(stderr, "Petal's panic did not come back as a status\n");
            return 1;
        }
        if (neighbour_panic_and_recover() != 1) {
            fprintf(stderr, "the neighbour did not catch its panic\n");
            return 1;
        }
    }
    return 0;
}
