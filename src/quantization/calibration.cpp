#include <algorithm>
#include <functional>
#include <numeric>

#include "base/hash.h"
#include "cpu/threads/parallel.h"
#include "optimization/environment.h"
#include "quantization/accuracy.h"
#include "quantization/candidates.h"
#include "quantization/range.h"
#include "quantization/rewrite.h"
#include "quantization/runs.h"
#include "torchtrt/plugin.h"

namespace torchtrt::quantization {

using network::Network;
using network::Tensor;

namespace {

std::unique_ptr<Network> optimized(const Network& network) {
  plugin::registerBuiltinPlugins();
  auto copy = network.clone();
  optimization::optimizeAsEnvironmentSays(*copy);
  return copy;
}

// The key leaves out the first line, which has the network's name and the ranges of its symbols.
std::string keyOf(const Network& network) {
  const std::string text = network::print(network);
  const size_t body = std::min(text.find('\n'), text.size());
  return hashText(std::string_view(text).substr(body));
}

}  // namespace

struct Calibration::Impl {
  Impl(const Network& given, Options chosen)
      : options(std::move(chosen)),
        network(optimized(given)),
        key(keyOf(*network)),
        candidates(findCandidates(*network, options)),
        wanted(wantedTensors(candidates)),
        histograms(wanted.size()) {}

  bool keepsSamples() const {
    return options.accuracy_target > 0;
  }
  // Loads collectors that share `wanted` among them.
  void loadCollectors(size_t count);
  // Makes as many collectors as needed, so that none makes more than max_batch_bytes.
  void makeCollectorsFor(std::span<const engine::TensorView> inputs);
  // The steps of what the layer multiplies; or why there are none.
  std::optional<Steps> stepsFor(const Tensor& tensor, const Ranges& ranges, std::string& reason) const;
  std::vector<int64_t> collectSteps(const Ranges& ranges, StepsOfTensors& steps,
                                    std::vector<LayerChoice>& choices) const;

  Options options;
  std::unique_ptr<Network> network;
  std::string key;
  std::vector<Candidate> candidates;
  std::vector<Tensor*> wanted;
  std::vector<Histogram> histograms;  // of `wanted`
  size_t batches = 0;
  std::vector<Sample> samples;
  // Each computes a part of `wanted`; before that the first, where samples are kept, the network's outputs and inputs,
  // which are copies then.
  struct Collector {
    std::shared_ptr<const engine::Engine> engine;
    size_t first;   // of `wanted`
    size_t others;  // outputs before that
  };
  std::vector<Collector> collectors;
};

void Calibration::Impl::loadCollectors(size_t count) {
  std::vector<Collector> loaded;  // what is there stays where one cannot be made
  for (size_t part = 0; part < count; ++part) {
    const bool keeps = keepsSamples() && part == 0;
    const auto copy = keeps ? comparable(*network) : network->clone();
    while (!keeps && copy->getNbOutputs() > 0) {
      copy->unmarkOutput(0);
    }
    for (int i = 0; keeps && i < copy->getNbInputs(); ++i) {
      copy->markOutput(*copy->getInput(i));
    }
    const auto others = static_cast<size_t>(copy->getNbOutputs());
    const size_t first = part * wanted.size() / count;
    for (size_t i = first; i < (part + 1) * wanted.size() / count; ++i) {
      copy->markOutput(*copy->tensorById(wanted[i]->id()));
    }
    loaded.push_back({loadEngine(*copy), first, others});
  }
  collectors = std::move(loaded);
}

void Calibration::Impl::makeCollectorsFor(std::span<const engine::TensorView> inputs) {
  if (collectors.empty()) {
    loadCollectors(1);
  }
  size_t most = 0;
  for (const Collector& collector : collectors) {
    size_t bytes = 0;
    for (const std::vector<int64_t>& dims : collector.engine->outputShapes(inputs)) {
      bytes += sizeof(float) *
               static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
    }
    most = std::max(most, bytes);
  }
  const size_t count = std::min(collectors.size() * (most / options.max_batch_bytes + 1), wanted.size());
  if (count > collectors.size()) {
    loadCollectors(count);
  }
}

std::optional<Steps> Calibration::Impl::stepsFor(const Tensor& tensor, const Ranges& ranges,
                                                 std::string& reason) const {
  const auto range = ranges.find(tensor.getName());
  if (range == ranges.end()) {
    reason = "no range is known of its input '" + tensor.getName() + "': no batch gave it a finite value but zero";
    return std::nullopt;
  }
  const std::optional<Steps> steps = stepsOf(range->second, options.symmetric);
  if (!steps) {
    reason = "the range of its input '" + tensor.getName() + "' is too small or too large for steps in float32";
  }
  return steps;
}

// The ids of the layers that can be quantized, in order of the network.
std::vector<int64_t> Calibration::Impl::collectSteps(const Ranges& ranges, StepsOfTensors& steps,
                                                     std::vector<LayerChoice>& choices) const {
  std::vector<int64_t> layers;
  for (const Candidate& candidate : candidates) {
    const network::Layer& layer = *candidate.layer;
    LayerChoice choice{layer.getName(), layer.info().name, layer.location(), false, candidate.reason, -1};
    if (choice.reason.empty()) {
      if (const auto input = stepsFor(*layer.getInput(0), ranges, choice.reason)) {
        steps[layer.getInput(0)->id()] = *input;
        layers.push_back(layer.id());
      }
    }
    choices.push_back(std::move(choice));
  }
  std::string unused;
  for (const Tensor* tensor : wanted) {  // residuals
    if (const auto residual = stepsFor(*tensor, ranges, unused)) {
      steps[tensor->id()] = *residual;
    }
  }
  return layers;
}

Calibration::Calibration(const Network& network, Options options)
    : impl_(std::make_unique<Impl>(network, std::move(options))) {}

Calibration::~Calibration() = default;

const std::string& Calibration::key() const {
  return impl_->key;
}

bool Calibration::hasCandidates() const {
  return !impl_->wanted.empty();
}

void Calibration::add(std::span<const engine::TensorView> inputs) {
  if (hasCandidates()) {
    Sample sample;
    impl_->makeCollectorsFor(inputs);
    std::vector<Histogram> histograms = impl_->histograms;  // to stay as they are if a collector throws
    for (const Impl::Collector& collector : impl_->collectors) {
      Tensors tensors = run(*collector.engine, inputs);
      const auto others = static_cast<int64_t>(collector.others);
      kernels::parallelFor(
          kernels::currentThreads(), others, static_cast<int64_t>(tensors.size()), 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const network::Weights& tensor = tensors[static_cast<size_t>(i)];
              histograms[collector.first + static_cast<size_t>(i - others)].add(tensor.as<float>(), tensor.count());
            }
          });
      if (others > 0) {
        const auto outputs = tensors.begin() + impl_->network->getNbOutputs();
        sample = {{outputs, tensors.begin() + others}, {tensors.begin(), outputs}};
      }
    }
    impl_->histograms = std::move(histograms);
    if (impl_->keepsSamples()) {
      impl_->samples.push_back(std::move(sample));
    }
  }
  ++impl_->batches;
}

size_t Calibration::batches() const {
  return impl_->batches;
}

Ranges Calibration::ranges() const {
  Ranges ranges;
  for (size_t i = 0; i < impl_->wanted.size(); ++i) {
    if (const auto range = rangeOf(impl_->histograms[i], impl_->options)) {
      ranges[impl_->wanted[i]->getName()] = *range;
    }
  }
  return ranges;
}

Quantized Calibration::quantize(const Ranges& ranges) const {
  Quantized result;
  StepsOfTensors steps;
  const std::vector<int64_t> layers = impl_->collectSteps(ranges, steps, result.layers);
  const auto make = [&](const std::set<int64_t>& chosen) {
    return withIntegerProducts(*impl_->network, chosen, steps);
  };
  Measured measured{{layers.begin(), layers.end()}, {}, -1};
  if (impl_->keepsSamples() && !layers.empty()) {
    if (impl_->samples.empty()) {
      throw CompileError(ErrorCode::kInvalidOption, "an accuracy target needs batches to measure layers with", {},
                         "give batches beside the cache of ranges, or no target");
    }
    measured = measureLayers(layers, impl_->samples, impl_->options.accuracy_target, make, impl_->options.progress);
  }
  std::vector<int64_t> ids;
  for (const Candidate& candidate : impl_->candidates) {
    ids.push_back(candidate.layer->id());
  }
  addMeasured(measured, ids, result);
  result.network = make(measured.layers);
  return result;
}

}  // namespace torchtrt::quantization
