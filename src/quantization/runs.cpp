#include "quantization/runs.h"

#include "builder/builder.h"
#include "kernels/kernel.h"
#include "plan/plan.h"

namespace torchtrt::quantization {

namespace {

class Outputs : public engine::OutputAllocator {
 public:
  explicit Outputs(size_t count) : tensors_(count) {}

  void* allocate(int index, DType dtype, std::span<const int64_t> dims) override {
    void* memory = nullptr;
    tensors_[static_cast<size_t>(index)] =
        network::Weights::allocate(dtype, std::vector<int64_t>(dims.begin(), dims.end()), &memory);
    return memory;
  }
  Tensors take() {
    return std::move(tensors_);
  }

 private:
  Tensors tensors_;
};

}  // namespace

std::shared_ptr<const engine::Engine> loadEngine(const network::Network& network) {
  const plan::Plan plan = builder::optimizeAndBuild(network);
  const auto bytes = std::make_shared<const std::string>(plan::serializeWithoutWeights(plan));
  std::vector<engine::ExternalWeight> weights;
  for (const plan::Weight& weight : plan.weights) {
    weights.push_back({weight.data.get(), static_cast<size_t>(weight.bytes), weight.data});
  }
  return engine::Engine::load(std::as_bytes(std::span(*bytes)), bytes, std::move(weights));
}

Tensors run(const engine::Engine& engine, std::span<const engine::TensorView> inputs) {
  Outputs outputs(engine.outputs().size());
  engine.enqueue(inputs, outputs);
  return outputs.take();
}

Tensors run(const engine::Engine& engine, const Tensors& inputs) {
  std::vector<std::vector<int64_t>> strides;
  for (const network::Weights& input : inputs) {
    strides.push_back(kernels::denseStrides(input.dims));
  }
  std::vector<engine::TensorView> views;
  for (size_t i = 0; i < inputs.size(); ++i) {
    views.push_back({inputs[i].dtype, static_cast<int32_t>(inputs[i].dims.size()), inputs[i].dims.data(),
                     strides[i].data(), inputs[i].data.get()});
  }
  return run(engine, views);
}

}  // namespace torchtrt::quantization
