#include "runtime/comparison.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/weight_set.h"

namespace torchtrt {

double Deviation::ofAllowed() const {
  return relative == 0 ? 0 : relative / allowed;
}

namespace runtime {

namespace {

using torch::jit::IValue;

constexpr double kIncomparable = std::numeric_limits<double>::infinity();

double toleranceOf(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return 1e-7;
    case at::kHalf:
    case at::kBFloat16:
      return 2e-2;
    case at::kChar:
      return 0.5;
    default:
      return 1e-4;
  }
}

// The dtype of numbers outside of tensors, which may come from tensors of any dtype.
constexpr at::ScalarType kNumbers = at::kFloat;

// A floating tensor's bits as integers that lie as its numbers do: neighbours differ by 1, both zeros are 0.
at::Tensor rankOf(const at::Tensor& tensor) {
  const int64_t size = tensor.element_size();
  const at::ScalarType same_size = size == 1 ? at::kChar : size == 2 ? at::kShort : size == 4 ? at::kInt : at::kLong;
  const at::Tensor bits = tensor.resolve_neg().contiguous().view(same_size).to(at::kLong);
  const at::Tensor magnitude = bits.bitwise_and(std::numeric_limits<int64_t>::max() >> (64 - 8 * size));
  return at::where(bits < 0, -magnitude, magnitude);
}

// The most numbers of the dtype that lie from an element to the other's, of elements that are finite in both.
double mostUlps(const at::Tensor& expected, const at::Tensor& got, const at::Tensor& finite) {
  const at::Tensor a = rankOf(expected).masked_fill(~finite, 0);
  const at::Tensor b = rankOf(got).masked_fill(~finite, 0);
  // The difference of numbers of opposite sign may be more than an integer holds; others lose nothing by it.
  const at::Tensor apart =
      at::where((a < 0) == (b < 0), (a - b).to(at::kDouble), a.to(at::kDouble) - b.to(at::kDouble));
  return apart.abs().max().item<double>();
}

// The tensors of a result, in the order in which a comparison comes to them.
void appendTensors(const IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      appendTensors(element, tensors);
    }
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      appendTensors(element, tensors);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      appendTensors(entry.value(), tensors);
    }
  }
}

// True if `got` is at most `times` as far from the exact values as `expected` is. All are in float64, with the same
// finite elements.
bool isAsNear(const at::Tensor& expected, const at::Tensor& got, const at::Tensor& exact, double times) {
  return (got - exact).abs().max().item<double>() <= times * (expected - exact).abs().max().item<double>();
}

// Goes through two results side by side.
class Comparison {
 public:
  // Ends at the first difference unless it measures. `exact`: tensors of the same results in float64, or none. With
  // `rounds`, the other results are in float64 and are rounded to the dtypes of the expected ones.
  Comparison(bool measures, at::ScalarType coarsest, std::vector<at::Tensor> exact, bool rounds = false)
      : measures_(measures), coarsest_(coarsest), exact_(std::move(exact)), rounds_(rounds) {}

  // Excuses from now on, without float64, every difference that float64 might excuse.
  void excuseAll() {
    excuses_all_ = true;
  }

  void compare(const IValue& expected, const IValue& got, const std::string& where) {
    if (!measures_ && !worst_.difference.empty()) {
      return;
    }
    if (expected.tagKind() != got.tagKind()) {
      differ(where, "expected a " + expected.tagKind() + ", got a " + got.tagKind());
    } else if (expected.isTensor()) {
      judge_ = tensors_ < exact_.size() ? exact_[tensors_].to(at::kCPU) : at::Tensor();
      ++tensors_;
      const at::Tensor& tensor = got.toTensor();
      compareTensors(expected.toTensor(),
                     rounds_ && tensor.is_floating_point() ? tensor.to(expected.toTensor().scalar_type()) : tensor,
                     where);
    } else if (expected.isTuple()) {
      compareSequences(expected.toTupleRef().elements(), got.toTupleRef().elements(), where);
    } else if (expected.isList()) {
      compareSequences(expected.toListRef(), got.toListRef(), where);
    } else if (expected.isGenericDict()) {
      compareDicts(expected.toGenericDict(), got.toGenericDict(), where);
    } else if (expected.isDouble()) {
      compareFloating(at::tensor({expected.toDouble()}, at::kDouble), at::tensor({got.toDouble()}, at::kDouble),
                      kNumbers, where);
    } else if (expected != got) {
      differ(where, "values differ");
    }
  }

  Deviation take() {
    return std::move(worst_);
  }

 private:
  void differ(const std::string& where, const std::string& what) {
    note(kIncomparable, kIncomparable, 0);
    tell(where, what);
  }

  void tell(const std::string& where, const std::string& what) {
    if (worst_.difference.empty()) {
      worst_.difference = where + what;
    }
  }

  void note(double relative, double ulps, double allowed) {
    worst_.ulps = std::max(worst_.ulps, ulps);
    const Deviation deviation{.relative = relative, .ulps = ulps, .allowed = allowed, .difference = ""};
    if (deviation.ofAllowed() >= worst_.ofAllowed()) {
      worst_.relative = relative;
      worst_.allowed = allowed;
    }
  }

  void compareFloating(const at::Tensor& expected, const at::Tensor& got, at::ScalarType type,
                       const std::string& where) {
    const at::Tensor a = expected.to(at::kDouble);
    const at::Tensor b = got.to(at::kDouble);
    const at::Tensor finite = at::isfinite(a);
    if (!at::equal(at::nan_to_num(a.masked_fill(finite, 0)), at::nan_to_num(b.masked_fill(at::isfinite(b), 0))) ||
        !at::equal(at::isnan(a), at::isnan(b))) {
      differ(where, "NaN or infinity stand in other places");
      return;
    }
    const at::Tensor zeroed = a.masked_fill(~finite, 0);
    const double largest = zeroed.abs().max().item<double>();
    const double difference = (zeroed - b.masked_fill(~finite, 0)).abs().max().item<double>();
    const double tolerance = std::max(toleranceOf(type), toleranceOf(coarsest_));
    const double allowed = tolerance * largest;
    if (measures_) {
      note(difference == 0 ? 0 : difference / largest, mostUlps(expected, got, finite), tolerance);
    }
    constexpr double kMost = 4;  // times what is allowed; beyond, only the nearer of the two is excused
    constexpr double kAsNear = 1.5, kNearer = 0.9;
    const bool is_gross = !(difference <= kMost * allowed);
    const bool is_excused =
        excuses_all_ ? !is_gross : isExcused(zeroed, b.masked_fill(~finite, 0), finite, is_gross ? kNearer : kAsNear);
    if (!(difference <= allowed) && !is_excused) {
      std::ostringstream text;
      text << "the largest difference is " << difference << ", allowed is " << allowed << " (largest value " << largest
           << ")";
      tell(where, text.str());
    }
  }

  bool isExcused(const at::Tensor& expected, const at::Tensor& got, const at::Tensor& finite, double times) const {
    if (!judge_.defined() || judge_.sizes() != expected.sizes() || !judge_.is_floating_point()) {
      return false;
    }
    return isAsNear(expected, got, judge_.to(at::kDouble).masked_fill(~finite, 0), times);  // false for NaN
  }

  void compareTensors(const at::Tensor& expected, const at::Tensor& got, const std::string& where) {
    if (expected.sizes() != got.sizes() || expected.scalar_type() != got.scalar_type()) {
      differ(where,
             c10::str("expected ", expected.scalar_type(), expected.sizes(), ", got ", got.scalar_type(), got.sizes()));
    } else if (!measures_ && expected.device() != got.device()) {
      differ(where, c10::str("expected a tensor on ", expected.device(), ", got one on ", got.device()));
    } else if (!expected.is_cpu() || !got.is_cpu()) {
      compareTensors(expected.to(at::kCPU), got.to(at::kCPU), where);
    } else if (expected.layout() != got.layout()) {
      differ(where, c10::str("expected a ", expected.layout(), " tensor, got a ", got.layout(), " one"));
    } else if (expected.layout() != at::kStrided) {
      compareTensors(expected.to_dense(), got.to_dense(), where);
    } else if (expected.numel() == 0) {
      return;
    } else if (expected.is_complex()) {
      compareTensors(at::view_as_real(expected.resolve_conj()), at::view_as_real(got.resolve_conj()), where);
    } else if (expected.is_floating_point()) {
      compareFloating(expected, got, expected.scalar_type(), where);
    } else if (!at::equal(expected, got)) {
      differ(where, "integer or boolean values differ");
    }
  }

  void compareSequences(c10::ArrayRef<IValue> expected, c10::ArrayRef<IValue> got, const std::string& where) {
    if (expected.size() != got.size()) {
      differ(where, "expected " + std::to_string(expected.size()) + " values, got " + std::to_string(got.size()));
      return;
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      compare(expected[i], got[i], where + "value " + std::to_string(i) + ": ");
    }
  }

  void compareDicts(const c10::Dict<IValue, IValue>& expected, const c10::Dict<IValue, IValue>& got,
                    const std::string& where) {
    if (expected.size() != got.size()) {
      differ(where, "expected " + std::to_string(expected.size()) + " entries, got " + std::to_string(got.size()));
      return;
    }
    for (const auto& entry : expected) {
      if (!got.contains(entry.key())) {
        differ(where, c10::str("the key ", entry.key(), " is missing"));
        return;
      }
      compare(entry.value(), got.at(entry.key()), where + c10::str("key ", entry.key(), ": "));
    }
  }

  bool measures_;
  at::ScalarType coarsest_;
  std::vector<at::Tensor> exact_;
  bool rounds_;
  bool excuses_all_ = false;
  size_t tensors_ = 0;  // compared so far
  at::Tensor judge_;    // of the tensor that is compared, or undefined
  Deviation worst_;
};

Deviation compared(const IValue& expected, const IValue& got, bool measures, at::ScalarType coarsest,
                   const IValue& exact = {}) {
  std::vector<at::Tensor> tensors;
  appendTensors(exact, tensors);
  Comparison comparison(measures, coarsest, std::move(tensors));
  comparison.compare(expected, got, "");
  return comparison.take();
}

// True if a block has casts that lowering puts around pinned nodes.
bool hasPrecisionCasts(at::ArrayRef<const torch::jit::Block*> blocks) {
  static const std::unordered_set<c10::Symbol> kinds = {
      c10::Symbol::fromQualString("aten::_autocast_to_full_precision"),
      c10::Symbol::fromQualString("aten::_autocast_to_reduced_precision")};
  return std::any_of(blocks.begin(), blocks.end(), [](const torch::jit::Block* block) {
    const auto nodes = block->nodes();
    return std::any_of(nodes.begin(), nodes.end(), [](const torch::jit::Node* node) {
      return kinds.count(node->kind()) != 0 || hasPrecisionCasts(node->blocks());
    });
  });
}

}  // namespace

Deviation deviation(const IValue& expected, const IValue& got, at::ScalarType coarsest) {
  return compared(expected, got, /*measures=*/true, coarsest);
}

Deviation deviation(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& got,
                    at::ArrayRef<torch::jit::Value*> outputs, at::ScalarType coarsest) {
  c10::List<at::Tensor> of_torch;
  c10::List<at::Tensor> of_engine;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!hasAnyElements(*outputs[i])) {
      of_torch.push_back(expected[i]);
      of_engine.push_back(got[i]);
    }
  }
  return deviation(of_torch, of_engine, coarsest);
}

std::optional<std::string> firstDifference(const IValue& expected, const IValue& got, at::ScalarType coarsest,
                                           const IValue& exact) {
  const std::string difference = compared(expected, got, /*measures=*/false, coarsest, exact).difference;
  return difference.empty() ? std::nullopt : std::optional(difference);
}

std::optional<std::string> grossDifference(const IValue& expected, const IValue& got, at::ScalarType coarsest) {
  Comparison comparison(/*measures=*/false, coarsest, {});
  comparison.excuseAll();
  comparison.compare(expected, got, "");
  const std::string difference = comparison.take().difference;
  return difference.empty() ? std::nullopt : std::optional(difference);
}

bool isRounded(const IValue& results, const IValue& exact, at::ScalarType coarsest) {
  Comparison comparison(/*measures=*/false, coarsest, {}, /*rounds=*/true);
  comparison.compare(results, exact, "");
  return comparison.take().difference.empty();
}

// A name that holds the text only makes the comparison coarser.
bool usesTf32(const Engine& engine) {
  return !engine.device().is_cpu() && engine.engine().inspect().find("tf32=true") != std::string::npos;
}

at::ScalarType coarsestOf(const torch::jit::Graph& graph) {
  return hasPrecisionCasts(graph.block()) ? at::kBFloat16 : at::kDouble;
}

at::ScalarType coarsestOf(const Engine& engine) {
  // Steps by their families: names, which may hold anything, are in quotes.
  const std::string steps = engine.engine().inspect();
  const auto has = [&](const char* family) { return steps.find(family) != std::string::npos; };
  const bool is_quantized = has(R"( quantized_convolution ")") || has(R"( quantized_matrix_multiply ")") ||
                            has(R"( integer_weight_matrix_multiply ")");
  return is_quantized ? at::kChar : coarsestOf(*engine.kept()->graph(), engine);
}

at::ScalarType coarsestOf(const torch::jit::Graph& graph, const Engine& engine) {
  return usesTf32(engine) ? kTf32 : coarsestOf(graph);
}

bool hasAnyElements(const torch::jit::Value& value) {
  static const std::unordered_set<c10::Symbol> kinds = {torch::jit::aten::empty, torch::jit::aten::empty_like,
                                                        torch::jit::aten::new_empty, torch::jit::aten::empty_strided,
                                                        torch::jit::aten::new_empty_strided};
  return kinds.count(value.node()->kind()) != 0;
}

Deviation deviationFromPyTorch(const Engine& engine, const std::vector<at::Tensor>& inputs,
                               const std::vector<at::Tensor>& got) {
  const std::vector<at::Tensor> expected = engine.kept()->run(inputs);
  const std::shared_ptr<torch::jit::Graph> graph = engine.kept()->graph();
  return deviation(expected, got, graph->outputs()[0]->node()->inputs(), coarsestOf(engine));
}

}  // namespace runtime
}  // namespace torchtrt
