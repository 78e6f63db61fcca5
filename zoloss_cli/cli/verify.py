"""The command `zoloss verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate that `zoloss fit --certificate` wrote.")],
    data: Annotated[
        Path,
        options.data_argument(
            "The table that the certificate is about, or the name of a data set (see `zoloss datasets`)."
        ),
    ],
) -> None:
    """Verify a certificate of the fewest errors against a table, in integer arithmetic.

    The check shares no code with the search that found the proof, and takes time in proportion to the size of
    the certificate. A certificate for other data, or one that has been altered, is rejected.

    **Examples**

    `zoloss fit liver --learner certify --certificate proof.json.gz`: a proof of the fewest errors

    `zoloss verify proof.json.gz liver`: check it
    """
    from zoloss_cli.workflows.certificate_check import check_certificate, render_check

    options.show(render_check(check_certificate(certificate, data)))
