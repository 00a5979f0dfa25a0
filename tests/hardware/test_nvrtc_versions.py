"""All kernels with NVRTC 12.9, 13.0 and the pinned version: right with each, whatever PTX it makes of them."""

import pytest

from tools import nvrtc_versions


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", [*nvrtc_versions.VERSIONS, "pinned"])
def test_every_kernel_is_right(version, tmp_path, monkeypatch):
    if version != "pinned":
        try:
            nvrtc_versions.install(version)
        except RuntimeError as error:
            pytest.skip(str(error))
        monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    told = nvrtc_versions.run(version)
    assert version in ("pinned", "{}.{}".format(*told["nvrtc"]))
    assert told["kernels"] > 100
    assert told["wrong"] == {}


def test_each_version_is_pinned_exactly():
    for version, wheels in nvrtc_versions.VERSIONS.items():
        assert all(wheel.count("==") == 1 for wheel in wheels)
        assert any(wheel.startswith("nvidia-cuda-nvrtc") and f"=={version}." in wheel for wheel in wheels)
