#include "textflag.h"

// func prefetch(payload []byte, offsets []uint64)
TEXT ·prefetch(SB), NOSPLIT, $0-48
	MOVQ payload_base+0(FP), SI
	MOVQ offsets_base+24(FP), DI
	MOVQ offsets_len+32(FP), CX
	LEAQ (DI)(CX*8), CX

next:
	CMPQ DI, CX
	JEQ  done
	MOVQ (DI), AX
	PREFETCHT0 (SI)(AX*1)
	ADDQ $8, DI
	JMP  next

done:
	RET
