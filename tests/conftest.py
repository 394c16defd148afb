"""What all tests share: the engines to run on, Hypothesis profiles, the folder of real data.

`--engines=local,spark` runs every test that takes the fixture `engine` once on each of them.
`--spark-settings=shipped` gives the session of Spark that tests share what a session of users has, instead of
what is quick on tiny data.

Random programs and values come from one seed, which the end of a run shows; `--hypothesis-seed` gives
another. The profile `quick`, that of `make test`, always has the same seed and few examples, so that a
failure has to do with what was changed. Every other profile draws a seed anew. The environment variable
`HYPOTHESIS_PROFILE` names the profile; `support/amounts.py` tells tests which one it is.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
pytest.register_assert_rewrite("support")

from support.amounts import LONG, PROFILE  # noqa: E402

SLOW_STARTERS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "long", deadline=None, print_blob=True, max_examples=75, suppress_health_check=SLOW_STARTERS
)
# Failures of earlier runs are not tried again: every run of the quick profile does the same.
settings.register_profile("quick", settings.get_profile("long"), max_examples=25, database=None)
settings.register_profile("deep", settings.get_profile("long"), max_examples=5000)
settings.register_profile("unshrunk", settings.get_profile("long"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(PROFILE)
SEED = "2024"  # of the quick profile


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engines", default="local", help="engines to test, separated by commas: local,spark")
    parser.addoption("--spark-settings", default="quick", choices=["quick", "shipped"])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # A seed that was chosen here can be printed before anything fails.
    if not config.getoption("--hypothesis-seed", None):
        drawn = str(random.SystemRandom().randrange(2**32))
        config.option.hypothesis_seed = drawn if LONG else SEED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    seed, engines = config.getoption("--hypothesis-seed"), config.getoption("--engines")
    terminalreporter.write_line(
        f"engines: {engines}; hypothesis: profile {PROFILE}, --hypothesis-seed={seed}"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", metafunc.config.getoption("--engines").split(","), scope="session")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; a test that takes it is skipped where there is none."""
    from support.realdata import data_folder

    folder = data_folder()
    if folder is None:
        pytest.skip("no folder of real data: set MODULOG_DATA")
    return folder


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Kernels are compiled however little there is to do, so that tests try what users run; the plain ones
    have a run of their own.
    """
    from modulog.kernels import compile_time
    from modulog.kernels.compiled import Interpreting

    Interpreting.seconds = 0.0
    compile_time.announce = lambda message: None  # in a new checkout it would stand in what tests compare
