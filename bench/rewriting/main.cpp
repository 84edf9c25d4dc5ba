// torchtrt-bench-rewriting: time of 20 patterns over networks of growing size. CPU time should grow linearly.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "torchtrt/matchers.h"
#include "torchtrt/rewriting.h"

namespace {

using namespace torchtrt;             // NOLINT(google-build-using-namespace): a program of one file
using namespace torchtrt::rewriting;  // NOLINT(google-build-using-namespace)

// A chain of blocks of ten layers, five of which some pattern removes or replaces; one constant is read by all blocks.
std::unique_ptr<Network> chain(int layers) {
  auto network = std::make_unique<Network>();
  Tensor* x = network->addInput("x", DType::kFloat32, {16, 64});
  const float one = 1;
  Tensor* constant = network->addConstant(Weights::copyOf(DType::kFloat32, {1}, &one))->getOutput(0);
  const char* const ops[] = {"neg", "neg", "sin", "abs", "abs", "cos", "floor", "ceil", "exp"};
  while (network->getNbLayers() < layers) {
    for (const char* op : ops) {
      x = network->addUnary(*x, op)->getOutput(0);
    }
    x = network->addElementWise(*x, *constant, "sum")->getOutput(0);
  }
  network->markOutput(*x, "y");
  return network;
}

// outer(inner(x)) becomes x, or inner(x).
class Collapse : public PatternRewriter {
 public:
  Collapse(std::string outer, std::string inner, bool keeps_inner)
      : PatternRewriter("collapse_" + outer + "_" + inner, {LayerType::kUNARY}),
        outer_(std::move(outer)),
        inner_(std::move(inner)),
        keeps_inner_(keeps_inner) {}
  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    Tensor* x = nullptr;
    Tensor* inner = nullptr;
    if (!m::match(layer, m::unary(outer_).input(0, m::unary(inner_).captureOutput(&inner).input(0, m::tensor(&x))))) {
      return false;
    }
    rewriter.replaceLayer(layer, {keeps_inner_ ? inner : x});
    return true;
  }

 private:
  std::string outer_, inner_;
  bool keeps_inner_;
};

// x + c becomes c + x where the constant is on the right; the layer is made anew.
class Swap : public PatternRewriter {
 public:
  Swap() : PatternRewriter("swap", {LayerType::kELEMENTWISE}) {}
  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    if (!m::match(layer, m::elementwise("sum").input(1, m::constant()))) {
      return false;
    }
    Layer& created =
        rewriter.create(LayerType::kELEMENTWISE, {layer.getInput(1), layer.getInput(0)}, layer.attributes());
    rewriter.replaceLayer(layer, {created.getOutput(0)});
    return true;
  }
};

RewritePatternManager twentyPatterns() {
  RewritePatternManager manager;
  const auto add = [&](std::unique_ptr<PatternRewriter> pattern) {
    const std::string label = pattern->name();
    manager.add(label, std::move(pattern));
  };
  const char* const never[] = {"tan",  "sinh", "cosh", "asin", "acos",  "atan",  "log",   "sqrt", "erf",
                               "sign", "frac", "exp2", "log2", "log10", "log1p", "expm1", "rsqrt"};
  for (const char* op : never) {
    add(std::make_unique<Collapse>(op, "neg", false));
  }
  add(std::make_unique<Collapse>("neg", "neg", false));
  add(std::make_unique<Collapse>("abs", "abs", true));
  add(std::make_unique<Swap>());
  return manager;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<int> sizes = {12500, 25000, 50000, 100000};
  if (count > 1) {
    sizes.assign(1, std::atoi(arguments[1]));
  }
  std::printf("%10s %10s %10s %12s %18s\n", "layers", "rewrites", "seconds", "CPU seconds", "CPU us a layer");
  for (const int size : sizes) {
    const auto network = chain(size);
    RewritePatternManager manager = twentyPatterns();
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    const RewriteSummary summary = manager.rewrite(*network);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double cpu_seconds = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    std::printf("%10d %10zu %10.3f %12.3f %18.2f\n", size, summary.rewrites, seconds, cpu_seconds,
                cpu_seconds * 1e6 / size);
  }
  return 0;
}
