#include "calibration_data.h"

#include <vector>

#include <torch/csrc/jit/serialization/pickle.h>

#include "file_kind.h"
#include "files.h"
#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torch::jit::IValue;
using torchtrt::CompileError;
using torchtrt::ErrorCode;
using torchtrt::ptq::Calibrator;

[[noreturn]] void reject(const std::string& file, const std::string& why) {
  throw CompileError(ErrorCode::kInvalidOption, "--calibration-data " + file + " " + why, {},
                     "write it with torch.save([batch, ...], file), a batch being a tensor or a tuple of tensors");
}

bool isSequence(const IValue& value) {
  return value.isList() || value.isTuple();
}

std::vector<IValue> elementsOf(const IValue& value) {
  return value.isTuple() ? value.toTupleRef().elements().vec() : value.toList().vec();
}

IValue contentOf(const std::string& file) {
  if (const FileKind kind = kindOf(file); kind != FileKind::kCheckpoint) {
    reject(file, "is " + described(kind) + ", expected a list of batches");
  }
  const std::string bytes = readFile(file);
  try {
    return torch::jit::pickle_load({bytes.begin(), bytes.end()});
  } catch (const std::exception&) {  // libtorch says of a dictionary with a class of its own that it is a bug
    reject(file, "holds something else than tensors, lists and tuples");
  }
}

std::vector<Calibrator::Arguments> batchesOf(const std::string& file) {
  const IValue content = contentOf(file);
  if (!isSequence(content)) {
    reject(file, "holds a " + content.tagKind() + ", expected a list of batches");
  }
  std::vector<Calibrator::Arguments> batches;
  for (const IValue& batch : elementsOf(content)) {
    if (!batch.isTensor() && !isSequence(batch)) {
      reject(file, "holds a batch that is a " + batch.tagKind());
    }
    batches.push_back(batch.isTensor() ? Calibrator::Arguments{batch} : elementsOf(batch));
  }
  return batches;
}

}  // namespace

std::shared_ptr<Calibrator> calibrator(const std::string& data, const std::string& cache) {
  if (data.empty()) {
    return cache.empty() ? nullptr : torchtrt::ptq::make_int8_cache_calibrator(cache);
  }
  return torchtrt::ptq::make_int8_calibrator(batchesOf(data), cache);
}

}  // namespace torchtrtc
