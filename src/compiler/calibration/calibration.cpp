#include "compiler/calibration/calibration.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/logging.h"
#include "compiler/calibration/calibration_cache.h"
#include "compiler/calibration/remade_engines.h"
#include "quantization/quantization.h"
#include "runtime/execute.h"
#include "runtime/input_views.h"
#include "torchtrt/error.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

namespace {

using quantization::Calibration;
using quantization::Ranges;

// An engine under calibration.
struct Calibrated {
  std::unique_ptr<Calibration> calibration;
  Report::Calibration report;
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

class Quantizer {
 public:
  Quantizer(SegmentEngines& engines, const ts::CompileSpec& spec, const CalibrationRuns& runs)
      : engines_(engines),
        remade_(engines),
        calibrator_(*spec.ptq_calibrator),
        measures_(spec.accuracy_target.has_value()),
        runs_(runs),
        cache_(calibrator_) {
    for (const SegmentEngine& made : engines.engines()) {
      calibrated_.push_back({std::make_unique<Calibration>(*made.network, optionsOf(spec, progress_)), {}});
    }
  }

  void run(const std::vector<torch::jit::IValue>& samples) {
    if (needsBatches()) {
      runBatches(calibrator_, runs_, [&](const runtime::Engine& engine, std::vector<at::Tensor> inputs) {
        if (const std::optional<size_t> index = remade_.indexOf(engine)) {
          Calibrated& calibrated = calibrated_[*index];
          std::vector<at::Tensor> on_host = onHost(inputs);
          calibrated.calibration->add(runtime::InputViews(on_host, engine, at::kCPU).span());
          ++calibrated.report.calls;
          remade_.keepFirst(*index, std::move(inputs));
        }
      });
    } else if (!samples.empty()) {
      runOnce(runs_, samples, [&](const runtime::Engine& engine, std::vector<at::Tensor> inputs) {
        if (const std::optional<size_t> index = remade_.indexOf(engine)) {
          remade_.keepFirst(*index, std::move(inputs));
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
        remade_.replace(index, std::move(quantized.network), report,
                        "calibrate with more or other batches, or give accuracy_target");
        report.error = report.quantizedLayers() > 0 && quantized.error >= 0 ? quantized.error : report.error;
      }
    }
    calibrated.calibration.reset();  // and the batches that it keeps
    engines_.note(index, std::move(report));
  }

  SegmentEngines& engines_;
  RemadeEngines remade_;
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
