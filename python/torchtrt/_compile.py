"""compile() and its kin: options checked, values brought into their C++ form, results wrapped as ScriptModules."""

import difflib
import sys
import weakref

import torch

from torchtrt import _devices, _enums, _errors, _inputs, _libraries, _report, _spellings

# Reports of compile(), by module.
_reports: "weakref.WeakKeyDictionary" = weakref.WeakKeyDictionary()

# Option -> default, as the reference has them.
_PLAIN_OPTIONS = {
    "disable_tf32": False,
    "sparse_weights": False,
    "refit": False,
    "debug": False,
    "truncate_long_and_double": False,
    "allow_shape_tensors": False,
    "num_avg_timing_iters": 1,
    "workspace_size": 0,
    "dla_sram_size": 1048576,
    "dla_local_dram_size": 1073741824,
    "dla_global_dram_size": 536870912,
    "require_full_compilation": False,
    "tune": False,
    "timing_cache": "",
    "target": "",
    "weight_precision": "",
    "group_size": 64,
    "weight_zero_points": False,
    "tuning_seconds": 10.0,
    "keep_methods": True,
    "batch_invariant": False,
    "check_results": True,
    "min_block_size": 3,
}
# Examples for messages about options whose default shows nothing.
_EXAMPLES = {"timing_cache": "kernels.txt", "target": "sm_90", "weight_precision": "int4", "accuracy_target": 0.02}
_LIST_OPTIONS = ["torch_executed_ops", "torch_executed_modules"]
_OTHER_OPTIONS = ["device", "enabled_precisions", "op_precision", "precision", "capability", "sample_inputs", "rewriters", "calibrator",
                  "accuracy_target", "progress"]
_OPTIONS = [*_PLAIN_OPTIONS, *_LIST_OPTIONS, *_OTHER_OPTIONS]
# The reference's names of front ends. Here one takes scripted modules, and one goes by way of torch.export.
_FRONT_ENDS = {"default", "ts", "torchscript"}
_EXPORTING = {"export", "dynamo", "exported_program"}


def _reject(message: str, advice: str, code: str = "C003"):
    raise _errors.CompileError(f"[{code}] {message}\n  {advice}")


def _check_names(options: dict) -> None:
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, n=1)
            _reject(f'there is no option "{name}"', f'did you mean "{near[0]}"?' if near else "options: " + ", ".join(_OPTIONS))


def _nested(value, extension):
    """A signature with its Inputs in their C++ form, nested alike; numbers, texts and None are examples of themselves."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict) and not _is_range(value):
        return {key: _nested(each, extension) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        elements = [_nested(each, extension) for each in value]
        return tuple(elements) if isinstance(value, tuple) else elements
    return _inputs.Input.of(value).native(extension)


def _is_range(value: dict) -> bool:
    """True for a dictionary of shapes, false for Inputs with these names."""
    return set(value) == {"min", "opt", "max"} and all(
        isinstance(shape, (tuple, list)) and all(isinstance(size, int) for size in shape) for shape in value.values())


def _listed(inputs):
    """Returns inputs as a list; one Input or tensor may stand alone."""
    if isinstance(inputs, (torch.Tensor, _inputs.Input)):
        return [inputs]
    if isinstance(inputs, (str, dict)) or not hasattr(inputs, "__iter__"):
        _reject(f"inputs does not take a {type(inputs).__name__}",
                "give a list with one Input for every tensor, in the method's order: inputs=[torchtrt.Input(shape), ...]", "C002")
    inputs = list(inputs)
    if inputs and all(isinstance(each, int) for each in inputs):
        _reject(f"inputs is a list of inputs, got the sizes {inputs}", f"give inputs=[{inputs}]", "C002")
    return inputs


def _call(inputs):
    """The arguments of a call; of a tensor alone, libtorch would take the rows for them."""
    if isinstance(inputs, torch.Tensor) or not hasattr(inputs, "__iter__"):
        _reject(f"inputs is a {type(inputs).__name__}", "give the arguments of a call in a list, such as [torch.randn(1, 3, 224, 224)]", "C002")
    return tuple(inputs)


def _spec(extension, inputs, input_signature, options, script=None, method="forward"):
    if inputs is not None:
        inputs = _listed(inputs)
        spec = extension.CompileSpec([_inputs.Input.of(each).native(extension) for each in inputs])
    elif input_signature is not None:
        spec = extension.CompileSpec.from_signature(_nested(input_signature, extension))
    else:
        _reject("neither inputs nor input_signature says what the module takes", "give inputs=[torchtrt.Input(shape), ...]", "C002")
    for name in _PLAIN_OPTIONS.keys() & options.keys():
        _set(spec, name, options[name])
    for name in _LIST_OPTIONS:
        _set_names(spec, name, options.get(name))
    device = _devices.Device.of(options.get("device"))
    spec.set_device(device.type_number, device.gpu_id, device.dla_core, device.allow_gpu_fallback)
    precisions = _precisions(options.get("enabled_precisions"))
    if precisions:
        spec.enabled_precisions = precisions
    spec.op_precision = int(_enums.dtype.of(options.get("op_precision")))
    for pattern, pinned in _pins(options.get("precision")):
        spec.add_precision_pin(pattern, int(_enums.dtype.of(pinned)))
    spec.capability = int(options.get("capability") or _enums.EngineCapability.STANDARD)
    if options.get("sample_inputs") is not None:
        if not isinstance(options["sample_inputs"], (tuple, list)):
            _reject(f"option sample_inputs does not take a {type(options['sample_inputs']).__name__}",
                    "give the arguments of one call in a list, such as [torch.randn(1, 3, 224, 224)]")
        spec.set_sample_inputs(tuple(options["sample_inputs"]))
    rewriters = options.get("rewriters") or []
    if not isinstance(rewriters, (list, tuple)):
        _reject(f"option rewriters does not take a {type(rewriters).__name__}", "give them in a list, which says their order")
    for rewriter in rewriters:
        spec.add_rewriter(_rewriter(rewriter))
    _set(spec, "accuracy_target", options.get("accuracy_target"))
    if options.get("calibrator") is not None:
        _add_calibrator(spec, options["calibrator"], script, method, len(inputs if inputs is not None else input_signature))
    return spec


def _watch(spec, progress) -> None:
    """Signals end a compile whatever progress is."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        _reject(f"option progress does not take {progress!r}", "give True, False, or a function of a torchtrt.CompileProgress")
    told = progress if callable(progress) else None
    shows_line = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress is True
    spec.set_watcher(told, shows_line)


def _add_calibrator(spec, calibrator, script, method, most):
    if not hasattr(calibrator, "add_to"):
        _reject(f"option calibrator does not take a {type(calibrator).__name__}", "give a torchtrt.ptq.DataLoaderCalibrator or CacheCalibrator")
    calibrator.add_to(spec, script, method, most)


def _precisions(given) -> list[int]:
    """Returns the numbers of a set of dtypes, or of a single dtype."""
    if isinstance(given, (torch.dtype, _enums.dtype)):
        given = {given}
    if given is not None and not isinstance(given, (set, frozenset, list, tuple)):
        _reject(f"option enabled_precisions does not take {given!r}", "give a dtype or a set of them, such as {torch.half}")
    return [int(_enums.dtype.of(each)) for each in given or []]


def _pins(precision):
    if precision is None:
        return []
    if not isinstance(precision, dict) or not all(isinstance(pattern, str) for pattern in precision):
        _reject(f"option precision does not take {precision!r}", 'give dtypes for patterns of module paths: {"encoder.layer.0.*": torch.float32}')
    return precision.items()


def _rewriter(rewriter):
    """A function of the extension's network, of a callable, a manager, or a manager with its arguments."""
    manager, args = rewriter if isinstance(rewriter, tuple) else (rewriter, None)
    if hasattr(manager, "rewrite"):
        run = lambda net: manager.rewrite(net, args)  # noqa: E731
    elif callable(manager) and args is None:
        run = manager
    else:
        _reject(f"option rewriters does not take {rewriter!r}",
                "give functions of a network, RewritePatternManagers, or pairs of a manager and its args")

    def body(box):
        from torchtrt import network

        net = network.Network(box)
        with network.net_guard(net):
            run(net)

    return body


def _set_names(spec, name, names) -> None:
    """A text alone is refused: as a list of its letters it would keep nothing in PyTorch, and say nothing."""
    example = {"torch_executed_ops": '["aten::relu"]', "torch_executed_modules": '["layer1.0"]'}[name]
    if names is not None and (not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(each, str) for each in names)):
        _reject(f"option {name} does not take {names!r}", f"give a list of names, such as {example}")
    setattr(spec, name, list(names or []))


def _set(spec, name, value) -> None:
    try:
        setattr(spec, name, value)
    except TypeError:
        _reject(f"option {name} does not take {value!r}", f"expected a value like {_EXAMPLES.get(name, getattr(spec, name))!r}")


def _check_front_end(ir, module=None) -> None:
    if not isinstance(ir, str):  # inputs, in the place that the reference system has ir in
        _reject(f"ir does not take a {type(ir).__name__}", "inputs are given by name: inputs=[...]")
    if ir == "torch_compile":
        _reject(f'there is no front end "{ir}"', 'use torch.compile(model, backend="torchtrt")')
    if ir not in _FRONT_ENDS and not (ir in _EXPORTING and _is_exportable(module)):
        _reject(f'there is no front end "{ir}"', 'use ir="ts", or leave it out')


def _is_exportable(module) -> bool:
    """True for a module that is not TorchScript, and for a program of torch.export."""
    if isinstance(module, torch.nn.Module):
        return not isinstance(module, torch.jit.ScriptModule)
    return _is_program(module)


def _is_program(module) -> bool:
    """True for a program of torch.export. Does not import torch.export, which takes a second: whoever has a program has imported it."""
    exported = sys.modules.get("torch.export.exported_program")
    return exported is not None and isinstance(module, exported.ExportedProgram)


def _graph(text: str):
    try:
        return torch._C.parse_ir(text)
    except RuntimeError as error:
        what = f"the text is no TorchScript graph: {error}" if "\n" in text else f"{text!r} is no TorchScript graph"
        raise _errors.CompileError(f"[C004] {what}\n"
                                   "  give a graph's text, or, of a file, what torch.jit.load makes of it") from error


def _script(module):
    """A ScriptModule of what was given; a graph for script functions, graphs and IR text."""
    if isinstance(module, (torch.jit.ScriptModule, torch._C.Graph)):
        return module
    if isinstance(module, torch.jit.ScriptFunction):
        return module.graph
    if isinstance(module, str):
        return _graph(module)
    if not isinstance(module, torch.nn.Module):
        _reject(f"cannot compile a {type(module).__name__}",
                "give a torch.nn.Module, a ScriptModule, a ScriptFunction, a TorchScript graph or its IR text", "C004")
    try:
        return torch.jit.script(module)
    except Exception as error:
        raise _errors.CompileError(
            f"[C004] {type(module).__name__} cannot be scripted: {error}\n"
            "  trace it with torch.jit.trace(module, example), or change what the message names") from error


def _by_export(module, inputs, input_signature, options, unscriptable=None):
    """Compiles what torch.export makes of the module; where that fails too, the error says why it could not be scripted either."""
    from torchtrt import _exported, logging

    try:
        compiled = _exported.compile(module, inputs, input_signature, options)
    except _errors.CompileError as error:
        if unscriptable is None or error.code != "C004":
            raise
        raise _errors.CompileError(f"{unscriptable}\n{error}") from error
    if unscriptable is not None:
        logging.log(logging.Level.Info, f"{type(module).__name__} cannot be scripted and was exported, with its branches as the example takes them")
    return compiled


def compile(module, ir="default", inputs=None, input_signature=None, **options):  # noqa: A001 - the name users write
    """Compiles a module's `forward` and returns a ScriptModule with the same arguments and results.

    Args:
        module: an nn.Module (scripted first or, where TorchScript does not take it, exported), torch.export.ExportedProgram (which needs no
            inputs), ScriptModule, ScriptFunction, torch.jit graph, or the text of a graph.
        ir: "ts" scripts alone, "export" goes by torch.export alone.
        inputs: one Input, tensor, list of sizes or {"min", "opt", "max"} per tensor, in order. Tensors are also run, and the results compared
            with PyTorch's.
        input_signature: the same, nested as the method takes it in tuples, lists and dictionaries, with examples of the numbers and texts
            among the arguments and None for what is left out.
        arg_inputs: the reference system's name for inputs in order.
        kwarg_inputs: the reference system's name for inputs by the names of arguments.
        device: where engines run; without it, where the module's parameters are.
        target: the architecture of a GPU, "sm_90", to compile for it on a machine that has none. Engines then carry the machine code of their
            kernels.
        enabled_precisions: dtypes that engines may use. torch.int8 quantizes, with a calibrator.
        op_precision: the dtype that the module is cast to first, as module.half() does.
        precision: modules that compute in another floating dtype, by patterns of their paths: {"encoder.layer.0.*": torch.float32}. The last
            pattern that covers a module holds.
        sample_inputs: the arguments of one call, to check the result with.
        check_results: False: results are not compared with PyTorch's. True: they are compared once, on sample_inputs, or on the CPU on inputs
            made within what inputs say.
        tune: True to time engines on sample_inputs, and to leave to PyTorch what is slower in engines.
        timing_cache: a file of the fastest implementation of convolutions and matrix multiplications, by machine. What it holds is chosen;
            with tune, what it does not hold is timed, the longest first, and added. Engines on other machines choose by rule.
        tuning_seconds: the longest time that such timing takes.
        calibrator: one of torchtrt.ptq, with torch.int8 among enabled_precisions: engines compute in int8 what they can.
        accuracy_target: the relative error that the outputs of an engine in int8 may have, such as 0.02; layers that cost more stay in float.
        weight_precision: "int8" or "int4": engines on the CPU keep the weights of matrix multiplications as integers, and compute in float.
        group_size: the weights along the depth of a matrix that share a scale, a multiple of 8 from 32 to 128.
        weight_zero_points: give each group of weights a zero point, too.
        torch_executed_ops: operators that stay in PyTorch.
        torch_executed_modules: submodules that stay in PyTorch.
        min_block_size: the number of operators that an engine must hold; without it, what an engine saves decides.
        keep_methods: False: the compiled module has none of the module's other methods, nor the weights that they read.
        batch_invariant: True: engines give each sample of a batch the bits that it has alone, whatever the batch (docs/numbers.md).
        require_full_compilation: True for an error in place of parts that run in PyTorch.
        rewriters: functions of a network, pattern managers, or pairs of a manager and its args; they run on the network of every engine.
        refit: True: the module and its files keep what torchtrt.update_weights needs, all but the weights themselves.
        progress: True or False to have a line on stderr say where a compile of more than two seconds is, or not; by default where that is a
            terminal. Or a function, called several times a second with a CompileProgress: what it raises ends the compile.
        **options: the rest of the reference system's, with its defaults (docs/migration.md).

    Raises:
        CompileError: for what the caller can mend.
    """
    _check_front_end(ir, module)
    if _is_program(module) or ir in _EXPORTING:
        return _by_export(module, inputs, input_signature, options)
    try:
        script = _script(module)
    except _errors.CompileError as unscriptable:
        if ir != "default" or not isinstance(module, torch.nn.Module):
            raise
        return _by_export(module, inputs, input_signature, options, unscriptable)
    return compile_script(script, inputs, input_signature, options, _unsaved(module))


def _unsaved(module) -> list[str]:
    """Names of the buffers that the module's state_dict() leaves out; TorchScript forgets which these are."""
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.jit.ScriptModule):
        return []
    saved = module.state_dict().keys()
    return [name for name, _ in module.named_buffers(remove_duplicate=False) if name not in saved]


def compile_script(script, inputs, input_signature, options: dict, unsaved=()):
    """compile() of a ScriptModule or graph; `unsaved` names buffers that an update of weights need not give."""
    inputs, input_signature, options = _spellings.translated(script, "forward", inputs, input_signature, options)
    _check_names(options)
    extension = _libraries.extension()
    spec = _spec(extension, inputs, input_signature, options, script)
    spec.optional_weights = list(unsaved)
    _watch(spec, options.get("progress"))
    if isinstance(script, torch._C.Graph):
        compiled, done = extension.compile_graph(script, spec)
    else:
        compiled, done = extension.compile_module(script._c, spec)
    wrapped = torch.jit._recursive.wrap_cpp_module(compiled)
    done._module = compiled  # not the wrapper, which must be free to go: it is the key
    _reports[wrapped] = done
    return wrapped


def report(compiled):
    """Returns the report of the compile() that made this module: phases, segments and nodes. Print it, or use its to_json() or to_html(). A
    module that was loaded from a file has no phases and times."""
    if compiled in _reports:
        return _reports[compiled]
    if not hasattr(compiled, "torchtrt_report_json"):
        _reject("there is no report of this module", "reports belong to what torchtrt.compile() returned, also when saved and loaded")
    return _report.LoadedReport(compiled.torchtrt_report_json, compiled.torchtrt_report, compiled._c)


def convert_method_to_trt_engine(module, method_name="forward", inputs=None, ir="default", input_signature=None, **options) -> bytes:
    """The method as one self-contained serialized engine, for torch.classes.tensorrt.Engine or embed_engine_in_new_module."""
    _check_front_end(ir)
    script = _script(module)
    if isinstance(script, torch._C.Graph):
        _reject("a graph has no methods", "give a module", "C004")
    inputs, input_signature, options = _spellings.translated(script, method_name, inputs, input_signature, options)
    _check_names(options)
    extension = _libraries.extension()
    spec = _spec(extension, inputs, input_signature, options, script, method_name)
    _watch(spec, options.get("progress"))
    return extension.convert_method_to_trt_engine(script._c, method_name, spec)


def TensorRTCompileSpec(inputs=None, input_signature=None, **options):  # noqa: N802 - the name users write
    """Settings for one method of torch._C._jit_to_backend("tensorrt", module, {method: settings}): a torch.classes.tensorrt.CompileSpec.

    Options are those of compile, without those that keep operators in PyTorch: each method becomes one engine, or lowering raises. Methods
    take tensors and give a tensor or a tuple of tensors. Raises CompileError for an option that is none.
    """
    _, _, options = _spellings.translated(None, "forward", None, None, options)
    _check_names(options)
    if input_signature is not None:
        _reject("input_signature cannot be given where a whole method becomes one engine", "give inputs, or use torchtrt.compile", "C002")
    extension = _libraries.extension()
    return extension.to_backend_spec(_spec(extension, inputs, None, options))


def embed_engine_in_new_module(serialized_engine: bytes, input_binding_names=None, output_binding_names=None, device=None):
    """Returns a ScriptModule whose `forward` runs the engine; names reorder its arguments and results."""
    device = _devices.Device.of(device)
    if not isinstance(serialized_engine, (bytes, bytearray, memoryview)):
        _reject(f"serialized_engine is a {type(serialized_engine).__name__}, expected bytes",
                'give what convert_method_to_trt_engine returned, or the content of its file, opened with "rb"')
    embedded = _libraries.extension().embed_engine_in_new_module(
        bytes(serialized_engine), list(input_binding_names or []), list(output_binding_names or []), device.type_number, device.gpu_id)
    return torch.jit._recursive.wrap_cpp_module(embedded)


def check_method_op_support(module, method_name="forward") -> bool:
    """True if every operator of the method can be converted. Logs those that cannot."""
    script = _script(module)
    if isinstance(script, torch._C.Graph):
        _reject("a graph has no methods", "give a module", "C004")
    return _libraries.extension().check_method_operator_support(script._c, method_name)


def get_build_info() -> str:
    """The versions of torchtrt and of what it was built with."""
    return _libraries.extension().get_build_info()


def dump_build_info() -> None:
    print(get_build_info(), end="")


def set_device(gpu_id: int) -> None:
    """Makes a GPU the current one, as torch.cuda.set_device does. Raises CompileError where there is none of that number."""
    _libraries.extension().set_device(gpu_id)
