/* Rust's standard library takes random numbers from bcryptprimitives.dll, which Wine 8 does not have:
 *   x86_64-w64-mingw32-gcc -shared -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32 */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
  for (; length > 0; bytes += 1 << 20, length -= 1 << 20) {
    ULONG part = length < 1 << 20 ? (ULONG)length : 1 << 20;
    if (!RtlGenRandom(bytes, part)) return FALSE;
    if (part == length) break;
  }
  return TRUE;
}
