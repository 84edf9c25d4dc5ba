#include "optimization/evaluate_layer.h"

#include "base/check.h"
#include "kernels/kernel.h"

namespace torchtrt::optimization {

using network::Layer;
using network::Tensor;
using network::Weights;

namespace {

using SymbolValues = std::function<int64_t(const std::string&)>;

std::vector<int64_t> evaluateDims(const Dims& dims, const SymbolValues& value_of_symbol) {
  std::vector<int64_t> values;
  for (const Dim& dim : dims) {
    values.push_back(dim.evaluate(value_of_symbol));
  }
  return values;
}

kernels::TensorDesc describe(DType dtype, const std::vector<int64_t>& dims) {
  return {dtype, dims, kernels::denseStrides(dims)};
}

kernels::Operand operandOf(const kernels::TensorDesc& desc) {
  kernels::Operand operand;
  operand.present = true;
  operand.dtype = desc.dtype;
  operand.dims = operand.opt_dims = desc.dims;
  return operand;
}

}  // namespace

std::vector<Weights> evaluateLayer(const Layer& layer, const std::vector<const Weights*>& inputs,
                                   const SymbolValues& value_of_symbol) {
  kernels::Problem problem;
  kernels::ShapeSet shapes;
  Attributes plain;
  for (const auto& [name, value] : layer.attributes().values()) {
    if (const Dims* dims = std::get_if<Dims>(&value)) {
      shapes.dims.emplace_back(name, evaluateDims(*dims, value_of_symbol));
    } else {
      plain.set(name, value);
    }
  }
  std::vector<const void*> input_data;
  for (const Weights* input : inputs) {
    shapes.inputs.push_back(input ? describe(input->dtype, input->dims) : kernels::TensorDesc());
    problem.inputs.push_back(input ? operandOf(shapes.inputs.back()) : kernels::Operand());
    problem.inputs.back().constant =
        input && layer.getInput(static_cast<int>(input_data.size()))->constant() ? input->data.get() : nullptr;
    input_data.push_back(input ? input->data.get() : nullptr);
  }
  std::vector<Weights> results;
  std::vector<void*> output_data;
  for (int i = 0; i < layer.getNbOutputs(); ++i) {
    const Tensor& output = *layer.getOutput(i);
    void* memory = nullptr;
    results.push_back(
        Weights::allocate(output.getType(), evaluateDims(output.getDimensions(), value_of_symbol), &memory));
    output_data.push_back(memory);
    shapes.outputs.push_back(describe(results.back().dtype, results.back().dims));
    problem.outputs.push_back(operandOf(shapes.outputs.back()));
  }
  problem.family = layer.info().name;
  problem.attributes = &plain;
  const kernels::Chosen chosen = kernels::createKernel(problem, "reference");
  TORCHTRT_CHECK(chosen.kernel, "layer '" << layer.getName() << "' has no reference kernel");
  const auto prepared = chosen.kernel->prepare(shapes);
  void* scratch = nullptr;
  const Weights held = Weights::allocate(DType::kUInt8, {static_cast<int64_t>(prepared->scratchBytes())}, &scratch);
  prepared->run({input_data.data(), output_data.data(), scratch, 1});
  return results;
}

}  // namespace torchtrt::optimization
