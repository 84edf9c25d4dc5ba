// Says whether torchvision's operators are there; names nothing of torchtrt, since saved modules do not either.
#include <torch/script.h>

#include <iostream>

int main() {
  std::cout << (torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("torchvision::nms")).empty()
                    ? "not registered"
                    : "registered")
            << "\n";
}
