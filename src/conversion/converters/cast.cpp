#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

// Device, layout and memory format are the engine's business; what matters is the dtype, at this position, None for
// none.
template <size_t position>
Tensor& toType(Call& call) {
  Tensor& x = call.tensor(0);
  return call.cast(x, call.dtype(position, x.getType()));
}

Tensor& likeOther(Call& call) {
  return call.cast(call.tensor(0), call.tensor(1).getType());
}

template <DType dtype>
Tensor& toFixed(Call& call) {
  return call.cast(call.tensor(0), dtype);
}

}  // namespace

void addCasts(NodeConverterRegistry& registry) {
  registry.add(
      "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
      "memory_format=None) -> Tensor(a)",
      one(toType<1>));
  registry.add(
      "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)",
      one(toType<2>));
  registry.add(
      "aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool non_blocking=False, bool copy=False) "
      "-> Tensor(b|a)",
      one(toType<2>));
  registry.add(
      "aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
      one(toType<1>));
  registry.add(
      "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
      one(toType<1>));
  registry.add(
      "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
      one(toType<1>));
  registry.add(
      "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
      "memory_format=None) -> Tensor(a)",
      one(likeOther));
  registry.add("aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)",
               one(toType<1>));
  registry.add("aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
               one(firstArgument));
  registry.add("aten::type_as(Tensor self, Tensor other) -> Tensor", one(likeOther));
  registry.add("aten::cpu(Tensor(a) self) -> Tensor(b|a)", one(firstArgument));
  registry.add("aten::cuda(Tensor(a) self) -> Tensor(b|a)", one(firstArgument));
  registry.add("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", one(firstArgument));
  registry.add("aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kFloat32>));
  registry.add("aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kFloat64>));
  registry.add("aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kFloat16>));
  registry.add("aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kInt8>));
  registry.add("aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kInt16>));
  registry.add("aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kInt32>));
  registry.add("aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kInt64>));
  registry.add("aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", one(toFixed<DType::kUInt8>));
}

}  // namespace torchtrt::conversion::converters
