"""What all tests share: the engines to run on, Hypothesis profiles, the folder of real data.

`--engines=local,spark` runs every test that takes the fixture `engine` once on each of them. The environment variable
`HYPOTHESIS_PROFILE` chooses a profile; the header of a run says which one it was and which seed to give to repeat it.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

SLOW_STARTERS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "dev", deadline=None, print_blob=True, max_examples=40, suppress_health_check=SLOW_STARTERS
)
settings.register_profile("ci", settings.get_profile("dev"), max_examples=300)
settings.register_profile("deep", settings.get_profile("dev"), max_examples=5000)
settings.register_profile("unshrunk", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
settings.load_profile(PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engines", default="local", help="engines to test, separated by commas: local,spark")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # A seed that was chosen here can be printed before anything fails.
    if not config.getoption("--hypothesis-seed", None):
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.getoption("--hypothesis-seed")
    return (
        f"engines: {config.getoption('--engines')}; hypothesis: profile {PROFILE}, --hypothesis-seed={seed}"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", metafunc.config.getoption("--engines").split(","), scope="session")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; a test that takes it is skipped where there is none."""
    from realdata import data_folder

    folder = data_folder()
    if folder is None:
        pytest.skip("no folder of real data: set MODULOG_DATA")
    return folder


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Kernels are compiled however little there is to do, so that tests try what users run; the plain ones have a run of their own."""
    from modulog.kernels.compiled import Interpreting

    Interpreting.seconds = 0.0
