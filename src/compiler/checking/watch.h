// Watches a module's forwards through PyTorch's own record of operators. Calls that nobody watches pay nothing for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/record_function.h>
#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/export.h"

namespace torchtrt::compiler {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start);

// The work of one engine or operator in the forwards that were watched.
struct Watched {
  std::string name;
  c10::intrusive_ptr<runtime::Engine> engine;   // null for operators
  std::vector<std::vector<at::Tensor>> inputs;  // of an engine's calls, as many as are kept
  int64_t calls = 0;
  std::vector<double> milliseconds;  // a sum per forward
};

// While one lives, every operator that the calling thread's interpreter runs is added to it. Operators inside of
// operators count for the outermost.
class TORCHTRT_API Watch {
 public:
  // Every engine keeps the inputs of so many calls: the tensors themselves, which later operators may write to, or
  // copies.
  enum class Keeping : uint8_t { kThemselves, kCopies };
  explicit Watch(size_t kept_calls, Keeping keeping = Keeping::kThemselves);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void beginForward() {
    ++forwards_;
  }
  // Counts the work that is given to a device as part of what gives it.
  void waitFor(const at::Device& device) {
    device_ = device;
  }
  // Returns what was watched, in the order of the first calls.
  const std::vector<Watched>& watched() const {
    return watched_;
  }

 private:
  struct Running;

  static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& record);
  static void end(const at::RecordFunction& record, at::ObserverContext* context);
  size_t indexOf(const at::RecordFunction& record);

  static thread_local Watch* current;

  std::vector<Watched> watched_;
  std::map<std::pair<std::string, const runtime::Engine*>, size_t> index_;
  at::Device device_ = at::kCPU;
  size_t kept_calls_;
  Keeping keeping_;
  size_t forwards_ = 0;
  int depth_ = 0;
  at::CallbackHandle callback_;
};

}  // namespace torchtrt::compiler
