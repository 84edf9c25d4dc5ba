// Layers that move elements (scatter may fold them): shuffle, slice, expand, concatenation, gather, scatter, padding,
// and the copies identity and reformat. Elements are moved as bytes, so the kernels depend on the size of the dtype
// alone.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createShuffleReference(const Problem& problem);
CreateResult createSliceReference(const Problem& problem);
CreateResult createExpandReference(const Problem& problem);
CreateResult createConcatenationReference(const Problem& problem);
CreateResult createGatherReference(const Problem& problem);
CreateResult createScatterReference(const Problem& problem);
CreateResult createPaddingReference(const Problem& problem);
CreateResult createIdentityReference(const Problem& problem);
CreateResult createReformatReference(const Problem& problem);

}  // namespace torchtrt::kernels
