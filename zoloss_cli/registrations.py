"""What a registered metric or data set is: a class or function, and what plug-ins must provide."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from zoloss_cli.plugins import Plugin, Registration, import_target

if TYPE_CHECKING:
    from pydantic import BaseModel

BASE_METRIC = "zoloss_cli.metrics.base:Metric"
RNG = "rng"  # the first parameter of a generator and of no other function


class DatasetRegistration(Registration):
    """A function that generates a pool of samples, or that returns the path of a CSV file."""

    @property
    def is_generator(self) -> bool:
        """Whether the function generates a pool."""
        return is_generator(self.loaded)

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A typed model of the generator's parameters that a config may set."""
        from zoloss_cli.utils.signature import parameter_model

        return parameter_model(self.loaded, frozenset({RNG}))

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a documented function of one of the two kinds."""
        from zoloss_cli.utils.signature import parameter_model

        if not inspect.isfunction(found):
            raise plugin.build_error("is not a function")
        if not found.__doc__:
            raise plugin.build_error("has no docstring")
        if not is_generator(found):
            if inspect.signature(found).parameters:
                raise plugin.build_error(f"must take no parameters, or '{RNG}' as its first")
            return
        try:
            settings = parameter_model(found, frozenset({RNG})).model_fields
        except Exception as error:
            reason = " ".join(str(error).split())
            raise plugin.build_error(f"has settings that cannot be checked: {reason}") from error
        if "size" not in settings or any(setting.is_required() for setting in settings.values()):
            raise plugin.build_error("must have a setting 'size', and a default for every setting")


class MetricRegistration(Registration):
    """A metric's class."""

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a metric of the plug-in's name."""
        if not (isinstance(found, type) and issubclass(found, import_target(BASE_METRIC))):
            raise plugin.build_error(
                "is not a metric: it must be a class derived from zoloss_cli.metrics.base.Metric"
            )
        if getattr(found, "name", None) != plugin.name:
            raise plugin.build_error(f"must have the name '{plugin.name}', as its entry point says")
        if inspect.isabstract(found):
            raise plugin.build_error("has no method compute")
        if getattr(found, "direction", None) not in ("lower", "higher", None):
            raise plugin.build_error("must have the direction 'lower', 'higher', or None if no value is better")


def is_generator(function: Any) -> bool:
    """Return whether a function generates pools: whether its first parameter is `rng`."""
    return next(iter(inspect.signature(function).parameters), None) == RNG
