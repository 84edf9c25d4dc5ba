#include "triton_config.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

namespace torchtrtc {
namespace {

std::string joined(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "[ " + text + " ]";
}

// "64 to 512", for a dim that varies.
std::string rangeOf(const TritonTensor& tensor, size_t dim) {
  if (tensor.min[dim] == tensor.max[dim]) {
    return std::to_string(tensor.min[dim]);
  }
  const bool has_end = tensor.max[dim] < std::numeric_limits<int32_t>::max();
  return std::to_string(tensor.min[dim]) + (has_end ? " to " + std::to_string(tensor.max[dim]) : " or more");
}

// Sizes without the batch. Triton wants one at least: "[ 1 ]" stands for none, and is reshaped.
std::vector<int64_t> withoutBatch(const std::vector<int64_t>& sizes, bool is_batched) {
  const std::vector<int64_t> rest(sizes.begin() + (is_batched ? 1 : 0), sizes.end());
  return rest.empty() ? std::vector<int64_t>{1} : rest;
}

std::string tensorText(const TritonTensor& tensor, bool is_batched) {
  std::ostringstream text;
  const std::vector<int64_t> dims = withoutBatch(tensor.dims, is_batched);
  text << "  {\n    name: \"" << tensor.name << "\"\n    data_type: " << tritonType(tensor.dtype) << "\n";
  std::string ranges;
  for (size_t i = is_batched ? 1 : 0; i < tensor.min.size(); ++i) {
    ranges += (ranges.empty() ? "" : ", ") + rangeOf(tensor, i);
  }
  const bool varies = std::find(dims.begin(), dims.end(), -1) != dims.end();
  text << "    dims: " << joined(dims) << (varies && !ranges.empty() ? "  # " + ranges : "") << "\n";
  if (is_batched && tensor.dims.size() == 1) {
    text << "    reshape { shape: [ ] }  # forward has the batch alone, requests one element each\n";
  }
  text << "  }";
  return text.str();
}

std::string tensorsText(const std::string& kind, const std::vector<TritonTensor>& tensors, bool is_batched) {
  std::string text;
  for (const TritonTensor& tensor : tensors) {
    text += (text.empty() ? "" : ",\n") + tensorText(tensor, is_batched);
  }
  return kind + " [\n" + text + "\n]\n";
}

// Batches that engines are tuned for; those of one request need no waiting.
std::vector<int64_t> preferredBatches(const TritonBatch& batch) {
  std::vector<int64_t> sizes;
  for (const int64_t size : std::set<int64_t>{batch.opt, batch.max}) {
    if (size > 1) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

std::string batchingText(const TritonModel& model, const TritonOptions& options) {
  if (!model.batch) {
    return "";
  }
  std::ostringstream text;
  const std::vector<int64_t> sizes = preferredBatches(*model.batch);
  text << "\n# Requests that wait together run as one batch. A request waits this long for others.\ndynamic_batching "
          "{\n";
  if (!sizes.empty()) {
    text << "  preferred_batch_size: " << joined(sizes) << "  # the optimum and the end of the range\n";
  }
  text << "  max_queue_delay_microseconds: " << options.queue_delay << "\n}\n";
  return text.str();
}

std::string instancesText(const TritonOptions& options) {
  std::ostringstream text;
  text << "\n# Each runs one batch at a time. They share the engine's weights.\ninstance_group [\n  {\n    count: "
       << options.instances << "\n    kind: " << (options.is_for_gpu ? "KIND_GPU" : "KIND_CPU") << "\n";
  if (!options.gpus.empty()) {
    text << "    gpus: " << joined({options.gpus.begin(), options.gpus.end()}) << "\n";
  }
  text << "  }\n]\n";
  return text.str();
}

std::string parameterText(const std::string& why, const std::string& key, const std::string& value) {
  return "\n" + why + "parameters {\n  key: \"" + key + "\"\n  value { string_value: \"" + value + "\" }\n}\n";
}

std::string parametersText(const TritonModel& model, const TritonOptions& options) {
  std::string text =
      parameterText("# Results of engines carry no gradients: PyTorch need not prepare for any.\n", "INFERENCE_MODE",
                    "true") +
      parameterText(
          "# libtorch's profiling executor would record the first calls, and compile parts again for new\n"
          "# shapes. Engines are compiled already.\n",
          "DISABLE_OPTIMIZED_EXECUTION", "true");
  if (model.is_whole) {
    text += parameterText("# Instances may call one module: all of it is in engines, which no call changes.\n",
                          "ENABLE_WEIGHT_SHARING", "true");
  }
  if (options.threads > 0) {
    text +=
        parameterText("# Threads of one call. The backend takes the first value that any model of the server gives.\n",
                      "INTRA_OP_THREAD_COUNT", std::to_string(options.threads));
  }
  return text;
}

// A call for each batch size that will be common, before the model counts as ready.
std::string warmupText(const TritonModel& model) {
  std::vector<int64_t> batches = {0};
  if (model.batch) {
    batches = preferredBatches(*model.batch);
    batches.insert(batches.begin(), 1);
  }
  std::ostringstream text;
  text
      << "\n# An engine plans each set of shapes when it meets it first: before the model is ready, not in a request.\n"
         "model_warmup [\n";
  for (size_t i = 0; i < batches.size(); ++i) {
    text << "  {\n    name: \"" << (batches[i] == 0 ? "optimum" : "batch of " + std::to_string(batches[i])) << "\"\n"
         << "    batch_size: " << batches[i] << "\n";
    for (const TritonTensor& input : model.inputs) {
      text << "    inputs {\n      key: \"" << input.name
           << "\"\n      value {\n        data_type: " << tritonType(input.dtype)
           << "\n        dims: " << joined(withoutBatch(input.opt, model.batch.has_value()))
           << "\n        zero_data: true\n      }\n    }\n";
    }
    text << (i + 1 < batches.size() ? "  },\n" : "  }\n");
  }
  text << "]\n";
  return text.str();
}

}  // namespace

std::string configText(const TritonModel& model, const TritonOptions& options) {
  std::ostringstream text;
  text << "# Written by torchtrtc triton. Triton has to load libtorchtrt_runtime.so first: see README.md.\n"
       << "name: \"" << options.name << "\"\nplatform: \"pytorch_libtorch\"\n";
  if (model.batch) {
    text << "# Requests and dims are without the batch, which is dim 0 of every tensor of forward.\nmax_batch_size: "
         << model.batch->max << "\n";
  } else {
    text << "# Requests run alone: " << model.unbatched << ".\nmax_batch_size: 0\n";
  }
  const bool is_batched = model.batch.has_value();
  text << "\n# Named as the arguments of forward.\n" << tensorsText("input", model.inputs, is_batched);
  text << "# Numbered as forward returns them.\n" << tensorsText("output", model.outputs, is_batched);
  text << batchingText(model, options) << instancesText(options) << parametersText(model, options) << warmupText(model);
  return text.str();
}

}  // namespace torchtrtc
