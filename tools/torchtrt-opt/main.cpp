// torchtrt-opt: network text in, named optimizer passes, and the text of one level out: the network, its plan or the
// schedule of a call. For tests and for looking at what a pass does.

#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "builder/builder.h"
#include "engine/schedule/optimum.h"
#include "optimization/optimization.h"
#include "plan/plan.h"
#include "torchtrt/engine.h"
#include "torchtrt/network.h"
#include "torchtrt/plugin.h"

namespace {

using namespace torchtrt;

constexpr const char* kUsage =
    R"(usage: torchtrt-opt [options] [FILE]

Reads a network's text from FILE (or standard input, also as -), runs passes, prints the network or what is made of it.

  --pass=NAME          run this pass; repeat for several, in this order
  --pipeline           run the whole pipeline until nothing changes
  --disable-pass=NAME  leave this pass out of the pipeline
  --stop-after=NAME    end the pipeline's first round behind this pass
  --verify-each        verify after every rewrite and every pass, and check that passes say truly whether they changed it
  --level=LEVEL        print the network (the default), its plan, or the schedule of a call with optimum sizes
  --dump-after=REGEX   print the network to standard error after each pass whose name matches
  --locations          print source locations
  --list-passes        print docs/passes.md: the passes in pipeline order
  --list-layers        print docs/layers.md: the kinds of layers
  --help               print this

Without --pass and --pipeline the text is parsed, verified and printed again. Constants that are printed by hash only cannot be
read back: use networks whose constants are inline.
)";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::string file = "-";
  std::vector<std::string> passes;
  std::string level = "network";
  std::string stop_after;
  bool pipeline = false;
  bool list_passes = false, list_layers = false, help = false;
  network::PrintOptions printing;
  optimization::Options options;
};

void checkLevel(const std::string& level) {
  if (level == "torchscript") {
    throw UsageError("this program has no libtorch: for graphs of TorchScript use torchtrtc --dump FOLDER[:REGEX]");
  }
  if (level != "network" && level != "plan" && level != "schedule") {
    throw UsageError("--level is network, plan or schedule, got '" + level + "'");
  }
}

Arguments parseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  bool has_file = false;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const bool is_option = word.size() > 1 && word[0] == '-';
    const bool takes_value = name == "--pass" || name == "--disable-pass" || name == "--dump-after" ||
                             name == "--level" || name == "--stop-after";
    if (is_option && takes_value != !value.empty()) {
      throw UsageError(takes_value ? "option " + name + " needs a value: " + name + "=VALUE"
                                   : "unknown option " + word);
    }
    if (!is_option) {
      if (has_file) {
        throw UsageError("one file at a time, got '" + arguments.file + "' and '" + word + "'");
      }
      arguments.file = word;
      has_file = true;
    } else if (name == "--pass") {
      arguments.passes.push_back(value);
    } else if (name == "--disable-pass") {
      arguments.options.disabled.push_back(value);
    } else if (name == "--dump-after") {
      arguments.options.dump_after = value;
    } else if (name == "--stop-after") {
      arguments.stop_after = value;
    } else if (name == "--level") {
      checkLevel(value);
      arguments.level = value;
    } else if (name == "--pipeline") {
      arguments.pipeline = true;
    } else if (name == "--verify-each") {
      arguments.options.verify = arguments.options.check_changed = true;
    } else if (name == "--locations") {
      arguments.printing.locations = true;
    } else if (name == "--list-passes") {
      arguments.list_passes = true;
    } else if (name == "--list-layers") {
      arguments.list_layers = true;
    } else if (name == "--help") {
      arguments.help = true;
    } else {
      throw UsageError("unknown option " + word);
    }
  }
  if (arguments.pipeline && !arguments.passes.empty()) {
    throw UsageError("--pass and --pipeline exclude each other");
  }
  if (!arguments.pipeline && !arguments.options.disabled.empty()) {
    throw UsageError("--disable-pass needs --pipeline");
  }
  if (!arguments.pipeline && !arguments.stop_after.empty()) {
    throw UsageError("--stop-after needs --pipeline");
  }
  return arguments;
}

std::string readText(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw UsageError("cannot read '" + file + "'");
  }
  text << stream.rdbuf();
  return text.str();
}

std::string scheduleOf(const plan::Plan& plan) {
  const auto bytes = std::make_shared<const std::string>(plan::serialize(plan));
  return engine::scheduleAtOptimum(*engine::Engine::load(std::as_bytes(std::span(*bytes)), bytes));
}

void print(const network::Network& network, const Arguments& arguments) {
  if (arguments.level == "network") {
    std::cout << network::print(network, arguments.printing);
    return;
  }
  const plan::Plan plan = builder::build(network);
  std::cout << (arguments.level == "plan" ? plan::print(plan) : scheduleOf(plan));
}

// The pipeline's passes up to that one.
std::vector<std::string> passesUpTo(const std::string& last) {
  std::vector<std::string> names;
  for (const optimization::PassEntry& entry : optimization::pipeline()) {
    names.push_back(entry.name);
    if (last == entry.name) {
      return names;
    }
  }
  throw UsageError("--stop-after names no pass: there is none named '" + last + "'");
}

void transform(const Arguments& arguments) {
  plugin::registerBuiltinPlugins();
  const auto network = network::parse(readText(arguments.file));
  network::verify(*network);
  if (!arguments.stop_after.empty()) {
    optimization::createManager(passesUpTo(arguments.stop_after), arguments.options).runOnce(*network);
  } else if (arguments.pipeline) {
    optimization::optimize(*network, arguments.options);
  } else if (!arguments.passes.empty()) {
    optimization::createManager(arguments.passes, arguments.options).runOnce(*network);
  }
  print(*network, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parseArguments({argv + 1, argv + argc});
    if (arguments.help) {
      std::cout << kUsage;
    } else if (arguments.list_passes || arguments.list_layers) {
      std::cout << (arguments.list_passes ? optimization::pipelineMarkdown() : "")
                << (arguments.list_layers ? network::layerTableMarkdown() : "");
    } else {
      transform(arguments);
    }
    return 0;
  } catch (const UsageError& error) {
    std::cerr << "torchtrt-opt: " << error.what() << "; see torchtrt-opt --help\n";
    return 2;
  } catch (const Error& error) {
    std::cerr << "torchtrt-opt: " << error.what() << "\n";
    return 1;
  }
}
