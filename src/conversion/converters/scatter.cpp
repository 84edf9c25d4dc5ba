#include "conversion/converters/call.h"
#include "conversion/converters/indexing.h"
#include "conversion/converters/list.h"

// Writing to places that tensors name. A 0-d tensor is a vector of one for the while.

namespace torchtrt::conversion::converters {
namespace {

struct Scatter {
  const char* mode = "element";
  int64_t axis = 0;
  std::string reduce = "none";
  bool include_self = true;
  bool negative = false;  // indices from the end: PyTorch refuses them but in x[i] = y
};

Tensor& scatter(const Call& call, Tensor& data, Tensor& indices, Tensor& updates, const Scatter& settings) {
  return call.add(LayerType::kSCATTER, {&data, &indices, &updates},
                  attributes({{"mode", std::string(settings.mode)},
                              {"axis", settings.axis},
                              {"reduce", settings.reduce},
                              {"include_self", settings.include_self},
                              {"negative", settings.negative}}));
}

Tensor& atLeastVector(const Call& call, Tensor& x) {
  return x.rank() == 0 ? call.reshape(x, {1}) : x;
}

// Adding bools is "or", which bytes do until they are bools again.
Tensor& reduceAs(const Call& call, Tensor& data, Tensor& indices, Tensor& updates, const Scatter& settings) {
  if (data.getType() != DType::kBool || settings.reduce == "none") {
    return scatter(call, data, indices, updates, settings);
  }
  Scatter any = settings;
  any.reduce = settings.reduce == "sum" || settings.reduce == "max" ? "max" : "min";
  Tensor& bytes = scatter(call, call.cast(data, DType::kUInt8), indices, call.cast(updates, DType::kUInt8), any);
  return call.cast(bytes, DType::kBool);
}

// The sum by the number of summands; what nothing is added to keeps its value.
Tensor& meanOf(const Call& call, Tensor& data, Tensor& indices, Tensor& updates, Scatter settings) {
  const DType dtype = data.getType();
  settings.reduce = "sum";
  Tensor& sums = scatter(call, data, indices, updates, settings);
  Tensor& counts = scatter(call, call.fill(1, data.getDimensions(), dtype), indices,
                           call.fill(1, updates.getDimensions(), dtype), settings);
  return call.elementwise(isFloating(dtype) ? "div" : "floor_div", sums, counts);
}

std::string reductionOf(const Call& call, const std::string& name) {
  if (name == "add" || name == "sum") {
    return "sum";
  }
  if (name == "multiply" || name == "prod") {
    return "prod";
  }
  if (name == "amax" || name == "amin") {
    return name.substr(1);
  }
  if (name == "mean" || name == "none") {
    return name;
  }
  call.refuse("argument", "unknown reduction '" + name + "'");
}

// The part of the updates that the indices name.
Tensor& cutTo(const Call& call, Tensor& updates, const Dims& dims) {
  Tensor* result = &updates;
  for (int i = 0; i < updates.rank(); ++i) {
    if (!(updates.getDimensions()[i] == dims[i])) {
      result = &call.slice(*result, i, 0, dims[i]);
    }
  }
  return *result;
}

// Operands 0 to 2 are self, dim, index; updates are a tensor or a number for every index.
Tensor& scatterElements(const Call& call, const std::string& reduce, bool include_self) {
  Tensor& self = call.tensor(0);
  Tensor& data = atLeastVector(call, self);
  Tensor& indices = asIndices(call, atLeastVector(call, call.tensor(2)));
  const Operand given = call.operand(3);
  Tensor& updates =
      given.tensor && !given.is_wrapped_number
          ? cutTo(call, call.cast(atLeastVector(call, *given.tensor), self.getType()), indices.getDimensions())
          : call.fill(call.number(3), indices.getDimensions(), self.getType());
  const Scatter settings = {"element", call.axis(1, self.rank()), reduce, include_self};
  Tensor& result = reduce == "mean" ? meanOf(call, data, indices, updates, settings)
                                    : reduceAs(call, data, indices, updates, settings);
  return call.reshape(result, self.getDimensions());
}

// self, dim, index, src or value
Tensor& scatterPlain(Call& call) {
  return scatterElements(call, "none", true);
}

// self, dim, index, src
Tensor& scatterAdd(Call& call) {
  return scatterElements(call, "sum", true);
}

// self, dim, index, src or value, reduce, [include_self]
Tensor& scatterReduce(Call& call) {
  return scatterElements(call, reductionOf(call, call.text(4)), call.count() < 6 || call.flag(5));
}

// self, dim, index, source: whole slices along the axis.
Tensor& scatterSlices(const Call& call, const std::string& reduce, bool include_self, const at::Scalar& alpha) {
  Tensor& self = call.tensor(0);
  Tensor& data = atLeastVector(call, self);
  Tensor& indices = asIndices(call, atLeastVector(call, call.tensor(2)));
  Tensor* updates = &call.cast(atLeastVector(call, call.tensor(3)), self.getType());
  if (!alpha.equal(1)) {
    updates = &call.elementwise("prod", *updates, call.constant(alpha, self.getType()));
  }
  const Scatter settings = {"default", call.axis(1, self.rank()), reduce, include_self};
  Tensor& result = reduce == "mean" ? meanOf(call, data, indices, *updates, settings)
                                    : reduceAs(call, data, indices, *updates, settings);
  return call.reshape(result, self.getDimensions());
}

Tensor& indexCopy(Call& call) {
  return scatterSlices(call, "none", true, 1);
}

// ..., alpha
Tensor& indexAdd(Call& call) {
  return scatterSlices(call, "sum", true, call.number(4));
}

// ..., reduce, include_self
Tensor& indexReduce(Call& call) {
  return scatterSlices(call, reductionOf(call, call.text(4)), call.flag(5), 1);
}

// self[mask] = value, where one value (or one for every slice behind the mask) goes to all places.
Tensor& putWhereTrue(const Call& call, const MaskIndex& masked, Tensor& values, bool accumulate) {
  Tensor& self = call.tensor(0);
  const int behind = self.rank() - static_cast<int>(masked.axis) - masked.mask->rank();
  const bool one_for_all = values.rank() <= behind || values.getDimensions().numel() == Dim(1);
  if (!one_for_all) {
    call.refuse("data-dependent", "how many values the mask takes depends on its values");
  }
  std::vector<Dim> dims = masked.mask->getDimensions().vec();
  dims.insert(dims.end(), static_cast<size_t>(behind), Dim(1));
  Tensor& condition = call.reshape(*masked.mask, Dims(dims));
  Tensor& value = values.rank() <= behind ? values : call.reshape(values, {});
  if (!accumulate) {
    return call.add(LayerType::kSELECT, {&condition, &value, &self});
  }
  Tensor& added = call.add(LayerType::kSELECT, {&condition, &value, &call.constant(0, self.getType())});
  return call.elementwise(self.getType() == DType::kBool ? "or" : "sum", self, added);
}

// One index, of one element or a vector of them: slices are written along its axis, where they lie.
Tensor& putAlongAxis(const Call& call, Tensor& values, const IndexedAxes& indexed) {
  Tensor& self = call.tensor(0);
  Tensor& index = *indexed.indices.front();
  const auto axis = static_cast<std::ptrdiff_t>(indexed.axes.front());
  std::vector<Dim> read = self.getDimensions().vec(), written = read;
  read.erase(read.begin() + axis);
  read.insert(read.begin() + axis, index.getDimensions().begin(), index.getDimensions().end());
  written[static_cast<size_t>(axis)] = index.getDimensions().numel();
  Tensor& updates = call.reshape(call.expand(values, Dims(read)), Dims(std::move(written)));
  const Scatter settings = {"default", indexed.axes.front(), call.flag(3) ? "sum" : "none", true, true};
  return reduceAs(call, self, atLeastVector(call, index), updates, settings);
}

// self, indices, values, accumulate: the indexed axes come to the front and become one, along which slices are written.
Tensor& indexPut(Call& call) {
  Tensor& self = call.tensor(0);
  Tensor& values = call.cast(call.tensor(2), self.getType());
  if (const auto masked = maskIndex(call)) {
    return putWhereTrue(call, *masked, values, call.flag(3));
  }
  const IndexedAxes indexed = indexedAxes(call);
  if (indexed.axes.empty()) {
    return call.expand(values, self.getDimensions());
  }
  if (indexed.axes.size() == 1 && indexed.indices.front()->rank() <= 1) {
    return putAlongAxis(call, values, indexed);
  }
  Tensor& positions = flatIndex(call, self, indexed);
  const FrontedAxes fronted = bringToFront(call, self, indexed.axes);
  const Dim count = positions.getDimensions().numel();
  std::vector<Dim> slice(fronted.merged->getDimensions().begin() + 1, fronted.merged->getDimensions().end());
  // The values are broadcast to what reading these places gives, where the indices' dims stand first or amid.
  const std::vector<Dim> index_dims = positions.getDimensions().vec();
  const auto amid = static_cast<std::ptrdiff_t>(areNeighbours(indexed.axes) ? indexed.axes.front() : 0);
  std::vector<Dim> read = slice;
  read.insert(read.begin() + amid, index_dims.begin(), index_dims.end());
  std::vector<int64_t> to_front;
  for (size_t i = 0; i < index_dims.size(); ++i) {
    to_front.push_back(amid + static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < read.size(); ++i) {
    const bool is_index = i >= static_cast<size_t>(amid) && i < static_cast<size_t>(amid) + index_dims.size();
    if (!is_index) {
      to_front.push_back(static_cast<int64_t>(i));
    }
  }
  slice.insert(slice.begin(), count);
  Tensor& updates = call.reshape(call.permute(call.expand(values, Dims(read)), to_front), Dims(slice));
  const Scatter settings = {"default", 0, call.flag(3) ? "sum" : "none", true, true};
  Tensor& written = reduceAs(call, *fronted.merged, call.reshape(positions, Dims{count}), updates, settings);
  return call.permute(call.reshape(written, fronted.dims), fronted.back);
}

}  // namespace

void addScatters(NodeConverterRegistry& registry) {
  registry.add("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", one(scatterPlain));
  registry.add("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", one(scatterPlain));
  registry.add("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
               one(scatterReduce));
  registry.add("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
               one(scatterReduce));
  registry.add("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", one(scatterAdd));
  registry.add(
      "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
      "-> Tensor",
      one(scatterReduce));
  registry.add("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", one(indexCopy));
  registry.add("aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
               one(indexAdd));
  registry.add(
      "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
      "Tensor",
      one(indexReduce));
  registry.add("aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
               one(indexPut));
  registry.add(
      "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
      one(indexPut));
  registry.add(
      "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
      one(indexPut));
}

}  // namespace torchtrt::conversion::converters
