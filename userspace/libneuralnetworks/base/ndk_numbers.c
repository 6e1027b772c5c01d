// SPDX-License-Identifier: MIT
/*
 * Types have the same numbers here and in libnnhal, so nothing is translated. The compiler checks that.
 */
#include "ndk.h"

/* NeuralNetworks.h calls these two differently. */
#define ANEURALNETWORKS_SUBGRAPH	ANEURALNETWORKS_MODEL
#define ANEURALNETWORKS_OEM		ANEURALNETWORKS_OEM_SCALAR

#define SAME(name, number) \
	_Static_assert((int)ANEURALNETWORKS_##name == (number), #name);

NNHAL_OPERAND_TYPE_LIST(SAME)
NNHAL_OPERATION_TYPE_LIST(SAME)
