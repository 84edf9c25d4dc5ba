// torchtrtc inspect: what is in a compiled module, or in a serialized engine.

#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "call_options.h"
#include "commands.h"
#include "engines.h"
#include "file_kind.h"
#include "files.h"
#include "stitching/stitching.h"
#include "torchtrt/engine.h"

namespace torchtrtc {
namespace {

void inspectEngine(const std::string& content) {
  const auto bytes = std::as_bytes(std::span(content.data(), content.size()));
  std::cout << torchtrt::engine::Engine::load(bytes)->inspect();
}

void inspectModule(const std::string& path) {
  const torch::jit::Module module = loadModule(path, "a TorchScript module or an engine that --save-engine wrote");
  const auto engines = findEngines(module);
  if (module.hasattr(torchtrt::stitching::kRecord)) {
    std::cout << module.attr(torchtrt::stitching::kRecord).toStringRef() << "\n";
  } else if (engines.empty()) {
    std::cout << path << ": a TorchScript module without engines; torchtrtc INPUT OUTPUT SPECS... compiles it\n\n";
  }
  if (const auto forward = module.find_method("forward")) {
    std::cout << forward->graph()->toString(/*print_source_locations=*/false);
  }
  for (const auto& [name, engine] : engines) {
    std::cout << "\n" << name << ":\n" << engine->engine().inspect();
  }
}

void inspect(const std::string& path) {
  if (kindOf(path) == FileKind::kEngine) {
    withEngine(path, inspectEngine);
  } else {
    inspectModule(path);
  }
}

}  // namespace

void addInspectCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "inspect", "Print what is in engines and what is not and why, the graph, and the plan of every engine");
  auto file = std::make_shared<std::string>();
  command->group("Commands");
  command->add_option("FILE", *file, "Compiled module, or an engine written with --save-engine")->required();
  auto libraries = std::make_shared<Libraries>();
  addLibraryOptions(*command, *libraries);
  command->callback([file, libraries] {
    openLibraries(*libraries);
    inspect(*file);
  });
}

}  // namespace torchtrtc
