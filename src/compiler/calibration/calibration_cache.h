// A calibrator's cache file during one compile: it is read before and written afterwards. Quantization owns its text.
#pragma once

#include <string>

#include "quantization/quantization.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

quantization::Method methodOf(ptq::CalibrationAlgo algo);

class CalibrationCache {
 public:
  // Reads the file where the calibrator says to use it. Throws CompileError: kInvalidOption for a file that is no cache
  // and, where there is nothing but the cache, for one that cannot be read; kOutput for a folder or a device.
  explicit CalibrationCache(const ptq::Calibrator& calibrator);

  // The network's ranges, or null. Ranges of another method count only where there is nothing but the cache.
  const quantization::Ranges* find(const std::string& key) const;
  void add(const std::string& key, quantization::Ranges ranges);
  // Replaces the file, if one is named and does not hold all of this. A cache without ranges is written too, so that
  // the file is there for the next step of a script. Throws CompileError(kOutput).
  void write() const;

 private:
  const std::string file_;
  quantization::Cache cache_;
  bool is_written_ = false;  // the file holds all of cache_
};

}  // namespace torchtrt::compiler
