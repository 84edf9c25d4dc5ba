#include <cstring>

#include "base/check.h"
#include "plan/format.h"
#include "plan/plan.h"
#include "plan/plan_generated.h"

namespace torchtrt::plan {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template <typename T, typename Make>
auto writeList(FlatBufferBuilder& out, const std::vector<T>& values, Make make) {
  std::vector<decltype(make(values[0]))> offsets;
  offsets.reserve(values.size());
  for (const T& value : values) {
    offsets.push_back(make(value));
  }
  return out.CreateVector(offsets);
}

Offset<fb::Attribute> writeAttribute(FlatBufferBuilder& out, const std::string& name, const AttributeValue& value) {
  const auto name_offset = out.CreateSharedString(name);
  fb::Kind kind = fb::Kind::None;
  int64_t int_value = 0;
  double double_value = 0;
  Offset<flatbuffers::String> string_value;
  Offset<flatbuffers::Vector<int64_t>> ints;
  Offset<flatbuffers::Vector<double>> doubles;
  if (const auto* as_bool = std::get_if<bool>(&value)) {
    kind = fb::Kind::Bool;
    int_value = *as_bool ? 1 : 0;
  } else if (const auto* as_int = std::get_if<int64_t>(&value)) {
    kind = fb::Kind::Int;
    int_value = *as_int;
  } else if (const auto* as_double = std::get_if<double>(&value)) {
    kind = fb::Kind::Double;
    double_value = *as_double;
  } else if (const auto* as_string = std::get_if<std::string>(&value)) {
    kind = fb::Kind::String;
    string_value = out.CreateSharedString(*as_string);
  } else if (const auto* as_dtype = std::get_if<DType>(&value)) {
    kind = fb::Kind::DType;
    int_value = static_cast<int64_t>(*as_dtype);
  } else if (const auto* as_ints = std::get_if<std::vector<int64_t>>(&value)) {
    kind = fb::Kind::Ints;
    ints = out.CreateVector(*as_ints);
  } else if (const auto* as_doubles = std::get_if<std::vector<double>>(&value)) {
    kind = fb::Kind::Doubles;
    doubles = out.CreateVector(*as_doubles);
  }
  TORCHTRT_CHECK(kind != fb::Kind::None, "attribute " << name << " is symbolic and belongs into Step::dims");
  return fb::CreateAttribute(out, name_offset, kind, int_value, double_value, string_value, ints, doubles);
}

Offset<fb::Step> writeStep(FlatBufferBuilder& out, const Step& step) {
  const auto family = out.CreateSharedString(step.family);
  const auto hint = out.CreateSharedString(step.hint);
  const auto name = out.CreateSharedString(step.name);
  const auto location =
      fb::CreateLocation(out, out.CreateSharedString(step.location.file), step.location.line, step.location.column,
                         out.CreateSharedString(step.location.function), out.CreateSharedString(step.location.scope));
  std::vector<Offset<fb::Attribute>> attributes;
  for (const auto& [key, value] : step.attributes.values()) {
    attributes.push_back(writeAttribute(out, key, value));
  }
  const auto attribute_list = out.CreateVector(attributes);
  const auto dims = writeList(out, step.dims, [&](const auto& entry) {
    return fb::CreateSymbolicDims(out, out.CreateSharedString(entry.first), out.CreateVector(entry.second));
  });
  return fb::CreateStep(out, family, hint, name, location, attribute_list, dims, out.CreateVector(step.inputs),
                        out.CreateVector(step.outputs));
}

auto writeBindings(FlatBufferBuilder& out, const std::vector<Binding>& bindings) {
  return writeList(out, bindings, [&](const Binding& binding) {
    const auto name = out.CreateSharedString(binding.name);
    return binding.empty_dims.empty()
               ? fb::CreateBinding(out, name, binding.tensor)
               : fb::CreateBinding(out, name, binding.tensor, out.CreateVector(binding.empty_dims));
  });
}

void writeGraph(FlatBufferBuilder& out, const Plan& plan, const std::vector<uint64_t>& offsets) {
  const auto symbols = writeList(out, plan.symbols, [&](const Symbol& symbol) {
    return fb::CreateSymbol(out, out.CreateSharedString(symbol.name), symbol.min, symbol.opt, symbol.max);
  });
  std::vector<fb::Instruction> program;
  for (const Instruction& instruction : plan.program) {
    program.emplace_back(instruction.immediate, instruction.a, instruction.b, static_cast<uint32_t>(instruction.op));
  }
  const auto program_list = out.CreateVectorOfStructs(program);
  size_t index = 0;
  const auto weights = writeList(out, plan.weights, [&](const Weight& weight) {
    return fb::CreateWeight(out, static_cast<uint8_t>(weight.dtype), out.CreateVector(weight.dims), weight.bytes,
                            offsets[index++], out.CreateSharedString(weight.hash));
  });
  const auto tensors = writeList(out, plan.tensors, [&](const Tensor& tensor) {
    return fb::CreateTensor(out, out.CreateSharedString(tensor.name), static_cast<uint8_t>(tensor.dtype),
                            out.CreateVector(tensor.dims), out.CreateVector(tensor.order), tensor.weight,
                            tensor.view_of);
  });
  const auto steps = writeList(out, plan.steps, [&](const Step& step) { return writeStep(out, step); });
  const auto inputs = writeBindings(out, plan.inputs);
  const auto outputs = writeBindings(out, plan.outputs);
  const auto options = writeList(out, plan.options, [&](const auto& option) {
    return fb::CreateOption(out, out.CreateSharedString(option.first), out.CreateSharedString(option.second));
  });
  const auto binaries = writeList(out, plan.binaries, [&](const Binary& binary) {
    TORCHTRT_CHECK(binary.code != nullptr, "a binary for " << binary.architecture << " has no code");
    const auto* const code = reinterpret_cast<const uint8_t*>(binary.code->data());
    return fb::CreateBinary(out, out.CreateSharedString(binary.architecture), out.CreateSharedString(binary.key),
                            out.CreateSharedString(binary.hash), out.CreateVector(code, binary.code->size()));
  });
  const auto name = out.CreateSharedString(plan.name);
  const auto producer = out.CreateSharedString(plan.producer);
  const auto timed_on = out.CreateSharedString(plan.timed_on);
  out.Finish(fb::CreatePlan(out, name, producer, symbols, program_list, weights, tensors, steps, inputs, outputs,
                            options, timed_on, binaries, plan.batch_invariant));
}

std::string assemble(const Plan& plan, bool weights_outside) {
  std::vector<uint64_t> offsets;
  uint64_t weight_bytes = 0;
  for (const Weight& weight : plan.weights) {
    offsets.push_back(weights_outside ? 0 : weight_bytes);
    weight_bytes += weights_outside ? 0 : alignUp(weight.bytes);
  }
  FlatBufferBuilder graph;
  writeGraph(graph, plan, offsets);

  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.major_version = kMajorVersion;
  header.minor_version = kMinorVersion;
  header.flags = weights_outside ? kWeightsOutside : 0;
  header.graph_bytes = graph.GetSize();
  header.weight_bytes = weight_bytes;

  const uint64_t graph_end = sizeof header + graph.GetSize();
  std::string bytes(weight_bytes == 0 ? graph_end : alignUp(graph_end) + weight_bytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, graph.GetBufferPointer(), graph.GetSize());
  const Hash128 hash = hashBytes(bytes.data(), graph_end);
  header.hash_low = hash.low;
  header.hash_high = hash.high;
  std::memcpy(bytes.data(), &header, sizeof header);

  for (size_t i = 0; i < plan.weights.size() && !weights_outside; ++i) {
    const Weight& weight = plan.weights[i];
    TORCHTRT_CHECK(weight.data != nullptr || weight.bytes == 0, "weight " << i << " of the plan has no data");
    if (weight.bytes != 0) {
      std::memcpy(bytes.data() + alignUp(graph_end) + offsets[i], weight.data.get(), weight.bytes);
    }
  }
  return bytes;
}

}  // namespace

std::string contentHash(const void* data, size_t bytes) {
  return hashBytes(data, bytes).toString();
}

std::string contentHash(const Binary& binary) {
  const std::string all = binary.architecture + "\n" + binary.key + "\n" + *binary.code;
  return contentHash(all.data(), all.size());
}

std::string serialize(const Plan& plan) {
  return assemble(plan, false);
}

std::string serializeWithoutWeights(const Plan& plan) {
  return assemble(plan, true);
}

}  // namespace torchtrt::plan
