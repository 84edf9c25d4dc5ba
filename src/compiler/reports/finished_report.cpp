#include "compiler/reports/finished_report.h"

#include "base/logging.h"
#include "compiler/inputs/size_guesses.h"
#include "compiler/inputs/size_limits.h"
#include "compiler/module/precision_pins.h"
#include "compiler/reports/segment_report.h"
#include "compiler/reports/summary.h"
#include "compiler/reports/text.h"
#include "stitching/stitching.h"

namespace torchtrt::compiler {

Report finishedReport(const Task& task, const partitioning::Partition& partition, const SegmentEngines& engines,
                      const KernelChoice& kernels, const PhaseClock& clock) {
  Report report = reportOf(methodName(task.lowered), partition, engines.engines(), clock);
  kernels.addTo(report);
  report.share_of_time = shareOfTime(partition, engines.seconds());
  report.precision = pinsOf(task.spec, task.lowered);
  addGuesses(engines.leaves(), report);
  for (const SegmentEngine& engine : engines.engines()) {
    tellOfOnlySizes(engine.only_sizes, engines.leaves(), report.module);
  }
  return report;
}

void attachRecord(torch::jit::Module& module, Report report) {
  report.phases.clear();
  report.share_of_time.reset();
  for (Report::Segment& segment : report.segments) {
    segment.milliseconds = 0;
    for (Report::Timing& timing : segment.timings) {
      timing.is_cached = true;  // a reader of the record has it from there
    }
  }
  stitching::attachRecord(module, report.toText(), report.toJson());
}

void tell(const Report& report) {
  if (logging::getReportableLevel() >= logging::kINFO) {
    TORCHTRT_LOG(kINFO, report.toText());
  } else if (!OwnSummary::isAsked()) {
    torchtrt::tell(report.summary());
  }
}

}  // namespace torchtrt::compiler
