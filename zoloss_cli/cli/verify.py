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

    The check is one file, zoloss_cli/proofs/check.py, which needs nothing but Python and shares no code with
    the search that found the proof. It prints what is proved, or why the certificate is rejected. Its work is
    limited in proportion to the size of the certificate.

    **Examples**

    `zoloss fit liver --learner certify --certificate proof.json.gz`: a proof of the fewest errors

    `zoloss verify proof.json.gz liver`: check it
    """
    from zoloss_cli.api.certificate import check_certificate

    options.show(check_certificate(certificate, data).describe())
