// Loads bytes that are no plan with the engine library alone; prints the code of the error that comes.
#include <array>
#include <cstddef>
#include <iostream>

#include "torchtrt/engine.h"
#include "torchtrt/error.h"

int main() {
  const std::array<std::byte, 16> bytes{};
  try {
    torchtrt::engine::Engine::load(bytes);
  } catch (const torchtrt::EngineError& error) {
    std::cout << error.what() << "\n";
    return 0;
  }
  std::cout << "sixteen zero bytes were taken for a plan\n";
  return 1;
}
