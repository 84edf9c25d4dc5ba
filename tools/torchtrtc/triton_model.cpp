#include "triton_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "forward_inputs.h"
#include "input_spec.h"
#include "random_inputs.h"
#include "runtime/dtypes.h"
#include "runtime/execute.h"
#include "runtime/weight_set.h"
#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;
using torchtrt::CompileError;
using torchtrt::ErrorCode;
using torchtrt::engine::BindingInfo;

[[noreturn]] void rejectModule(const std::string& message, const std::string& advice) {
  throw CompileError(ErrorCode::kInvalidModule, message, {}, advice);
}

at::ScalarType checked(at::ScalarType dtype, const std::string& name) {
  if (tritonType(dtype) == nullptr) {
    rejectModule("\"" + name + "\" is " + c10::toString(dtype) + ", which Triton's PyTorch backend does not pass on",
                 "compile a module that casts it, from or to float32 say");
  }
  return dtype;
}

bool isEngineCall(const Node& node) {
  return node.kind() == c10::Symbol::fromQualString(torchtrt::runtime::kExecuteEngine);
}

// Narrows `input` to what one more engine takes.
void narrow(TritonTensor& input, const BindingInfo& binding) {
  if (input.dims.empty()) {
    input.dtype = checked(torchtrt::runtime::scalarTypeOf(binding.dtype), input.name);
    input.min = binding.min;
    input.opt = binding.opt;
    input.max = binding.max;
    input.dims.assign(binding.dims.size(), -1);
  }
  for (size_t i = 0; i < input.dims.size() && i < binding.dims.size(); ++i) {
    input.min[i] = std::max(input.min[i], binding.min[i]);
    input.max[i] = std::min(input.max[i], binding.max[i]);
    input.opt[i] = std::clamp(input.opt[i], input.min[i], std::max(input.min[i], input.max[i]));
    input.dims[i] = input.min[i] == input.max[i] ? input.min[i] : -1;
  }
}

// Reads the ranges of the engines that read this argument; false if none reads it.
bool readRanges(const torch::jit::Module& module, const Value& argument, TritonTensor& input) {
  bool is_read = false;
  for (const auto& use : argument.uses()) {
    if (use.user->kind() != c10::prim::ListConstruct) {
      continue;
    }
    for (const auto& call : use.user->output()->uses()) {
      const auto engine =
          isEngineCall(*call.user) ? torchtrt::runtime::engineOf(module, *call.user->input(1)) : nullptr;
      if (engine) {
        narrow(input, engine->engine().inputs().at(use.offset));
        is_read = true;
      }
    }
  }
  return is_read;
}

void readSpecification(const std::string& text, TritonTensor& input) {
  const torch_tensorrt::Input spec = parseInputSpec(text);
  input.dtype = checked(randomInputs({spec}).front().toTensor().scalar_type(), input.name);
  input.min = spec.min_shape;
  input.opt = spec.opt_shape;
  input.max = spec.max_shape;
  input.dims.clear();
  for (size_t i = 0; i < input.opt.size(); ++i) {
    input.dims.push_back(input.min[i] == input.max[i] ? input.min[i] : -1);
  }
}

std::string exampleOf(const TritonQuestion& question, size_t count) {
  std::string example = question.command;
  for (size_t i = 0; i < count; ++i) {
    example += " --shape \"[(1,3,224,224);(4,3,224,224);(8,3,224,224)]@f32\"";
  }
  return example;
}

std::vector<TritonTensor> inputsOf(const torch::jit::Module& module, const TritonQuestion& question) {
  const std::vector<c10::Argument> parameters = parametersOf(module);
  if (parameters.empty()) {
    rejectModule("forward() takes nothing, and a request of Triton brings one tensor at least",
                 "compile a module whose forward takes tensors");
  }
  if (!question.shapes.empty() && question.shapes.size() != parameters.size()) {
    throw CompileError(ErrorCode::kInvalidInputSpec,
                       declaration(parameters) + " takes " + std::to_string(parameters.size()) + ", got " +
                           std::to_string(question.shapes.size()) + " --shape",
                       {}, "give one for each argument: " + exampleOf(question, parameters.size()));
  }
  const auto graph = module.get_method("forward").graph();
  std::vector<TritonTensor> inputs;
  for (size_t i = 0; i < parameters.size(); ++i) {
    TritonTensor input;
    input.name = parameters[i].name();
    if (parameters[i].type()->kind() != c10::TypeKind::TensorType) {
      rejectModule("\"" + input.name + "\" of " + declaration(parameters) + " is " +
                       parameters[i].type()->annotation_str() + ", and a request of Triton brings tensors alone",
                   "compile a module whose forward takes tensors alone and makes the rest of them, or calls this one");
    }
    if (!question.shapes.empty()) {
      readSpecification(question.shapes[i], input);
    } else if (!readRanges(module, *graph->inputs()[i + 1], input)) {
      throw CompileError(ErrorCode::kInvalidInputSpec,
                         "no engine takes \"" + input.name + "\" of " + declaration(parameters) +
                             " as it comes, so nothing says its shapes and dtype",
                         {}, "give one for each argument: " + exampleOf(question, parameters.size()));
    }
    if (input.dims.empty()) {
      rejectModule("\"" + input.name + "\" has no dimensions, and Triton's tensors have one at least",
                   "compile a module that takes one element: x.reshape(()) makes a number of it");
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// Results on zeros of the inputs' optimum sizes, with another batch where one is given.
std::vector<at::Tensor> callOnZeros(torch::jit::Module& module, const std::vector<TritonTensor>& inputs,
                                    std::optional<int64_t> batch) {
  const c10::InferenceMode inference;
  std::vector<IValue> zeros;
  for (const TritonTensor& input : inputs) {
    std::vector<int64_t> sizes = input.opt;
    sizes[0] = batch.value_or(sizes[0]);
    zeros.emplace_back(at::zeros(sizes, input.dtype));
  }
  const IValue result = module.forward(zeros);
  const std::vector<IValue> results = result.isTuple() ? result.toTupleRef().elements().vec() : std::vector{result};
  std::vector<at::Tensor> tensors;
  for (const IValue& each : results) {
    if (!each.isTensor()) {
      rejectModule("forward gives " + result.type()->annotation_str() +
                       ", and Triton's PyTorch backend passes on a tensor or a tuple of tensors",
                   "compile a module that returns its results as a tuple: return x, y");
    }
    tensors.push_back(each.toTensor());
  }
  return tensors;
}

// The values that forward returns, in place of their tuple.
std::vector<const Value*> resultsOf(const torch::jit::Module& module) {
  const auto graph = module.get_method("forward").graph();
  const Value* result = graph->outputs().front();
  if (result->node()->kind() != c10::prim::TupleConstruct) {
    return {result};
  }
  return {result->node()->inputs().begin(), result->node()->inputs().end()};
}

// Sizes that an engine gives in any call; empty for results that PyTorch makes, of which one call says too little.
std::vector<int64_t> lastingDims(const torch::jit::Module& module, const Value& result) {
  const Node* unpack = result.node();
  if (unpack->kind() != c10::prim::ListUnpack || !isEngineCall(*unpack->input()->node())) {
    return {};
  }
  const auto engine = torchtrt::runtime::engineOf(module, *unpack->input()->node()->input(1));
  if (!engine) {
    return {};
  }
  std::vector<int64_t> dims;
  for (const std::string& dim : engine->engine().outputs().at(result.offset()).dims) {
    const bool is_number = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
    dims.push_back(is_number ? std::stoll(dim) : -1);
  }
  return dims;
}

std::vector<TritonTensor> outputsOf(const torch::jit::Module& module, const std::vector<at::Tensor>& results) {
  const std::vector<const Value*> values = resultsOf(module);
  std::vector<TritonTensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    TritonTensor output;
    output.name = "OUTPUT__" + std::to_string(i);
    output.dtype = checked(results[i].scalar_type(), output.name);
    const auto rank = static_cast<size_t>(results[i].dim());
    if (rank == 0) {
      rejectModule(
          "result " + std::to_string(i) + " of forward has no dimensions, and Triton's tensors have one at least",
          "compile a module that returns x.reshape(1)");
    }
    output.dims = values.size() == results.size() ? lastingDims(module, *values[i]) : std::vector<int64_t>();
    if (output.dims.size() != rank) {
      output.dims.assign(rank, -1);
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Why requests cannot run together by what the inputs are; empty if they can.
std::string obstacleIn(const std::vector<TritonTensor>& inputs, const TritonQuestion& question) {
  if (question.largest == 0) {
    return "--max-batch-size=0 says so";
  }
  for (const TritonTensor& input : inputs) {
    const std::string dim = "dim 0 of \"" + input.name + "\"";
    if (input.dims[0] != -1) {
      return dim + " is fixed at " + std::to_string(input.dims[0]);
    }
    if (input.min[0] > 1) {
      return dim + " starts at " + std::to_string(input.min[0]) + ", and a request may come alone";
    }
  }
  return "";
}

// The same by what two batches gave.
std::string obstacleIn(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& many, int64_t batch) {
  for (size_t i = 0; i < one.size() && i < many.size(); ++i) {
    const std::string name = "OUTPUT__" + std::to_string(i);
    if (one[i].size(0) != 1 || many[i].size(0) != batch) {
      return "dim 0 of \"" + name + "\" is " + std::to_string(many[i].size(0)) + " for " + std::to_string(batch) +
             " requests, and " + std::to_string(one[i].size(0)) + " for one";
    }
    if (one[i].sizes().slice(1) != many[i].sizes().slice(1)) {
      return "the sizes of \"" + name + "\" follow the number of requests";
    }
  }
  return "";
}

TritonBatch batchOf(const std::vector<TritonTensor>& inputs, const TritonQuestion& question) {
  constexpr int64_t kNoEnd = std::numeric_limits<int32_t>::max();
  TritonBatch batch{kNoEnd, question.largest.value_or(kNoEnd)};
  for (const TritonTensor& input : inputs) {
    batch.max = std::min(batch.max, input.max[0]);
    batch.opt = std::min(batch.opt, input.opt[0]);
  }
  if (batch.max == kNoEnd) {
    throw CompileError(ErrorCode::kInvalidOption, "the batch of \"" + inputs.front().name + "\" has no largest size",
                       {}, "give --max-batch-size=NUMBER, the most requests that run together");
  }
  batch.opt = std::clamp<int64_t>(batch.opt, 1, batch.max);
  return batch;
}

// True if forward does nothing but hand tensors to engines and back.
bool isWhole(const torch::jit::Module& module) {
  const auto nodes = module.get_method("forward").graph()->nodes();
  static const std::set<c10::Symbol> kPlumbing = {c10::prim::GetAttr,     c10::prim::ListConstruct,
                                                  c10::prim::ListUnpack,  c10::prim::TupleConstruct,
                                                  c10::prim::TupleUnpack, c10::prim::Constant};
  return std::all_of(nodes.begin(), nodes.end(), [](const Node* node) {
    return isEngineCall(*node) || torchtrt::runtime::takesWeights(*node) || kPlumbing.count(node->kind()) != 0;
  });
}

}  // namespace

// The backend has no bfloat16.
const char* tritonType(at::ScalarType dtype) {
  static const std::map<at::ScalarType, const char*> kTypes = {
      {at::kFloat, "TYPE_FP32"}, {at::kDouble, "TYPE_FP64"}, {at::kHalf, "TYPE_FP16"},
      {at::kChar, "TYPE_INT8"},  {at::kShort, "TYPE_INT16"}, {at::kInt, "TYPE_INT32"},
      {at::kLong, "TYPE_INT64"}, {at::kByte, "TYPE_UINT8"},  {at::kBool, "TYPE_BOOL"}};
  const auto found = kTypes.find(dtype);
  return found == kTypes.end() ? nullptr : found->second;
}

TritonModel describeForTriton(const torch::jit::Module& module, const TritonQuestion& question) {
  TritonModel model;
  model.inputs = inputsOf(module, question);
  model.unbatched = obstacleIn(model.inputs, question);
  torch::jit::Module called = module;
  if (model.unbatched.empty()) {
    const TritonBatch batch = batchOf(model.inputs, question);
    const int64_t many = std::min(batch.max, std::max<int64_t>(batch.opt, 2));
    const auto results = callOnZeros(called, model.inputs, many);
    model.outputs = outputsOf(module, results);
    model.unbatched = obstacleIn(callOnZeros(called, model.inputs, 1), results, many);
    model.batch = model.unbatched.empty() ? std::optional(batch) : std::nullopt;
  } else {
    model.outputs = outputsOf(module, callOnZeros(called, model.inputs, std::nullopt));
  }
  model.is_whole = !torchtrt::runtime::enginesIn(module).empty() && isWhole(module);
  return model;
}

}  // namespace torchtrtc
