"""The model that CONTRIBUTING shows passes the very tests that every model passes, installed as a package would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import shoal

ROOT = Path(__file__).parents[2]
TESTS = ["contract/test_models.py", "contract/test_plugins.py", "property/test_models_monotone.py"]


def test_the_example_on_the_page_passes_the_contract(tmp_path):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (example,) = (block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "class MyModel" in block)
    (tmp_path / "my_model.py").write_text(example, encoding="utf-8")
    metadata = tmp_path / "my_model-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-model\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[shoal.models]\nmy-model = my_model:MyModel\n")
    paths = filter(None, [str(tmp_path), str(Path(shoal.__file__).parents[1]), os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    files = [str(ROOT / "tests" / name) for name in TESTS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "-rA",
         "--doctest-modules", "-k", "my-model or my_model", *files, str(tmp_path / "my_model.py")],
        capture_output=True, text=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    for name in TESTS:
        assert f"PASSED tests/{name}" in done.stdout
    assert re.search(r"^PASSED .*\bmy_model\.MyModel$", done.stdout, re.MULTILINE), "its example did not run"
