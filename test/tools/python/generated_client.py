"""Generates a client with openapi-python-client, compiles it, and lists a project's tasks with it.

Arguments: the folder to write to, the file of the OpenAPI document, the origin of the API and a
key of a project. Writes one JSON object: the generator's warnings, and the list of tasks.
"""

import compileall
import importlib
import json
import subprocess
import sys
from pathlib import Path


def main(folder, document, base_url, key):
    config = Path(folder, "generator.yaml")
    # The generator knows no lines of JSON: it reads them as text.
    config.write_text(
        "post_hooks: []\ncontent_type_overrides:\n  application/x-ndjson: text/plain\n"
    )
    package = Path(folder, "looptrace_client")
    command = [sys.executable, "-m", "openapi_python_client", "generate"]
    command += ["--path", document, "--config", config, "--meta", "none", "--output-path", package]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    if not compileall.compile_dir(package, quiet=1, maxlevels=9):
        raise SystemExit("the client does not compile")

    sys.path.insert(0, folder)
    client = importlib.import_module("looptrace_client").AuthenticatedClient(
        base_url=base_url, token=key, auth_header_name="X-API-Key", prefix=""
    )
    list_tasks = importlib.import_module("looptrace_client.api.tasks.list_tasks")
    answer = list_tasks.sync_detailed(client=client, limit=2)
    models = importlib.import_module("looptrace_client.models")
    if not isinstance(answer.parsed, models.TaskList):
        raise SystemExit(f"got {answer.status_code} {answer.content[:2000]!r}")
    warnings = [line for line in (made.stdout + made.stderr).splitlines() if "arning" in line]
    print(json.dumps({"warnings": warnings, "list": answer.parsed.to_dict()}))


main(*sys.argv[1:])
