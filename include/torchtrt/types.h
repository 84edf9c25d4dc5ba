// Basic vocabulary shared by every public header: dtypes, symbolic dimensions, source locations, attribute values.
// Values only: nothing here owns data, knows layers or depends on libtorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torchtrt/export.h"

namespace torchtrt {

// Element types. The numbers are stored in plans: never renumber, only append.
enum class DType : uint8_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kBFloat16 = 3,
  kInt8 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kUInt8 = 7,
  kBool = 8,
  kInt16 = 9,
};
inline constexpr int kDTypeCount = 10;

TORCHTRT_API const char* toString(DType dtype);                       // "float32", ...
TORCHTRT_API std::optional<DType> parseDType(std::string_view text);  // inverse of toString
TORCHTRT_API size_t sizeOf(DType dtype);                              // bytes per element
TORCHTRT_API bool isFloating(DType dtype);
TORCHTRT_API bool isIntegral(DType dtype, bool include_bool = false);
// PyTorch's promotion of two tensor dtypes of the same category rank (torch.promote_types).
TORCHTRT_API DType promoteTypes(DType a, DType b);

// The origin of something: a TorchScript source line and the module scope it was called in.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string function;  // function or method name
  std::string scope;     // module path, e.g. "layer1.0.conv2"

  bool empty() const {
    return file.empty() && scope.empty();
  }
  bool operator==(const Location&) const TORCHTRT_DEFAULTED;
};
TORCHTRT_API std::string toString(const Location& location);  // "model.py:38:12 (layer1.0.conv2)"

// A symbol that stands for a number known only at run time, with the range it was compiled for.
struct Symbol {
  std::string name;  // "s0", or the name the user shared between inputs
  int64_t min = 0;
  int64_t opt = 0;
  int64_t max = 0;
};

// A dimension: an integer expression over symbols, kept in a canonical form so that equal expressions compare equal.
// A plain number is the simple case. Division is floor division, as Python's.
class TORCHTRT_API Dim {
 public:
  Dim() : Dim(0) {}
  Dim(int64_t value);  // NOLINT(google-explicit-constructor): a number is a dimension
  static Dim symbol(const std::string& name);

  bool isConstant() const;
  int64_t constant() const;  // throws InternalError when symbolic
  std::optional<int64_t> asConstant() const;
  bool isSymbol() const;           // exactly one symbol, coefficient 1
  std::string symbolName() const;  // only when isSymbol()

  friend TORCHTRT_API Dim operator+(const Dim& a, const Dim& b);
  friend TORCHTRT_API Dim operator-(const Dim& a, const Dim& b);
  friend TORCHTRT_API Dim operator*(const Dim& a, const Dim& b);
  Dim operator-() const;
  static Dim floorDiv(const Dim& a, const Dim& b);
  static Dim ceilDiv(const Dim& a, const Dim& b);
  static Dim mod(const Dim& a, const Dim& b);  // sign of the divisor, as Python's
  static Dim max(const Dim& a, const Dim& b);
  static Dim min(const Dim& a, const Dim& b);

  bool operator==(const Dim& other) const;  // canonical equality: true means equal for every value of the symbols
  bool operator<(const Dim& other) const;   // an arbitrary but deterministic order

  std::string toString() const;  // "2*s0+1", "(s0+1)//2", "max(s0,1)"
  static std::optional<Dim> parse(std::string_view text);

  // Value for given symbol values; every symbol must be bound.
  int64_t evaluate(const std::function<int64_t(const std::string&)>& value_of) const;
  // Smallest and largest value over the symbols' ranges (exact for monotone terms, conservative otherwise).
  std::pair<int64_t, int64_t> range(const std::function<Symbol(const std::string&)>& symbol_of) const;
  std::vector<std::string> symbols() const;  // sorted, without repeats

  // Structure, for compiling an expression into a plan's program. A Dim is a sum of terms, a term is coefficient times
  // atoms.
  enum class AtomKind : uint8_t { kSymbol, kFloorDiv, kMod, kMax, kMin };
  struct Atom {
    AtomKind kind;
    std::string name;                 // kSymbol
    std::shared_ptr<const Dim> a, b;  // the others
  };
  struct Term {
    int64_t coefficient;
    std::vector<Atom> atoms;  // sorted; empty for the constant term
  };
  const std::vector<Term>& terms() const;         // sorted; empty means 0
  static Dim fromTerms(std::vector<Term> terms);  // in any order, repeats are added up

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
  int64_t value_ = 0;  // used when data_ is null
};

// The dimensions of a tensor, outermost first.
class TORCHTRT_API Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Dims(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static Dims of(const std::vector<int64_t>& values);

  int rank() const {
    return static_cast<int>(dims_.size());
  }
  const Dim& operator[](int i) const {
    return dims_[static_cast<size_t>(i)];
  }
  Dim& operator[](int i) {
    return dims_[static_cast<size_t>(i)];
  }
  auto begin() const {
    return dims_.begin();
  }
  auto end() const {
    return dims_.end();
  }
  const std::vector<Dim>& vec() const {
    return dims_;
  }
  bool isStatic() const;
  std::vector<int64_t> constants() const;  // throws InternalError when symbolic
  Dim numel() const;                       // product; 1 for rank 0
  bool operator==(const Dims& other) const {
    return dims_ == other.dims_;
  }
  std::string toString() const;  // "[s0, 3, 224, 224]"

 private:
  std::vector<Dim> dims_;
};

// The type of a tensor, known before it has data.
struct TensorType {
  DType dtype = DType::kFloat32;
  Dims dims;
  bool operator==(const TensorType&) const TORCHTRT_DEFAULTED;
};

// The value of a layer's attribute. Dims may be symbolic; everything else is known when the network is built.
using AttributeValue =
    std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<double>, Dims>;

// Named attributes, in name order. Reading a missing name or one of another type throws InternalError, unless a default
// is given.
class TORCHTRT_API Attributes {
 public:
  void set(const std::string& name, AttributeValue value) {
    values_[name] = std::move(value);
  }
  bool has(std::string_view name) const {
    return values_.find(name) != values_.end();
  }
  void erase(const std::string& name) {
    values_.erase(name);
  }
  const AttributeValue* find(std::string_view name) const;
  bool getBool(std::string_view name) const;
  bool getBool(std::string_view name, bool fallback) const;
  int64_t getInt(std::string_view name) const;
  int64_t getInt(std::string_view name, int64_t fallback) const;
  double getDouble(std::string_view name) const;
  double getDouble(std::string_view name, double fallback) const;
  const std::string& getString(std::string_view name) const;
  std::string getString(std::string_view name, const std::string& fallback) const;
  DType getDType(std::string_view name) const;
  const std::vector<int64_t>& getInts(std::string_view name) const;
  std::vector<int64_t> getInts(std::string_view name, std::vector<int64_t> fallback) const;
  const std::vector<double>& getDoubles(std::string_view name) const;
  const Dims& getDims(std::string_view name) const;

  using Map = std::map<std::string, AttributeValue, std::less<>>;
  const Map& values() const {
    return values_;
  }
  bool operator==(const Attributes& other) const {
    return values_ == other.values_;
  }

 private:
  Map values_;
};

}  // namespace torchtrt
