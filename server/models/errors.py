"""Failures of models, beyond server.domain.protocols.ModelError.

ModelError
└── RetryLater    the provider said how long to wait
"""

from __future__ import annotations

from server.domain.protocols import ModelError


class RetryLater(ModelError):
    """The provider asks to wait `retry_after_s` seconds before the next call."""

    def __init__(self, kind: str, message: str, retry_after_s: float) -> None:
        super().__init__(kind, message)
        self.retry_after_s = retry_after_s
