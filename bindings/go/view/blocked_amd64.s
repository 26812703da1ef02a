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

// The bit of each lane in a mask, in 32 bits.
DATA lanes<>+0(SB)/8, $0x0000000200000001
DATA lanes<>+8(SB)/8, $0x0000000800000004
DATA lanes<>+16(SB)/8, $0x0000002000000010
DATA lanes<>+24(SB)/8, $0x0000008000000040
DATA lanes<>+32(SB)/8, $0x0000020000000100
DATA lanes<>+40(SB)/8, $0x0000080000000400
DATA lanes<>+48(SB)/8, $0x0000200000001000
DATA lanes<>+56(SB)/8, $0x0000800000004000
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// func blockedContainsAVX2(f *Filter, hash uint64) bool
TEXT ·blockedContainsAVX2(SB), NOSPLIT, $0-17
	MOVQ f+0(FP), DI
	MOVQ hash+8(FP), SI

	// The block: the high half of hash * blocks, which is less than blocks.
	MOVQ    SI, AX
	MULQ    (Filter_shape+shape_blocks)(DI)
	SHLQ    $6, DX
	ADDQ    Filter_payload(DI), DX
	VMOVDQU 0(DX), Y8
	VMOVDQU 32(DX), Y9

	// The mask of the lanes: masks[low * len(masks) >> 32], twice in each lane.
	MOVL         SI, CX
	IMULQ        (Filter_shape+shape_masks+8)(DI), CX
	SHRQ         $32, CX
	MOVQ         (Filter_shape+shape_masks)(DI), R8
	VPBROADCASTW (R8)(CX*2), Y7
	VPBROADCASTQ hash+8(FP), Y0

	// The products of the hash's low half with four salts each.
	VPMULUDQ salts<>+0(SB), Y0, Y1
	VPMULUDQ salts<>+32(SB), Y0, Y2

	// The number of the bit in each lane: bits 27 to 31 of the product in the first of two, bits 32 to 36 in the
	// second.
	VPSRLQ   $27, Y1, Y3
	VPSRLQ   $27, Y2, Y4
	VPBLENDD $0xaa, Y1, Y3, Y3
	VPBLENDD $0xaa, Y2, Y4, Y4
	VPCMPEQD Y5, Y5, Y5
	VPSRLD   $27, Y5, Y6
	VPAND    Y6, Y3, Y3
	VPAND    Y6, Y4, Y4

	// That bit, and of those only the ones in the key's lanes.
	VPSRLD       $31, Y5, Y5
	VPSLLVD      Y3, Y5, Y3
	VPSLLVD      Y4, Y5, Y4
	VPAND        lanes<>+0(SB), Y7, Y10
	VPAND        lanes<>+32(SB), Y7, Y11
	VPCMPEQD     lanes<>+0(SB), Y10, Y10
	VPCMPEQD     lanes<>+32(SB), Y11, Y11
	VPAND        Y10, Y3, Y3
	VPAND        Y11, Y4, Y4

	// Those that the block does not have.
	VPANDN Y3, Y8, Y3
	VPANDN Y4, Y9, Y4
	VPOR   Y3, Y4, Y3
	VPTEST Y3, Y3
	SETEQ  ret+16(FP)
	VZEROUPPER
	RET
