// The three kinds of error that torchtrt throws, each with a stable code that stands in its text.
// A refusal ("cannot convert this, because ...") is not an error: see Refusal, a value that stages hand on and reports
// print.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt {

// Stable codes. The text of an error is "[CODE] message (at location)\n  advice".
// C... are the user's compile-time errors, E... run-time misuse or faults, I... bugs in torchtrt.
enum class ErrorCode {
  kUnsupportedOperator,  // C001 no converter, and no fallback was allowed
  kInvalidInputSpec,     // C002 number, dtype, rank, shape or range of an input specification
  kInvalidOption,        // C003 unknown or contradictory option
  kInvalidModule,        // C004 no such method, training mode, empty graph, unreadable file
  kConversionFailed,     // C005 a converter or a verifier rejected the graph
  kBuildFailed,          // C006 the builder could not make a plan
  kOutput,               // C007 a result could not be written
  kInvalidNetwork,       // C008 the network definition is malformed (verifier, parser)
  kRewriteBudget,        // C009 rewriting did not come to an end
  kPlanCorrupt,          // E001 truncated, damaged or hostile plan bytes
  kPlanVersion,          // E002 a plan of another ABI, version or product
  kInputCount,           // E003 wrong number of inputs
  kInputDType,           // E004 wrong dtype
  kInputShape,           // E005 wrong rank or shape, or outside the range
  kInputDevice,          // E006 a tensor on a device the engine does not run on
  kOutOfMemory,          // E007 says how much was wanted
  kIndexOutOfRange,      // E008 gather, embedding and the like met an index outside their table
  kPlugin,               // E009 a plugin is missing, of another version, or failed
  kShapeArithmetic,      // E010 a shape computed at run time is impossible
  kDivisionByZero,       // E011 an integer was divided by zero
  kNotRealTime,          // E012 a call cannot be bound, or an engine cannot be loaded, for real time
  kBoundCallInUse,       // E013 another thread runs the bound call
  kInternal,             // I001 a bug in torchtrt
};

TORCHTRT_API const char* toString(ErrorCode code);  // "C001", ...

// Base of the three; what() is the whole text.
class TORCHTRT_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, Location location, std::string advice);
  const char* what() const noexcept override {
    return text_.c_str();
  }
  ErrorCode code() const {
    return code_;
  }
  const std::string& message() const {
    return message_;
  }
  const std::string& advice() const {
    return advice_;
  }
  const Location& location() const {
    return location_;
  }

 private:
  ErrorCode code_;
  std::string message_;
  Location location_;
  std::string advice_;
  std::string text_;
};

// The user's module, options or network cannot be compiled.
class TORCHTRT_API CompileError : public Error {
 public:
  CompileError(ErrorCode code, std::string message, Location location = {}, std::string advice = {})
      : Error(code, std::move(message), std::move(location), std::move(advice)) {}
};

// Misuse or a fault while loading or running an engine.
class TORCHTRT_API EngineError : public Error {
 public:
  EngineError(ErrorCode code, std::string message, Location location = {}, std::string advice = {})
      : Error(code, std::move(message), std::move(location), std::move(advice)) {}
};

// A bug in torchtrt: an invariant does not hold.
class TORCHTRT_API InternalError : public Error {
 public:
  explicit InternalError(std::string message, Location location = {});
};

// "Cannot convert / place / run this, because ...": a value, printed alike by partitioner, kernel chooser and report.
struct Refusal {
  std::string code;    // stable, e.g. "no-converter", "dynamic-dimension", "dtype"
  std::string reason;  // one sentence without a final stop
};

}  // namespace torchtrt
