// The network that functions without a network argument work on. A guard makes one current for its thread; guards nest.
// While patterns run, the driver holds a guard, so what a pattern does goes through its Rewriter whichever way it asks.
#pragma once

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::rewriting {

class Rewriter;

class TORCHTRT_API NetGuard {
 public:
  explicit NetGuard(network::Network& network);
  NetGuard(network::Network& network, Rewriter& rewriter);  // of the driver
  ~NetGuard();
  NetGuard(const NetGuard&) = delete;
  NetGuard& operator=(const NetGuard&) = delete;

  static network::Network* current();  // the innermost guard's; null outside of guards
  // The rewriter of the patterns that run on this network in this thread; null when none do.
  static Rewriter* rewriterOf(const network::Network& network);

 private:
  network::Network* network_;
  Rewriter* rewriter_;
  NetGuard* outer_;
};

}  // namespace torchtrt::rewriting
