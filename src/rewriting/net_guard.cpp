#include "torchtrt/net_guard.h"

namespace torchtrt::rewriting {

namespace {

thread_local NetGuard* innermost = nullptr;

}  // namespace

NetGuard::NetGuard(network::Network& network) : network_(&network), rewriter_(nullptr), outer_(innermost) {
  innermost = this;
}

NetGuard::NetGuard(network::Network& network, Rewriter& rewriter)
    : network_(&network), rewriter_(&rewriter), outer_(innermost) {
  innermost = this;
}

NetGuard::~NetGuard() {
  innermost = outer_;
}

network::Network* NetGuard::current() {
  return innermost == nullptr ? nullptr : innermost->network_;
}

Rewriter* NetGuard::rewriterOf(const network::Network& network) {
  for (const NetGuard* guard = innermost; guard != nullptr; guard = guard->outer_) {
    if (guard->network_ == &network && guard->rewriter_ != nullptr) {
      return guard->rewriter_;
    }
  }
  return nullptr;
}

}  // namespace torchtrt::rewriting
