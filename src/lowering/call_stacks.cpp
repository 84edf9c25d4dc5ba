#include "lowering/call_stacks.h"

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/scope.h>

#include "lowering/graph_walk.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::InlinedCallStack;
using torch::jit::InlinedCallStackPtr;
using torch::jit::Node;

// Graphs, and with them call stacks, live as long as anybody likes: this leaks a function per name.
torch::jit::Function* immortalFunction(const std::string& name) {
  static std::mutex mutex;
  static auto& functions = *new std::map<std::string, std::unique_ptr<torch::jit::GraphFunction>>();
  const std::lock_guard lock(mutex);
  std::unique_ptr<torch::jit::GraphFunction>& function = functions[name];
  if (!function) {
    // The name need not be an identifier: a lambda's is not.
    const c10::QualifiedName qualified(name.empty() || name.find('.') != std::string::npos ? "unknown" : name);
    function = std::make_unique<torch::jit::GraphFunction>(qualified, std::make_shared<torch::jit::Graph>(), nullptr);
  }
  return function.get();
}

class CallStackOwner {
 public:
  void own(torch::jit::Block& block) {
    forEachNode(&block, [this](Node* node) {
      if (const auto stack = node->callstack()) {
        node->setCallStack(owned(*stack));
      }
    });
  }

 private:
  InlinedCallStackPtr owned(const InlinedCallStackPtr& stack) {
    const auto known = owned_.find(stack.get());
    if (known != owned_.end()) {
      return known->second.owned;
    }
    torch::jit::Function* function = immortalFunction(stack->function_name());
    const auto callee = stack->callee();
    InlinedCallStackPtr made =
        callee ? c10::make_intrusive<InlinedCallStack>(owned(*callee), function, stack->source_range(),
                                                       stack->module_instance())
               : c10::make_intrusive<InlinedCallStack>(function, stack->source_range(), stack->module_instance());
    owned_[stack.get()] = {stack, made};
    return made;
  }

  struct Entry {
    InlinedCallStackPtr original;  // so that no other stack comes to lie at its address
    InlinedCallStackPtr owned;
  };
  std::unordered_map<const InlinedCallStack*, Entry> owned_;
};

}  // namespace

std::optional<InlinedCall> innermostCall(const Node& node) {
  auto call = node.callstack();
  if (!call) {
    return std::nullopt;
  }
  for (auto callee = (*call)->callee(); callee; callee = (*callee)->callee()) {
    call = callee;
  }
  const auto instance = (*call)->module_instance();
  const auto type = instance ? instance->class_type() : nullptr;
  return InlinedCall{(*call)->function_name(), type && type->name() ? type->name()->qualifiedName() : ""};
}

void ownCallStacks(torch::jit::Block& block) {
  CallStackOwner().own(block);
}

}  // namespace torchtrt::lowering
