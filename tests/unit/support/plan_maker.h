// Makes plans by hand, for tests of what reads them. No network, no builder: shapes are what the test says.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace torchtrt::testing {

class PlanMaker {
 public:
  using Registers = std::vector<plan::Register>;

  explicit PlanMaker(const std::string& name = "test") {
    plan_.name = name;
    plan_.producer = "torchtrt test";
  }

  plan::Register number(int64_t value) {
    return emit({plan::Op::kConstant, 0, 0, value});
  }
  plan::Register symbol(const std::string& name, int64_t min, int64_t opt, int64_t max) {
    plan_.symbols.push_back({name, min, opt, max});
    return emit({plan::Op::kSymbol, static_cast<uint32_t>(plan_.symbols.size() - 1), 0, 0});
  }
  plan::Register emit(const plan::Instruction& instruction) {
    for (size_t i = 0; i < plan_.program.size(); ++i) {
      if (plan_.program[i] == instruction) {
        return static_cast<plan::Register>(i);
      }
    }
    plan_.program.push_back(instruction);
    return static_cast<plan::Register>(plan_.program.size() - 1);
  }
  Registers dims(std::initializer_list<int64_t> values) {
    Registers registers;
    for (const int64_t value : values) {
      registers.push_back(number(value));
    }
    return registers;
  }

  int32_t tensor(const std::string& name, const Registers& dims, DType dtype = DType::kFloat32) {
    plan::Tensor entry;
    entry.name = name;
    entry.dtype = dtype;
    entry.dims = dims;
    plan_.tensors.push_back(std::move(entry));
    return static_cast<int32_t>(plan_.tensors.size() - 1);
  }
  int32_t input(const std::string& name, const Registers& dims, DType dtype = DType::kFloat32) {
    const int32_t index = tensor(name, dims, dtype);
    plan_.inputs.push_back({name, index});
    return index;
  }
  template <typename T>
  int32_t weight(const std::string& name, const std::vector<int64_t>& dims, const std::vector<T>& values, DType dtype) {
    plan::Weight weight;
    weight.dtype = dtype;
    weight.dims = dims;
    weight.bytes = values.size() * sizeof(T);
    const auto copy = std::make_shared<std::vector<T>>(values);
    weight.data = std::shared_ptr<const void>(copy, copy->data());
    weight.hash = plan::contentHash(values.data(), weight.bytes);
    plan_.weights.push_back(std::move(weight));
    Registers registers;
    for (const int64_t dim : dims) {
      registers.push_back(number(dim));
    }
    const int32_t index = tensor(name, registers, dtype);
    plan_.tensors[static_cast<size_t>(index)].weight = static_cast<int32_t>(plan_.weights.size() - 1);
    return index;
  }
  int32_t floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
    return weight(name, dims, values, DType::kFloat32);
  }
  int32_t view(const std::string& name, int32_t of, const Registers& dims) {
    const int32_t index = tensor(name, dims, plan_.tensors[static_cast<size_t>(of)].dtype);
    plan_.tensors[static_cast<size_t>(index)].view_of = of;
    return index;
  }
  // Adds a step with one output; attributes that have defaults may be left out.
  int32_t step(const std::string& family, const std::vector<int32_t>& inputs, const Registers& out_dims,
               std::initializer_list<std::pair<const char*, AttributeValue>> attributes = {},
               DType dtype = DType::kFloat32) {
    const int32_t output = tensor(family + std::to_string(plan_.steps.size()), out_dims, dtype);
    plan::Step entry;
    entry.family = family;
    entry.name = plan_.tensors[static_cast<size_t>(output)].name;
    for (const auto& [name, value] : attributes) {
      entry.attributes.set(name, value);
    }
    entry.inputs = inputs;
    entry.outputs = {output};
    plan_.steps.push_back(std::move(entry));
    return output;
  }
  plan::Step& lastStep() {
    return plan_.steps.back();
  }
  int32_t activation(const std::string& op, int32_t input) {
    return step("activation", {input}, plan_.tensors[static_cast<size_t>(input)].dims, {{"op", op}});
  }
  int32_t elementwise(const std::string& op, int32_t a, int32_t b) {
    return step("elementwise", {a, b}, plan_.tensors[static_cast<size_t>(a)].dims, {{"op", op}});
  }
  void output(const std::string& name, int32_t tensor) {
    plan_.outputs.push_back({name, tensor});
  }
  plan::Tensor& at(int32_t tensor) {
    return plan_.tensors[static_cast<size_t>(tensor)];
  }
  plan::Plan& plan() {
    return plan_;
  }

 private:
  plan::Plan plan_;
};

}  // namespace torchtrt::testing
