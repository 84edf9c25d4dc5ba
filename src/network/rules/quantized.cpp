// Rules of the kinds that make and compute on steps of int8 or uint8.
#include "network/rules/checks.h"
#include "network/rules/rules.h"

namespace torchtrt::network {

Rules quantizeRules() {
  return {};
}

Rules dequantizeRules() {
  return {};
}

Rules quantizedConvolutionRules() {
  return {};
}

Rules quantizedMatrixMultiplyRules() {
  return {};
}

}  // namespace torchtrt::network
