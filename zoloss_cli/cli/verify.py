"""The command `zoloss verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate that `zoloss fit --certificate` wrote.")],
    data: Annotated[
        Path, options.data_argument("The table that it is about, or the name of one of `zoloss datasets`.")
    ],
) -> None:
    """Check a certificate of the fewest errors against a table, in integers.

    The check shares no code with the search that found the proof, and takes time in proportion to the size of
    the certificate. A certificate of other data, or one that was changed, is refused.

    **Examples**

    `zoloss fit liver --learner certify --certificate proof.json.gz`: a proof of the fewest errors

    `zoloss verify proof.json.gz liver`: does it prove it?
    """
    from zoloss_cli.workflows.certificate_check import check_certificate, render_check

    options.show(render_check(check_certificate(certificate, data)))
