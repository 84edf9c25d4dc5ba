#include "compiler/calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/logging.h"
#include "compiler/calibration/calibration_cache.h"
#include "compiler/reports/text.h"
#include "quantization/quantization.h"
#include "runtime/execute.h"
#include "runtime/input_views.h"
#include "torchtrt/error.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

namespace {

using quantization::Calibration;
using quantization::Ranges;

// Relative, in 2-norms. A result that is further from float is no longer an approximation of it.
constexpr double kGross = 0.5;

// An engine under calibration.
struct Calibrated {
  const SegmentEngine& made;
  std::unique_ptr<Calibration> calibration;
  Report::Calibration report;
  std::optional<std::vector<at::Tensor>> inputs;  // of its first call that has any element
};

quantization::Options optionsOf(const ts::CompileSpec& spec, Progress& progress) {
  const ptq::Calibrator& calibrator = *spec.ptq_calibrator;
  quantization::Options options;
  options.method = methodOf(calibrator.algo);
  options.percentile = calibrator.percentile;
  options.symmetric = calibrator.symmetric;
  options.accuracy_target = spec.accuracy_target.value_or(0);
  options.progress = [&progress](size_t done, size_t all) {
    progress.at([&] {
      return "calibration: " + std::to_string(done) + " of " + std::to_string(all) + " layers of an engine measured";
    });
  };
  return options;
}

// Returns |got - expected| / |expected| in 2-norms, of the floating output that is the furthest; negative if none has
// elements. Values that are not finite, such as the -inf of a mask, have to be the same.
double relativeError(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& got) {
  double worst = -1;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].is_floating_point() || expected[i].numel() == 0) {
      continue;
    }
    const at::Tensor wanted = expected[i].to(at::kDouble);
    const at::Tensor value = got[i].to(at::kDouble);
    const at::Tensor is_same = at::isclose(value, wanted, /*rtol=*/0, /*atol=*/0, /*equal_nan=*/true);
    const double difference = (value - wanted).masked_fill(is_same, 0).norm().item<double>();
    const double norm = wanted.masked_fill(~wanted.isfinite(), 0).norm().item<double>();
    const double error = difference == 0 ? 0 : difference / norm;
    worst = std::max(worst, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
  return worst;
}

void addLayers(const std::vector<quantization::LayerChoice>& choices, Report::Calibration& report) {
  for (const quantization::LayerChoice& choice : choices) {
    report.layers.push_back(
        {choice.layer, choice.kind, toString(choice.location), choice.is_quantized, choice.reason, choice.error});
  }
}

class Quantizer {
 public:
  Quantizer(SegmentEngines& engines, const ts::CompileSpec& spec, const CalibrationRuns& runs)
      : engines_(engines),
        calibrator_(*spec.ptq_calibrator),
        measures_(spec.accuracy_target.has_value()),
        runs_(runs),
        cache_(calibrator_) {
    for (const SegmentEngine& made : engines.engines()) {
      calibrated_.push_back({made, std::make_unique<Calibration>(*made.network, optionsOf(spec, progress_)), {}, {}});
    }
  }

  void run(const std::vector<torch::jit::IValue>& samples) {
    if (needsBatches()) {
      runBatches(calibrator_, runs_, [&](const runtime::Engine& engine, std::vector<at::Tensor> inputs) {
        if (Calibrated* calibrated = find(engine)) {
          std::vector<at::Tensor> on_host = inputs;  // ranges do not depend on the device
          std::for_each(on_host.begin(), on_host.end(), [](at::Tensor& input) { input = input.to(at::kCPU); });
          calibrated->calibration->add(runtime::InputViews(on_host, engine, at::kCPU).span());
          ++calibrated->report.calls;
          keepFirst(*calibrated, std::move(inputs));
        }
      });
    } else if (!samples.empty()) {
      runOnce(runs_, samples, [&](const runtime::Engine& engine, std::vector<at::Tensor> inputs) {
        if (Calibrated* calibrated = find(engine)) {
          keepFirst(*calibrated, std::move(inputs));
        }
      });
    }
    rejectForeignCache();
    if (calibrator_.batches && std::none_of(calibrated_.begin(), calibrated_.end(), hasCandidates)) {
      tellThatNothingQualifies();
    }
    for (size_t i = 0; i < calibrated_.size(); ++i) {
      quantize(i);
    }
    cache_.write();
  }

 private:
  bool isKnown(const Calibrated& calibrated) const {
    return cache_.find(calibrated.calibration->key()) != nullptr;
  }

  static bool hasCandidates(const Calibrated& calibrated) {
    return calibrated.calibration->hasCandidates();
  }

  void tellThatNothingQualifies() const {
    const std::string& file = calibrator_.cache_file;
    TORCHTRT_LOG(kWARNING, "no layer of this module has an int8 form, so the calibrator is not called"
                               << (file.empty() ? "" : " and " + file + " holds no ranges"));
  }

  // A network that the cache knows needs none, unless errors are measured.
  bool needsBatches() const {
    const auto needs = [&](const Calibrated& each) { return hasCandidates(each) && (measures_ || !isKnown(each)); };
    return calibrator_.batches && std::any_of(calibrated_.begin(), calibrated_.end(), needs);
  }

  void rejectForeignCache() const {
    const auto is_known = [&](const Calibrated& each) { return isKnown(each); };
    if (!calibrator_.batches && std::any_of(calibrated_.begin(), calibrated_.end(), hasCandidates) &&
        std::none_of(calibrated_.begin(), calibrated_.end(), is_known)) {
      throw CompileError(ErrorCode::kInvalidOption,
                         "the calibration cache " + calibrator_.cache_file + " has no ranges for this module", {},
                         "calibrate it with batches: a cache serves the module that it was written for, with the same "
                         "inputs and options");
    }
  }

  // Null for engines that the source itself came with.
  Calibrated* find(const runtime::Engine& engine) {
    const SegmentEngine* const made = engines_.find(engine);
    return made == nullptr ? nullptr : &calibrated_[static_cast<size_t>(made - engines_.engines().data())];
  }

  // An empty batch tells no error, if another follows.
  static void keepFirst(Calibrated& calibrated, std::vector<at::Tensor> inputs) {
    if (!calibrated.inputs || (hasEmpty(*calibrated.inputs) && !hasEmpty(inputs))) {
      calibrated.inputs = std::move(inputs);
    }
  }
  static bool hasEmpty(const std::vector<at::Tensor>& inputs) {
    return std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) { return input.numel() == 0; });
  }

  // Nothing where no batch reached the engine and the cache does not know it.
  std::optional<Ranges> rangesOf(Calibrated& calibrated) {
    const std::string& key = calibrated.calibration->key();
    if (const Ranges* known = cache_.find(key)) {
      calibrated.report.is_cached = true;
      return *known;
    }
    if (calibrated.report.calls == 0) {
      calibrated.report.reason = calibrator_.batches ? "no calibration batch reaches it" : "the cache does not know it";
      return std::nullopt;
    }
    Ranges ranges = calibrated.calibration->ranges();
    cache_.add(key, ranges);
    return ranges;
  }

  void quantize(size_t index) {
    Calibrated& calibrated = calibrated_[index];
    Report::Calibration& report = calibrated.report;
    if (!calibrated.calibration->hasCandidates()) {
      report.reason = "none of its layers has an integer form";
      if (report.calls > 0 || !measures_) {
        addLayers(calibrated.calibration->quantize({}).layers, report);
      }
    } else if (measures_ && report.calls == 0) {
      report.reason = "no calibration batch reaches it";
    } else if (const std::optional<Ranges> ranges = rangesOf(calibrated)) {
      quantization::Quantized quantized = calibrated.calibration->quantize(*ranges);
      addLayers(quantized.layers, report);
      if (report.quantizedLayers() > 0) {
        replace(index, std::move(quantized.network));
        report.error = report.quantizedLayers() > 0 && quantized.error >= 0 ? quantized.error : report.error;
      }
    }
    calibrated.calibration.reset();  // and the batches that it keeps
    engines_.note(index, std::move(report));
  }

  void replace(size_t index, std::unique_ptr<network::Network> network) {
    Report::Calibration& report = calibrated_[index].report;
    try {
      SegmentEngine made = engines_.remade(index, std::move(network));
      report.error = errorOf(calibrated_[index], made);
      if (report.error <= kGross) {
        engines_.replace(index, std::move(made));
        return;
      }
      report.reason = "in int8 its results are off by " + brief(report.error) + " of their norm in its first call";
    } catch (const std::exception& error) {
      if (isStrict()) {
        throw;
      }
      report.reason = std::string("its integer form fails: ") + error.what();
    }
    report.error = -1;
    for (Report::Layer& layer : report.layers) {
      layer.is_quantized = false;
      layer.reason = "the whole engine stays in float";
    }
    TORCHTRT_LOG(kWARNING, "engine " << calibrated_[index].made.name << " stays in float: " << report.reason
                                     << "; calibrate with more or other batches, or give accuracy_target");
  }

  static double errorOf(Calibrated& calibrated, const SegmentEngine& made) {
    if (!calibrated.inputs) {
      return -1;
    }
    const std::vector<at::Tensor> expected = runtime::runEngine(*calibrated.inputs, *calibrated.made.engine);
    return relativeError(expected, runtime::runEngine(*calibrated.inputs, *made.engine));
  }

  SegmentEngines& engines_;
  const ptq::Calibrator& calibrator_;
  const bool measures_;
  const CalibrationRuns& runs_;
  CalibrationCache cache_;
  Progress progress_;
  std::vector<Calibrated> calibrated_;
};

}  // namespace

void quantizeEngines(SegmentEngines& engines, const ts::CompileSpec& spec, const CalibrationRuns& runs,
                     const std::vector<torch::jit::IValue>& samples) {
  Quantizer(engines, spec, runs).run(samples);
}

}  // namespace torchtrt::compiler
