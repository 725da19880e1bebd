"""Installs requirements into this interpreter: `python install.py requirements.txt`.

Some machines have Python without pip and ensurepip. Then pip's own wheel is downloaded from the package
index and run as a file. Only Python's standard library is needed.
"""

import hashlib
import html
import importlib.util
import os
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

PIP_VERSION = "26.3"
TIMEOUT_S = 60


def main(requirements):
    arguments = ["install", "--quiet", "--disable-pip-version-check", "-r", requirements]
    if importlib.util.find_spec("ensurepip"):
        run("-m", "ensurepip")
        run("-m", "pip", *arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        wheel = os.path.join(folder, f"pip-{PIP_VERSION}-py3-none-any.whl")
        with open(wheel, "wb") as file:
            file.write(pip_wheel(os.path.basename(wheel)))
        run(os.path.join(wheel, "pip"), *arguments)


def run(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, stdout=sys.stderr)


def pip_wheel(filename):
    """Finds the wheel on the index's page of links, which every index has (PEP 503)."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    page_url = f"{index}/pip/"
    link = rf'href="([^"#]*{re.escape(filename)})#sha256=([0-9a-f]{{64}})"'
    found = re.search(link, html.unescape(download(page_url).decode()))
    if not found:
        raise SystemExit(f"{page_url}: lists no {filename}, so install python3-venv and try again")
    wheel = download(urllib.parse.urljoin(page_url, found[1]))
    if hashlib.sha256(wheel).hexdigest() != found[2]:
        raise SystemExit(f"{found[1]}: got other bytes than the index promised")
    return wheel


def download(url):
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
    with urllib.request.urlopen(url, timeout=TIMEOUT_S, context=context) as answer:
        return answer.read()


main(sys.argv[1])
