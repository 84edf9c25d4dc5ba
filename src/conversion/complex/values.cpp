#include <algorithm>
#include <set>
#include <string>

#include "conversion/complex/complex.h"
#include "lowering/graph_walk.h"

namespace torchtrt::conversion::complex {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
using Names = std::set<std::string>;
namespace prim = torch::jit::prim;

// Complex whatever the operands are.
const Names& makers() {
  static const Names kinds = {"aten::view_as_complex", "aten::complex",    "aten::polar",     "aten::fft_fft",
                              "aten::fft_ifft",        "aten::fft_rfft",   "aten::fft_fft2",  "aten::fft_ifft2",
                              "aten::fft_rfft2",       "aten::fft_fftn",   "aten::fft_ifftn", "aten::fft_rfftn",
                              "aten::fft_ihfft",       "aten::fft_ihfft2", "aten::_fft_r2c",  "aten::_fft_c2c"};
  return kinds;
}

// Real whatever the operands are.
const Names& enders() {
  static const Names kinds = {"aten::view_as_real", "aten::real",     "aten::imag",      "aten::abs",
                              "aten::absolute",     "aten::angle",    "aten::fft_irfft", "aten::fft_irfft2",
                              "aten::fft_irfftn",   "aten::fft_hfft", "aten::fft_hfft2", "aten::_fft_c2r",
                              "aten::istft",        "aten::norm",     "aten::eq",        "aten::ne",
                              "aten::isnan",        "aten::isinf",    "aten::isfinite",  "aten::linalg_vector_norm",
                              "aten::linalg_norm"};
  return kinds;
}

bool isAmong(const Node& node, const Names& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

bool mayBeComplex(const c10::TypePtr& type) {
  return lowering::holdsTensors(type) || type->kind() == c10::TypeKind::ComplexType ||
         type->kind() == c10::TypeKind::NumberType;
}

std::optional<IValue> argument(const Node& node, const char* name) {
  const auto* schema = node.maybeSchema();
  const auto index = schema ? schema->argumentIndexWithName(name) : std::nullopt;
  return index ? torch::jit::toIValue(node.input(static_cast<size_t>(*index))) : std::nullopt;
}

class Finder {
 public:
  void visit(const Block& block) {
    for (const Node* node : block.nodes()) {
      if (node->kind() == prim::If) {
        visitIf(*node);
      } else if (node->kind() == prim::Loop) {
        visitLoop(*node);
      } else if (gives(*node)) {
        for (const Value* output : node->outputs()) {
          if (mayBeComplex(output->type())) {
            found.insert(output);
          }
        }
      }
    }
  }

  std::unordered_set<const Value*> found;

 private:
  bool holds(const Value* value) const {
    return found.count(value) != 0;
  }

  bool gives(const Node& node) const {
    if (node.kind() == prim::Constant) {
      const auto value = torch::jit::toIValue(node.output());
      return value && anyElement(*value, isComplex);
    }
    if (isAmong(node, makers())) {
      return true;
    }
    if (node.kind() == c10::Symbol::fromQualString("aten::stft")) {
      const auto wanted = argument(node, "return_complex");
      return !wanted || !wanted->isBool() || wanted->toBool();
    }
    const auto dtype = argument(node, "dtype");
    if (dtype && dtype->isInt()) {
      return c10::isComplexType(static_cast<at::ScalarType>(dtype->toInt()));
    }
    return !isAmong(node, enders()) &&
           std::any_of(node.inputs().begin(), node.inputs().end(), [this](const Value* input) { return holds(input); });
  }

  // Tells if a value is complex. It is asked only about values that are known by then, or known to be real.
  std::optional<bool> answer(const Value& value) const {
    const Node& node = *value.node();
    const std::string kind = node.kind().toQualString();
    if (kind == "prim::is_complex" || kind == "aten::is_complex") {
      return holds(node.input(0));
    }
    if (kind == "aten::is_floating_point") {
      return holds(node.input(0)) ? std::optional(false) : std::nullopt;
    }
    if (kind == "aten::__not__") {
      const auto negated = answer(*node.input(0));
      return negated ? std::optional(!*negated) : std::nullopt;
    }
    return std::nullopt;
  }

  void visitIf(const Node& node) {
    const auto taken = answer(*node.input());
    for (const Block* block : node.blocks()) {
      if (taken && block != node.blocks()[*taken ? 0 : 1]) {
        continue;
      }
      visit(*block);
      for (size_t i = 0; i < node.outputs().size(); ++i) {
        if (holds(block->outputs()[i])) {
          found.insert(node.outputs()[i]);
        }
      }
    }
  }

  void visitLoop(const Node& node) {
    const Block& body = *node.blocks()[0];
    for (size_t before = found.size() + 1; before != found.size();) {
      before = found.size();
      for (size_t i = 1; i < body.inputs().size(); ++i) {
        if (holds(node.inputs()[i + 1]) || holds(body.outputs()[i])) {
          found.insert(body.inputs()[i]);
          found.insert(node.outputs()[i - 1]);
        }
      }
      visit(body);
    }
  }
};

}  // namespace

std::unordered_set<const Value*> valuesOf(const Block& block) {
  Finder finder;
  finder.visit(block);
  return std::move(finder.found);
}

}  // namespace torchtrt::conversion::complex
