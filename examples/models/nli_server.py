"""Serves a model of Hugging Face as `nli-http`: scores whether texts support a claim.

    pip install torch transformers
    python nli_server.py --model cross-encoder/nli-deberta-v3-base --format nli
    python nli_server.py --model <a grounding model> --format grounding

POST /        a list of pairs; the reply has one entry for each (docs/guides/add-a-judge.md)
GET  /health  the name of the model, its format and its labels

With NLI_SERVER_TOKEN in the environment, POST needs `Authorization: Bearer <token>`.
"""

import argparse
import hmac
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 1_048_576
PAIRS_MAX = 60
TEXT_CHARS_MAX = 4_000
MODEL_TOKENS_MAX = 512
READ_TIMEOUT_S = 30

# The texts of a pair, by format: what is known, and what is claimed.
FIELDS = {"nli": ("premise", "hypothesis"), "grounding": ("document", "claim")}

# Beginnings of label names, as models write them.
ENTAILMENT = ("entail", "support", "consistent", "grounded", "yes")
NEUTRAL = ("neutral", "not_entail", "non_entail", "unsupport", "not_support", "inconsistent", "hallucinat", "no")
CONTRADICTION = ("contra", "refute")


class BadRequest(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def read_labels(id2label):
    """Returns the index of each score by the model's own label names: {0: "entailment", 1: "neutral", …}."""
    labels = {}
    for index, name in id2label.items():
        word = str(name).strip().lower().replace("-", "_").replace(" ", "_")
        kinds = (("neutral", NEUTRAL), ("entailment", ENTAILMENT), ("contradiction", CONTRADICTION))
        kind = next((kind for kind, starts in kinds if word.startswith(starts)), None)
        if kind is None:
            raise SystemExit(
                f"The label {name!r} of the model is not known. Expected names such as entailment, "
                f"neutral, contradiction or supported; the model has {sorted(map(str, id2label.values()))}."
            )
        labels[int(index)] = kind
    if "entailment" not in labels.values():
        raise SystemExit(f"No label of the model says entailment: {sorted(map(str, id2label.values()))}.")
    return labels


def to_entry(output_format, labels, shares):
    """Returns the reply for one pair; `shares` are the model's probabilities by index."""
    sums = {"entailment": 0.0, "neutral": 0.0, "contradiction": 0.0}
    for index, share in enumerate(shares):
        sums[labels[index]] += share
    scores = {kind: min(1.0, max(0.0, value)) for kind, value in sums.items()}
    return scores if output_format == "nli" else {"probability": scores["entailment"]}


class TransformersScorer:
    """A sequence classifier. `labels` are its labels by index; `score` returns probabilities by pair."""

    def __init__(self, name, batch_size):
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.torch = torch
        self.batch_size = batch_size
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForSequenceClassification.from_pretrained(name).eval()
        self.labels = read_labels(self.model.config.id2label)

    def score(self, pairs):
        shares = []
        for start in range(0, len(pairs), self.batch_size):
            batch = pairs[start : start + self.batch_size]
            inputs = self.tokenizer(
                [known for known, _ in batch],
                [claim for _, claim in batch],
                padding=True,
                # The claim stays whole; what is known is cut.
                truncation="only_first",
                max_length=MODEL_TOKENS_MAX,
                return_tensors="pt",
            )
            with self.torch.inference_mode():
                logits = self.model(**inputs).logits
            shares.extend(self.torch.softmax(logits, dim=-1).tolist())
        return shares


def read_pairs(body, output_format):
    """Returns the pairs of a request; raises BadRequest with what was expected."""
    try:
        items = json.loads(body)
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise BadRequest(400, "The body is not JSON.") from None
    if not isinstance(items, list) or len(items) > PAIRS_MAX:
        raise BadRequest(400, f"Expected a list of at most {PAIRS_MAX} pairs.")
    known, claim = FIELDS[output_format]
    for item in items:
        texts = [item.get(known), item.get(claim)] if isinstance(item, dict) else [None]
        if not all(isinstance(text, str) and len(text) <= TEXT_CHARS_MAX for text in texts):
            raise BadRequest(
                400, f"Each pair needs `{known}` and `{claim}`: texts of at most {TEXT_CHARS_MAX} characters."
            )
    return [(item[known], item[claim]) for item in items]


def make_server(scorer, *, name, output_format, host, port, token=""):
    """Returns a server that is not yet started. One batch is scored at a time."""
    turn = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = READ_TIMEOUT_S

        def do_GET(self):
            if self.path != "/health":
                return self.reply(404, {"error": "Expected GET /health or POST /."})
            labels = [scorer.labels[index] for index in sorted(scorer.labels)]
            self.reply(200, {"status": "ok", "model": name, "format": output_format, "labels": labels})

        def do_POST(self):
            try:
                self.reply(200, self.score())
            except BadRequest as error:
                self.close_connection = True
                self.reply(error.status, {"error": str(error)})
            except Exception as error:  # The server goes on; Looptrace repeats a 500.
                self.log_error("%s: %s", type(error).__name__, error)
                self.reply(500, {"error": "The model failed. The log of the server says why."})

        def score(self):
            given = self.headers.get("Authorization", "")
            if token and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                raise BadRequest(401, "The bearer token is missing or wrong.")
            length = self.headers.get("Content-Length", "")
            if not length.isdigit():
                raise BadRequest(411, "Content-Length is missing.")
            if int(length) > BODY_BYTES_MAX:
                raise BadRequest(413, f"The body has more than {BODY_BYTES_MAX} bytes.")
            pairs = read_pairs(self.rfile.read(int(length)), output_format)
            if not pairs:
                return []
            with turn:
                shares = scorer.score(pairs)
            return [to_entry(output_format, scorer.labels, one) for one in shares]

        def reply(self, status, value):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, form, *args):
            """Requests are not logged: their texts are content."""

    return ThreadingHTTPServer((host, port), Handler)


def main():
    parser = argparse.ArgumentParser(description="Serves a model as nli-http.")
    parser.add_argument("--model", required=True, help="name or folder of a sequence classifier")
    parser.add_argument("--format", choices=sorted(FIELDS), default="nli")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    scorer = TransformersScorer(args.model, args.batch_size)
    server = make_server(
        scorer,
        name=args.model,
        output_format=args.format,
        host=args.host,
        port=args.port,
        token=os.environ.get("NLI_SERVER_TOKEN", ""),
    )
    print(f"nli-http on http://{args.host}:{server.server_port}/ with {args.model}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
