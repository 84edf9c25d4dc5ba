// The report of a compile that is done, where it is kept and what of it is told.
#pragma once

#include "compiler/phase_clock.h"
#include "compiler/segments/kernel_choice.h"
#include "compiler/segments/segment_engines.h"
#include "compiler/task.h"
#include "partitioning/partition.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

// Also tells of ranges of which an engine takes one size alone.
Report finishedReport(const Task& task, const partitioning::Partition& partition, const SegmentEngines& engines,
                      const KernelChoice& kernels, const PhaseClock& clock);
// Attaches the report without the times of this compile: the same module and timing cache give the same bytes.
void attachRecord(torch::jit::Module& module, Report report);
// One line after every compile; where more is to be told, the whole report.
void tell(const Report& report);

}  // namespace torchtrt::compiler
