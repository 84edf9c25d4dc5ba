// Contexts of the emulated GPU: as with a real driver, most functions fail in a thread that has entered none.
#pragma once

#include "cuda/driver/driver.h"

namespace torchtrt::cuda::testing {

// The context that this thread has entered.
inline ContextHandle& emulatedContext() {
  thread_local ContextHandle context = nullptr;
  return context;
}
thread_local int capture_mode = 0;  // global, as a thread's is at first

// Stands in for a function that fails in a thread that has entered no context.
template <int kNumber, typename Function>
struct InContext;
template <int kNumber, typename... Arguments>
struct InContext<kNumber, Result (*)(Arguments...)> {
  static inline Result (*inner)(Arguments...) = nullptr;
  static Result call(Arguments... arguments) {
    constexpr Result kInvalidContext = 201;
    return emulatedContext() == nullptr ? kInvalidContext : inner(arguments...);
  }
};

template <int kNumber, typename Function>
void needContext(Function& function) {
  InContext<kNumber, Function>::inner = function;
  function = InContext<kNumber, Function>::call;
}

// Makes these functions of the table fail outside of a context.
inline void needContexts(Driver& d) {
  needContext<0>(d.allocate), needContext<1>(d.allocateHost), needContext<2>(d.hostPointer);
  needContext<3>(d.copyIn), needContext<4>(d.copyOut), needContext<5>(d.copyWithin), needContext<6>(d.fillBytes);
  needContext<7>(d.synchronize), needContext<8>(d.synchronizeAll), needContext<9>(d.isCapturing);
  needContext<10>(d.createEvent), needContext<11>(d.recordEvent), needContext<12>(d.loadModule);
  needContext<13>(d.launch), needContext<14>(d.createStream), needContext<15>(d.beginCapture);
  needContext<16>(d.instantiate), needContext<17>(d.launchGraph);
}

}  // namespace torchtrt::cuda::testing
