"""What goes wrong on Spark as errors of Modulog: one line for the user, and one that names the log of a Spark
of our own. The original is chained to what is not understood.

Errors of ours that are raised in executors arrive as text inside a traceback inside an exception of Java:
they are found there and raised again. A bad record is named by numbers at first, since executors do not know
the lines of a file; the source that was read says what they mean. PySpark is not imported here: it may be
what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from modulog import errors
from modulog.errors import DataError, EngineError, EngineUnavailable, ModulogError
from modulog.spark import java_log

BAD_RECORD = "bad record "
NO_PYSPARK = "the Spark engine needs PySpark 4: pip install 'modulog[spark]'"
NO_JAVA = "the Spark engine needs Java 17 or 21: install a JDK, for example openjdk-17-jdk, and set JAVA_HOME"
NO_PACKAGE = (
    "the workers of Spark cannot import modulog: install it for their Python on every machine, "
    "or ship it with --py-files"
)

JAVA_ENDED = "the Java process of Spark has ended, perhaps for want of memory: spark.driver.memory says how much it may take"
_SILENT = ("does not exist in the JVM", "Error while sending or receiving", "Answer from Java side is empty")

_locators: dict[str, Any] = {}
_MOST_LOCATORS = 1000

_OURS = re.compile(r"modulog\.errors\.(\w+): (.*)")
_NO_PATH = re.compile(r"Path does not exist: (.*?)\.? SQLSTATE", re.DOTALL)
_NO_SCHEME = re.compile(r'No FileSystem for scheme "?([\w+.-]+)')
_FILE = re.compile(r"reading file:? (\w+:/.*?)\.(?:\s|$)")


def bad_record(token: str, reason: str, **place: Any) -> DataError:
    """The error that an executor raises for a record; `translate` makes a sentence of it.

    The executor says `where` the record is, or what `locate` of a locator takes to find that out.
    """
    return DataError(BAD_RECORD + json.dumps({"token": token, "reason": reason, **place}))


def register(token: str, locator: Any) -> None:
    """Let `locator.locate` turn the place of a bad record whose error carries the token into a file and a
    line.

    Frames outlive the sources that they come from, so the last thousand sources are kept.
    """
    _locators[token] = locator
    if len(_locators) > _MOST_LOCATORS:
        del _locators[next(iter(_locators))]


def translate(error: BaseException) -> ModulogError:
    """The error of Modulog that an exception of Spark, Java or Python stands for.

    >>> translate(ImportError("No module named 'pyspark'", name="pyspark"))
    EngineUnavailable("the Spark engine needs PySpark 4: pip install 'modulog[spark]'")
    """
    if isinstance(error, ModulogError):
        return error
    if isinstance(error, ImportError):
        known = (error.name or "").partition(".")[0] in ("pyspark", "py4j")
        return EngineUnavailable(NO_PYSPARK if known else f"the Spark engine cannot be imported: {error}")
    text = str(error)
    if "JAVA_GATEWAY_EXITED" in text:
        return _not_started()
    if "JAVA_HOME is not set" in text or "No such file or directory: 'java'" in text:
        return EngineUnavailable(NO_JAVA)
    is_silent = isinstance(error, ConnectionError) or any(words in text for words in _SILENT)
    made = EngineError(JAVA_ENDED) if is_silent and java_log.has_ended() else _failed(text)
    if made is None:
        made = EngineError(f"Spark failed: {_first_line(text) or type(error).__name__}")
    named = type(made)(java_log.named(str(made)))
    if isinstance(made, DataError) and isinstance(named, DataError):
        named.mark = made.mark
    return named


def _failed(text: str) -> ModulogError | None:
    """What is known to be behind the text of an exception: an error of ours in an executor, or something that
    users can mend.
    """
    if found := _OURS.findall(text):
        return _ours(*found[-1])
    for test in (_missing_path, _unreadable, _full, _unknown_scheme):
        if made := test(text):
            return made
    return EngineUnavailable(NO_PACKAGE) if "No module named 'modulog'" in text else None


def _not_started() -> EngineUnavailable:
    """Java was found and ended at once: it said why, unless it is somebody else's."""
    said = java_log.last_words()
    if not said or "UnsupportedClassVersionError" in "".join(said):
        return EngineUnavailable(java_log.named(NO_JAVA))
    return EngineUnavailable(java_log.named("\n".join(["Java ended before Spark had started:", *said])))


@contextmanager
def translated() -> Iterator[None]:
    """Raise what Spark raises as errors of Modulog."""
    try:
        yield
    except (ModulogError, KeyboardInterrupt):
        raise
    except Exception as error:
        found = translate(error)
        # Pages of Java say nothing more about a mistake that is known; Python keeps them as the context.
        raise found from (error if type(found) is EngineError else None)


def shown_path(uri: str) -> str:
    """A URI as a user writes it: a file of this machine without its scheme.

    >>> shown_path("file:///data/a%20b.csv"), shown_path("hdfs://host/a.csv")
    ('/data/a b.csv', 'hdfs://host/a.csv')
    """
    local = re.match(r"file:/+", uri)
    return "/" + unquote(uri[local.end() :]) if local else uri


def _ours(name: str, message: str) -> ModulogError:
    message = message.strip()
    if message.startswith(BAD_RECORD):
        return _record(json.loads(message.removeprefix(BAD_RECORD)))
    kind: Callable[[str], ModulogError] = getattr(errors, name, DataError)
    return kind(message)


def _record(record: dict[str, Any]) -> DataError:
    reason, token, where = record.pop("reason"), record.pop("token"), record.pop("where", None)
    if where is None:
        source = _locators.get(token)
        where = "in a source that was opened long ago" if source is None else source.locate(**record)
    error = DataError(f"{where}: {reason}")
    error.mark = token
    return error


def _missing_path(text: str) -> ModulogError | None:
    found = _NO_PATH.search(text)
    return DataError(f"{shown_path(found[1])}: there is no such file or folder") if found else None


def _unreadable(text: str) -> ModulogError | None:
    if "FAILED_READ_FILE" not in text and "CANNOT_READ_FILE_FOOTER" not in text:
        return None
    found = _FILE.search(text)
    return DataError(f"{shown_path(found[1]) if found else 'a file'}: damaged, or not of the format named")


def _full(text: str) -> ModulogError | None:
    return (
        DataError("Spark could not write: No space left on device")
        if "No space left on device" in text
        else None
    )


def _unknown_scheme(text: str) -> ModulogError | None:
    found = _NO_SCHEME.search(text)
    if not found:
        return None
    return DataError(
        f"Spark knows no file system for {found[1]}: paths: it needs a connector, by spark.jars.packages"
    )


def _first_line(text: str) -> str:
    """The first line that says something; of a traceback of a worker, the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
        del lines[0]
        lines[0] = lines[0].removeprefix(": ")
    worker = lines and lines[0].startswith("An exception was thrown from the Python worker")
    return lines[-1 if worker else 0] if lines else ""
