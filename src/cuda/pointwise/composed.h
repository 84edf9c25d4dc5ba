// Pointwise functions as one kernel: a thread computes all of them for its elements, and writes the results that others
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

// The function of a layer: an expression of x0, x1, x2, alpha, beta and fault, of types C, in which it is computed, and
// OUT, which is stored.
struct Map {
  std::string result;
  DType dtype = DType::kFloat32;  // that it is computed in
  double alpha = 0, beta = 0;
  bool divides_integers = false;
};

// A function with its operands.
struct MapLayer {
  const Map* map;
  std::vector<int32_t> operands;  // n: the input of that number; -1 - n: the result of layer n
  DType dtype;                    // of the result
  bool is_written;                // as an output, in the order of the layers
};

// The launch of layers that have results of the same dims; the last one is written. Inputs are broadcast to it.
std::unique_ptr<Launches> launchMaps(const CudaDevice& device, const std::vector<MapLayer>& layers,
                                     const std::vector<kernels::TensorDesc>& inputs,
                                     const std::vector<kernels::TensorDesc>& outputs);

}  // namespace torchtrt::cuda
