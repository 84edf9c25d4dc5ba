// torchtrtc check: can this file be loaded here, and if not, what is missing?

#include <iostream>
#include <memory>
#include <string>

#include "call_options.h"
#include "commands.h"
#include "engines.h"
#include "files.h"

namespace torchtrtc {

void addCheckCommand(CLI::App& app) {
  auto* command =
      app.add_subcommand("check", "Load a saved module and say whether it runs here; name a missing library");
  auto file = std::make_shared<std::string>();
  command->group("Commands");
  command->add_option("FILE", *file, "Module that torch.jit.save wrote")->required();
  auto libraries = std::make_shared<Libraries>();
  addLibraryOptions(*command, *libraries);
  command->callback([file, libraries] {
    openLibraries(*libraries);
    const torch::jit::Module module = loadModule(*file);
    const size_t engines = findEngines(module).size();
    std::cout << *file << ": loads, " << engines << (engines == 1 ? " engine" : " engines") << "\n";
  });
}

}  // namespace torchtrtc
