"""Every error of Sentinel, and the exit codes of the command.

    SentinelError                     exit 1  something else went wrong
    ├── InputError                    exit 2  a file, an option or a record can't be used as given
    │   ├── QuestionsError                    a question file or a question
    │   ├── PoolsError                        a pool manifest, or a store that doesn't fit it
    │   ├── StoreError                        a store of trajectories, or a recordings file
    │   ├── LabelsError                       a labels file, or labels that don't fit the store
    │   ├── BundleError                       a saved monitor
    │   └── MissingExtraError                 a part that an optional dependency brings
    ├── DatabaseError                 exit 3  a database can't be opened or read
    ├── EndpointError                 exit 4  a model endpoint is down, refuses or answers nonsense
    ├── CannotFitError                exit 5  too little or one-sided data to fit a monitor
    └── LeakageError                  exit 6  a leakage control fails, or a run is on two sides of
    a split

`UncheckedWarning` is a warning of Python's `warnings`: a stored file is read, but damage in it
could go unseen. The command prints it on stderr.

A message is one line: what is wrong, with which thing, and what to do. It never quotes a row of
data. Exit code 0 is success, and 130 an interruption by the user; collected runs are kept.
"""

from __future__ import annotations

from typing import ClassVar


class SentinelError(Exception):
    """Base class of all errors that Sentinel raises on purpose."""

    exit_code: ClassVar[int] = 1


class InputError(SentinelError):
    """A file, an option or a record can't be used as given."""

    exit_code = 2


class QuestionsError(InputError):
    """A question file or a question in it can't be used."""


class PoolsError(InputError):
    """A pool manifest is damaged, or doesn't know the questions of a store."""


class StoreError(InputError):
    """A store of trajectories or a recordings file can't be used."""


class LabelsError(InputError):
    """A labels file is damaged or doesn't fit the store."""


class BundleError(InputError):
    """A saved monitor is damaged, or was made for another agent, schema or version."""


class MissingExtraError(InputError):
    """A feature needs an optional dependency that isn't installed."""


class DatabaseError(SentinelError):
    """A database can't be opened or read."""

    exit_code = 3


class UncheckedWarning(UserWarning):
    """Damage of a stored file could go unseen: it has no checksums, or its count is missing."""


class EndpointError(SentinelError):
    """A model endpoint is down, refuses, or answers nonsense.

    `for_every_call` is True if every other call would fail too: no connection, a wrong key, an
    unknown model.
    """

    exit_code = 4

    def __init__(self, message: str, *, for_every_call: bool = False) -> None:
        super().__init__(message)
        self.for_every_call = for_every_call


class CannotFitError(SentinelError):
    """The data are too few or one-sided to fit a monitor."""

    exit_code = 5


class LeakageError(SentinelError):
    """A control on shuffled labels beats chance, or a run is on two sides of a split."""

    exit_code = 6
