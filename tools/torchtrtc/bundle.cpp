#include "bundle.h"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include "compiler/checking/validation.h"
#include "files.h"
#include "saved_values.h"
#include "torchtrt/error.h"

namespace torchtrtc {

namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;
using torch::jit::IValue;

constexpr const char* kRecord = "extra/torchtrt_numbers.pt";  // (inputs, outputs) as torch.save writes them

// torch.jit.save compresses code alone.
bool isCode(std::string_view record) {
  return record.ends_with(".py") || record.ends_with(".debug_pkl");
}

}  // namespace

std::optional<Bundle> bundleIn(const std::string& file) {
  PyTorchStreamReader reader(file);
  if (!reader.hasRecord(kRecord)) {
    return std::nullopt;
  }
  try {
    const auto [data, size] = reader.getRecord(kRecord);
    const auto* const bytes = static_cast<const char*>(data.get());
    const IValue saved = torch::jit::pickle_load({bytes, bytes + size});
    const auto& parts = saved.toTupleRef().elements();
    TORCH_CHECK(parts.size() == 2);
    return Bundle{elementsOf(parts[0].toTuple()), parts[1]};
  } catch (const std::exception&) {
    throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidModule,
                                 "\"" + file + "\" has damaged inputs and expected outputs", {},
                                 "copy it again, or put them in again with torchtrtc bundle");
  }
}

void writeBundled(const std::string& file, const Bundle& bundle, const std::string& to) {
  const std::vector<char> numbers =
      torch::jit::pickle_save(c10::ivalue::Tuple::create(c10::ivalue::Tuple::create(bundle.inputs), bundle.outputs));
  replaceFile(to, [&](const torchtrt::FileSink& sink) {
    PyTorchStreamReader reader(file);
    PyTorchStreamWriter writer(sink);
    for (const std::string& name : reader.getAllRecords()) {
      if (name != kRecord && name != caffe2::serialize::kSerializationIdRecordName) {
        const auto [data, size] = reader.getRecord(name);
        writer.writeRecord(name, data.get(), size, isCode(name));
      }
    }
    writer.writeRecord(kRecord, numbers.data(), numbers.size());
    writer.writeEndOfFile();
  });
}

void checkNumbers(const std::string& file, torch::jit::Module module, const Bundle& bundle, const at::Device& device) {
  module.eval();
  const c10::InferenceMode inference;
  std::vector<IValue> inputs;
  for (const IValue& input : bundle.inputs) {
    inputs.push_back(input.deepcopy(device));
  }
  const IValue outputs = module.forward(inputs);
  const torchtrt::Deviation deviation =
      torchtrt::compiler::deviation(bundle.outputs.deepcopy(device), outputs, torchtrt::compiler::coarsestOf(module));
  std::ostringstream text;
  text << std::setprecision(3) << "relative error " << deviation.relative << ", allowed " << deviation.allowed
       << "; ulps " << deviation.ulps;
  std::cout << file << ": its outputs " << (deviation.difference.empty() ? "are" : "are not")
            << " as expected: " << text.str() << "\n";
  if (!deviation.difference.empty()) {
    throw std::runtime_error("\"" + file + "\" gives other outputs than it holds: " + deviation.difference);
  }
}

}  // namespace torchtrtc
