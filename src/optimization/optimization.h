// Network -> Network: the same values computed by fewer and better layers. Nothing here knows how a layer will run:
// kernels, memory orders and memory are the builder's. Passes are listed in pipeline.cpp; each is one file.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rewriting/pass_manager.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::optimization {

struct Options {
  std::vector<std::string> disabled;  // names of passes to leave out
  std::string dump_after;             // regular expression over pass names: print the network after those
  std::function<void(const std::string& pass, const std::string& text)> dump;  // where to; standard error if empty
  bool verify = false;                // after every rewrite and every changing pass
  bool check_changed = false;         // a pass must say truly whether it changed anything (compares texts)
  size_t max_folded_bytes = 1 << 20;  // how much larger than its operands a folded constant may be
  // Attention of fewer queries or keys stays in pieces: the kernel packs keys and values, which few queries do not pay.
  // It does not pack for at most max_unpacked_queries, which are fused if they may meet so many keys.
  int64_t min_attention_queries = 8;
  int64_t min_attention_keys = 8;
  int64_t max_unpacked_queries = 8;
};

// One line of the pipeline.
struct PassEntry {
  const char* name;
  const char* summary;
  std::unique_ptr<rewriting::Pass> (*create)(const Options& options);
};
TORCHTRT_API const std::vector<PassEntry>& pipeline();
TORCHTRT_API std::string pipelineMarkdown();  // docs/passes.md

// A manager with the passes of these names, in this order. Throws CompileError(kInvalidOption) for an unknown name.
TORCHTRT_API rewriting::PassManager createManager(const std::vector<std::string>& names, const Options& options = {});

// The whole pipeline, repeated until nothing changes. Outputs keep names, dtypes, shapes and values (floating ones up
// to rounding).
TORCHTRT_API void optimize(network::Network& network, const Options& options = {});

}  // namespace torchtrt::optimization
