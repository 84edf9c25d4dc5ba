#include "lowering/source_files.h"

#include <filesystem>
#include <memory>
#include <unordered_map>
#include <utility>

namespace torchtrt::lowering {

namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Source;
using torch::jit::SourceRange;

class Renamer {
 public:
  void rename(Block& block) {
    for (Node* node : block.nodes()) {
      rename(*node);
      for (Block* inner : node->blocks()) {
        rename(*inner);
      }
    }
    rename(*block.return_node());
  }

 private:
  void rename(Node& node) {
    // A loaded module's ranges are of its archive's code; the source that this was made from is behind them.
    const auto original = node.sourceRange().findSourceRangeThatGenerated();
    const SourceRange range = original ? *original : node.sourceRange();
    const std::shared_ptr<Source>& source = range.source();
    if (source == nullptr || !source->filename() || shownFile(*source->filename()) == *source->filename()) {
      return;
    }
    auto& [kept, renamed] = renamed_[source.get()];
    if (renamed == nullptr) {
      kept = source;
      renamed = std::make_shared<Source>(source->text_str().str(), shownFile(*source->filename()),
                                         source->starting_line_no());
    }
    node.setSourceRange(SourceRange(renamed, range.start(), range.end()));
  }

  // By address; the original is kept so that no other comes to lie there.
  std::unordered_map<const Source*, std::pair<std::shared_ptr<Source>, std::shared_ptr<Source>>> renamed_;
};

}  // namespace

std::string shownFile(const std::string& file) {
  if (file.empty() || file.front() != '/') {
    return file;
  }
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    if (const size_t place = file.rfind(packages); place != std::string::npos) {
      return file.substr(place + packages.size());
    }
  }
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  if (here.size() > 2 && file.compare(0, here.size(), here) == 0) {
    return file.substr(here.size());
  }
  return std::filesystem::path(file).filename().string();
}

void showSourceFiles(Block& block) {
  Renamer().rename(block);
}

}  // namespace torchtrt::lowering
