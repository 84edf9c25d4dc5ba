// Small patterns for tests of the driver, the rewriter and the managers: a chain of three layers, patterns made of
// functions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting::testing {

inline constexpr const char* kChain = R"(network "chain" () {
  input %x : float32[2, 3]
  %a = unary(%x) {op="neg"}
  %b = unary(%a) {op="abs"}
  %c = unary(%b) {op="exp"}
  output "y" %c
})";

inline std::string normalized(const std::string& text) {
  return network::print(*network::parse(text));
}

// A rewriter made of a function.
class FunctionPattern : public PatternRewriter {
 public:
  using Body = std::function<bool(Layer&, Rewriter&)>;
  FunctionPattern(std::vector<LayerType> roots, Body body, int benefit = 0)
      : PatternRewriter("function_pattern", std::move(roots), benefit), body_(std::move(body)) {}
  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    return body_(layer, rewriter);
  }

 private:
  Body body_;
};

inline std::unique_ptr<PatternRewriter> pattern(LayerType root, FunctionPattern::Body body, int benefit = 0) {
  return std::make_unique<FunctionPattern>(std::vector<LayerType>{root}, std::move(body), benefit);
}

// Replaces unary `from` by unary `to`.
inline std::unique_ptr<PatternRewriter> swapUnary(const std::string& from, const std::string& to, int benefit = 0) {
  return pattern(
      LayerType::kUNARY,
      [=](Layer& layer, Rewriter& rewriter) {
        if (layer.attributes().getString("op") != from) {
          return false;
        }
        Attributes attributes;
        attributes.set("op", to);
        rewriter.replaceLayer(layer,
                              {rewriter.create(LayerType::kUNARY, {layer.getInput(0)}, attributes).getOutput(0)});
        return true;
      },
      benefit);
}

}  // namespace torchtrt::rewriting::testing
