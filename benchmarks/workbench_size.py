"""Bytes and seconds to the first view of all heads: the workbench compared with BertViz's `model_view`, in one run.

A BERT of 12 layers of 12 heads (BERT-base, random weights) and texts of 64, 256 and 512 tokens. The workbench: the
bytes of the page Look with its modules and styles, the answer to the text, the thumbnails of all heads and the weights
of one head; seconds from the request for the text to the last of these. BertViz 1.4.1: the HTML that `model_view`
returns, and the seconds for its forward pass and the page. In both, the forward pass is counted, loading the model is
not; nor is what a browser needs to draw it, nor the scripts that BertViz's page loads from a CDN. BertViz is no
dependency: `benchmarks/weights.txt` names it.
"""

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import torch
from starlette.testclient import TestClient
from transformers import AutoTokenizer

from benchmarks.measure import table
from benchmarks.models import MINILM, bert_base
from whence.subject.subject import Subject
from whence.workbench.access import Access, secured
from whence.workbench.application import application
from whence.workbench.bench import Workbench, serve_models
from whence.workbench.standalone import modules_below, static_file, view_page

LENGTHS = (64, 256, 512)
TOKEN = "a-token-of-the-benchmark"
SECONDS, MEGABYTES = 2.0, 5.0  # limits at 512 tokens
Cost = tuple[int, float]  # bytes, seconds


def text_of(tokenizer: Any, length: int) -> str:
    """A text of so many tokens, with [CLS] and [SEP]."""
    words = sorted(word for word in tokenizer.get_vocab() if re.fullmatch(r"[a-z]{3,8}", word))
    return " ".join(words[100 : 100 + length - 2])


def page_bytes() -> int:
    """The page Look with all its modules and styles."""
    page = view_page("look")
    styles = [static_file(name).read_text(encoding="utf-8") for name in re.findall(r'"/static/([\w./-]+\.css)"', page)]
    return sum(len(one.encode()) for one in (page, *styles, *modules_below("pages/look.js").values()))


def workbench(client: TestClient, text: str) -> Cost:
    """Bytes and seconds of the first view."""
    begin = time.perf_counter()
    parts = [client.post("/api/v1/look", json={"text": text})]
    name = parts[0].json()["id"]
    parts += [
        client.get(f"/api/v1/{path}") for path in (f"thumbnails/{name}/self?size=24", f"weights/{name}/self/11/0")
    ]
    seconds = time.perf_counter() - begin
    return page_bytes() + sum(len(one.content) for one in parts), seconds


def bertviz(model: Any, tokenizer: Any, text: str) -> Cost:
    """The same of `model_view`."""
    from bertviz import model_view

    begin = time.perf_counter()
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        attention = model(**inputs, output_attentions=True).attentions
    page = model_view(attention, tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), html_action="return")
    return len(page.data.encode()), time.perf_counter() - begin


def report() -> str:
    tokenizer = AutoTokenizer.from_pretrained(MINILM)
    subject = Subject(bert_base(), tokenizer, "sequence-classification", "BERT-base")
    plain, busy = bert_base("eager"), os.getloadavg()[0]
    bench = Workbench(serve_models([subject]), Path("whence-workbench"))
    rows: list[list[str]] = []
    with TestClient(secured(application(bench), Access(TOKEN)), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        workbench(client, "a short text to begin with")  # what is imported and prepared once
        bertviz(plain, tokenizer, "a short text to begin with")
        for length in LENGTHS:
            text = text_of(tokenizer, length)
            ours, theirs = workbench(client, text), bertviz(plain, tokenizer, text)
            for name, (size, seconds) in (("workbench", ours), ("BertViz `model_view`", theirs)):
                rows.append([str(length), name, f"{size / 1e6:,.2f} MB", f"{seconds:.2f} s"])
                print(*rows[-1], file=sys.stderr, flush=True)
    return f"{table(['tokens', 'view', 'bytes', 'to the first view'], rows)}\n\n{_kept(ours)} Load before: {busy:.1f}."


def _kept(cost: Cost) -> str:
    """Whether the limits at the longest text were kept."""
    size, seconds = cost[0] / 1e6, cost[1]
    words = [f"{size:.2f} MB (≤ {MEGABYTES:g}: {'yes' if size <= MEGABYTES else 'NO'})"]
    words += [f"{seconds:.2f} s (≤ {SECONDS:g}: {'yes' if seconds <= SECONDS else 'NO'})"]
    return f"The workbench at {LENGTHS[-1]} tokens: {', '.join(words)}."


if __name__ == "__main__":
    print(report())
