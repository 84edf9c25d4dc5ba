// Kinds that move elements: shuffle, slice, expand, concatenation, gather, scatter, padding.
#pragma once

#include <algorithm>

#include "base/layer_rules/rule.h"

namespace torchtrt::layer_rules {

template <typename D>
class MovingRules {
 public:
  using Layer = LayerView<D>;
  using Dims = typename Layer::Dims;
  using Types = typename Layer::Types;

  static std::vector<Kind<D>> kinds() {
    const Rule<D> indices = {"indices", "the indices are int32 or int64", checkIndices};
    const Rule<D> axis_of_data = {"axis", "the axis is one of the data's", axisInRange};
    return {
        {"shuffle",
         {
             {"first-permutation", "first_permutation is empty or a permutation of the input's axes",
              [](const Layer& layer) { return checkPermutation(layer, "first_permutation", layer.rank(0)); }},
             {"reshape", "0 copies an existing dim, at most one -1 is inferred, and the number of elements stays",
              [](const Layer& layer) { return reshaped(layer).problem; }},
             {"second-permutation", "second_permutation is empty or a permutation of the reshaped axes",
              [](const Layer& layer) {
                return checkPermutation(layer, "second_permutation", reshaped(layer).dims.rank());
              }},
         },
         shuffle},
        {"slice",
         {
             {"lists", "start, size and stride have one entry per axis", checkSliceLists},
             {"stride", "no stride is 0", checkSliceStride},
             {"bounds", "all elements taken are the input's", checkSliceBounds},
         },
         [](const Layer& layer) {
           return Types{{layer.dtype(0), layer.dimsOf("size")}};
         }},
        {"expand",
         {{"dims", "no dim is negative, and the input broadcasts to dims", checkExpand}},
         [](const Layer& layer) {
           return Types{{layer.dtype(0), layer.dimsOf("dims")}};
         }},
        {"concatenation",
         {
             {"one-dtype", "all operands have one dtype", oneDType},
             {"axis", "the axis is one of the operands'", axisInRange},
             {"dims", "the operands have equal dims except along the axis", checkParts},
         },
         concatenation},
        {"gather",
         {
             indices,
             axis_of_data,
             {"element", "in mode element the indices have the data's rank, and no larger dims except along the axis",
              [](const Layer& layer) { return checkElementMode(layer, "its indices are larger than its data"); }},
         },
         gather},
        {"scatter",
         {
             indices,
             {"update-dtype", "the updates have the data's dtype", checkUpdateDType},
             axis_of_data,
             {"reduce", "only numeric data is folded", checkScatterReduce},
             {"updates", "indices and updates have the dims that the mode asks for", checkUpdates},
         },
         sameAsInput},
        {"padding",
         {
             {"lists", "pre and post have one entry per axis", checkPaddingLists},
             {"mode",
              "reflect, replicate and circular add no more than the dim can give, and the first two do not crop",
              checkPaddingMode},
             {"output", "cropping leaves at least nothing", checkPaddedSize},
         },
         [](const Layer& layer) {
           return Types{{layer.dtype(0), padded(layer)}};
         }},
    };
  }

 private:
  // ---- shuffle ----

  static Problem checkPermutation(const Layer& layer, const char* name, int rank) {
    const std::vector<int64_t>& permutation = layer.ints(name);
    std::vector<int64_t> sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    const bool counts = sorted.empty() || sorted.size() == static_cast<size_t>(rank);
    bool holds = counts;
    for (size_t i = 0; i < sorted.size(); ++i) {
      holds &= sorted[i] == static_cast<int64_t>(i);
    }
    return holds ? Problem()
                 : broken(counts ? "a permutation is none" : "a permutation has a wrong number of entries",
                          "a permutation of " + std::to_string(rank) + " axes",
                          std::string(name) + " " + textOf(permutation));
  }

  // An empty permutation is the identity.
  static Dims permuted(const Dims& dims, const std::vector<int64_t>& permutation) {
    if (permutation.empty()) {
      return dims;
    }
    std::vector<D> result;
    result.reserve(permutation.size());
    for (const int64_t axis : permutation) {
      result.push_back(dims[static_cast<int>(axis)]);
    }
    return Dims(std::move(result));
  }

  struct Reshape {
    Dims dims;
    Problem problem;
  };

  // Between the permutations.
  static Reshape reshaped(const Layer& layer) {
    const Dims input = permuted(layer.dims(0), layer.ints("first_permutation"));
    const Dims* const wanted = layer.findDims("reshape_dims");
    if (wanted == nullptr) {
      return {input, {}};
    }
    const auto refused = [&](const std::string& expected, const std::string& got) {
      return Reshape{*wanted,
                     broken("it reshapes " + input.toString() + " to another number of elements, " + wanted->toString(),
                            expected, got)};
    };
    std::vector<D> dims = wanted->vec();
    int inferred = -1;
    D known = 1;
    for (int i = 0; i < wanted->rank(); ++i) {
      D& dim = dims[static_cast<size_t>(i)];
      if (kIsSymbolic<D> && dim == D(-1)) {  // a plan has the dims that -1 and 0 stood for
        if (inferred >= 0) {
          return refused("at most one -1", "reshape_dims " + wanted->toString());
        }
        inferred = i;
        continue;
      }
      if (kIsSymbolic<D> && dim == D(0)) {
        if (i >= input.rank()) {
          return refused("0 only where the input " + input.toString() + " has a dim", wanted->toString());
        }
        dim = input[i];
      }
      if (layer.most(dim) < 0) {
        return refused("dims of at least 0 (or one -1)", "reshape_dims " + wanted->toString());
      }
      known = known * dim;
    }
    const D numel = input.numel();
    if (inferred >= 0) {
      if (known == D(0)) {
        return refused("one meaning of -1", wanted->toString() + ", whose other dims have no elements");
      }
      if constexpr (kIsSymbolic<D>) {
        const D rest = D::mod(numel, known);
        if (rest.isConstant() && rest.constant() != 0) {
          return refused("dims that divide the " + numel.toString() + " elements of " + input.toString(),
                         wanted->toString());
        }
      }
      dims[static_cast<size_t>(inferred)] = D::floorDiv(numel, known);
    } else if (!layer.unify(numel, known)) {
      return refused("dims of " + numel.toString() + " elements as " + input.toString() + " has",
                     wanted->toString() + " of " + known.toString());
    }
    return {Dims(std::move(dims)), {}};
  }

  static Types shuffle(const Layer& layer) {
    return {{layer.dtype(0), permuted(reshaped(layer).dims, layer.ints("second_permutation"))}};
  }

  // ---- slice, expand, concatenation ----

  static Problem checkSliceLists(const Layer& layer) {
    const int start = layer.dimsOf("start").rank();
    const int size = layer.dimsOf("size").rank();
    const auto stride = static_cast<int>(layer.ints("stride").size());
    return start == layer.rank(0) && size == start && stride == start
               ? Problem()
               : broken("it has a wrong number of entries",
                        "one start, size and stride per axis of " + operandText(layer, 0),
                        std::to_string(start) + ", " + std::to_string(size) + " and " + std::to_string(stride));
  }

  static Problem checkSliceStride(const Layer& layer) {
    const std::vector<int64_t>& stride = layer.ints("stride");
    return std::find(stride.begin(), stride.end(), 0) == stride.end()
               ? Problem()
               : broken("a stride is 0", "no stride of 0", textOf(stride));
  }

  static Problem checkSliceBounds(const Layer& layer) {
    const Dims& start = layer.dimsOf("start");
    const Dims& size = layer.dimsOf("size");
    for (int i = 0; i < layer.rank(0); ++i) {
      const D last = start[i] + (size[i] - 1) * D(layer.ints("stride")[static_cast<size_t>(i)]);
      const auto outside = [&](const D& index) {
        return layer.most(index) < 0 || layer.most(layer.dims(0)[i] - index - 1) < 0;
      };
      const bool is_negative = layer.most(size[i]) < 0;
      const bool is_empty = layer.least(size[i]) <= 0;
      if (is_negative || (!is_empty && (outside(start[i]) || outside(last)))) {
        return broken(
            is_negative ? "a size is negative" : "it reaches outside of its input",
            "elements of axis " + std::to_string(i) + " of " + operandText(layer, 0),
            "start " + start.toString() + ", size " + size.toString() + ", stride " + textOf(layer.ints("stride")));
      }
    }
    return {};
  }

  static Problem checkExpand(const Layer& layer) {
    const Problem negative = notNegative(layer, "dims");
    const Dims& dims = layer.dimsOf("dims");
    return negative || layer.broadcastsTo(layer.dims(0), dims)
               ? negative
               : broken(cannotBroadcast(layer.rank(0), dims.rank()),
                        "dims that " + operandText(layer, 0) + " broadcasts to", dims.toString());
  }

  static Problem checkParts(const Layer& layer) {
    const int axis = layer.axis();
    Dims expected = layer.dims(0);
    for (int i = 1; i < layer.operands(); ++i) {
      Dims part = layer.dims(i);
      if (part.rank() == expected.rank()) {
        part[axis] = expected[axis];
      }
      const std::optional<Dims> both = layer.unify(expected, part);
      if (!both) {
        return broken(
            part.rank() == expected.rank() ? "its operands differ beside the axis" : "its operands differ in rank",
            "dims " + layer.dims(0).toString() + " except along axis " + std::to_string(axis), operandText(layer, i));
      }
      expected = *both;
    }
    return {};
  }

  static Types concatenation(const Layer& layer) {
    const int axis = layer.axis();
    Dims dims = layer.dims(0);
    D total = dims[axis];
    for (int i = 1; i < layer.operands(); ++i) {
      total = total + layer.dims(i)[axis];
      for (int d = 0; d < dims.rank(); ++d) {
        if (d != axis) {
          dims[d] = *layer.unify(dims[d], layer.dims(i)[d]);
        }
      }
    }
    dims[axis] = total;
    return {{layer.dtype(0), dims}};
  }

  // ---- gather and scatter ----

  static Problem checkIndices(const Layer& layer) {
    const DType dtype = layer.dtype(1);
    return dtype == DType::kInt32 || dtype == DType::kInt64
               ? Problem()
               : broken("its indices are not int32 or int64", "int32 or int64 indices", operandText(layer, 1));
  }

  static Problem checkElementMode(const Layer& layer, const char* damage) {
    if (layer.mode() != "element") {
      return {};
    }
    const bool has_rank = layer.rank(1) == layer.rank(0);
    bool holds = has_rank;
    for (int i = 0; holds && i < layer.rank(0); ++i) {
      holds = i == layer.axis() || layer.most(layer.dims(0)[i] - layer.dims(1)[i]) >= 0;
    }
    return holds ? Problem()
                 : broken(has_rank ? damage : "data and indices differ in rank",
                          "indices within " + operandText(layer, 0) + " except along the axis", operandText(layer, 1));
  }

  static Types gather(const Layer& layer) {
    const Dims& data = layer.dims(0);
    const Dims& indices = layer.dims(1);
    if (layer.mode() == "element") {
      return {{layer.dtype(0), indices}};
    }
    std::vector<D> dims(data.begin(), data.begin() + layer.axis());
    dims.insert(dims.end(), indices.begin(), indices.end());
    dims.insert(dims.end(), data.begin() + layer.axis() + 1, data.end());
    return {{layer.dtype(0), Dims(std::move(dims))}};
  }

  static Problem checkUpdateDType(const Layer& layer) {
    return layer.dtype(2) == layer.dtype(0)
               ? Problem()
               : broken("its updates are not of the data's element type",
                        "updates of the data's dtype " + std::string(toString(layer.dtype(0))), operandText(layer, 2));
  }

  static Problem checkScatterReduce(const Layer& layer) {
    return layer.attributes().getString("reduce") == "none" ? Problem() : numericInput(layer);
  }

  static Problem checkUpdates(const Layer& layer) {
    const char* const too_large = "its updates do not fit into its data";
    const char* const unlike_indices = "its indices have not the updates' dimensions";
    if (layer.mode() == "element") {
      const Problem problem = checkElementMode(layer, too_large);
      return problem ? problem : sameDims(layer, 2, layer.dims(1), unlike_indices);
    }
    if (layer.rank(1) != 1) {
      return broken(unlike_indices, "indices of one dim", operandText(layer, 1));
    }
    Dims expected = layer.dims(0);
    expected[layer.axis()] = layer.dims(1)[0];
    if (layer.rank(2) != layer.rank(0)) {
      return sameDims(layer, 2, expected, "data and updates differ in rank");
    }
    Dims along_axis = layer.dims(2);
    along_axis[layer.axis()] = layer.dims(1)[0];
    return sameDims(layer, 2, expected, layer.unify(along_axis, expected) ? unlike_indices : too_large);
  }

  // ---- padding ----

  static Problem checkPaddingLists(const Layer& layer) {
    for (const char* name : {"pre", "post"}) {
      const Dims& padding = layer.dimsOf(name);
      if (padding.rank() != layer.rank(0)) {
        return broken("it has not one entry per dimension", "one entry per axis of " + operandText(layer, 0),
                      std::string(name) + " " + padding.toString());
      }
    }
    return {};
  }

  static Problem checkPaddingMode(const Layer& layer) {
    const std::string& mode = layer.mode();
    for (int i = 0; mode != "constant" && i < layer.rank(0); ++i) {
      const D& dim = layer.dims(0)[i];
      for (const char* name : {"pre", "post"}) {
        const D& padding = layer.dimsOf(name)[i];
        // reflect leaves out the border, so it has one element less to give; replicate repeats the border without end.
        const D room = mode == "circular" ? dim - padding : dim - padding - 1;
        const bool fits = padding == D(0) || (mode == "replicate" ? layer.most(dim) >= 1 : layer.most(room) >= 0);
        const bool crops = layer.most(padding) < 0 && mode != "circular";
        if (crops || !fits) {
          const std::string damage = crops                 ? "only constant and circular padding can crop"
                                     : mode == "replicate" ? "there is nothing to replicate"
                                     : mode == "reflect"   ? "reflected padding is wider than the input"
                                                           : "circular padding is wider than the input";
          return broken(damage,
                        mode + " padding " + (mode == "circular" ? "of at most" : "between 0 and") + " what dim " +
                            dim.toString() + " can give",
                        std::string(name) + " " + layer.dimsOf(name).toString());
        }
      }
    }
    return {};
  }

  static Dims padded(const Layer& layer) {
    Dims dims = layer.dims(0);
    for (int i = 0; i < dims.rank(); ++i) {
      dims[i] = dims[i] + layer.dimsOf("pre")[i] + layer.dimsOf("post")[i];
    }
    return dims;
  }

  static Problem checkPaddedSize(const Layer& layer) {
    const Dims output = padded(layer);
    for (const D& dim : output) {
      if (layer.most(dim) < 0) {
        return broken(kImpossibleSize, "at least 0 elements left in every dim", "output dims " + output.toString());
      }
    }
    return {};
  }
};

}  // namespace torchtrt::layer_rules
