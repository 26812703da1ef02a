#include "go_asm.h"
#include "textflag.h"

// The salts, each in 64 bits.
DATA salts<>+0(SB)/8, $0x47b6137b
DATA salts<>+8(SB)/8, $0x44974d91
DATA salts<>+16(SB)/8, $0x8824ad5b
DATA salts<>+24(SB)/8, $0xa2b7289d
DATA salts<>+32(SB)/8, $0x705495c7
DATA salts<>+40(SB)/8, $0x2df1424b
DATA salts<>+48(SB)/8, $0x9efc4947
DATA salts<>+56(SB)/8, $0x5c6bfb31
GLOBL salts<>(SB), RODATA|NOPTR, $64

// How far the products are shifted down: lanes in turn take bits 27 to 31 and 32 to 36.
DATA shifts<>+0(SB)/8, $27
DATA shifts<>+8(SB)/8, $27
DATA shifts<>+16(SB)/8, $27
DATA shifts<>+24(SB)/8, $27
GLOBL shifts<>(SB), RODATA|NOPTR, $32

// The five low bits of each lane.
DATA five<>+0(SB)/8, $0x0000001f0000001f
DATA five<>+8(SB)/8, $0x0000001f0000001f
DATA five<>+16(SB)/8, $0x0000001f0000001f
DATA five<>+24(SB)/8, $0x0000001f0000001f
GLOBL five<>(SB), RODATA|NOPTR, $32

// KEY needs the shape in DI and the hash in SI. It leaves the address of the hash's block in DX, the block in Y8 and
// Y9, and the key's bits in Y1 and Y2.
#define KEY(payload, hash) \
	/* The block: the high half of hash * blocks, which is less than blocks. */ \
	MOVQ    SI, AX                  \
	MULQ    shape_blocks(DI)        \
	SHLQ    $6, DX                  \
	ADDQ    payload, DX             \
	VMOVDQU 0(DX), Y8               \
	VMOVDQU 32(DX), Y9              \
	/* The mask of the lanes: masks[low * len(masks) >> 32]. */ \
	/* A byte of it is 1 or 0 in each of eight lanes. */ \
	MOVL    SI, CX                  \
	IMULQ   (shape_masks+8)(DI), CX \
	SHRQ    $32, CX                 \
	MOVQ    shape_masks(DI), R8     \
	MOVWLZX (R8)(CX*2), CX          \
	MOVBLZX CX, AX                  \
	SHRL    $8, CX                  \
	LEAQ    ·bytesOfBits(SB), R8    \
	/* The products of the hash's low half with four salts each, and from them the number of the bit in each lane. */ \
	VPBROADCASTQ hash, Y0           \
	VPMULUDQ salts<>+0(SB), Y0, Y1  \
	VPMULUDQ salts<>+32(SB), Y0, Y2 \
	VPSRLVD shifts<>(SB), Y1, Y1    \
	VPSRLVD shifts<>(SB), Y2, Y2    \
	VPAND   five<>(SB), Y1, Y1      \
	VPAND   five<>(SB), Y2, Y2      \
	/* That bit, in the key's lanes. */ \
	VPMOVZXBD (R8)(AX*8), Y3        \
	VPMOVZXBD (R8)(CX*8), Y4        \
	VPSLLVD Y1, Y3, Y1              \
	VPSLLVD Y2, Y4, Y2

// func blockedContainsAVX2(s *shape, payload []byte, hash uint64) bool
TEXT ·blockedContainsAVX2(SB), NOSPLIT, $0-41
	MOVQ s+0(FP), DI
	MOVQ hash+32(FP), SI
	KEY(payload_base+8(FP), hash+32(FP))

	// Those that the block does not have.
	VPANDN Y1, Y8, Y1
	VPANDN Y2, Y9, Y2
	VPOR   Y1, Y2, Y1
	VPTEST Y1, Y1
	SETEQ  ret+40(FP)
	VZEROUPPER
	RET

// func blockedInsertAVX2(s *shape, payload []byte, hash uint64) (isNew bool)
TEXT ·blockedInsertAVX2(SB), NOSPLIT, $0-41
	MOVQ s+0(FP), DI
	MOVQ hash+32(FP), SI
	KEY(payload_base+8(FP), hash+32(FP))

	// Those that the block does not have.
	VPANDN  Y1, Y8, Y3
	VPANDN  Y2, Y9, Y4
	VPOR    Y3, Y4, Y3
	VPTEST  Y3, Y3
	SETNE   isNew+40(FP)
	VPOR    Y1, Y8, Y1
	VPOR    Y2, Y9, Y2
	VMOVDQU Y1, 0(DX)
	VMOVDQU Y2, 32(DX)
	VZEROUPPER
	RET
