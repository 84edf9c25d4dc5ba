// A discrete Fourier transform of many lines as launches.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/table.h"

namespace torchtrt::cuda {

// FORM of fourier/numbers.cuh.
enum class FourierForm : uint8_t { kHalf, kFull, kComplex, kReal };

// The stages of transforms of one length and dtype, and the tables that they read.
class FourierPlan {
 public:
  FourierPlan(DType dtype, int64_t length);

  DType dtype() const {
    return dtype_;
  }
  int64_t length() const {
    return length_;
  }
  // The length of the transforms that a line consists of.
  int64_t numbers() const {
    return numbers_;
  }
  const std::vector<int64_t>& radixes() const {
    return radixes_;
  }
  bool hasChirp() const {
    return has_chirp_;
  }
  // Tables of fourier/numbers.cuh.
  struct Pointers {
    DevicePointer roots, chirp, spectrum;
  };
  Pointers onDevice(const CudaDevice& device) const;

 private:
  template <typename T>
  void makeTables();

  DType dtype_;
  int64_t length_, numbers_ = 0;
  std::vector<int64_t> radixes_;
  bool has_chirp_ = false;
  size_t chirp_at_ = 0, spectrum_at_ = 0;  // bytes in the table, which begins with the roots
  std::unique_ptr<Table> table_;
};

// The numbers of a line, in and out: real and imaginary parts, by the strides of the dims beside the line.
struct FourierSide {
  int64_t count;  // of numbers; of those to read the transform takes zeros for what is missing
  Place re, im;   // the latter may be absent
  Ints re_strides, im_strides;
  int64_t re_step, im_step;
};

struct FourierLines {
  FourierForm form;
  bool inverse;  // of kComplex; kReal always is
  double scale;
  Ints dims;  // beside the line
  FourierSide in, out;
  Place window;  // by which the real side is multiplied; may be absent
  int64_t window_step = 0;
};

void addFourier(Launches& launches, const CudaDevice& device, const FourierPlan& plan, const FourierLines& lines);

}  // namespace torchtrt::cuda
