// Damages network text at random and reads it: the outcome has to be a CompileError with a place in the text, or a
// network that keeps its text. For tests that can see the kernels: some of the texts have layers of their plugins.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::test {

class TextFuzzer {
 public:
  // `use`, where it is given, gets each network that could be read, with what was damaged behind it.
  using Use = std::function<void(network::Network&)>;
  explicit TextFuzzer(Use use = {});

  // "" when all is well, else what happened, with the text.
  std::string tryOne(uint64_t seed);

  // The text that tryOne() reads for the seed.
  std::string mutated(uint64_t seed) const;

  // The same two steps for any text: damages it with parts of the others, and reads it.
  std::string damaged(const std::string& text, uint64_t seed) const;
  std::string tryText(const std::string& text);

  // Undamaged ones.
  const std::vector<std::string>& texts() const {
    return texts_;
  }

  uint64_t refused() const {
    return refused_;
  }
  uint64_t networks() const {
    return networks_;
  }

 private:
  std::string read(const std::string& text);

  std::vector<std::string> texts_;
  network::WeightStore weights_;
  Use use_;
  uint64_t refused_ = 0, networks_ = 0;
};

}  // namespace torchtrt::test
