#include "runtime/recording/record.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string_view>

#include <torch/csrc/jit/serialization/pickle.h>

#include "base/json.h"
#include "runtime/execute.h"
#include "runtime/recording/environment.h"
#include "torchtrt/error.h"

namespace torchtrt::runtime::recording {

namespace {

// JSON has neither NaN nor infinity.
std::string jsonNumber(double value) {
  std::ostringstream out;
  out << std::setprecision(9) << value;
  return std::isfinite(value) ? out.str() : quoted(out.str());
}

// "2026-11-28T17:45:03Z"
std::string timeNow() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// Statistics of few elements are nearly their values.
constexpr int64_t kFewElements = 16;

// Of the elements that are numbers. Empty where there are none.
std::string statisticsOf(const at::Tensor& tensor) {
  const at::Tensor real = tensor.is_complex() ? at::view_as_real(tensor) : tensor;
  const at::Tensor values = real.to(at::kDouble);
  const at::Tensor is_nan = values.isnan();
  const at::Tensor numbers = values.masked_select(is_nan.logical_not());
  std::string text = ", \"nan\": " + std::to_string(is_nan.sum().item<int64_t>());
  if (numbers.numel() > 0) {
    text += ", \"min\": " + jsonNumber(numbers.min().item<double>()) +
            ", \"max\": " + jsonNumber(numbers.max().item<double>()) +
            ", \"mean\": " + jsonNumber(numbers.mean().item<double>());
  }
  return text;
}

std::string summaryOf(const at::Tensor& tensor, bool is_redacted) {
  std::ostringstream out;
  out << "{\"dtype\": " << quoted(c10::toString(tensor.scalar_type())) << ", \"shape\": [";
  for (int64_t axis = 0; axis < tensor.dim(); ++axis) {
    out << (axis == 0 ? "" : ", ") << tensor.size(axis);
  }
  out << "], \"device\": " << quoted(tensor.device().str());
  if (tensor.layout() == at::kStrided && tensor.numel() > 0 && (!is_redacted || tensor.numel() >= kFewElements)) {
    out << statisticsOf(tensor.detach().to(at::kCPU));
  }
  out << "}";
  return out.str();
}

std::string listOf(const std::vector<at::Tensor>& tensors, bool is_redacted) {
  std::string text;
  for (const at::Tensor& tensor : tensors) {
    text += (text.empty() ? "[\n    " : ",\n    ") + summaryOf(tensor, is_redacted);
  }
  return text.empty() ? "[]" : text + "\n  ]";
}

// A message may hold values of tensors; a code holds none.
std::string redacted(const std::string& error) {
  const size_t begin = error.find('[');
  const size_t end = error.find(']', begin);
  const bool has_code = begin != std::string::npos && end == begin + 5;
  return has_code ? error.substr(begin, end + 1 - begin) : "an error of libtorch";
}

// The size of a difference is nearly a value where there are few.
std::string redacted(const std::string& disagreement, const std::vector<at::Tensor>& outputs) {
  const bool tells = std::any_of(outputs.begin(), outputs.end(),
                                 [](const at::Tensor& tensor) { return tensor.numel() < kFewElements; });
  return tells && !disagreement.empty() ? "the outputs disagree with PyTorch's" : disagreement;
}

// Values of their own, on the CPU: a view of a large tensor does not bring all of that along.
c10::IValue copied(const std::vector<at::Tensor>& tensors) {
  std::vector<c10::IValue> values;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor plain = tensor.detach().resolve_conj().resolve_neg();
    values.emplace_back(plain.layout() == at::kStrided ? plain.to(at::kCPU).clone() : plain.to(at::kCPU));
  }
  return c10::ivalue::Tuple::create(std::move(values));
}

void write(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (!out) {
    throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\"");
  }
}

void write(const std::string& path, const c10::IValue& value) {
  const std::vector<char> bytes = torch::jit::pickle_save(value);
  write(path, std::string_view(bytes.data(), bytes.size()));
}

}  // namespace

std::string summaryOf(const Record& record, bool is_redacted) {
  const Engine& engine = *record.engine;
  std::ostringstream out;
  out << "{\n  \"record\": 1,\n  \"time\": " << quoted(timeNow()) << ",\n  \"engine\": " << quoted(engine.name())
      << ",\n  \"device\": " << quoted(engine.device().str()) << ",\n  \"call\": " << record.call
      << ",\n  \"milliseconds\": " << jsonNumber(record.milliseconds)
      << ",\n  \"error\": " << quoted(is_redacted && !record.error.empty() ? redacted(record.error) : record.error)
      << ",\n  \"disagreement\": "
      << quoted(is_redacted ? redacted(record.disagreement, record.outputs) : record.disagreement)
      << ",\n  \"is_redacted\": " << (is_redacted ? "true" : "false")
      << ",\n  \"inputs\": " << listOf(record.inputs, is_redacted)
      << ",\n  \"outputs\": " << listOf(record.outputs, is_redacted) << ",\n  \"environment\": " << toJson(facts())
      << "\n}\n";
  return out.str();
}

void writeModule(const c10::intrusive_ptr<Engine>& engine, const std::string& path) {
  torch::jit::Module module("RecordedCall", std::make_shared<torch::jit::CompilationUnit>());
  const c10::IValue value(engine);
  module.register_attribute("engine", value.type(), value);
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value* const self = graph->addInput("self");
  self->setType(module.type());
  std::vector<torch::jit::Value*> inputs;
  for (size_t i = 0; i < engine->engine().inputs().size(); ++i) {
    inputs.push_back(graph->addInput("input_" + std::to_string(i)));
  }
  torch::jit::Value* const held = graph->insertGetAttr(self, "engine");
  torch::jit::Value* const list = graph->insertNode(graph->createList(c10::TensorType::get(), inputs))->output();
  torch::jit::Node* const call =
      graph->insertNode(graph->create(c10::Symbol::fromQualString(kExecuteEngine), {list, held}));
  call->output()->setType(c10::ListType::ofTensors());
  torch::jit::Node* const unpack =
      graph->insertNode(graph->createListUnpack(call->output(), engine->engine().outputs().size()));
  graph->registerOutput(unpack->outputs().size() == 1
                            ? unpack->output()
                            : graph->insertNode(graph->createTuple(unpack->outputs()))->output());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, graph));
  module.save(path);
}

void writeCall(const Record& record, bool is_redacted, const std::string& folder) {
  const std::string before = folder + "/";
  write(before + kSummaryFile, std::string_view(summaryOf(record, is_redacted)));
  if (is_redacted) {
    return;
  }
  write(before + kInputsFile, copied(record.inputs));
  if (record.error.empty()) {
    write(before + kOutputsFile, copied(record.outputs));
  } else {
    write(before + kErrorFile, std::string_view(record.error + "\n"));
  }
}

}  // namespace torchtrt::runtime::recording
