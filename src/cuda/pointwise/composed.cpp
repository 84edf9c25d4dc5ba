#include "cuda/pointwise/composed.h"

#include <algorithm>
#include <utility>

#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::TensorDesc;

// Writes device code. Each input i has elements of type Ti at pi by strides si, and each output one of type Oi at ri;
// the last output is the one that the walk `to` goes through.
class Text {
 public:
  Text(const std::vector<MapLayer>& layers, const std::vector<TensorDesc>& inputs,
       const std::vector<TensorDesc>& outputs, const Layout& layout, int64_t chunk)
      : layers_(layers), inputs_(inputs), outputs_(outputs), layout_(layout), chunk_(chunk) {}

  std::string whole() {
    text_ =
        "struct Parameters {  // alpha and beta of each layer\n  double of[" + number(2 * layers_.size()) + "];\n};\n";
    for (size_t i = 0; i < layers_.size(); ++i) {
      addFunction(i);
    }
    addKernel();
    return std::move(text_);
  }

 private:
  static std::string number(size_t value) {
    return std::to_string(value);
  }
  std::string typeOfInput(size_t input) const {
    return storedType(inputs_[input].dtype);
  }
  std::string typeOfOutput(size_t output) const {
    return storedType(outputs_[output].dtype);
  }
  // The distance of an input's neighbours: 1, or 0 where one element stands for all.
  bool isStepped(size_t input) const {
    const Ints& strides = layout_.strides[input];
    return !strides.empty() && strides.back() != 0;
  }
  std::string typeOfOperand(int32_t operand) const {
    return operand >= 0 ? typeOfInput(static_cast<size_t>(operand))
                        : storedType(layers_[static_cast<size_t>(-1 - operand)].dtype);
  }

  void addFunction(size_t index) {
    const MapLayer& layer = layers_[index];
    const std::string out = storedType(layer.dtype);
    text_ += "__device__ inline " + out + " layer" + number(index) + "(";
    for (size_t k = 0; k < layer.operands.size(); ++k) {
      text_ += typeOfOperand(layer.operands[k]) + " e" + number(k) + ", ";
    }
    text_ += "const Parameters& parameters, int* fault) {\n  typedef " + std::string(computedType(layer.map->dtype)) +
             " C;\n  typedef " + out + " OUT;\n";
    text_ += "  const C alpha = parameterOf<C>(parameters.of[" + number(2 * index) +
             "]), beta = parameterOf<C>(parameters.of[" + number(2 * index + 1) + "]);\n";
    text_ += "  (void)alpha, (void)beta, (void)fault;\n";
    for (size_t k = 0; k < layer.operands.size(); ++k) {
      text_ += "  const auto x" + number(k) + " = load(&e" + number(k) + ");\n";
    }
    text_ += "  OUT result;\n  store(&result, " + layer.map->result + ");\n  return result;\n}\n";
  }

  // Calls all functions for one element; `element` gives the text of an input.
  template <typename Element>
  void addCalls(const Element& element) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      text_ +=
          "      const " + std::string(storedType(layers_[i].dtype)) + " v" + number(i) + " = layer" + number(i) + "(";
      for (const int32_t operand : layers_[i].operands) {
        text_ +=
            (operand >= 0 ? element(static_cast<size_t>(operand)) : "v" + number(static_cast<size_t>(-1 - operand))) +
            ", ";
      }
      text_ += "parameters, fault);\n";
    }
  }
  template <typename Write>
  void addWrites(const Write& write) {
    size_t output = 0;
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].is_written) {
        text_ += write(output++, "v" + number(i));
      }
    }
  }
  std::string placeOf(size_t output) const {
    return output + 1 == outputs_.size() ? "to.at(at)" : "t" + number(output) + ".at(at)";
  }

  void addKernel() {
    text_ += "extern \"C\" __global__ void map(long long count, Walk<RANK> to, ";
    for (size_t i = 0; i < outputs_.size(); ++i) {
      text_ += (i + 1 == outputs_.size() ? "" : "Strides<RANK> t" + number(i) + ", ") + typeOfOutput(i) + "* r" +
               number(i) + ", ";
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      text_ += "Strides<RANK> s" + number(i) + ", const " + typeOfInput(i) + "* p" + number(i) + ", ";
    }
    text_ += "Parameters parameters, int* fault) {\n  waitForInputs();\n  long long done = 0;\n";
    if (chunk_ > 1) {
      addChunks();
    }
    text_ += "  for (long long i = done + firstElement(); i < count; i += allThreads()) {\n";
    text_ += "    const Coordinates<RANK> at = to.coordinates(i);\n";
    addCalls([](size_t input) { return "p" + number(input) + "[s" + number(input) + ".at(at)]"; });
    addWrites([&](size_t output, const std::string& value) {
      return "    r" + number(output) + "[" + placeOf(output) + "] = " + value + ";\n";
    });
    text_ += "  }\n}\n";
  }

  void addChunks() {
    const std::string chunk = std::to_string(chunk_);
    text_ += "  const bool is_aligned = true";
    for (size_t i = 0; i < outputs_.size(); ++i) {
      text_ += " && isAligned<" + typeOfOutput(i) + ", " + chunk + ">(r" + number(i) + ")";
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      text_ += isStepped(i) ? " && isAligned<" + typeOfInput(i) + ", " + chunk + ">(p" + number(i) + ")" : "";
    }
    text_ += ";\n  const long long chunks = is_aligned ? count / " + chunk + " : 0;\n";
    text_ += "  for (long long i = firstElement(); i < chunks; i += allThreads()) {\n";
    text_ += "    const Coordinates<RANK> at = to.coordinates(i * " + chunk + ");\n";
    for (size_t i = 0; i < inputs_.size(); ++i) {
      text_ += "    const Chunk<" + typeOfInput(i) + ", " + (isStepped(i) ? chunk : "1") + "> c" + number(i) + "(p" +
               number(i) + " + s" + number(i) + ".at(at));\n";
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      text_ += "    Chunk<" + typeOfOutput(i) + ", " + chunk + "> w" + number(i) + ";\n";
    }
    text_ += "#pragma unroll\n    for (int k = 0; k < " + chunk + "; ++k) {\n";
    addCalls([&](size_t input) { return "c" + number(input) + ".of[" + (isStepped(input) ? "k" : "0") + "]"; });
    addWrites([](size_t output, const std::string& value) {
      return "      w" + number(output) + ".of[k] = " + value + ";\n";
    });
    text_ += "    }\n";
    for (size_t i = 0; i < outputs_.size(); ++i) {
      text_ += "    w" + number(i) + ".write(r" + number(i) + " + " + placeOf(i) + ");\n";
    }
    text_ += "  }\n  done = chunks * " + chunk + ";\n";
  }

  const std::vector<MapLayer>& layers_;
  const std::vector<TensorDesc>& inputs_;
  const std::vector<TensorDesc>& outputs_;
  const Layout& layout_;
  int64_t chunk_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Launches> launchMaps(const CudaDevice& device, const std::vector<MapLayer>& layers,
                                     const std::vector<TensorDesc>& inputs, const std::vector<TensorDesc>& outputs) {
  const TensorDesc& last = outputs.back();
  std::vector<Ints> strides;
  std::vector<size_t> sizes;
  for (const TensorDesc& input : inputs) {
    strides.push_back(broadcastStrides(input, last.dims));
    sizes.push_back(sizeOf(input.dtype));
  }
  for (const TensorDesc& output : outputs) {
    strides.push_back(output.strides);
    sizes.push_back(sizeOf(output.dtype));
  }
  const Layout layout = collapsedInAnyOrder(last.dims, strides);
  const int64_t chunk = chunkOf(layout, sizes);
  Arguments arguments;
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides.back());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i + 1 != outputs.size()) {
      addStrides(arguments, layout.strides[inputs.size() + i]);
    }
    arguments.output(i);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    addStrides(arguments, layout.strides[i]);
    arguments.input(i);
  }
  std::vector<double> parameters;
  bool divides_integers = false;
  for (const MapLayer& layer : layers) {
    parameters.insert(parameters.end(), {layer.map->alpha, layer.map->beta});
    divides_integers = divides_integers || layer.map->divides_integers;
  }
  arguments.bytes(parameters.data(), parameters.size() * sizeof(double)).fault();
  Source source;
  source.define("RANK", layout.rank());
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/chunks.cuh");
  if (divides_integers) {
    source.include("text/faults.cuh").include("text/integers.cuh");
  }
  source.include("text/inputs.cuh").add(Text(layers, inputs, outputs, layout, chunk).whole());
  auto launches = std::make_unique<Launches>(device);
  launches->add(source, "map", geometryFor((layout.count() + chunk - 1) / chunk), std::move(arguments));
  return launches;
}

}  // namespace torchtrt::cuda
