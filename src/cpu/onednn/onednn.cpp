#include "cpu/onednn/onednn.h"

#ifndef TORCHTRT_NO_ONEDNN

#include <algorithm>
#include <array>
#include <cfloat>
#include <string_view>

#include "base/check.h"
#include "cpu/simd/isa.h"
#include "cpu/storage/wide_row.h"
#include "cpu/threads/parallel.h"
#include "device/constants.h"

namespace torchtrt::kernels::onednn {
namespace {

using dnnl::algorithm;

dnnl::engine makeEngine() {
  isaCap();
  dnnl::set_primitive_cache_capacity(0);
  return dnnl::engine(dnnl::engine::kind::cpu, 0);
}

dnnl::memory::data_type dataType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return dnnl::memory::data_type::f32;
    case DType::kBFloat16:
      return dnnl::memory::data_type::bf16;
    case DType::kInt32:
      return dnnl::memory::data_type::s32;
    case DType::kInt8:
      return dnnl::memory::data_type::s8;
    case DType::kUInt8:
      return dnnl::memory::data_type::u8;
    default:
      TORCHTRT_CHECK(false, "no oneDNN kernel of ours takes " << toString(dtype));
  }
}

// Below the cap of TORCHTRT_MAX_ISA.
bool hasInstructions(dnnl::cpu_isa needed) {
  isaCap();
  const auto bits = static_cast<unsigned>(needed);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine instance = makeEngine();
  return instance;
}

dnnl::memory::desc describe(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, DType dtype) {
  return {dims, dataType(dtype), strides};
}

dnnl::memory::desc describeAny(const std::vector<int64_t>& dims, DType dtype) {
  return {dims, dataType(dtype), dnnl::memory::format_tag::any};
}

std::optional<Refusal> refuseBFloat16() {
  if (!hasInstructions(dnnl::cpu_isa::avx512_core_bf16)) {
    return Refusal{"instructions", "needs a CPU with AVX-512 BF16"};
  }
  return std::nullopt;
}

std::optional<Refusal> refuseInt8() {
  if (!hasInstructions(dnnl::cpu_isa::avx512_core_vnni) && !hasInstructions(dnnl::cpu_isa::avx2_vnni)) {
    return Refusal{"instructions", "needs a CPU with AVX-512 VNNI, AVX-VNNI or AMX"};
  }
  return std::nullopt;
}

bool appendActivation(dnnl::post_ops& ops, const std::string& activation, double alpha, DType dtype) {
  if (activation == "relu") {
    // x * clip(FLT_MAX * x, 0, 1): x where it is positive, else 0, and NaN stays.
    ops.append_eltwise(algorithm::eltwise_hardswish, FLT_MAX, 0);
  } else if (activation == "leaky_relu" && alpha != 0) {
    ops.append_eltwise(algorithm::eltwise_relu, static_cast<float>(alpha), 0);
  } else if (activation == "hard_swish") {
    ops.append_eltwise(algorithm::eltwise_hardswish, 1.0F / 6, 0.5F);
  } else if (activation == "silu") {
    ops.append_eltwise(algorithm::eltwise_swish, 1, 0);
  } else if (activation == "gelu_erf" && dtype != DType::kFloat32) {
    ops.append_eltwise(algorithm::eltwise_gelu_erf, 0, 0);
  } else if (activation == "gelu_tanh" && dtype != DType::kFloat32) {
    ops.append_eltwise(algorithm::eltwise_gelu_tanh, 0, 0);
  } else {
    return false;
  }
  return true;
}

dnnl::memory::desc ChannelScale::desc() const {
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1), strides(static_cast<size_t>(rank), 1);
  dims[1] = strides[0] = channels;
  return describe(dims, strides);
}

namespace {

// The post-ops in front of the activation.
dnnl::post_ops opsOfSums(const dnnl::memory::desc* residual, const std::optional<ChannelScale>& scale) {
  dnnl::post_ops ops;
  if (scale) {
    ops.append_binary(algorithm::binary_mul, scale->desc());
    if (scale->has_shift) {
      ops.append_binary(algorithm::binary_add, scale->desc());
    }
  }
  if (residual != nullptr) {
    ops.append_binary(algorithm::binary_add, *residual);
  }
  return ops;
}

}  // namespace

Fusion fuse(const std::string& activation, double alpha, double beta, const dnnl::memory::desc* residual, DType dtype,
            const std::optional<ChannelScale>& scale) {
  Fusion fusion;
  fusion.scale = scale;
  dnnl::post_ops ops = opsOfSums(residual, scale);
  if (!activation.empty()) {
    fusion.has_activation = appendActivation(ops, activation, alpha, dtype);
    if (!fusion.has_activation) {
      fusion.rest = activationRows(activation, alpha, beta);
    }
  }
  fusion.attributes.set_post_ops(ops);
  fusion.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return fusion;
}

// x > 0 ? x : slope * x: the form of relu that appendActivation() has gives the same for every x, NaN and minus
// infinity among them.
std::optional<Fusion> fuseSlope(const std::string& activation, double alpha, const dnnl::memory::desc* residual,
                                const std::optional<ChannelScale>& scale) {
  if (activation != "relu" && activation != "leaky_relu") {
    return std::nullopt;
  }
  Fusion fusion;
  fusion.scale = scale;
  dnnl::post_ops ops = opsOfSums(residual, scale);
  fusion.slope_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_WEIGHTS;
  fusion.slope = activation == "relu" ? 0 : static_cast<float>(alpha);
  fusion.has_activation = true;
  ops.append_prelu(0);
  fusion.attributes.set_post_ops(ops);
  fusion.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return fusion;
}

bool keepsCode(const dnnl::primitive_desc_base& desc) {
  return std::string_view(desc.impl_info_str()).find("brgconv") != std::string_view::npos;
}

// Everything of one call that oneDNN would otherwise allocate: stream, memory objects, argument list.
struct Call::Slot {
  dnnl::stream stream;
  std::vector<dnnl::memory> memory;
  std::vector<dnnl_exec_arg_t> arguments;
};

Call::Call(dnnl::primitive primitive, const Arguments& arguments, int threads)
    : primitive_(std::move(primitive)), arguments_(arguments), threads_(threads) {
  spare_ = makeSlot().release();
}

Call::~Call() {
  delete spare_.load();
}

std::unique_ptr<Call::Slot> Call::makeSlot() const {
  auto slot = std::make_unique<Slot>();
  slot->stream = dnnl::stream(engine());
  for (const auto& [number, desc] : arguments_) {
    slot->memory.emplace_back(desc, engine(), nullptr);
    slot->arguments.push_back({number, slot->memory.back().get()});
  }
  return slot;
}

void Call::run(std::span<const void* const> addresses) const {
  TORCHTRT_CHECK(addresses.size() == arguments_.size(), addresses.size() << " addresses for " << arguments_.size());
  std::unique_ptr<Slot> slot(spare_.exchange(nullptr));
  if (slot == nullptr) {
    slot = makeSlot();
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    slot->memory[i].set_data_handle(const_cast<void*>(addresses[i]));
  }
  const ThreadScope scope(threads_);
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), slot->stream.get(),
                                                      static_cast<int>(slot->arguments.size()), slot->arguments.data());
  dnnl::error::wrap_c_api(status, "could not execute a primitive");
  Slot* none = nullptr;
  if (spare_.compare_exchange_strong(none, slot.get())) {
    slot.release();
  }
}

namespace {

void reorder(const void* data, const dnnl::memory::desc& from, void* to, const dnnl::memory::desc& layout,
             int threads) {
  dnnl::memory source(from, engine(), const_cast<void*>(data));
  dnnl::memory target(layout, engine(), to);
  dnnl::stream stream(engine());
  const ThreadScope scope(threads);
  dnnl::reorder(source, target).execute(stream, source, target);
}

}  // namespace

PackedConstant packConstant(const void* data, const dnnl::memory::desc& from, const dnnl::memory::desc& to,
                            int threads) {
  PackedConstant packed;
  packed.desc = to;
  packed.data = device::allocateConstant(to.get_size(), "packing weights");
  reorder(data, from, packed.data.get(), to, threads);
  return packed;
}

Reorder::Reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to, int threads) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc desc(engine(), from, engine(), to, attributes);
  scratch_bytes_ = desc.scratchpad_desc().get_size();
  const Call::Arguments arguments = {
      {DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}};
  call_ = std::make_unique<Call>(dnnl::reorder(desc), arguments, threads);
}

void Reorder::run(const void* from, void* to, void* scratch) const {
  const std::array<const void*, 3> addresses = {from, to, scratch};
  call_->run(addresses);
}

bool isPlainLoop(const dnnl::primitive_desc_base& desc) {
  return std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos;
}

void makeGemmCode(const dnnl::primitive_desc_base& desc) {
  if (std::string_view(desc.impl_info_str()).find("gemm") == std::string_view::npos) {
    return;
  }
  static const bool done [[maybe_unused]] = [] {
    constexpr int64_t kSide = 16;  // a single row would take another way
    const std::vector<float> zeros(kSide * kSide);
    std::vector<float> product(kSide * kSide);
    dnnl::sgemm('N', 'N', kSide, kSide, kSide, 1, zeros.data(), kSide, zeros.data(), kSide, 0, product.data(), kSide);
    return true;
  }();
}

void PackedWeights::pack(const void* data, const dnnl::memory::desc& given, const dnnl::memory::desc& layout,
                         int threads) {
  given_ = given;
  tuned_ = std::make_shared<const PackedConstant>(packConstant(data, given, layout, threads));
}

// oneDNN only moves values between layouts of one type. The layouts of its own Winograd are opaque.
bool PackedWeights::restores() const {
  return given_.get_data_type() == dnnl::memory::data_type::f32 &&
         tuned_->desc.get_data_type() == dnnl::memory::data_type::f32 &&
         tuned_->desc.get_format_kind() == dnnl::memory::format_kind::blocked;
}

void PackedWeights::restore(void* to, int threads, const char* what) const {
  try {
    reorder(tuned_->data.get(), tuned_->desc, to, given_, threads);
  } catch (const dnnl::error& error) {
    rethrow(error, what);
  }
}

PackedWeights::Shared PackedWeights::in(const dnnl::memory::desc& layout, int threads, bool& made) const {
  if (layout == tuned_->desc) {
    made = false;
    return tuned_;
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(others_, [](const std::weak_ptr<const PackedConstant>& other) { return other.expired(); });
  for (const std::weak_ptr<const PackedConstant>& other : others_) {
    if (Shared held = other.lock(); held != nullptr && held->desc == layout) {
      made = false;
      return held;
    }
  }
  made = true;
  auto packed = std::make_shared<const PackedConstant>(packConstant(tuned_->data.get(), tuned_->desc, layout, threads));
  others_.push_back(packed);
  return packed;
}

void applyRows(const ActivationRows& rows, DType dtype, void* values, int64_t count, int threads) {
  constexpr int64_t kGrain = 16384, kPiece = 2048;
  parallelFor(threads, 0, count, kGrain, [&](int64_t begin, int64_t end) {
    if (dtype == DType::kFloat32) {
      float* const singles = static_cast<float*>(values) + begin;
      rows(singles, singles, end - begin);
      return;
    }
    auto* const halves = static_cast<uint16_t*>(values);
    WideRow<float, uint16_t> wide(halfRows(dtype), kPiece);
    for (int64_t first = begin; first < end; first += kPiece) {
      const int64_t piece = std::min(kPiece, end - first);
      wide.run(halves + first, halves + first, piece, [&](const float* in, float* out) { rows(in, out, piece); });
    }
  });
}

void rethrow(const dnnl::error& error, const char* what) {
  if (error.status == dnnl_out_of_memory) {
    throw EngineError(ErrorCode::kOutOfMemory, std::string(what) + ": oneDNN found no memory");
  }
  throw InternalError(std::string(what) + ": oneDNN says '" + error.what() + "'");
}

FusedCall::FusedCall(dnnl::primitive primitive, const dnnl::primitive_desc_base& desc, const dnnl::memory::desc* bias,
                     const dnnl::memory::desc* residual, Fusion fusion, int threads)
    : has_bias_(bias != nullptr), has_residual_(residual != nullptr), fusion_(std::move(fusion)) {
  Call::Arguments arguments = {{DNNL_ARG_SRC, desc.src_desc(0)},
                               {DNNL_ARG_WEIGHTS, desc.weights_desc(0)},
                               {DNNL_ARG_DST, desc.dst_desc(0)},
                               {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}};
  if (has_bias_) {
    arguments.emplace_back(DNNL_ARG_BIAS, *bias);
  }
  int post_op = 0;
  if (fusion_.scale) {
    arguments.emplace_back(postOpArgument(post_op++), fusion_.scale->desc());
    if (fusion_.scale->has_shift) {
      arguments.emplace_back(postOpArgument(post_op++), fusion_.scale->desc());
    }
  }
  if (has_residual_) {
    arguments.emplace_back(postOpArgument(post_op), *residual);
  }
  if (fusion_.slope_argument != 0) {
    arguments.emplace_back(fusion_.slope_argument, describe({1}, {1}));
  }
  call_ = std::make_unique<Call>(std::move(primitive), arguments, threads);
}

void FusedCall::run(const Addresses& addresses) const {
  std::array<const void*, 9> list = {addresses.source, addresses.weights, addresses.target, addresses.scratch};
  size_t count = 4;
  if (has_bias_) {
    list[count++] = addresses.bias;
  }
  if (fusion_.scale) {
    list[count++] = addresses.scale;
    if (fusion_.scale->has_shift) {
      list[count++] = addresses.bias;
    }
  }
  if (has_residual_) {
    list[count++] = addresses.residual;
  }
  if (fusion_.slope_argument != 0) {
    list[count++] = &fusion_.slope;
  }
  call_->run({list.data(), count});
}

}  // namespace torchtrt::kernels::onednn

#endif  // TORCHTRT_NO_ONEDNN
