// torchtrtc env: what a bug report needs of this machine and process.

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "commands.h"
#include "cpu/machine.h"
#include "cpu/simd/isa.h"
#include "kernels/backend.h"
#include "runtime/recording/environment.h"
#include "runtime/torch_device.h"

namespace torchtrtc {
namespace {

using torchtrt::runtime::recording::Fact;

std::vector<Fact> factsOfGpus() {
  std::vector<Fact> facts;
  std::string why;
  const torchtrt::kernels::Backend* const backend = torchtrt::kernels::findBackend("cuda", why);
  const int devices = backend == nullptr ? 0 : backend->devices(why);
  for (int i = 0; i < devices; ++i) {
    const torchtrt::device::Device& device = backend->device(i);
    facts.push_back({"GPUs", torchtrt::kernels::nameOf(device), backend->machineKey(device, at::get_num_threads())});
  }
  if (devices == 0) {
    facts.push_back({"GPUs", "none", why});
  }
  if (!torchtrt::runtime::isThere(at::Device(at::kCUDA), why)) {
    facts.push_back({"GPUs", "libtorch", why});
  }
  return facts;
}

std::vector<Fact> allFacts() {
  std::vector<Fact> facts = torchtrt::runtime::recording::facts();
  const auto add = [&](const std::string& group, const std::string& name, const std::string& value) {
    const auto end = std::find_if(facts.rbegin(), facts.rend(), [&](const Fact& fact) { return fact.group == group; });
    facts.insert(end.base(), {group, name, value});
  };
  const std::string onednn = torchtrt::kernels::onednnVersion();
  add("versions", "oneDNN of torchtrt", onednn.empty() ? "none: the build leaves it out" : onednn);
  add("machine", "cap of instruction sets", torchtrt::kernels::toString(torchtrt::kernels::isaCap()));
  const std::vector<Fact> of_gpus = factsOfGpus();
  facts.insert(facts.end(), of_gpus.begin(), of_gpus.end());
  return facts;
}

void print(const std::vector<Fact>& facts) {
  size_t width = 0;
  for (const Fact& fact : facts) {
    width = std::max(width, fact.name.size());
  }
  std::string group;
  for (const Fact& fact : facts) {
    if (fact.group != group) {
      std::cout << (group.empty() ? "" : "\n") << fact.group << "\n";
      group = fact.group;
    }
    std::cout << "  " << fact.name << std::string(width - fact.name.size() + 2, ' ') << fact.value << "\n";
  }
}

}  // namespace

void addEnvCommand(CLI::App& app) {
  auto* command = app.add_subcommand("env", "Print versions, machine, threads and variables for a bug report");
  auto has_json = std::make_shared<bool>(false);
  command->group("Commands");
  command->add_flag("--json", *has_json, "As JSON");
  command->callback([has_json] {
    if (*has_json) {
      std::cout << torchtrt::runtime::recording::toJson(allFacts()) << "\n";
    } else {
      print(allFacts());
    }
  });
}

}  // namespace torchtrtc
