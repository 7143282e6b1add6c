"""deploy/pin with a local registry: it follows the token protocol, and trusts only the manifest itself."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from casino.embedded.servers import BASE_DIR

PIN = BASE_DIR / "deploy" / "pin"
MANIFEST = json.dumps({"schemaVersion": 2, "manifests": []}).encode()
DIGEST = f"sha256:{sha256(MANIFEST).hexdigest()}"
OLD = f"sha256:{'0' * 64}"


class Registry(ThreadingHTTPServer):
    """A registry that returns manifests to clients with a token."""

    says = DIGEST

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class RegistryHandler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        if self.path == "/token?service=images&scope=repository%3Alibrary%2Fa%3Apull":
            self._answer(200, b'{"token": "anonymous"}')
        elif self.headers.get("Authorization") != "Bearer anonymous":
            realm = f'Bearer realm="http://{self.server.name}/token",service="images",scope="repository:library/a:pull"'
            self._answer(401, b"", {"WWW-Authenticate": realm})
        elif self.path == "/v2/library/a/manifests/1-bookworm" and "image.index" in self.headers["Accept"]:
            self._answer(200, MANIFEST, {"Docker-Content-Digest": self.server.says})
        else:
            self._answer(404, b"")

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log no request."""


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry(("127.0.0.1", 0), RegistryHandler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def folder(registry: Registry, tmp_path: Path) -> Path:
    (tmp_path / "Dockerfile").write_text(
        f"ARG BASE={registry.name}/library/a:1-bookworm\n\nFROM ${{BASE}} AS libraries\n"
    )
    image = f"{registry.name}/library/a:1-bookworm@{OLD}"
    (tmp_path / "compose.yml").write_text(f"x:\n  image: ${{IMAGE:-localhost/casino}}\ny:\n    image: {image}\n")
    return tmp_path


def pin(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, PIN, "--folder", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_each_image_is_pinned_by_the_digest_of_its_manifest(registry: Registry, folder: Path) -> None:
    """Harm: an attacker with a registry account runs another image beside the log under a trusted tag."""
    code, output = pin(folder, "--check")
    assert (code, output.splitlines()[1:]) == (1, [f"Dockerfile: {registry.name}/library/a:1-bookworm"])
    assert pin(folder) == (0, f"{registry.name}/library/a:1-bookworm@{DIGEST}\n")
    pinned = f"{registry.name}/library/a:1-bookworm@{DIGEST}"
    assert (folder / "Dockerfile").read_text() == f"ARG BASE={pinned}\n\nFROM ${{BASE}} AS libraries\n"
    assert (folder / "compose.yml").read_text().endswith(f"y:\n    image: {pinned}\n")
    assert pin(folder, "--check") == (0, "Every image is pinned by its digest.\n")


def test_without_an_answer_nothing_is_written(registry: Registry, folder: Path) -> None:
    """Harm: a digest that belongs to nothing, or files of which half are pinned."""
    before = [path.read_text() for path in sorted(folder.iterdir())]
    registry.says = OLD
    code, output = pin(folder)
    assert (code, f"its registry says {OLD}, but its manifest has {DIGEST}." in output) == (1, True)
    (folder / "Dockerfile").write_text(before[0].replace("library/a", "library/b"))
    code, output = pin(folder)
    assert (code, "its registry gave no digest: HTTP Error 404" in output, "Traceback" in output) == (1, True, False)
    (folder / "Dockerfile").write_text(before[0].replace(registry.name, "127.0.0.1:1"))
    code, output = pin(folder)
    assert (code, "Connection refused" in output) == (1, True)
    (folder / "Dockerfile").write_text(before[0])
    assert [path.read_text() for path in sorted(folder.iterdir())] == before


def test_every_image_that_the_files_name_is_looked_at() -> None:
    """Harm: an image is written in another form, is never pinned, and the check of a release passes."""
    loader = importlib.machinery.SourceFileLoader("pin", str(PIN))
    spec = importlib.util.spec_from_loader("pin", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pin"] = module
    loader.exec_module(module)
    texts = {name: (PIN.parent / name).read_text() for name in module.FILES}
    images = [image["name"] for text in texts.values() for image in module.IMAGE.finditer(text)]
    named = [line.split()[1] for line in texts["compose.yml"].splitlines() if line.strip().startswith("image:")]
    own = [name for name in named if name.startswith("${CASINO_IMAGE")]
    assert len(images) == 1 + len(named) - len(own)
    assert all(module.Image.of(name).tag for name in images)
    froms = [line for line in texts["Dockerfile"].splitlines() if line.startswith("FROM ")]
    assert [line.split()[1] for line in froms] == ["${BASE}", "${BASE}"]
