// Turns the sums of the gates into a time step of a recurrent network, over rows of float32 values.
#pragma once

#include <cstdint>

namespace torchtrt::kernels {

// One row of the batch: `x` and `h` are what the input and the hidden state give the gates, [gates * hidden] each;
// `state` and `cell`, [hidden] each, are read and written. Only an LSTM has a cell.
using GateFunction = void (*)(const float* x, const float* h, int64_t hidden, float* state, float* cell);

struct GateRows {
  GateFunction lstm, gru, tanh, relu;
};

// The variants for this machine.
const GateRows& gateRows();

}  // namespace torchtrt::kernels
