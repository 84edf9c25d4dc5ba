#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "plan/families.h"
#include "plan/format.h"
#include "plan/plan.h"
#include "plan/plan_generated.h"

namespace torchtrt::plan {

static_assert(std::endian::native == std::endian::little, "plans are stored little endian and read in place");

void throwCorrupt(const std::string& what) {
  throw EngineError(ErrorCode::kPlanCorrupt, "damaged plan: " + what, {},
                    "compile the module again, or copy the file again");
}

namespace {

// A FlatBuffer may refer to one string from a million places: what is unfolded is bounded by what was read.
class Budget {
 public:
  explicit Budget(uint64_t graph_bytes) : left_(graph_bytes * 64 + (uint64_t{1} << 20)) {}
  void spend(uint64_t bytes) {
    if (bytes > left_) {
      throwCorrupt("its graph unfolds to more than 64 times its size");
    }
    left_ -= bytes;
  }

 private:
  uint64_t left_;
};

class GraphReader {
 public:
  explicit GraphReader(uint64_t graph_bytes) : budget_(graph_bytes) {}

  Plan read(const fb::Plan& graph) {
    Plan plan;
    plan.name = text(graph.name());
    plan.producer = text(graph.producer());
    plan.timed_on = text(graph.timed_on());
    plan.batch_invariant = graph.batch_invariant();
    forEach(graph.symbols(), [&](const fb::Symbol& symbol) {
      plan.symbols.push_back({text(symbol.name()), symbol.min(), symbol.opt(), symbol.max()});
    });
    for (const fb::Instruction& instruction : copyOf<fb::Instruction>(graph.program())) {
      if (instruction.op() > static_cast<uint32_t>(Op::kMin)) {
        throw EngineError(ErrorCode::kPlanVersion,
                          "the plan's shape program uses operation " + std::to_string(instruction.op()) +
                              ", which this library does not know",
                          {}, "load it with the torchtrt that made it (" + plan.producer + "), or compile again");
      }
      plan.program.push_back(
          {static_cast<Op>(instruction.op()), instruction.a(), instruction.b(), instruction.immediate()});
    }
    forEach(graph.weights(), [&](const fb::Weight& weight) {
      plan.weights.push_back(
          {dtype(weight.dtype()), list(weight.dims()), weight.bytes(), text(weight.hash()), nullptr});
      offsets_.push_back(weight.offset());
    });
    forEach(graph.tensors(), [&](const fb::Tensor& tensor) {
      plan.tensors.push_back({text(tensor.name()), dtype(tensor.dtype()), list(tensor.dims()), list(tensor.order()),
                              tensor.weight(), tensor.view_of()});
    });
    forEach(graph.steps(), [&](const fb::Step& step) { plan.steps.push_back(readStep(step)); });
    forEach(graph.inputs(), [&](const fb::Binding& b) { plan.inputs.push_back(readBinding(b)); });
    forEach(graph.outputs(), [&](const fb::Binding& b) { plan.outputs.push_back(readBinding(b)); });
    forEach(graph.options(), [&](const fb::Option& o) { plan.options.emplace_back(text(o.key()), text(o.value())); });
    forEach(graph.binaries(), [&](const fb::Binary& binary) { plan.binaries.push_back(readBinary(binary)); });
    return plan;
  }

  const std::vector<uint64_t>& offsets() const {
    return offsets_;
  }

 private:
  std::string text(const flatbuffers::String* value) {
    if (value == nullptr) {
      return {};
    }
    budget_.spend(value->size());
    return value->str();
  }

  Binding readBinding(const fb::Binding& binding) {
    return {text(binding.name()), binding.tensor(), list(binding.empty_dims())};
  }

  // Its hash is compared where it is used.
  Binary readBinary(const fb::Binary& stored) {
    const auto* const code = stored.code();
    const size_t bytes = code == nullptr ? 0 : code->size();
    budget_.spend(bytes);
    const auto* const data = code == nullptr ? nullptr : reinterpret_cast<const char*>(code->data());
    return {text(stored.architecture()), text(stored.key()), bytes, text(stored.hash()),
            std::make_shared<const std::string>(data, bytes)};
  }

  template <typename T>
  std::vector<T> list(const flatbuffers::Vector<T>* values) {
    return copyOf<T>(values);
  }

  // FlatBuffers verifies that a vector lies within the buffer, but not how its elements are aligned: they are copied as
  // bytes.
  template <typename T, typename Stored>
  std::vector<T> copyOf(const flatbuffers::Vector<Stored>* values) {
    if (values == nullptr || values->size() == 0) {
      return {};
    }
    budget_.spend(values->size() * sizeof(T));
    std::vector<T> copy(values->size());
    std::memcpy(static_cast<void*>(copy.data()), values->Data(), copy.size() * sizeof(T));
    return copy;
  }

  // Every entry is charged a few words, since an empty table may be referred to any number of times as well.
  template <typename Vector, typename Body>
  void forEach(const Vector* values, Body body) {
    if (values == nullptr) {
      return;
    }
    for (const auto* value : *values) {
      budget_.spend(16);
      body(*value);
    }
  }

  static DType dtype(int64_t value) {
    if (value < 0 || value >= kDTypeCount) {
      throw EngineError(
          ErrorCode::kPlanVersion,
          "the plan uses element type number " + std::to_string(value) + ", which this library does not know", {},
          "load it with the torchtrt that made it, or compile again");
    }
    return static_cast<DType>(value);
  }

  AttributeValue value(const fb::Attribute& attribute, const std::string& name) {
    switch (attribute.kind()) {
      case fb::Kind::Bool:
        return attribute.int_value() != 0;
      case fb::Kind::Int:
        return attribute.int_value();
      case fb::Kind::Double:
        return attribute.double_value();
      case fb::Kind::String:
        return text(attribute.string_value());
      case fb::Kind::DType:
        return dtype(attribute.int_value());
      case fb::Kind::Ints:
        return list(attribute.ints());
      case fb::Kind::Doubles:
        return list(attribute.doubles());
      default:
        throwCorrupt("attribute '" + name + "' has no known type");
    }
  }

  Step readStep(const fb::Step& stored) {
    Step step;
    step.family = text(stored.family());
    step.hint = text(stored.hint());
    step.name = text(stored.name());
    if (const fb::Location* location = stored.location()) {
      step.location = {text(location->file()), location->line(), location->column(), text(location->function()),
                       text(location->scope())};
    }
    forEach(stored.attributes(), [&](const fb::Attribute& attribute) {
      const std::string name = text(attribute.name());
      step.attributes.set(name, value(attribute, name));
    });
    forEach(stored.dims(),
            [&](const fb::SymbolicDims& dims) { step.dims.emplace_back(text(dims.name()), list(dims.registers())); });
    step.inputs = list(stored.inputs());
    step.outputs = list(stored.outputs());
    return step;
  }

  Budget budget_;
  std::vector<uint64_t> offsets_;
};

std::shared_ptr<const void> alignedCopy(const void* data, size_t bytes) {
  void* copy = std::aligned_alloc(kAlignment, alignUp(std::max<size_t>(bytes, 1)));
  if (copy == nullptr) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "loading a plan: no memory for " + std::to_string(bytes) + " bytes of weights");
  }
  std::memcpy(copy, data, bytes);
  return {copy, [](void* memory) { std::free(memory); }};
}

bool isAligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

std::string printable(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const auto c = static_cast<unsigned char>(byte);
    text += c >= 32 && c < 127 ? static_cast<char>(c) : '.';
  }
  return text;
}

Header readHeader(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    throwCorrupt("it is empty");
  }
  const size_t seen = std::min(bytes.size(), sizeof kMagic);
  if (std::memcmp(bytes.data(), kMagic, seen) != 0) {
    const std::string start = printable(bytes.first(std::min<size_t>(4, bytes.size())));
    if (start == "ftrt" || start == "ptrt") {
      throw EngineError(ErrorCode::kPlanVersion, "this is an engine made by NVIDIA TensorRT, not a plan of torchtrt",
                        {}, "compile the TorchScript module again with torchtrt");
    }
    throwCorrupt("it starts with \"" + start + "\", expected \"TTRTPLAN\"");
  }
  if (bytes.size() < sizeof(Header)) {
    throwCorrupt("it ends after " + std::to_string(bytes.size()) + " bytes, within its header");
  }
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.major_version != kMajorVersion) {
    const std::string major = std::to_string(header.major_version);
    throw EngineError(ErrorCode::kPlanVersion,
                      "the plan has format " + major + "." + std::to_string(header.minor_version) +
                          ", this library reads " + std::to_string(kMajorVersion) + ".x",
                      {}, "load it with a torchtrt whose plan format is " + major + ", or compile the module again");
  }
  // A later minor version may say with a new field that something is computed in another way. FlatBuffers would skip
  // it.
  if (header.minor_version > kMinorVersion) {
    const std::string major = std::to_string(kMajorVersion);
    throw EngineError(
        ErrorCode::kPlanVersion,
        "the plan is too new: it has format " + major + "." + std::to_string(header.minor_version) +
            ", this library reads " + major + ".0 to " + major + "." + std::to_string(kMinorVersion),
        {},
        "load it with the version of torchtrt that made it or a later one, or compile the module again with this one");
  }
  const uint64_t size = bytes.size();
  // FlatBuffers end at 2 GiB; weights, which may be larger, lie outside of it.
  const bool inside = header.graph_bytes <= size - sizeof header && header.graph_bytes < FLATBUFFERS_MAX_BUFFER_SIZE &&
                      header.weight_bytes <= size;
  const uint64_t graph_end = sizeof header + (inside ? header.graph_bytes : 0);
  const uint64_t expected = header.weight_bytes == 0 ? graph_end : alignUp(graph_end) + header.weight_bytes;
  if (!inside || expected != size) {
    throwCorrupt("it has " + std::to_string(size) + " bytes, its header says otherwise (truncated?)");
  }
  return header;
}

// Header and FlatBuffer in memory of their own, aligned as FlatBuffers want; damage to them is found here.
std::vector<uint64_t> copyGraph(std::span<const std::byte> bytes, const Header& header) {
  const uint64_t graph_end = sizeof header + header.graph_bytes;
  std::vector<uint64_t> copy((graph_end + 7) / 8);
  std::memcpy(copy.data(), bytes.data(), graph_end);
  Header blank = header;
  blank.hash_low = blank.hash_high = 0;
  std::memcpy(copy.data(), &blank, sizeof blank);
  if (hashBytes(copy.data(), graph_end) != Hash128{header.hash_low, header.hash_high}) {
    throwCorrupt("the checksum of its graph does not match");
  }
  return copy;
}

void attachWeights(Plan& plan, const std::vector<uint64_t>& offsets, std::span<const std::byte> section,
                   std::shared_ptr<const void> owner) {
  const std::byte* base = section.data();
  if (!section.empty() && !isAligned(base)) {
    owner = alignedCopy(base, section.size());
    base = static_cast<const std::byte*>(owner.get());
  }
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    Weight& weight = plan.weights[i];
    if (offsets[i] % kAlignment != 0 || offsets[i] > section.size() || weight.bytes > section.size() - offsets[i]) {
      throwCorrupt("weight " + std::to_string(i) + " lies outside of the weight section");
    }
    if (weight.bytes != 0) {
      weight.data = std::shared_ptr<const void>(owner, base + offsets[i]);
    }
  }
}

void attachExternal(Plan& plan, std::span<const Weight> external) {
  if (external.empty()) {
    return;
  }
  if (external.size() != plan.weights.size()) {
    throwCorrupt("expected " + std::to_string(plan.weights.size()) + " weights beside it, got " +
                 std::to_string(external.size()));
  }
  for (size_t i = 0; i < external.size(); ++i) {
    Weight& weight = plan.weights[i];
    if (external[i].bytes != weight.bytes || (external[i].data == nullptr && weight.bytes != 0)) {
      throwCorrupt("expected " + std::to_string(weight.bytes) + " bytes beside it for weight " + std::to_string(i) +
                   ", got " + std::to_string(external[i].bytes));
    }
    weight.data = external[i].data;
    if (weight.bytes != 0 && !isAligned(weight.data.get())) {
      weight.data = alignedCopy(weight.data.get(), weight.bytes);
    }
  }
}

void checkContents(const Plan& plan) {
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const Weight& weight = plan.weights[i];
    if (weight.data != nullptr && contentHash(weight.data.get(), weight.bytes) != weight.hash) {
      throwCorrupt("weight " + std::to_string(i) + " is not what the plan was built with");
    }
  }
}

}  // namespace

Plan parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
           std::span<const Weight> external_weights) {
  const Header header = readHeader(bytes);
  const std::vector<uint64_t> graph = copyGraph(bytes, header);
  const auto* start = reinterpret_cast<const uint8_t*>(graph.data()) + sizeof header;
  flatbuffers::Verifier verifier(start, header.graph_bytes, 64,
                                 static_cast<flatbuffers::uoffset_t>(header.graph_bytes));
  if (!verifier.VerifyBuffer<fb::Plan>(nullptr)) {
    throwCorrupt("its graph is malformed");
  }
  GraphReader reader(header.graph_bytes);
  Plan plan = reader.read(*flatbuffers::GetRoot<fb::Plan>(start));
  fillDefaults(plan);
  validate(plan);
  if ((header.flags & kWeightsOutside) != 0) {
    if (header.weight_bytes != 0) {
      throwCorrupt("it carries weights that it says lie outside");
    }
    attachExternal(plan, external_weights);
  } else {
    if (!external_weights.empty()) {
      throwCorrupt("it carries its weights itself, but others were given beside it");
    }
    attachWeights(plan, reader.offsets(), bytes.last(header.weight_bytes), std::move(owner));
  }
  checkContents(plan);
  return plan;
}

}  // namespace torchtrt::plan
