// Conversion tests as text: a graph and its inputs go in, one line for each layer comes out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conversion/conversion.h"

namespace torchtrt::conversion::testing {

// Describes an input called input_<i>. Dims may use the symbol s0, which is 2 to 8.
struct Spec {
  DType dtype = DType::kFloat32;
  Dims dims;
};

inline Dim s0() {
  return Dim::symbol("s0");
}

std::shared_ptr<torch::jit::Graph> parse(const std::string& text);
// The network, verified.
std::unique_ptr<network::Network> networkOf(const std::string& text, const std::vector<Spec>& inputs,
                                            bool is_whole = false);
// "kind:op dtype[dims]" for each layer but constants, in order.
std::vector<std::string> layersOf(const std::string& text, const std::vector<Spec>& inputs, bool is_whole = false);
// The text of the CompileError that converting it throws.
std::string errorOf(const std::string& text, const std::vector<Spec>& inputs);

}  // namespace torchtrt::conversion::testing
