"""Sets what torchtrt logs on stderr: level, prefix and colour, and context managers that change the level for a while.

    with torchtrt.logging.debug():
        torchtrt.compile(...)
"""

import enum

from torchtrt import _libraries


class Level(enum.IntEnum):
    InternalError = 0
    Error = 1
    Warning = 2
    Info = 3
    Debug = 4
    Graph = 5


def get_logging_prefix() -> str:
    return _libraries.extension().get_logging_prefix()


def set_logging_prefix(prefix: str) -> None:
    _libraries.extension().set_logging_prefix(prefix)


def get_reportable_log_level() -> Level:
    return Level(_libraries.extension().get_reportable_log_level())


def set_reportable_log_level(level: Level) -> None:
    _libraries.extension().set_reportable_log_level(int(Level(level)))


def get_is_colored_output_on() -> bool:
    return _libraries.extension().get_is_colored_output_on()


def set_is_colored_output_on(colored_output_on: bool) -> None:
    _libraries.extension().set_is_colored_output_on(colored_output_on)


def log(level: Level, message: str) -> None:
    _libraries.extension().log(int(Level(level)), message)


class _AtLevel:
    """Sets the level while it is entered, and puts the one before back."""

    level: Level

    def __enter__(self):
        self._before = get_reportable_log_level()
        set_reportable_log_level(self.level)
        return self

    def __exit__(self, *_):
        set_reportable_log_level(self._before)


class internal_errors(_AtLevel):  # noqa: N801 - the names users write
    level = Level.InternalError


class errors(_AtLevel):  # noqa: N801
    level = Level.Error


class warnings(_AtLevel):  # noqa: N801
    level = Level.Warning


class info(_AtLevel):  # noqa: N801
    level = Level.Info


class debug(_AtLevel):  # noqa: N801
    level = Level.Debug


class graphs(_AtLevel):  # noqa: N801
    level = Level.Graph
