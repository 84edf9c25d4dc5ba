// The differences between the releases of libtorch that torchtrt builds with. Code of the TorchScript side uses these
// names and asks for no release itself. A name is asked for where the headers show if it is there, since only some of
// the releases are tried. The result of an operator is asked of its kernel, past the dispatcher and its modes.
#pragma once

#include <dlfcn.h>

#include <type_traits>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clamp_min_cpu_dispatch.h>
#include <ATen/ops/fake_quantize_per_tensor_affine_cachemask_cpu_dispatch.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/softshrink_cpu_dispatch.h>
#include <ATen/ops/take_along_dim_compositeimplicitautograd_dispatch.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

namespace torchtrt::libtorch {

// True for a tensor whose dimensions have names. Newer releases have no such tensors.
template <typename Tensor = at::Tensor>
bool hasNames(const Tensor& tensor) {
  if constexpr (requires { tensor.has_names(); }) {
    return tensor.has_names();
  } else {
    return false;
  }
}

// True if Python holds the tensor, or has held it. Older releases tell by the interpreter; newer ones have one
// interpreter alone.
template <typename Tensor = at::Tensor>
bool isKnownToPython(const Tensor& tensor) {
  auto* const slot = tensor.unsafeGetTensorImpl()->pyobj_slot();
  if constexpr (requires { slot->pyobj_interpreter(); }) {
    return slot->pyobj_interpreter() != nullptr;
  } else {
    return slot->load_pyobj() != nullptr;
  }
}

// The stream of a device guard as the vendor's library knows it. Older releases tell it for CUDA alone, by a method of
// a class that holds a c10::Stream and nothing else; its library is loaded wherever such a stream exists.
template <typename Guard>
void* nativeHandle(const Guard& guard, const c10::Stream& stream) {
  if constexpr (requires { guard.getStreamNativeHandle(stream); }) {
    return guard.getStreamNativeHandle(stream);
  } else {
    using Method = void* (*)(const c10::Stream* self);
    static constexpr const char* kMethod = "_ZNK3c104cuda10CUDAStream6streamEv";
    void* const library =
        stream.device_type() == c10::kCUDA ? dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    const auto method = library == nullptr ? nullptr : reinterpret_cast<Method>(dlsym(library, kMethod));
    TORCH_CHECK(method != nullptr, "this release of torch does not tell the stream of the device ", stream.device());
    return method(&stream);
  }
}

// True if this process lets PyTorch round the float32 factors of convolutions, or else of matrix products, to TF32 on
// NVIDIA's GPUs. Newer releases have a precision for each kind of operator, whose older switches raise where the two
// disagree. Some releases name backends and operators by text.
template <typename Context = at::Context>
bool allowsTf32(bool in_convolutions) {
  const Context& context = at::globalContext();
  if constexpr (requires { &Context::float32Precision; }) {
    const auto ask = [&]<typename Precision, typename Backend, typename Op>(Precision (Context::*method)(Backend, Op)
                                                                                const) {
      if constexpr (std::is_enum_v<Op>) {
        return (context.*method)(Backend::CUDA, in_convolutions ? Op::CONV : Op::MATMUL) == Precision::TF32;
      } else {
        return (context.*method)("cuda", in_convolutions ? "conv" : "matmul") == "tf32";
      }
    };
    return ask(&Context::float32Precision);
  } else {
    return in_convolutions ? context.allowTF32CuDNN() : context.allowTF32CuBLAS();
  }
}

// True if clamp takes the bounds of integers as they are. Older releases convert them to the type of the tensor first,
// where -1 is 255 to uint8 and others are errors; newer ones refuse those alone that leave no value.
inline bool clampTakesAnyBound() {
  static const bool takes = [] {
    uint8_t zero = 0;
    return at::cpu::clamp_min(at::from_blob(&zero, {1}, at::kByte), -1).const_data_ptr<uint8_t>()[0] == 0;
  }();
  return takes;
}

// True if softshrink rounds its limit to 16-bit types, as hardshrink does in every release.
inline bool softshrinkRoundsItsLimit() {
  static const bool rounds = [] {
    c10::Half limit = 0.3F;
    return at::cpu::softshrink(at::from_blob(&limit, {1}, at::kHalf), 0.3).const_data_ptr<c10::Half>()[0] == 0;
  }();
  return rounds;
}

// True if fake quantization per tensor converts to int64 before it clamps, as per channel in every release: a number
// that int64 cannot hold is then the lowest step. Newer releases clamp the float, so that a huge number is the highest.
inline bool fakeQuantizeGoesByInt64() {
  static const bool goes = [] {
    float huge = 1e30F;
    const auto given = at::cpu::fake_quantize_per_tensor_affine_cachemask(at::from_blob(&huge, {1}, at::kFloat),
                                                                          /*scale=*/1, 0, 0, 1);
    return std::get<0>(given).const_data_ptr<float>()[0] == 0;
  }();
  return goes;
}

// True if fake quantization per tensor multiplies by the scale in float32 whatever the dtype, though it divides in the
// tensor's. Older releases multiply float64 in float64, as fake quantization per channel does in every one.
inline bool fakeQuantizeScalesInFloat() {
  static const bool scales = [] {
    double value = 0.3;
    const auto given = at::cpu::fake_quantize_per_tensor_affine_cachemask(at::from_blob(&value, {1}, at::kDouble),
                                                                          /*scale=*/0.1, 0, 0, 10);
    return std::get<0>(given).const_data_ptr<double>()[0] == static_cast<double>(3 * 0.1F);
  }();
  return scales;
}

// True if take_along_dim counts negative indices from the end. Older releases refuse them, as gather does in every one.
inline bool takeAlongDimTakesNegativeIndices() {
  static const bool takes = [] {
    const c10::impl::ExcludeDispatchKeyGuard no_modes(c10::python_ks);  // it calls other operators
    float value = 0;
    int64_t last = -1;
    try {
      at::compositeimplicitautograd::take_along_dim(at::from_blob(&value, {1}, at::kFloat),
                                                    at::from_blob(&last, {1}, at::kLong), 0);
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  }();
  return takes;
}

}  // namespace torchtrt::libtorch
