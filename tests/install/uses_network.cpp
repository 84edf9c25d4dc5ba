// Defines a network of one layer and prints it, without libtorch.
#include <iostream>

#include "torchtrt/network.h"

int main() {
  using namespace torchtrt;
  network::Network network;
  network::Tensor* input = network.addInput("x", DType::kFloat32, Dims{2, 3});
  network.markOutput(*network.addActivation(*input, "relu")->getOutput(0), "y");
  std::cout << network::print(network);
}
