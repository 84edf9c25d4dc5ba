// The flight recorder: keeps chosen calls of engines in a folder, each as a record that `torchtrtc replay` runs again.
// It never makes a call fail: where a record cannot be written, it warns once and ends. Without it a call pays for one
// relaxed load.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "runtime/recording/settings.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime::recording {

namespace detail {
TORCHTRT_API extern std::atomic<bool> is_on;
}

inline bool isOn() {
  return detail::is_on.load(std::memory_order_relaxed);
}

// Records the calls of this process from now on, or no longer. Earlier settings no longer hold.
TORCHTRT_API void start(const Settings& settings);
TORCHTRT_API void stop();
// As the environment wants it; wishes that make no sense are a warning.
void startFromEnvironment();

// Calls of this thread are not recorded while one lives: those that no user asked for.
class TORCHTRT_API Pause {
 public:
  Pause();
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
};

using Call = std::function<std::vector<at::Tensor>(std::vector<at::Tensor>& inputs)>;
// Runs the call, and keeps it if it is chosen. `call` may throw.
std::vector<at::Tensor> recorded(std::vector<at::Tensor>& inputs, const c10::intrusive_ptr<Engine>& engine,
                                 const Call& call);

}  // namespace torchtrt::runtime::recording
