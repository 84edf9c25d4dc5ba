#include "support/plan_changes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace torchtrt::testing {
namespace {

constexpr int64_t kNumbers[] = {0,
                                1,
                                2,
                                3,
                                4,
                                5,
                                7,
                                8,
                                9,
                                16,
                                17,
                                31,
                                32,
                                33,
                                64,
                                100,
                                255,
                                256,
                                1024,
                                65535,
                                65536,
                                1 << 20,
                                1 << 24,
                                1 << 30,
                                INT32_MAX,
                                1LL << 31,
                                1LL << 32,
                                1LL << 40,
                                1LL << 62,
                                INT64_MAX,
                                -1,
                                -2,
                                -3,
                                -8,
                                -(1 << 20),
                                INT32_MIN,
                                INT64_MIN + 1,
                                INT64_MIN};
constexpr double kDoubles[] = {0, -0.0, 1, -1, 0.5, 2, 1e-30, 1e30, 1e300, -1e300, INFINITY, -INFINITY, NAN};
constexpr const char* kWords[] = {"",     "relu",    "max",     "average", "sum",      "prod",  "linear",    "cubic",
                                  "none", "element", "default", "reflect", "circular", "batch", "replicate", "arange"};

class Changes {
 public:
  Changes(plan::Plan plan, uint64_t seed) : plan_(std::move(plan)), random_(seed) {}

  plan::Plan make() {
    const uint64_t times = 1 + below(3);
    if (below(3) == 0) {
      reorderAll();
    }
    for (uint64_t i = 0; i < times; ++i) {
      once();
    }
    return std::move(plan_);
  }

 private:
  using Ints = std::vector<int64_t>;

  uint64_t below(uint64_t count) {
    return count == 0 ? 0 : random_() % count;
  }
  template <typename T>
  T& anyOf(std::vector<T>& list) {
    return list[below(list.size())];
  }
  // Mostly what a plan could have.
  int64_t number() {
    return below(2) == 0 ? static_cast<int64_t>(below(10)) : kNumbers[below(std::size(kNumbers))];
  }
  int64_t changed(int64_t value) {
    // Beyond the largest number is the smallest.
    return below(2) == 0 ? static_cast<int64_t>(static_cast<uint64_t>(value) + below(2) * 2 - 1) : number();
  }

  void once() {
    switch (below(12)) {
      case 0:
        reorderOne();
        break;
      case 1:
        changeDim();
        break;
      case 2:
        changeInstruction();
        break;
      case 3:
        changeTensor();
        break;
      case 4:
        changeOperand();
        break;
      case 5:
        changeDims(anyOf(plan_.steps));
        break;
      case 6:
        changeSteps();
        break;
      case 7:
        changeSymbol();
        break;
      case 8:
        changeWindow();
        break;
      default:
        changeAttribute(anyOf(plan_.steps));
    }
  }

  bool hasOrder(const plan::Tensor& tensor) const {
    const auto is_input = [&](const plan::Binding& input) {
      return &tensor == &plan_.tensors[static_cast<size_t>(input.tensor)];
    };
    return tensor.weight < 0 && !tensor.dims.empty() &&
           std::none_of(plan_.inputs.begin(), plan_.inputs.end(), is_input);
  }

  std::vector<uint8_t> orderOf(size_t rank, bool channels_last) {
    std::vector<uint8_t> order(rank);
    std::iota(order.begin(), order.end(), uint8_t{0});
    if (channels_last && rank > 2) {
      std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    } else {
      std::shuffle(order.begin(), order.end(), random_);
    }
    return order;
  }

  void reorderAll() {
    const bool channels_last = below(4) != 0;
    for (plan::Tensor& tensor : plan_.tensors) {
      if (hasOrder(tensor) && below(8) != 0) {
        tensor.order = orderOf(tensor.dims.size(), channels_last);
      }
    }
  }

  void reorderOne() {
    plan::Tensor& tensor = anyOf(plan_.tensors);
    if (hasOrder(tensor)) {
      tensor.order = below(4) == 0 ? std::vector<uint8_t>() : orderOf(tensor.dims.size(), below(2) == 0);
    }
  }

  plan::Register registerOf(int64_t value) {
    plan_.program.push_back({plan::Op::kConstant, 0, 0, value});
    return static_cast<plan::Register>(plan_.program.size() - 1);
  }

  plan::Register anyRegister() {
    return below(3) == 0 ? registerOf(number()) : static_cast<plan::Register>(below(plan_.program.size()));
  }

  void changeRegisters(std::vector<plan::Register>& registers) {
    const size_t at = below(registers.size() + 1);
    if (at < registers.size() && below(4) != 0) {
      registers[at] = anyRegister();
    } else if (at < registers.size() && below(2) == 0) {
      registers.erase(registers.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      registers.insert(registers.begin() + static_cast<std::ptrdiff_t>(at), anyRegister());
    }
  }

  void changeDim() {
    changeRegisters(anyOf(plan_.tensors).dims);
  }

  void changeDims(plan::Step& step) {
    if (!step.dims.empty()) {
      changeRegisters(anyOf(step.dims).second);
    }
  }

  // Sizes that stand for each other change alike, so that the plan goes on fitting.
  void changeInstruction() {
    plan::Instruction& instruction = anyOf(plan_.program);
    if (instruction.op == plan::Op::kConstant) {
      instruction.immediate = changed(instruction.immediate);
    } else if (below(2) == 0) {
      instruction.op = static_cast<plan::Op>(below(8));
    } else {
      (below(2) == 0 ? instruction.a : instruction.b) = static_cast<uint32_t>(below(plan_.program.size()));
    }
  }

  void changeTensor() {
    plan::Tensor& tensor = anyOf(plan_.tensors);
    switch (below(4)) {
      case 0:
        tensor.dtype = static_cast<DType>(below(9));
        break;
      case 1:
        tensor.view_of = static_cast<int32_t>(below(plan_.tensors.size())) - 1;
        break;
      case 2:
        tensor.weight = static_cast<int32_t>(below(plan_.weights.size() + 1)) - 1;
        break;
      default:
        tensor.dims = anyOf(plan_.tensors).dims;
    }
  }

  int32_t anyTensor() {
    return static_cast<int32_t>(below(plan_.tensors.size() + 1)) - 1;
  }

  void changeOperand() {
    std::vector<int32_t>& operands = below(4) == 0 ? anyOf(plan_.steps).outputs : anyOf(plan_.steps).inputs;
    const size_t at = below(operands.size() + 1);
    if (at == operands.size()) {
      operands.push_back(anyTensor());
    } else if (below(6) == 0) {
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      operands[at] = anyTensor();
    }
  }

  void changeSteps() {
    const auto at = static_cast<std::ptrdiff_t>(below(plan_.steps.size()));
    switch (below(3)) {
      case 0:
        std::swap(plan_.steps[static_cast<size_t>(at)], anyOf(plan_.steps));
        break;
      case 1:
        plan_.outputs.push_back({"more", std::max(anyTensor(), 0)});
        break;
      default:
        plan_.steps[static_cast<size_t>(at)].hint = below(2) == 0 ? "packed_gemm" : "onednn";
        plan_.steps[static_cast<size_t>(at)].family = anyOf(plan_.steps).family;
    }
  }

  void changeSymbol() {
    if (!plan_.symbols.empty()) {
      Symbol& symbol = anyOf(plan_.symbols);
      int64_t& end = below(2) == 0 ? symbol.min : below(2) == 0 ? symbol.max : symbol.opt;
      end = changed(end);
    }
  }

  // One entry of each list along the window, so that their lengths go on fitting.
  void changeWindow() {
    plan::Step& step = anyOf(plan_.steps);
    for (const char* name : {"window", "stride", "pre_padding", "post_padding", "dilation", "output_padding"}) {
      const AttributeValue* value = step.attributes.find(name);
      if (value == nullptr || !std::holds_alternative<Ints>(*value)) {
        continue;
      }
      Ints ints = std::get<Ints>(*value);
      if (below(3) == 0 && !ints.empty()) {
        anyOf(ints) = changed(anyOf(ints));
      }
      step.attributes.set(name, ints);
    }
  }

  void changeAttribute(plan::Step& step) {
    const auto& values = step.attributes.values();
    if (values.empty()) {
      changeDims(step);
      return;
    }
    auto chosen = values.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(below(values.size())));
    const std::string name = chosen->first;
    AttributeValue value = chosen->second;
    if (below(24) == 0) {
      step.attributes.erase(name);
      return;
    }
    std::visit([&](auto& held) { change(held); }, value);
    step.attributes.set(name, below(24) == 0 ? AttributeValue(number()) : value);
  }

  void change(bool& value) {
    value = !value;
  }
  void change(int64_t& value) {
    value = changed(value);
  }
  void change(double& value) {
    value = kDoubles[below(std::size(kDoubles))];
  }
  void change(std::string& value) {
    value = kWords[below(std::size(kWords))];
  }
  void change(DType& value) {
    value = static_cast<DType>(below(9));
  }
  void change(Ints& value) {
    const size_t at = below(value.size() + 1);
    if (at < value.size() && below(4) != 0) {
      value[at] = changed(value[at]);
    } else if (at < value.size()) {
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      value.push_back(number());
    }
  }
  void change(std::vector<double>& value) {
    if (value.empty() || below(4) == 0) {
      value.push_back(kDoubles[below(std::size(kDoubles))]);
    } else {
      anyOf(value) = kDoubles[below(std::size(kDoubles))];
    }
  }
  void change(Dims&) {}  // of plans, registers say them

  plan::Plan plan_;
  std::mt19937_64 random_;
};

}  // namespace

plan::Plan changedPlan(plan::Plan plan, uint64_t seed) {
  return Changes(std::move(plan), seed).make();
}

}  // namespace torchtrt::testing
