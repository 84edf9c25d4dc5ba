#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/plugin.h"

namespace torchtrt::plugin {
namespace {

class Twice : public Plugin {
 public:
  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void*, int) const override {
    for (int64_t i = 0; i < inputs[0].dims[0]; ++i) {
      static_cast<float*>(outputs[0].data)[i] = 2 * static_cast<const float*>(inputs[0].data)[i * inputs[0].strides[0]];
    }
  }
};

class TwiceCreator : public PluginCreator {
 public:
  explicit TwiceCreator(int interface_version = kInterfaceVersion) : interface_version_(interface_version) {}
  int interfaceVersion() const override {
    return interface_version_;
  }
  std::string pluginNamespace() const override {
    return "test";
  }
  std::string type() const override {
    return "Twice";
  }
  std::unique_ptr<Plugin> create(const Attributes& fields) const override {
    if (fields.has("thrown")) {
      throw std::runtime_error(fields.getString("thrown"));
    }
    return fields.has("broken") ? nullptr : std::make_unique<Twice>();
  }

 private:
  int interface_version_;
};

Attributes attributesOf(const std::string& type) {
  Attributes attributes;
  attributes.set("namespace", "test");
  attributes.set("type", type);
  attributes.set("version", "1");
  return attributes;
}

void expectPluginError(const std::function<void()>& action, const std::string& text) {
  try {
    action();
    FAIL() << "no error, expected " << text;
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(PluginRegistry, CreatesWhatWasAddedAndRunsIt) {
  PluginRegistry registry;
  registry.add(std::make_shared<TwiceCreator>());
  const auto plugin = registry.create(attributesOf("Twice"));
  EXPECT_EQ(plugin->outputCount(), 1);
  EXPECT_EQ(plugin->scratchBytes({}), 0u);
  const std::vector<float> in = {1, 9, 3, 9};
  std::vector<float> out(2);
  const std::vector<int64_t> dims = {2};
  const std::vector<int64_t> in_strides = {2};
  const std::vector<int64_t> out_strides = {1};
  const InputView input{DType::kFloat32, dims, in_strides, in.data()};
  const OutputView output{DType::kFloat32, dims, out_strides, out.data()};
  plugin->enqueue({&input, 1}, {&output, 1}, nullptr, 1);
  EXPECT_EQ(out, (std::vector<float>{2, 6}));
}

TEST(PluginRegistry, SaysWhichFieldsAreWrong) {
  PluginRegistry registry;
  registry.add(std::make_shared<TwiceCreator>());
  Attributes fields = attributesOf("Twice");
  fields.set("thrown", "too few");
  expectPluginError([&] { registry.create(fields); }, "plugin test::Twice version 1 cannot be made: too few");
  fields.set("thrown", int64_t{3});
  expectPluginError([&] { registry.create(fields); },
                    "plugin test::Twice version 1: expected attribute \"thrown\" of type string, got int");
  fields.set("type", int64_t{3});
  expectPluginError([&] { registry.create(fields); }, "expected attribute \"type\" of type string, got int");
}

TEST(PluginRegistry, RefusesNullPointers) {
  PluginRegistry registry;
  expectPluginError([&] { registry.add(nullptr, "library.so"); },
                    "expected a plugin's creator, got a null pointer from library 'library.so'");
}

TEST(PluginRegistry, ReportsDuplicatesAndOldInterfaces) {
  PluginRegistry registry;
  registry.add(std::make_shared<TwiceCreator>());
  expectPluginError([&] { registry.add(std::make_shared<TwiceCreator>()); },
                    "test::Twice version 1 is registered already");
  registry.remove("test", "Twice", "1");
  EXPECT_NO_THROW(registry.add(std::make_shared<TwiceCreator>()));
  PluginRegistry other;
  expectPluginError([&] { other.add(std::make_shared<TwiceCreator>(kInterfaceVersion + 1)); },
                    "was built for plugin interface");
  EXPECT_TRUE(other.names().empty());
}

TEST(PluginRegistry, NamesWhatIsMissingAndWhatThereIs) {
  PluginRegistry registry;
  expectPluginError([&] { registry.create(attributesOf("Thrice")); },
                    "test::Thrice version 1 is not registered (registered: none)");
  registry.add(std::make_shared<TwiceCreator>());
  expectPluginError([&] { registry.create(attributesOf("Thrice")); }, "(registered: test::Twice version 1)");
  EXPECT_EQ(registry.find("test", "Twice", "2"), nullptr);
  Attributes broken = attributesOf("Twice");
  broken.set("broken", true);
  expectPluginError([&] { registry.create(broken); }, "made nothing");
}

TEST(PluginRegistry, RemembersLibrariesAndNamesThoseThatAreMissing) {
  PluginRegistry registry;
  registry.add(std::make_shared<TwiceCreator>(), "libtwice.so");
  EXPECT_EQ(registry.libraryOf(attributesOf("Twice")), "libtwice.so");
  EXPECT_EQ(registry.libraryOf(attributesOf("Thrice")), "");
  Attributes planned = attributesOf("Thrice");
  planned.set("library", std::string("libthrice.so"));
  expectPluginError([&] { registry.create(planned); }, "it comes from library 'libthrice.so'");
}

}  // namespace
}  // namespace torchtrt::plugin
