#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "optimization/constant_vector.h"
#include "optimization/passes.h"
#include "torchtrt/matchers.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

constexpr int kOperands = 3;  // q, k and v
constexpr std::array<const char*, kOperands> kChannelFields = {"q_channel", "k_channel", "v_channel"};

// x w + bias, whose weights nothing else reads. An attention alone reads its channels.
struct Product {
  Layer* layer;
  const Weights* kernel;
  std::optional<Weights> bias;

  int64_t channels() const {
    const bool transposed = layer->attributes().getBool("transpose_b", false);
    return kernel->dims[transposed ? 0 : 1];
  }
};

size_t usesBy(const Layer& layer, const Tensor& tensor) {
  size_t uses = 0;
  for (int i = 0; i < kOperands; ++i) {
    uses += layer.getInput(i) == &tensor ? 1 : 0;
  }
  return uses;
}

std::optional<Product> asProduct(const Tensor& operand, const Layer& attention) {
  Layer* const layer = operand.producer();
  if (!layer || m::countUses(operand) != usesBy(attention, operand) ||
      !m::match(*layer, m::matrixMultiply().noActivation().attribute("transpose_a", false)) || layer->getInput(3)) {
    return std::nullopt;
  }
  const Weights* const kernel = layer->getInput(1)->constant();
  if (!kernel || kernel->dims.size() != 2 || m::countUses(*layer->getInput(1)) != 1 ||
      kernel->dtype != layer->getInput(0)->getType()) {
    return std::nullopt;
  }
  Product product{layer, kernel, std::nullopt};
  if (const Tensor* const bias = layer->getInput(2)) {
    product.bias = asVector(bias, operand.getDimensions(), 1);
    if (!product.bias || product.bias->dtype != kernel->dtype) {
      return std::nullopt;
    }
  }
  return product;
}

bool canMerge(const Product& a, const Product& b) {
  const bool alike = a.layer->getInput(0) == b.layer->getInput(0) && a.kernel->dtype == b.kernel->dtype;
  const auto transposed = [](const Product& product) {
    return product.layer->attributes().getBool("transpose_b", false);
  };
  return alike && transposed(a) == transposed(b);
}

// Side by side along an axis. All other dims are equal.
Weights concatenated(const std::vector<Weights>& parts, size_t axis) {
  std::vector<int64_t> dims = parts[0].dims;
  dims[axis] = 0;
  for (const Weights& part : parts) {
    dims[axis] += part.dims[axis];
  }
  size_t rows = 1;
  for (size_t i = 0; i < axis; ++i) {
    rows *= static_cast<size_t>(dims[i]);
  }
  void* memory = nullptr;
  Weights whole = Weights::allocate(parts[0].dtype, dims, &memory);
  auto* to = static_cast<std::byte*>(memory);
  for (size_t row = 0; row < rows; ++row) {
    for (const Weights& part : parts) {
      if (const size_t bytes = part.bytes() / rows; bytes != 0) {
        std::memcpy(to, part.as<std::byte>() + row * bytes, bytes);
        to += bytes;
      }
    }
  }
  return whole;
}

Weights zeros(DType dtype, int64_t count) {
  void* memory = nullptr;
  Weights weights = Weights::allocate(dtype, {count}, &memory);
  std::fill_n(static_cast<std::byte*>(memory), weights.bytes(), std::byte{0});
  return weights;
}

// One product with the channels of all.
Layer& createMerged(Rewriter& rewriter, const std::vector<Product>& products) {
  std::vector<Weights> kernels, biases;
  bool has_bias = false;
  for (const Product& product : products) {
    kernels.push_back(*product.kernel);
    biases.push_back(product.bias ? *product.bias : zeros(product.kernel->dtype, product.channels()));
    has_bias = has_bias || product.bias;
  }
  const Layer& first = *products[0].layer;
  const size_t axis = first.attributes().getBool("transpose_b", false) ? 0 : 1;
  std::vector<Tensor*> inputs = {first.getInput(0), &rewriter.createConstant(concatenated(kernels, axis))};
  if (has_bias) {
    inputs.push_back(&rewriter.createConstant(concatenated(biases, 0)));
  }
  return rewriter.create(LayerType::kMATRIX_MULTIPLY, inputs, first.attributes());
}

// attention(x wq, x wk, x wv) -> attention(y, y, y) with y = x [wq, wk, wv]: the kernel reads its heads where they lie
// in the channels of one tensor, so that one product of more channels takes the place of three.
class MergeAttentionProducts : public PatternRewriter {
 public:
  MergeAttentionProducts() : PatternRewriter("merge_attention_products", {LayerType::kPLUGIN_V2}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    // The fields of other plugins may have any type.
    if (layer.attributes().getString("namespace", "") != "torchtrt" ||
        layer.attributes().getString("type", "") != "Attention" || layer.attributes().getInt("heads", 0) == 0) {
      return false;
    }
    for (int first = 0; first + 1 < kOperands; ++first) {
      const std::vector<Product> products = alikeFrom(layer, first);
      if (products.size() > 1) {
        replace(rewriter, layer, products);
        return true;
      }
    }
    return false;
  }

 private:
  // The product of that operand, and those of later ones that can be merged with it, each once.
  static std::vector<Product> alikeFrom(const Layer& attention, int first) {
    std::vector<Product> products;
    for (int i = first; i < kOperands; ++i) {
      const auto product = asProduct(*attention.getInput(i), attention);
      if (!product && i == first) {
        break;
      }
      const bool is_new = product && std::none_of(products.begin(), products.end(),
                                                  [&](const Product& each) { return each.layer == product->layer; });
      if (is_new && (products.empty() || canMerge(products[0], *product))) {
        products.push_back(*product);
      }
    }
    return products;
  }

  static void replace(Rewriter& rewriter, Layer& attention, const std::vector<Product>& products) {
    Tensor& merged = *createMerged(rewriter, products).getOutput(0);
    Attributes fields = attention.attributes();
    std::vector<Tensor*> operands;
    for (int i = 0; i < attention.getNbInputs(); ++i) {
      operands.push_back(attention.getInput(i));
    }
    int64_t channel = 0;
    for (const Product& product : products) {
      for (size_t i = 0; i < kOperands; ++i) {
        if (attention.getInput(static_cast<int>(i)) == product.layer->getOutput(0)) {
          operands[i] = &merged;
          fields.set(kChannelFields[i], fields.getInt(kChannelFields[i]) + channel);
        }
      }
      channel += product.channels();
    }
    rewriter.replaceLayer(attention, {rewriter.create(LayerType::kPLUGIN_V2, operands, fields).getOutput(0)});
  }
};

}  // namespace

PassPtr createMergeAttentionProducts(const Options&) {
  auto pass = std::make_unique<PatternPass>("merge_attention_products");
  pass->add<MergeAttentionProducts>();
  return pass;
}

}  // namespace torchtrt::optimization
