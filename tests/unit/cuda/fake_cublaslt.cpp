#include "cuda/fake_cublaslt.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "cpu/storage/convert.h"
#include "cuda/emulated_graphs.h"

namespace torchtrt::cuda::testing {

namespace {

constexpr lt::Status kInvalid = 7, kNotSupported = 15;
constexpr size_t kWorkspace = 192;  // bytes that every product asks for, and writes

struct Operation {
  int compute = 0, scale = 0;
  int32_t transpose_a = 0, transpose_b = 0;
  uint32_t epilogue = lt::kEpilogueNone;
  const void* bias = nullptr;
};

struct Matrix {
  int type = 0;
  int64_t rows = 0, columns = 0, leading = 0;
  int32_t batches = 1;
  int64_t batch_step = 0;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

template <typename T>
lt::Status put(T& to, const void* value, size_t size) {
  if (size != sizeof(T)) {
    return kInvalid;
  }
  std::memcpy(&to, value, size);
  return lt::kSuccess;
}

lt::Status setOperation(lt::Operation handle, int attribute, const void* value, size_t size) {
  Operation& operation = *static_cast<Operation*>(handle);
  switch (attribute) {
    case lt::kOperationTransposeA:
      return put(operation.transpose_a, value, size);
    case lt::kOperationTransposeB:
      return put(operation.transpose_b, value, size);
    case lt::kOperationEpilogue:
      return put(operation.epilogue, value, size);
    case lt::kOperationBias:
      return put(operation.bias, value, size);
    default:
      return kInvalid;
  }
}

lt::Status setMatrix(lt::Matrix handle, int attribute, const void* value, size_t size) {
  Matrix& matrix = *static_cast<Matrix*>(handle);
  return attribute == lt::kMatrixBatches     ? put(matrix.batches, value, size)
         : attribute == lt::kMatrixBatchStep ? put(matrix.batch_step, value, size)
                                             : kInvalid;
}

lt::Status setPreference(lt::Preference handle, int attribute, const void* value, size_t size) {
  Preference& preference = *static_cast<Preference*>(handle);
  const int operand = attribute - lt::kPreferAlignmentOfA;
  return attribute == lt::kPreferWorkspace    ? put(preference.workspace, value, size)
         : attribute == lt::kPreferReductions ? put(preference.reductions, value, size)
         : operand >= 0 && operand < 4        ? put(preference.alignment[operand], value, size)
                                              : kInvalid;
}

DType dtypeOf(int type) {
  return type == lt::kFloat64    ? DType::kFloat64
         : type == lt::kFloat16  ? DType::kFloat16
         : type == lt::kBFloat16 ? DType::kBFloat16
                                 : DType::kFloat32;
}

// True if the library would take these descriptions of a product.
bool isRight(const Operation& operation, const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  const bool is_double = d.type == lt::kFloat64;
  const int64_t rows = operation.transpose_a != 0 ? a.columns : a.rows;
  const int64_t depth = operation.transpose_a != 0 ? a.rows : a.columns;
  const int64_t columns = operation.transpose_b != 0 ? b.rows : b.columns;
  const bool computes_right = operation.compute == (is_double ? lt::kComputeFloat64 : lt::kComputeFloat32) ||
                              (operation.compute == lt::kComputeTf32 && a.type == lt::kFloat32);
  bool right = computes_right && operation.scale == (is_double ? lt::kFloat64 : lt::kFloat32) && a.type == b.type &&
               c.type == d.type && (d.type == a.type || d.type == lt::kFloat32) &&
               depth == (operation.transpose_b != 0 ? b.columns : b.rows) && d.rows == rows && d.columns == columns &&
               c.rows == rows && c.columns == columns && (d.batches == 1 || d.batch_step != 0);
  for (const Matrix* const each : {&a, &b, &c, &d}) {
    right = right && each->rows > 0 && each->columns > 0 && each->leading >= each->rows && each->batches == d.batches;
  }
  return right;
}

lt::Status propose(lt::Handle, lt::Operation operation, lt::Matrix a, lt::Matrix b, lt::Matrix c, lt::Matrix d,
                   lt::Preference handle, int asked, lt::Proposal* proposals, int* count) {
  const auto& preference = *static_cast<const Preference*>(handle);
  *count = 0;
  if (!isRight(*static_cast<const Operation*>(operation), *static_cast<const Matrix*>(a),
               *static_cast<const Matrix*>(b), *static_cast<const Matrix*>(c), *static_cast<const Matrix*>(d))) {
    return kInvalid;
  }
  // An algorithm that is not deterministic, or rounds partial sums, is a fault here.
  const bool is_exact = (preference.reductions & ~lt::kReduceInWorkspace) == 0;
  const uint32_t epilogue = static_cast<const Operation*>(operation)->epilogue;
  if (asked < 1 || !is_exact || preference.workspace < kWorkspace || fakeCublasLt().proposes_none ||
      (fakeCublasLt().proposes_no_epilogue && epilogue != lt::kEpilogueNone)) {
    return kNotSupported;
  }
  *count = std::min(asked, 2);
  for (int place = 0; place < *count; ++place) {
    proposals[place] = {};
    proposals[place].algorithm.data[0] = *std::min_element(preference.alignment, preference.alignment + 4);
    proposals[place].algorithm.data[1] = static_cast<uint64_t>(place);
    proposals[place].algorithm.data[2] = preference.reductions;
    proposals[place].workspace_bytes = kWorkspace;
  }
  return lt::kSuccess;
}

// One of the two types in which the library takes factors.
double factorOf(const Operation& operation, const void* factor) {
  return operation.scale == lt::kFloat64 ? *static_cast<const double*>(factor)
                                         : static_cast<double>(*static_cast<const float*>(factor));
}

double activated(uint32_t epilogue, double x) {
  if ((epilogue & lt::kEpilogueGelu) != 0) {
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  }
  return x;
}

// An operand's elements in a matrix of the batch.
class View {
 public:
  View(const Matrix& matrix, const void* data)
      : matrix_(matrix), data_(static_cast<const std::byte*>(data)), reader_(dtypeOf(matrix.type)) {}
  double at(int64_t batch, int64_t row, int64_t column) const {
    return reader_.one(data_, batch * matrix_.batch_step + row + column * matrix_.leading);
  }
  int64_t rows() const {
    return matrix_.rows;
  }
  int64_t columns() const {
    return matrix_.columns;
  }

 private:
  const Matrix& matrix_;
  const std::byte* data_;
  kernels::Reader<double> reader_;
};

double roundedToTf32(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  constexpr int kBits = 11;
  return std::ldexp(std::nearbyint(std::ldexp(fraction, kBits)), exponent - kBits);
}

// d = by * a b + by_c * c, and what the epilogue says.
void compute(const Operation& operation, const View& in_a, const View& in_b, const View& in_c, const Matrix& d,
             void* d_data, double by, double by_c) {
  const int64_t depth = operation.transpose_a != 0 ? in_a.rows() : in_a.columns();
  const kernels::Reader<double> read_bias(dtypeOf(d.type));
  const kernels::Writer<double> write(dtypeOf(d.type));
  for (int64_t batch = 0; batch < d.batches; ++batch) {
    for (int64_t column = 0; column < d.columns; ++column) {
      for (int64_t row = 0; row < d.rows; ++row) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const double a = operation.transpose_a != 0 ? in_a.at(batch, k, row) : in_a.at(batch, row, k);
          const double b = operation.transpose_b != 0 ? in_b.at(batch, column, k) : in_b.at(batch, k, column);
          sum += operation.compute == lt::kComputeTf32 ? roundedToTf32(a) * roundedToTf32(b) : a * b;
        }
        sum *= by;
        sum += by_c == 0 ? 0 : by_c * in_c.at(batch, row, column);
        sum += (operation.epilogue & lt::kEpilogueBias) != 0
                   ? read_bias.one(static_cast<const std::byte*>(operation.bias), row)
                   : 0;
        const double value = activated(operation.epilogue, sum);
        write.write(&value, 1, static_cast<std::byte*>(d_data), batch * d.batch_step + row + column * d.leading, 1);
      }
    }
  }
}

void note(const Operation& operation, const Matrix& a, const Matrix& d) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string& calls = fakeCublasLt().calls;
  calls += calls.empty() ? "" : "; ";
  const auto flag = [&](uint32_t bit, const char* name) {
    calls += (operation.epilogue & bit) != 0 ? std::string(name) + " " : "";
  };
  flag(lt::kEpilogueGelu, "gelu");
  flag(lt::kEpilogueBias, "bias");
  calls += operation.compute == lt::kComputeTf32 ? "tf32 " : "";
  calls += std::string(toString(dtypeOf(a.type))) + " " + std::to_string(d.batches) + "x[" + std::to_string(d.rows) +
           "," + std::to_string(operation.transpose_a != 0 ? a.rows : a.columns) + "," + std::to_string(d.columns) +
           "]";
}

lt::Status multiply(lt::Handle, lt::Operation handle, const void* alpha, const void* a_data, lt::Matrix a_handle,
                    const void* b_data, lt::Matrix b_handle, const void* beta, const void* c_data, lt::Matrix c_handle,
                    void* d_data, lt::Matrix d_handle, const lt::Algorithm* algorithm, void* workspace,
                    size_t workspace_bytes, StreamHandle stream) {
  FakeCublasLt& fake = fakeCublasLt();
  if (fake.status_of_multiply != lt::kSuccess) {
    return fake.status_of_multiply;
  }
  const auto& operation = *static_cast<const Operation*>(handle);
  const auto &a = *static_cast<const Matrix*>(a_handle), &b = *static_cast<const Matrix*>(b_handle),
             &c = *static_cast<const Matrix*>(c_handle), &d = *static_cast<const Matrix*>(d_handle);
  fake.alignment = static_cast<uint32_t>(algorithm->data[0]);
  for (const void* const pointer : {a_data, b_data, c_data, static_cast<const void*>(d_data), operation.bias}) {
    if (reinterpret_cast<uintptr_t>(pointer) % fake.alignment != 0) {
      return kInvalid;
    }
  }
  if (!isRight(operation, a, b, c, d) || workspace_bytes != kWorkspace ||
      reinterpret_cast<uintptr_t>(workspace) % 256 != 0) {
    return kInvalid;
  }
  note(operation, a, d);
  fake.calls += algorithm->data[1] == 0 ? "" : " second";
  fake.calls += algorithm->data[2] == 0 ? " unsplit" : "";
  const double factors[] = {factorOf(operation, alpha), factorOf(operation, beta)};
  const auto work = [=, operation = operation, a = a, b = b, c = c, d = d, by = factors[0], by_c = factors[1]] {
    std::memset(workspace, 0x77, kWorkspace);
    compute(operation, {a, a_data}, {b, b_data}, {c, c_data}, d, d_data, by, by_c);
  };
  if (isCaptured(stream)) {
    captureKernel(stream, work);
  } else {
    work();
  }
  return lt::kSuccess;
}

template <typename T>
lt::Status destroy(void* object) {
  delete static_cast<T*>(object);
  return lt::kSuccess;
}

}  // namespace

FakeCublasLt& fakeCublasLt() {
  static FakeCublasLt fake;
  return fake;
}

CublasLt tableOfFakeCublasLt() {
  CublasLt table;
  table.create = [](lt::Handle* handle) -> lt::Status {
    static int one;
    *handle = fakeCublasLt().status_of_create == lt::kSuccess ? &one : nullptr;
    return fakeCublasLt().status_of_create;
  };
  table.statusText = [](lt::Status) { return "the status of a fake"; };
  table.createOperation = [](lt::Operation* operation, int compute, int scale) -> lt::Status {
    return *operation = new Operation{compute, scale}, lt::kSuccess;
  };
  table.destroyOperation = destroy<Operation>;
  table.setOperation = setOperation;
  table.createMatrix = [](lt::Matrix* matrix, int type, uint64_t rows, uint64_t columns,
                          int64_t leading) -> lt::Status {
    *matrix = new Matrix{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), leading};
    return lt::kSuccess;
  };
  table.destroyMatrix = destroy<Matrix>;
  table.setMatrix = setMatrix;
  table.createPreference = [](lt::Preference* preference) -> lt::Status {
    return *preference = new Preference, lt::kSuccess;
  };
  table.destroyPreference = destroy<Preference>;
  table.setPreference = setPreference;
  table.propose = propose;
  table.multiply = multiply;
  return table;
}

}  // namespace torchtrt::cuda::testing
