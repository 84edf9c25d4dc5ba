// A calibrator's cache file during one compile: what it holds of earlier ones, and what is written to it afterwards.
// Its text is quantization's.
#pragma once

#include <string>

#include "quantization/quantization.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

quantization::Method methodOf(ptq::CalibrationAlgo algo);

class CalibrationCache {
 public:
  // Reads the file where the calibrator says to use it. Throws CompileError(kInvalidOption) for a file that is no cache
  // and, where there is nothing but the cache, for one that cannot be read.
  explicit CalibrationCache(const ptq::Calibrator& calibrator);

  // The network's ranges, or null. Ranges of another method count only where there is nothing but the cache.
  const quantization::Ranges* find(const std::string& key) const;
  void add(const std::string& key, quantization::Ranges ranges);
  // Where a file is named and something was added; replaced when complete. Throws CompileError(kOutput).
  void write() const;

 private:
  const std::string file_;
  quantization::Cache cache_;
  bool is_changed_ = false;
};

}  // namespace torchtrt::compiler
