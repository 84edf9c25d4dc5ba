// Matrix products by cuBLASLt. Operands that the library cannot read are copied first. Bias, residual and activation
// are its epilogue where that means the same; else sums stay in full precision, and a launch behind finishes them.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cuda/launch/activation.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/ways.h"
#include "cuda/matmul/few_rows.h"
#include "cuda/matmul/lt_product.h"
#include "cuda/matmul/matmul.h"
#include "cuda/matmul/product.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;

constexpr size_t kMostCalls = 16;  // of a layer whose batch is no single one; beyond, copying its operands is faster

// The way to read a matrix column by column. Nothing if neither rows nor columns lie dense.
struct Reading {
  LtMatrix matrix;
  bool is_transposed = false;
};

bool isDense(int64_t step, int64_t count) {
  return step == 1 || count == 1;
}

std::optional<Reading> readingOf(int64_t rows, int64_t columns, const Matrices& at) {
  if (isDense(at.column, columns) && (rows == 1 || at.row >= columns)) {
    return Reading{{columns, rows, rows == 1 ? columns : at.row, 0}, true};
  }
  if (isDense(at.row, rows) && (columns == 1 || at.column >= rows)) {
    return Reading{{rows, columns, columns == 1 ? rows : at.column, 0}, false};
  }
  return std::nullopt;
}

bool repeats(const Ints& dims, const Ints& strides) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 1 && strides[axis] != 0) {
      return false;
    }
  }
  return true;
}

// The epilogue's flag for an activation; 0 for none of them, nothing if it has no such. Its relu makes NaN zero.
std::optional<uint32_t> flagOf(const std::string& activation, DType dtype) {
  if (activation.empty()) {
    return 0;
  }
  if (activation == "gelu_tanh" && sizeOf(dtype) == 2) {  // exact to the 16 bits that are stored
    return lt::kEpilogueGelu;
  }
  return std::nullopt;
}

// One way to compute the layer.
class Attempt {
 public:
  Attempt(const Layer& layer, const ShapeSet& shapes, const CublasLt& api, const LtChoice& choice)
      : layer_(layer),
        api_(api),
        dtype_(shapes.outputs.at(0).dtype),
        sum_dtype_(dtype_ == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32),
        product_(folded(productOf(layer, shapes))),
        launches_(std::make_unique<Launches>(layer.device)) {
    problem_.choice = choice;
    for (const Product::Part part : {Product::kA, Product::kB, Product::kBias, Product::kResidual}) {
      places_[part] = Place::input(layer, part);
    }
    places_[Product::kOut] = Place::output();
  }

  // Writes the output by the library itself. Null where its epilogue cannot do all of the layer.
  std::unique_ptr<Launches> fused() {
    packWhatDoesNotFit();
    problem_.out = dtype_;
    // A launch behind does in place what the epilogue cannot. Rounding does not change relu. Of 16 bits the sum is
    // rounded before any activation, as PyTorch does: sums in float32 would double the traffic.
    const std::string activation = layer_.attributes.getString("activation", "");
    std::optional<uint32_t> flag = flagOf(activation, dtype_);
    const bool in_place = !flag && (activation == "relu" || sizeOf(dtype_) == 2);
    flag = in_place ? 0 : flag;
    if (!flag || !describeOutput(product_.parts[Product::kOut])) {
      return nullptr;
    }
    problem_.activation = *flag;
    if (!describeBias() || !describeResidual() || !multiply()) {
      return nullptr;
    }
    if (in_place) {
      sums_ = product_.parts[Product::kOut];
      sum_dtype_ = dtype_;
      places_[Product::kBias] = places_[Product::kResidual] = {};
      finish(nothing(), nothing(), sums_);
    }
    return std::move(launches_);
  }

  // Writes sums to scratch memory, and has a launch behind that does the rest.
  std::unique_ptr<Launches> inTwoSteps() {
    packWhatDoesNotFit();
    problem_.out = sum_dtype_;
    sums_ = denseParts(product_.rows, product_.columns);
    places_[Product::kOut] = reserve(sum_dtype_, product_.rows, product_.columns);
    describeOutput(sums_);
    const Matrices out = std::exchange(product_.parts[Product::kOut], sums_);
    const Matrices bias = std::exchange(product_.parts[Product::kBias], nothing());
    const Matrices residual = std::exchange(product_.parts[Product::kResidual], nothing());
    if (!multiply()) {
      return nullptr;
    }
    finish(bias, residual, out);
    return std::move(launches_);
  }

 private:
  Matrices nothing() const {
    return {Ints(product_.batch.size(), 0), 0, 0};
  }
  Matrices denseParts(int64_t rows, int64_t columns) const {
    Ints dims = product_.batch;
    dims.insert(dims.end(), {rows, columns});
    Ints strides = kernels::denseStrides(dims);
    strides.resize(product_.batch.size());
    return {strides, columns, 1};
  }
  Place reserve(DType dtype, int64_t rows, int64_t columns) {
    return Place::reserve(*launches_, countOf(product_.batch) * rows * columns, dtype);
  }

  void packWhatDoesNotFit() {
    packUnless(Product::kA, readingOf(product_.rows, product_.depth, product_.parts[Product::kA]).has_value());
    packUnless(Product::kB, readingOf(product_.depth, product_.columns, product_.parts[Product::kB]).has_value());
  }

  // Copies an operand to scratch memory, dense and as often as the batch has it.
  void packUnless(Product::Part part, bool fits) {
    if (fits) {
      return;
    }
    const int64_t rows = part == Product::kA ? product_.rows : product_.depth;
    const int64_t columns = part == Product::kA ? product_.depth : product_.columns;
    const Matrices dense = denseParts(rows, columns);
    const Place place = reserve(dtype_, rows, columns);
    Ints dims = product_.batch;
    dims.insert(dims.end(), {rows, columns});
    addCopy(*launches_, dtype_, dims, {places_[part], stridesOf(product_.parts[part])}, {place, stridesOf(dense)});
    product_.parts[part] = dense;
    places_[part] = place;
  }

  static Ints stridesOf(const Matrices& matrices) {
    Ints strides = matrices.batch;
    strides.insert(strides.end(), {matrices.row, matrices.column});
    return strides;
  }

  // The library writes column by column: rows of the output are columns to it, unless columns lie dense.
  bool describeOutput(const Matrices& at) {
    const std::optional<Reading> reading = readingOf(product_.rows, product_.columns, at);
    if (!reading) {
      return false;
    }
    is_turned_ = reading->is_transposed;
    problem_.d = reading->matrix;
    return true;
  }

  bool describeBias() {
    const Matrices& bias = product_.parts[Product::kBias];
    problem_.adds_bias = layer_.has(Product::kBias);
    const bool repeats_rows = product_.rows == 1 || bias.row == 0;
    return !problem_.adds_bias || (is_turned_ && repeats_rows && isDense(bias.column, product_.columns) &&
                                   repeats(product_.batch, bias.batch));
  }

  bool describeResidual() {
    problem_.adds_c = layer_.has(Product::kResidual);
    if (!problem_.adds_c) {
      return true;
    }
    const std::optional<Reading> reading =
        readingOf(product_.rows, product_.columns, product_.parts[Product::kResidual]);
    if (!reading || reading->is_transposed != is_turned_) {
      return false;
    }
    problem_.c = reading->matrix;
    return true;
  }

  // Adds the calls of the library. False if it has no algorithm, or the batch would take too many of them.
  bool multiply() {
    Layout layout = collapsed(product_.batch, product_.batchStrides());
    if (callsFor(layout) > kMostCalls) {
      packUnless(Product::kA, false);
      packUnless(Product::kB, false);
      layout = collapsed(product_.batch, product_.batchStrides());
      if (callsFor(layout) > kMostCalls) {
        return false;
      }
    }
    const auto inner = std::max_element(layout.dims.begin(), layout.dims.end()) - layout.dims.begin();
    problem_.batches = layout.dims.empty() ? 1 : layout.dims[static_cast<size_t>(inner)];
    describeOperands();
    if (layout.rank() > 0) {
      const auto step = [&](Product::Part part) { return layout.strides[part][static_cast<size_t>(inner)]; };
      (is_turned_ ? problem_.b : problem_.a).batch_step = step(Product::kA);
      (is_turned_ ? problem_.a : problem_.b).batch_step = step(Product::kB);
      problem_.c.batch_step = step(Product::kResidual);
      problem_.d.batch_step = step(Product::kOut);
      layout.dims.erase(layout.dims.begin() + inner);
      for (Ints& strides : layout.strides) {
        strides.erase(strides.begin() + inner);
      }
    }
    if (!layer_.device.isHere()) {
      return true;
    }
    const std::shared_ptr<LtProduct> call = LtProduct::make(layer_.device, api_, problem_);
    if (call == nullptr) {
      return false;
    }
    const int64_t workspace = launches_->reserve(call->workspaceBytes());
    for (int64_t index = 0; index < layout.count(); ++index) {
      addCall(call, layout, index, workspace);
    }
    return true;
  }

  static size_t callsFor(const Layout& layout) {
    return layout.dims.empty()
               ? 1
               : static_cast<size_t>(layout.count() / *std::max_element(layout.dims.begin(), layout.dims.end()));
  }

  // (a b)^T = b^T a^T: what is turned is read the other way round, and in the other order.
  void describeOperands() {
    const Reading a = *readingOf(product_.rows, product_.depth, product_.parts[Product::kA]);
    const Reading b = *readingOf(product_.depth, product_.columns, product_.parts[Product::kB]);
    problem_.in = dtype_;
    problem_.tf32 = layer_.attributes.getBool("tf32", false);
    problem_.a = is_turned_ ? b.matrix : a.matrix;
    problem_.b = is_turned_ ? a.matrix : b.matrix;
    problem_.transpose_a = is_turned_ ? !b.is_transposed : a.is_transposed;
    problem_.transpose_b = is_turned_ ? !a.is_transposed : b.is_transposed;
  }

  void addCall(const std::shared_ptr<LtProduct>& call, const Layout& outer, int64_t index, int64_t workspace) {
    Arguments arguments;
    const auto pass = [&](Product::Part part, DType dtype) {
      int64_t at = 0, rest = index;
      for (size_t axis = outer.dims.size(); axis-- > 0; rest /= outer.dims[axis]) {
        at += rest % outer.dims[axis] * outer.strides[part][axis];
      }
      places_[part].addTo(arguments, at * static_cast<int64_t>(sizeOf(dtype)));
    };
    pass(is_turned_ ? Product::kB : Product::kA, dtype_);
    pass(is_turned_ ? Product::kA : Product::kB, dtype_);
    pass(problem_.adds_c ? Product::kResidual : Product::kOut, problem_.out);
    pass(Product::kOut, problem_.out);
    (problem_.adds_bias ? places_[Product::kBias] : Place()).addTo(arguments);
    arguments.scratch(workspace);
    launches_->add(call, std::move(arguments));
  }

  void finish(const Matrices& bias, const Matrices& residual, const Matrices& out) {
    Finish finish;
    finish.dims = product_.batch;
    finish.dims.insert(finish.dims.end(), {product_.rows, product_.columns});
    finish.sums_dtype = sum_dtype_;
    finish.dtype = dtype_;
    finish.sums = {places_[Product::kOut], stridesOf(sums_)};
    finish.scale = {Place(), Ints(finish.dims.size(), 0)};
    finish.bias = {places_[Product::kBias], stridesOf(bias)};
    finish.residual = {places_[Product::kResidual], stridesOf(residual)};
    finish.out = {Place::output(), stridesOf(out)};
    addFinish(*launches_, layer_, finish);
  }

  const Layer& layer_;
  const CublasLt& api_;
  DType dtype_, sum_dtype_;
  Product product_;
  std::unique_ptr<Launches> launches_;
  std::array<Place, Product::kParts> places_;
  LtProblem problem_;
  bool is_turned_ = false;
  Matrices sums_;
};

// A kernel for up to four rows in chunks, where the product is of one matrix by another. Null where it is none.
std::unique_ptr<kernels::Prepared> prepareOneMatrix(const Layer& layer, const ShapeSet& shapes) {
  constexpr int64_t kMostRows = 4;
  const Product product = folded(productOf(layer, shapes));
  if (!product.batch.empty() || layer.has(Product::kResidual) || product.rows > kMostRows ||
      product.depth % inChunk(sizeOf(shapes.outputs.at(0).dtype)) != 0) {
    return nullptr;
  }
  const Matrices &a = product.parts[Product::kA], &b = product.parts[Product::kB],
                 &bias = product.parts[Product::kBias], &out = product.parts[Product::kOut];
  if (product.rows > 1 && bias.row != 0) {
    return nullptr;
  }
  FewRows few;
  few.dtype = shapes.outputs.at(0).dtype;
  few.rows = product.rows;
  few.columns = product.columns;
  few.depth = product.depth;
  few.x = {Place::input(layer, Product::kA), {a.row, a.column}};
  few.weights = {Place::input(layer, Product::kB), {b.column, b.row}};
  few.bias = {Place::input(layer, Product::kBias), {bias.column}};
  few.out = {Place::output(), {out.row, out.column}};
  few.rounds_first = sizeOf(few.dtype) == 2 && !layer.attributes.getString("activation", "").empty();
  return prepareFewRows(layer, few);
}

// Without a choice, a kernel of this folder for few rows comes first.
std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes, const CublasLt& api,
                                           const std::optional<LtChoice>& choice) {
  if (productOf(layer, shapes).isEmpty()) {
    return prepareTiledMatmul(layer, shapes);
  }
  if (std::unique_ptr<kernels::Prepared> few = choice ? nullptr : prepareOneMatrix(layer, shapes)) {
    return few;
  }
  const auto attempt = [&] { return Attempt(layer, shapes, api, choice.value_or(LtChoice{})); };
  if (std::unique_ptr<Launches> by_library = firstOf(
          layer.device, {[&] { return attempt().fused(); }, [&] { return attempt().inTwoSteps(); }},
          "cuBLASLt has no algorithm for a matrix multiplication of these shapes: the kernel \"tiled\" runs it")) {
    return by_library;
  }
  return prepareTiledMatmul(layer, shapes);
}

kernels::CreateResult create(const kernels::Problem& problem, const std::optional<LtChoice>& choice) {
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype)) {
    return Refusal{"dtype", "cuBLASLt multiplies no " + std::string(toString(dtype)) + " here"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, dtype)) {
    return *refusal;
  }
  Refusal missing;
  const CublasLt* const api = libraryFor(problem, findCublasLt, "cuBLASLt", missing);
  if (api == nullptr) {
    return missing;
  }
  return launched(problem, [api, choice](const Layer& layer, const ShapeSet& shapes) {
    return prepare(layer, shapes, *api, choice);
  });
}

}  // namespace

kernels::CreateResult createCublasLtMatmul(const kernels::Problem& problem) {
  return create(problem, std::nullopt);
}

kernels::CreateResult createUnsplitMatmul(const kernels::Problem& problem) {
  return create(problem, LtChoice{0, false});
}

kernels::CreateResult createSecondMatmul(const kernels::Problem& problem) {
  return create(problem, LtChoice{1, true});
}

kernels::CreateResult createThirdMatmul(const kernels::Problem& problem) {
  return create(problem, LtChoice{2, true});
}

std::optional<Refusal> leaveToTiming(const kernels::Problem&) {
  return Refusal{"slower", "only timing chooses it"};
}

}  // namespace torchtrt::cuda
