// Devices with streams offer this beside their contract: faults in the data, told by the step that met them. Kernels
// write them to words of the step and the stream, and the host reads those later.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::device {

// Words for the steps of an engine in one stream.
class TORCHTRT_API FaultWords {
 public:
  virtual ~FaultWords() = default;
  // Returns the place where kernels of that step report faults.
  virtual void* word(size_t step) const = 0;

  struct Fault {
    size_t step = 0;
    EngineError error;  // without a location
  };
  // One that work of the stream has met, if there is any, and forgets it. Waits for nothing.
  virtual std::optional<Fault> take() = 0;
};

class TORCHTRT_API FaultReporter {
 public:
  virtual ~FaultReporter() = default;
  virtual std::unique_ptr<FaultWords> faultWords(size_t steps) const = 0;
};

// Kernels that this thread runs report to a word, as long as this lives.
class TORCHTRT_API FaultScope {
 public:
  explicit FaultScope(void* word);
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
  // Null outside of every scope.
  static void* current();

 private:
  void* before_;
};

}  // namespace torchtrt::device
