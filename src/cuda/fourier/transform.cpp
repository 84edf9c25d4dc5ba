#include "cuda/fourier/transform.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/align.h"
#include "base/check.h"
#include "cuda/launch/types.h"
#include "kernels/fourier/chirp.h"

namespace torchtrt::cuda {

namespace {

namespace fourier = kernels::fourier;

constexpr size_t kBlockBytes = 24 << 10;             // of a block's memory for numbers, which it has twice
constexpr int64_t kStageNumbers = int64_t{1} << 24;  // of lines that are transformed together, stage by stage
constexpr int64_t kStageRadix = 16;                  // each stage there is a way through the device's memory
constexpr int64_t kThreads = 256, kWarp = 32;

// Transform of numbers.cuh.
struct TransformArgument {
  int64_t length, numbers;
  int64_t in_count, in_re_step, in_im_step;
  int64_t out_count, out_re_step, out_im_step;
  int64_t window_step;
  double scale;
  int inverse;
};
// Stages of lines.cuh.
struct StagesArgument {
  int count = 0, radix[14] = {};
};

int64_t capacityOf(DType dtype) {
  return static_cast<int64_t>(kBlockBytes / (2 * sizeOf(dtype)));
}

template <typename T>
void append(std::vector<std::byte>& bytes, const std::vector<T>& values) {
  const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
  bytes.insert(bytes.end(), begin, begin + values.size() * sizeof(T));
}

// Neighbouring radixes become one as far as that stays small: fewer stages.
std::vector<int64_t> merged(const std::vector<int64_t>& radixes) {
  std::vector<int64_t> result;
  for (const int64_t radix : radixes) {
    if (!result.empty() && result.back() * radix <= kStageRadix) {
      result.back() *= radix;
    } else {
      result.push_back(radix);
    }
  }
  return result;
}

// The arguments that lines.cuh and stages.cuh take alike.
class Common {
 public:
  Common(const CudaDevice& device, const FourierPlan& plan, const FourierLines& lines)
      : lines_(lines),
        tables_(plan.onDevice(device)),
        layout_(collapsed(lines.dims,
                          {lines.in.re_strides, lines.in.im_strides, lines.out.re_strides, lines.out.im_strides})) {
    transform_ = {plan.length(),
                  plan.numbers(),
                  lines.in.count,
                  lines.in.re_step,
                  lines.in.im_step,
                  lines.out.count,
                  lines.out.re_step,
                  lines.out.im_step,
                  lines.window_step,
                  lines.scale,
                  int{lines.inverse || lines.form == FourierForm::kReal}};
  }
  void define(Source& source, const FourierPlan& plan) const {
    source.define("STORED", storedType(plan.dtype())).define("FORM", static_cast<int64_t>(lines_.form));
    source.define("CHIRP", int64_t{plan.hasChirp()}).define("LINES", layout_.rank());
    source.define("CAPACITY", capacityOf(plan.dtype()));
    source.include("text/storage.cuh").include("fourier/numbers.cuh");
  }
  void addTo(Arguments& arguments) const {
    arguments.value(transform_).value(tables_);
    addWalk(arguments, layout_.dims, layout_.strides[0]);
    for (size_t i = 1; i < layout_.strides.size(); ++i) {
      addStrides(arguments, layout_.strides[i]);
    }
    for (const Place* const place : {&lines_.in.re, &lines_.in.im, &lines_.window, &lines_.out.re, &lines_.out.im}) {
      place->addTo(arguments);
    }
  }
  int64_t count() const {
    return layout_.count();
  }
  // True if numbers of neighbouring lines lie closer than those of a line.
  bool isByLine(size_t strides, int64_t step) const {
    return layout_.rank() > 0 && layout_.strides[strides].back() < step;
  }

 private:
  const FourierLines& lines_;
  FourierPlan::Pointers tables_;
  Layout layout_;
  TransformArgument transform_;
};

void addInBlocks(Launches& launches, const CudaDevice& device, const FourierPlan& plan, const FourierLines& lines,
                 const Common& common) {
  StagesArgument stages;
  stages.count = static_cast<int>(plan.radixes().size());
  TORCHTRT_CHECK(plan.radixes().size() <= std::size(stages.radix), "too many stages");
  std::copy(plan.radixes().begin(), plan.radixes().end(), stages.radix);
  // Enough blocks for the whole GPU come first, then lines that share a block.
  const int64_t most = std::max<int64_t>(1, capacityOf(plan.dtype()) / plan.numbers());
  const int64_t per_block = std::clamp<int64_t>(common.count() / (2 * device.processors()), 1, most);
  Source source;
  common.define(source, plan);
  source.include("fourier/lines.cuh");
  Arguments arguments;
  arguments.value(common.count()).value(static_cast<int>(per_block));
  arguments.value(int{common.isByLine(0, lines.in.re_step)}).value(int{common.isByLine(2, lines.out.re_step)});
  common.addTo(arguments.value(stages));
  const int64_t threads = std::min(kThreads, roundUp(per_block * plan.numbers(), kWarp));
  launches.add(source, "fourier_lines",
               blocksFor((common.count() + per_block - 1) / per_block, static_cast<unsigned>(threads)),
               std::move(arguments));
}

void addStages(Launches& launches, const FourierPlan& plan, const Common& common) {
  enum : int { kFirst = 1, kLast = 2, kConvolves = 4 };  // of stages.cuh
  const std::vector<int64_t> radixes = merged(plan.radixes());
  const int64_t together = std::clamp<int64_t>(kStageNumbers / plan.numbers(), 1, std::max<int64_t>(1, common.count()));
  const auto bytes = static_cast<size_t>(together * plan.numbers()) * 2 * sizeOf(plan.dtype());
  int64_t read = launches.reserve(bytes), written = launches.reserve(bytes);
  Source source;
  common.define(source, plan);
  source.include("fourier/stages.cuh");
  const int rounds = plan.hasChirp() ? 2 : 1;
  for (int64_t first = 0; first < common.count(); first += together) {
    const int64_t here = std::min(together, common.count() - first);
    for (int round = 0; round < rounds; ++round) {
      int64_t before = 1;
      for (size_t stage = 0; stage < radixes.size(); ++stage) {
        const bool is_end = stage + 1 == radixes.size(), is_last = is_end && round + 1 == rounds;
        const int kind = (round == 0 && stage == 0 ? int{kFirst} : 0) | (is_last ? int{kLast} : 0) |
                         (is_end && !is_last ? int{kConvolves} : 0);
        Arguments arguments;
        arguments.value(first).value(here).value(kind).value(static_cast<int>(radixes[stage]));
        common.addTo(arguments.value(static_cast<int>(before)));
        arguments.scratch(read).scratch(written);
        launches.add(source, "fourier_stage", geometryFor(here * plan.numbers()), std::move(arguments));
        std::swap(read, written);
        before *= radixes[stage];
      }
    }
  }
}

}  // namespace

FourierPlan::FourierPlan(DType dtype, int64_t length) : dtype_(dtype), length_(length) {
  dtype == DType::kFloat64 ? makeTables<double>() : makeTables<float>();
}

template <typename T>
void FourierPlan::makeTables() {
  std::vector<std::byte> bytes;
  std::optional<fourier::Chirp<T>> chirp;
  radixes_ = fourier::radixesOf(length_);
  has_chirp_ = length_ > 1 && radixes_.empty();
  if (has_chirp_) {
    chirp.emplace(length_);
    radixes_ = fourier::radixesOf(chirp->padded);
  }
  numbers_ = has_chirp_ ? chirp->padded : length_;
  std::vector<T> roots;
  for (int64_t k = 0; k < numbers_; ++k) {
    fourier::addRoot(k, numbers_, roots);
  }
  append(bytes, roots);
  if (has_chirp_) {
    chirp_at_ = bytes.size();
    append(bytes, chirp->chirp);
    spectrum_at_ = bytes.size();
    append(bytes, chirp->spectrum);
  }
  table_ = std::make_unique<Table>(std::move(bytes), "factors of Fourier transforms");
}

FourierPlan::Pointers FourierPlan::onDevice(const CudaDevice& device) const {
  const DevicePointer begin = table_->onDevice(device);
  return {begin, begin + chirp_at_, begin + spectrum_at_};
}

void addFourier(Launches& launches, const CudaDevice& device, const FourierPlan& plan, const FourierLines& lines) {
  const Common common(device, plan, lines);
  if (plan.numbers() <= capacityOf(plan.dtype())) {
    addInBlocks(launches, device, plan, lines, common);
  } else {
    addStages(launches, plan, common);
  }
}

}  // namespace torchtrt::cuda
