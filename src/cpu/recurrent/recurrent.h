// One direction of one layer of an LSTM, GRU or plain recurrent network.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// float32 with vector products.
CreateResult createRecurrentVectors(const Problem& problem);
CreateResult createRecurrentReference(const Problem& problem);

}  // namespace torchtrt::kernels
