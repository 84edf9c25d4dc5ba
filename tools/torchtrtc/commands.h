// The tool's commands. Each adds itself to the command line; its callback does the work and throws torchtrt::Error when
// it cannot.
#pragma once

#include <CLI/CLI.hpp>

namespace torchtrtc {

// The option of every command that loads modules: libraries with the operators that they use.
inline constexpr const char* kCustomOps = "--custom-torch-ops";

// The option of every command, and of a compile: colours.
inline constexpr const char* kColor = "--color";

void addCompileCommand(CLI::App& app);  // the tool's own arguments: torchtrtc INPUT OUTPUT SPECS... {OPTIONS}
void addInspectCommand(CLI::App& app);  // torchtrtc inspect FILE
void addRunCommand(CLI::App& app);      // torchtrtc run FILE SPECS...
void addProfileCommand(CLI::App& app);  // torchtrtc profile FILE SPECS...
void addVerifyCommand(CLI::App& app);   // torchtrtc verify FILE COMPILED SPECS...
void addReportCommand(CLI::App& app);   // torchtrtc report FILE
void addCheckCommand(CLI::App& app);    // torchtrtc check FILE
void addReplayCommand(CLI::App& app);   // torchtrtc replay FOLDER
void addBundleCommand(CLI::App& app);   // torchtrtc bundle FILE OUTPUT SPECS...
void addEnvCommand(CLI::App& app);      // torchtrtc env
void addTritonCommand(CLI::App& app);   // torchtrtc triton FILE REPOSITORY

void addCompletionCommand(CLI::App& app);  // torchtrtc completion SHELL
void addManCommand(CLI::App& app);         // torchtrtc man

}  // namespace torchtrtc
